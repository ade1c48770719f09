"""Finding a record by the first digits of its id, as people type it."""

from collections.abc import Iterable

from mlhpc.errors import UsageError
from mlhpc.records.schema import Record

_SHOWN = 5


def record_with_id(records: Iterable[Record], prefix: str) -> Record:
    """Return the only record whose id starts with ``prefix``.

    Raises:
        UsageError: if there is none, or several; the sentence names candidates.
    """
    if not prefix:
        raise UsageError("An empty id names no record; `mlhpc records list` shows the ids.")
    unique = {record.id: record for record in records}
    found = [identifier for identifier in unique if identifier.startswith(prefix.lower())]
    if len(found) == 1:
        return unique[found[0]]
    if found:
        raise UsageError(f"{len(found)} records start with {prefix}: {_some(found)}. Give more digits.")
    if not unique:
        raise UsageError(
            f"There is no record {prefix}, as there are no records at all: run `mlhpc bench` first."
        )
    raise UsageError(
        f"No record starts with {prefix}; `mlhpc records list` shows the ids, such as {_some(unique)}."
    )


def _some(identifiers: Iterable[str]) -> str:
    names = list(identifiers)
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
