"""Which files below a folder the next purge takes, and which it takes soon."""

import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from mlhpc.errors import UsageError
from mlhpc.storage.rule import DAY, Basis, PurgeRule
from mlhpc.storage.walk import LeftOut, walk

NOATIME = (
    "This file system does not record reads (mount option noatime): the access time stays where it was set, "
    "and reading a file does not save it."
)


@dataclass
class Amount:
    """A number of files, and the bytes in them. A file with several names counts once for its bytes."""

    files: int = 0
    bytes: int = 0


@dataclass
class FolderAtRisk:
    """What is at risk in one folder directly below the one looked at, or in itself (``.``)."""

    folder: str
    files: int
    bytes: int
    due: float
    """When its first file is due."""


@dataclass(frozen=True)
class FileAtRisk:
    """One file. ``due`` is when it reaches the age of the rule; times are in seconds since 1970."""

    path: str
    """Relative to the folder that was looked at."""
    bytes: int
    due: float


@dataclass
class AtRisk:
    """What the next purge takes (``now``), what follows within so many days (``soon``), and the rest."""

    folder: str
    rule: PurgeRule
    within_days: float
    counted_at: float
    now: Amount = field(default_factory=Amount)
    soon: Amount = field(default_factory=Amount)
    later: Amount = field(default_factory=Amount)
    folders: dict[str, FolderAtRisk] = field(default_factory=dict)
    soonest: list[FileAtRisk] = field(default_factory=list)
    """Files of ``now`` and ``soon``, the soonest first; at most as many as were asked for."""
    left_out: LeftOut = field(default_factory=LeftOut)
    remarks: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything below the folder was looked at; other file systems are left out on purpose."""
        return not (self.interrupted or self.left_out.unreadable)


def find_at_risk(
    folder: Path,
    rule: PurgeRule,
    *,
    within_days: float = 7.0,
    limit: int | None = 20,
    other_file_systems: bool = False,
    now: float | None = None,
) -> AtRisk:
    """Return what a purge by ``rule`` takes below ``folder`` now, and within the days that follow.

    A file counts as due when it is as old as the rule says, to the second. A purge that counts whole days
    (``find -mtime +60``) takes it up to a day later; what runs weekly, up to a week later. After an
    interruption from the keyboard the result holds what was found until then.

    Args:
        within_days: how far to look ahead.
        limit: how many files to name; None names all.
        other_file_systems: whether to follow into folders that are other file systems.
        now: seconds since 1970; the present by default.

    Raises:
        UsageError: if ``folder`` is not there or is no folder.
    """
    try:
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
        flags = os.statvfs(folder).f_flag
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}.") from error
    if not is_folder:
        raise UsageError(f"{folder} is not a folder.")
    found = AtRisk(str(folder), rule, within_days, time.time() if now is None else now)
    unrecorded = rule.basis == "atime" and flags & getattr(os, "ST_NOATIME", 0)
    found.remarks = (*rule.remarks, *([NOATIME] if unrecorded else []))
    counting = _Counting(found, limit)
    try:
        for path, status in walk(folder, found.left_out, other_file_systems=other_file_systems):
            counting.add(path, status)
    except KeyboardInterrupt:
        found.interrupted = True
    counting.finish()
    return found


class _Counting:
    """Puts one file after the other where it belongs in the result."""

    def __init__(self, found: AtRisk, limit: int | None) -> None:
        self._found, self._limit = found, limit
        self._seen: set[tuple[int, int]] = set()

    def add(self, path: str, status: os.stat_result) -> None:
        found = self._found
        due = _time_of(status, found.rule.basis) + found.rule.days * DAY
        size = status.st_size if self._first_name(status) else 0
        if due > found.counted_at + found.within_days * DAY:
            _count(found.later, size)
            return
        _count(found.now if due <= found.counted_at else found.soon, size)
        name = path.partition("/")[0] if "/" in path else "."
        folder = found.folders.setdefault(name, FolderAtRisk(name, 0, 0, due))
        _count(folder, size)
        folder.due = min(folder.due, due)
        found.soonest.append(FileAtRisk(path, status.st_size, due))
        # Millions of files may be at risk: only those that can still be among the soonest are kept.
        if self._limit is not None and len(found.soonest) > 2 * self._limit + 1000:
            self.finish()

    def finish(self) -> None:
        """Bring the files into order, and drop those beyond the limit."""
        self._found.soonest.sort(key=lambda one: (one.due, one.path))
        if self._limit is not None:
            del self._found.soonest[self._limit :]

    def _first_name(self, status: os.stat_result) -> bool:
        """Return whether the file's bytes were not counted yet under another name."""
        if status.st_nlink < 2:
            return True
        key = (status.st_dev, status.st_ino)
        known = key in self._seen
        self._seen.add(key)
        return not known


def _count(amount: Amount | FolderAtRisk, size: int) -> None:
    amount.files += 1
    amount.bytes += size


def _time_of(status: os.stat_result, basis: Basis) -> float:
    return {"mtime": status.st_mtime, "atime": status.st_atime, "ctime": status.st_ctime}[basis]
