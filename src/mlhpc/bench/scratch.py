"""Folders for the files of a benchmark, which are gone afterwards."""

import os
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.machine.mounts import mount_of, read_mounts
from mlhpc.machine.sources import Sources
from mlhpc.paths import is_folder

SETTING = "MLHPC_DATA"


def scratch_parent() -> Path:
    """Return the folder in which benchmarks make their files: ``MLHPC_DATA``, or the system's temporary one.

    Raises:
        UsageError: if the folder does not exist or cannot be written.
    """
    setting = os.environ.get(SETTING)
    parent = Path(setting) if setting else Path(tempfile.gettempdir())
    named = SETTING if setting else "the system's temporary folder"
    if not is_folder(parent):
        raise UsageError(f"{parent} ({named}) is not a folder: create it, or set {SETTING} to another.")
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        raise UsageError(
            f"{parent} ({named}) cannot be written ({error.strerror}): set {SETTING} to a folder of yours."
        ) from error
    return parent


def filesystem_kind(path: Path) -> str:
    """Return the kind of file system, for instance ``ext4``, ``lustre`` or ``tmpfs``; else ``unknown``."""
    sources = Sources()
    place = path.resolve()
    # Where the path is not there yet, the folder decides in which it will be made.
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    mount = mount_of(existing, read_mounts(sources), sources)
    return mount.file_system if mount is not None else "unknown"


class SharedFolder(ABC):
    """A temporary folder that is filled for its first user and removed with its last.

    Cases that are timed in turns share one: making the files takes longer than reading them. The end of the
    process removes the folder too, after Ctrl-C as well.
    """

    def __init__(self, parent: Path | None = None) -> None:
        """Note where to make it: in ``parent``, or else where ``scratch_parent`` says."""
        self._parent = parent
        self._users = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @abstractmethod
    def _fill(self) -> None:
        """Write the files into ``self.folder``."""

    @property
    def folder(self) -> Path:
        """Where the files are, while somebody uses them."""
        if self._folder is None:
            raise RuntimeError("the folder is not open")
        return Path(self._folder.name)

    def open(self) -> None:
        """Count one more user; make the files for the first.

        Raises:
            MlhpcError: if the files cannot be written; nothing is left then.
        """
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="mlhpc-bench-", dir=self._parent or scratch_parent()
            )
            try:
                self._fill()
            except OSError as error:
                self._remove()
                elsewhere = "" if self._parent else f", or set {SETTING} to a folder that has more"
                raise MlhpcError(
                    f"Cannot write the files of the benchmark ({error.strerror}): free some space{elsewhere}."
                ) from error
            except BaseException:
                self._remove()
                raise
        self._users += 1

    def close(self) -> None:
        """Undo one ``open``; the last user's call removes the folder."""
        self._users = max(0, self._users - 1)
        if self._users == 0:
            self._remove()

    def _remove(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()
