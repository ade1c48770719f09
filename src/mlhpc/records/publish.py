"""Copying chosen records to where everybody sees them, without anything that names a person or a host."""

import contextlib
import getpass
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.files import append_line
from mlhpc.paths import home_folder
from mlhpc.records.identifiers import record_with_id
from mlhpc.records.schema import Record
from mlhpc.records.store import encode, read_records

ANONYMOUS_NAMES = frozenset(
    {"admin", "centos", "debian", "ec2-user", "fedora", "localhost", "nobody", "opc", "rocky", "root"}
    | {"runner", "ubuntu", "user", "vagrant"}
)
"""Accounts and hosts of images and containers: they name nobody, and some are words of a system's name."""

_ABSOLUTE_PATH = re.compile(r"(?:^|(?<=[\s=:,;'\"(\[]))(?:/|~[\w.-]*/|[A-Za-z]:\\)[^\s/][^\s'\")\]]*")
_WORKLOAD = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Published:
    """What a call of ``publish`` did."""

    added: tuple[Record, ...]
    already_there: tuple[Record, ...]


def publish(
    identifiers: Sequence[str], source: Path, target: Path, *, allow_smoke: bool = False
) -> Published:
    """Copy the records with these ids (or unique first digits of them) to ``target/<workload>.jsonl``.

    All are checked before the first is written. One that is already there is left alone.

    Args:
        source: folder or file with the records to choose from.
        target: folder of the published records.
        allow_smoke: also take records of the smoke tier, which only show that a workload runs.

    Raises:
        UsageError: if an id is unknown or ambiguous, or a record is of the smoke tier.
        MlhpcError: if a record holds a user's name, a host's name or an absolute path (the sentence names
            the field), or the target cannot be written.
    """
    records = read_records(source).records
    chosen = {record.id: record for record in (record_with_id(records, one) for one in identifiers)}
    for record in chosen.values():
        _refuse_unfit(record, allow_smoke)
    present = {record.id for record in read_records(target).records}
    added = tuple(record for record in chosen.values() if record.id not in present)
    for record in added:
        append_line(target / f"{record.workload}.jsonl", encode(record))
    return Published(added, tuple(record for record in chosen.values() if record.id in present))


def _refuse_unfit(record: Record, allow_smoke: bool) -> None:
    if record.tier == "smoke" and not allow_smoke:
        raise UsageError(
            f"Record {record.id} is of the smoke tier, which only shows that {record.workload} runs: "
            "measure at quick or full tier, or add --allow-smoke."
        )
    if not _WORKLOAD.fullmatch(record.workload):
        raise MlhpcError(
            f"Record {record.id} cannot be published: workload {record.workload!r} is no file name."
        )
    for field, text in _strings(record.model_dump(mode="json"), ""):
        found = private_part(text)
        if found:
            raise MlhpcError(
                f"Record {record.id} cannot be published: {field} holds {found}. "
                "Measure again without it in the command or the settings."
            )


def private_part(text: str) -> str | None:
    """Return in a few words what in ``text`` names this user, this host or a folder; None for nothing."""
    path = _ABSOLUTE_PATH.search(text)
    if path:
        return f"the path {path.group()}"
    for what, name in _private_names():
        if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text, re.IGNORECASE):
            return f"the {what} {name}"
    return None


def _private_names() -> Iterator[tuple[str, str]]:
    """Yield what a name is and the name, for this user and this host; anonymous ones are left out."""
    host = socket.gethostname()
    names = [("host name", host), ("host name", host.partition(".")[0])]
    home = home_folder()
    if home is not None:
        names.append(("home folder", home.name))
    # A container may run under a number without an account: then there is no name to leak.
    with contextlib.suppress(OSError, KeyError):
        names.insert(0, ("user name", getpass.getuser()))
    yield from ((what, name) for what, name in names if name and name.lower() not in ANONYMOUS_NAMES)


def _strings(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield each text in ``value``, keys too, with the name of its field."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inner = f"{place}.{key}".lstrip(".")
            yield f"the name of {inner}", str(key)
            yield from _strings(item, inner)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings(item, f"{place}[{number}]")
