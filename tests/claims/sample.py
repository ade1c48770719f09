"""Small ledgers for tests."""

from pathlib import Path
from textwrap import dedent, indent

from mlhpc.claims import Ledger, Verdict, check, load_claims
from mlhpc.records.schema import Record

HEAD = """\
version: 1
sources:
  paper:
    title: A paper
    where: A journal
    date: 2024
    kind: paper
claims:
"""
CLAIM = """\
- id: {id}
  statement: Something is so.
  source: paper
  where: page 1
"""


def entry(rest: str, *, id: str = "one") -> str:
    """Return one claim in YAML; ``rest`` holds its keys from ``value`` on."""
    return CLAIM.format(id=id) + indent(dedent(rest).strip() + "\n", "  ")


def write(folder: Path, *entries: str) -> Path:
    """Write a ledger and return its file."""
    path = folder / "claims.yml"
    path.write_text(HEAD + "".join(entries))
    return path


def ledger(folder: Path, *entries: str) -> Ledger:
    """Return a loaded ledger of these entries."""
    return load_claims(write(folder, *entries))


def verdict(folder: Path, rest: str, *records: Record) -> Verdict:
    """Return the verdict on one claim from these records."""
    return check(ledger(folder, entry(rest)), records)[0]
