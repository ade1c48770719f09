"""Reading and appending records: JSON lines, append-only, with every damaged line reported."""

import fcntl
import json
import math
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from mlhpc.errors import MlhpcError
from mlhpc.files import append_line
from mlhpc.paths import local_records_folder, published_records_folder
from mlhpc.records.schema import Record, record_id
from mlhpc.records.summary import NOISY_LIMIT, interquartile_share

FILE_NAME = "records.jsonl"
_LEFT_AND_RIGHT = 1e-9
"""Relative difference allowed between a stored summary and the samples, for other orders of summation."""


@dataclass(frozen=True)
class DamagedLine:
    """A line that is no valid record. It stays in its file; nobody but its owner should delete it."""

    path: Path
    line_number: int
    """Counted from 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line_number}: {self.reason}; the line was skipped and left as it is."


@dataclass(frozen=True)
class ReadResult:
    """All that could be read, and all that could not."""

    records: tuple[Record, ...]
    """In the order of files and lines; a record that stands in several places comes once."""
    damaged: tuple[DamagedLine, ...]

    def raise_for_damage(self) -> None:
        """Report what could not be read, after the work on what could.

        Raises:
            MlhpcError: if there were damaged lines; one sentence for each.
        """
        if self.damaged:
            raise MlhpcError("\n".join(map(str, self.damaged)))


def append_record(folder: Path, record: Record) -> Path:
    """Append ``record`` to ``folder/records.jsonl`` and return that file.

    The line is written whole or not at all, and other processes may append at the same time.

    Raises:
        MlhpcError: if the line cannot be written, for instance on a full disk.
    """
    path = folder / FILE_NAME
    append_line(path, encode(record))
    return path


def encode(record: Record) -> str:
    """Return the line of a records file for ``record``, without the line break."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)


def decode(line: bytes) -> Record:
    """Return the record that ``line`` holds.

    Raises:
        ValueError: saying in a few words what is wrong with the line.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not a whole JSON object, it may have been cut or overwritten") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    try:
        record = Record.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"field {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    if record_id(record.model_dump(mode="json")) != record.id:
        raise ValueError(f"its content does not belong to its id {record.id}, so it was changed afterwards")
    _check_summary(record)
    return record


def _check_summary(record: Record) -> None:
    """Raise ValueError where the summary is not that of the samples.

    The ends of the interval are only held against the samples' range: they come from random numbers whose
    sequence may change between versions of numpy.
    """
    summary, samples = record.summary, record.samples
    share = interquartile_share(samples)
    ordered = sorted(samples)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    fits = (
        summary.count == len(samples)
        and math.isclose(summary.median, median, rel_tol=_LEFT_AND_RIGHT)
        and math.isclose(summary.interquartile_share, share, rel_tol=_LEFT_AND_RIGHT, abs_tol=_LEFT_AND_RIGHT)
        and summary.noisy == (summary.interquartile_share > NOISY_LIMIT)
        and ordered[0] <= summary.low <= summary.median <= summary.high <= ordered[-1]
    )
    if not fits:
        raise ValueError("its summary does not follow from its samples")


def read_records(*places: Path) -> ReadResult:
    """Return the records of ``places``: files, or folders of which every ``*.jsonl`` is read, sorted by name.

    A folder that does not exist yet holds no records. Empty lines are passed over.

    Raises:
        MlhpcError: if a file does not exist or cannot be read.
    """
    records: dict[str, Record] = {}
    damaged: list[DamagedLine] = []
    for path in _files(places):
        for number, line in enumerate(_read_bytes(path).split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                record = decode(line)
            except ValueError as error:
                damaged.append(DamagedLine(path, number, str(error)))
            else:
                records.setdefault(record.id, record)
    return ReadResult(tuple(records.values()), tuple(damaged))


def read_known_records(place: Path | None = None) -> ReadResult:
    """Return the records of ``place``, or without one this user's and the course's together.

    Raises:
        MlhpcError: as ``read_records``.
    """
    if place is not None:
        return read_records(place)
    return read_records(local_records_folder(), published_records_folder())


def _files(places: tuple[Path, ...]) -> Iterator[Path]:
    for place in places:
        if place.suffix == ".jsonl":
            yield place
        else:
            yield from sorted(path for path in _entries(place) if path.suffix == ".jsonl")


def _entries(folder: Path) -> list[Path]:
    """Return what ``folder`` holds, nothing where it does not exist yet."""
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise MlhpcError(
            f"{folder} is neither a folder nor a .jsonl file: name one that holds records."
        ) from error
    except OSError as error:
        raise MlhpcError(f"Cannot read the folder of records {folder}: {error.strerror}.") from error


def _read_bytes(path: Path) -> bytes:
    """Return the file's content, waiting for a line that another process is just writing."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MlhpcError(f"{path} is not a regular file: records are read from files only.")
        with path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH)
            return stream.read()
    except OSError as error:
        raise MlhpcError(f"Cannot read the records in {path}: {error.strerror}.") from error
