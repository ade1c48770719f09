"""Loading the claim ledger."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mlhpc.claims.schema import Claim, LedgerFile, Source
from mlhpc.errors import MlhpcError, UsageError
from mlhpc.paths import course_root
from mlhpc.yaml_lines import load_yaml, validate


@dataclass(frozen=True)
class Ledger:
    """All claims and their sources, in the order of the file."""

    path: Path
    sources: Mapping[str, Source]
    claims: tuple[Claim, ...]

    def claim(self, identifier: str) -> Claim:
        """Return one claim.

        Raises:
            UsageError: if there is none with this id; names the one most like it.
        """
        known = {claim.id: claim for claim in self.claims}
        if identifier not in known:
            close = difflib.get_close_matches(identifier, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "`mlhpc claims check` lists them."
            raise UsageError(f"There is no claim {identifier} in {self.path.name}; {hint}")
        return known[identifier]


def claims_file() -> Path:
    """Return ``data/claims.yml`` of the checkout."""
    return course_root() / "data" / "claims.yml"


def load_claims(path: Path | None = None) -> Ledger:
    """Return the ledger in ``path``, by default ``data/claims.yml`` of the checkout.

    Raises:
        MlhpcError: one sentence per fault with file, line and key: an unknown key, a source that is missing,
            an id that stands twice, a query that cannot be read.
    """
    located = load_yaml(path or claims_file())
    file = validate(LedgerFile, located)
    faults = [located.fault(place, f"{reason}.") for place, reason in file.cross_faults()]
    if faults:
        raise MlhpcError("\n".join(faults))
    return Ledger(located.path, file.sources, file.claims)
