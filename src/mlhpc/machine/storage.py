"""The places where a process can keep files here, and what the file system under each says of itself.

Unlike ``inspect``, the answer holds paths: it is for the person at the terminal and goes into no record.
"""

import contextlib
import errno
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from mlhpc.errors import UsageError
from mlhpc.machine.mounts import FileSystemKind, Mount, mount_of, read_mounts
from mlhpc.machine.sources import Sources
from mlhpc.paths import course_root

Role = Literal["memory", "temporary", "home", "scratch", "project", "course", "shared"]
"""What a place is for.

``temporary`` is the folder of the job or session (on a cluster node-local, and gone with the job), ``course``
the course's checkout, ``shared`` any other network file system that is mounted.
"""

TEMPORARY = ("SLURM_TMPDIR", "_CONDOR_SCRATCH_DIR", "TMPDIR")
"""Variables that schedulers and sites set to the job's own folder, the most telling one first."""
SCRATCH = ("SCRATCH", "SCRATCHDIR", "CSCRATCH", "PSCRATCH")
PROJECT = ("PROJECT", "WORK", "PROJECTS")
"""Variables in which sites name the shared scratch and the project's folder."""

MEMORY = ("/dev/shm", "/tmpfs")
"""Where Linux, and some clusters, mount a file system in main memory that everybody may use."""
PATIENCE = 2.0
"""Seconds to wait for a file system: one whose server is gone never answers."""


class _Place(NamedTuple):
    role: Role
    name: str
    path: Path


class StorageTier(BaseModel):
    """One place for files. Sizes in bytes; None where the file system does not say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    name: str
    """How a person names it without giving away a path: ``$TMPDIR``, ``home``."""
    path: str
    file_system: str = "unknown"
    """The kernel's name of its type, for instance ``ext4`` or ``lustre``."""
    kind: FileSystemKind = "unknown"
    number: int | None = None
    """Places with the same number lie on the same file system and share its space."""
    total_bytes: int | None = None
    free_bytes: int | None = None
    """What an ordinary user may still fill. A quota of one's own may end earlier."""
    total_inodes: int | None = None
    """How many files and folders fit; None where the file system makes inodes as it needs them."""
    free_inodes: int | None = None
    writable: bool = False
    inside: tuple[str, ...] = ()
    """Variables of the job or session (``TEMPORARY``, ``SCRATCH``) in whose folder it lies."""
    fault: str | None = None
    """Why nothing more is known: it does not exist, it does not answer."""


def find_storage(sources: Sources | None = None) -> tuple[StorageTier, ...]:
    """Return the storage tiers that this process can see, in the order of ``Role``.

    Looked for are memory (``MEMORY``), the temporary folder of the job or session, the home folder, the
    folders in ``SCRATCH`` and ``PROJECT`` and their like, the course's checkout, and every other network file
    system that is mounted.

    Args:
        sources: where to read; the running system by default.
    """
    sources = sources or Sources()
    mounts = read_mounts(sources)
    found = _look(_places(sources), mounts, sources)
    seen = {device for device, _ in found}
    others: dict[str, _Place] = {}
    for mount in mounts:
        if mount.kind == "network" and mount.device not in seen:
            others.setdefault(mount.device, _Place("shared", "a shared file system", Path(mount.point)))
    found += _look(list(others.values()), mounts, sources)
    numbers: dict[str, int] = {}
    return tuple(
        tier
        if device is None
        else tier.model_copy(update={"number": numbers.setdefault(device, len(numbers) + 1)})
        for device, tier in found
    )


def distinct(tiers: Iterable[StorageTier]) -> tuple[StorageTier, ...]:
    """Return one place for each file system: the first that this process may write to."""
    chosen: dict[int, StorageTier] = {}
    for tier in tiers:
        if tier.writable and tier.fault is None and tier.number is not None:
            chosen.setdefault(tier.number, tier)
    return tuple(chosen.values())


def _places(sources: Sources) -> list[_Place]:
    """Return the places to look at; one that nothing names is left out."""
    found = [
        _Place("memory", folder, Path(folder))
        for folder in MEMORY
        if (sources.root / folder.lstrip("/")).is_dir()
    ]
    named: tuple[tuple[Role, Sequence[str]], ...] = (
        ("temporary", TEMPORARY),
        ("home", ("HOME",)),
        ("scratch", SCRATCH),
        ("project", PROJECT),
    )
    for role, variables in named:
        variable = next((one for one in variables if sources.environment.get(one)), None)
        if variable is not None:
            name = "home" if role == "home" else f"${variable}"
            found.append(_Place(role, name, Path(sources.environment[variable])))
        elif role == "temporary":
            found.append(_Place(role, "the temporary folder", Path(tempfile.gettempdir())))
    # Where the package is installed without a checkout, there is one place less.
    with contextlib.suppress(UsageError):
        found.append(_Place("course", "the course folder", course_root()))
    return found


def _look(
    places: Sequence[_Place], mounts: Sequence[Mount], sources: Sources
) -> list[tuple[str | None, StorageTier]]:
    """Return the device of each place, and what could be found out about it within ``PATIENCE``.

    All are asked at the same time. A call into a dead file server can be neither interrupted nor cancelled:
    its thread is left behind.
    """
    asked = [_Question(place, mounts, sources) for place in places]
    for question in asked:
        question.start()
    deadline = time.monotonic() + PATIENCE
    for question in asked:
        question.join(max(0.0, deadline - time.monotonic()))
    return [question.answer for question in asked]


class _Question(threading.Thread):
    """Asks one file system about itself."""

    def __init__(self, place: _Place, mounts: Sequence[Mount], sources: Sources) -> None:
        super().__init__(daemon=True)
        self._place, self._mounts, self._sources = place, mounts, sources
        self.answer: tuple[str | None, StorageTier] = (
            None,
            self._tier(fault=f"did not answer in {PATIENCE:g} s"),
        )

    def run(self) -> None:
        """Replace the answer by what the file system says."""
        try:
            device, facts = _facts(self._place.path, self._mounts, self._sources)
            self.answer = device, self._tier(**facts)
        except OSError as error:
            self.answer = None, self._tier(fault=error.strerror)

    def _tier(self, **facts: object) -> StorageTier:
        place = self._place
        return StorageTier.model_validate(
            {"role": place.role, "name": place.name, "path": str(place.path), **facts}
        )


def _facts(path: Path, mounts: Sequence[Mount], sources: Sources) -> tuple[str, dict[str, object]]:
    """Return a name of the device under ``path``, and the fields of its ``StorageTier``.

    Raises:
        OSError: if the path is not absolute, does not exist, is no folder or is closed to this user.
    """
    if not path.is_absolute():
        raise OSError(errno.EINVAL, "its path is not absolute", str(path))
    mode = path.stat()
    if not stat.S_ISDIR(mode.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    mount = mount_of(path, mounts, sources)
    filled = os.statvfs(path)
    read_only = bool(filled.f_flag & os.ST_RDONLY)
    facts: dict[str, object] = {
        "total_bytes": filled.f_blocks * filled.f_frsize or None,
        "free_bytes": filled.f_bavail * filled.f_frsize if filled.f_blocks else None,
        "total_inodes": filled.f_files or None,
        "free_inodes": filled.f_favail if filled.f_files else None,
        "writable": not read_only and os.access(path, os.W_OK | os.X_OK),
        "inside": _inside(path, sources),
    }
    if mount is None:
        return f"device {mode.st_dev}", facts
    return mount.device, {**facts, "file_system": mount.file_system, "kind": mount.kind}


def _inside(path: Path, sources: Sources) -> tuple[str, ...]:
    """Return the variables of the job or session in whose folder ``path`` lies, or that name it."""
    place = path.resolve()
    return tuple(
        name
        for name in (*TEMPORARY, *SCRATCH)
        if (value := sources.environment.get(name))
        and Path(value).is_absolute()
        and place.is_relative_to(Path(value).resolve())
    )
