"""All regular files below a folder with their times, without following links or touching anything."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class LeftOut:
    """What a walk did not look into; paths are relative to the folder."""

    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Path and reason."""
    other_file_systems: list[str] = field(default_factory=list)
    links: int = 0
    """Symbolic links: they point to files, and do not hold them."""


def walk(
    folder: Path, left_out: LeftOut, *, other_file_systems: bool = False
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the path, relative to ``folder``, and the status of each regular file below it.

    ``folder`` itself may be a symbolic link; below it, links are counted and not followed. Folders on another
    file system than ``folder`` are left out unless ``other_file_systems``. What disappears meanwhile is no
    longer there to be at risk. Reading status and names moves no file's access time.

    Args:
        left_out: receives what was not looked into, while the walk goes on.
    """
    root = os.fspath(folder)
    waiting = [""]
    device: int | None = None
    while waiting:
        inside = waiting.pop()
        try:
            if device is None:
                device = os.stat(root).st_dev  # noqa: PTH116 - the walk works on text, for speed
            with os.scandir(os.path.join(root, inside)) as entries:  # noqa: PTH118
                found = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            left_out.unreadable.append((inside or ".", error.strerror or str(error)))
            continue
        folders = []
        for entry in found:
            path = f"{inside}/{entry.name}" if inside else entry.name
            status = _status(entry, path, left_out)
            if status is None:
                continue
            if stat.S_ISREG(status.st_mode):
                yield path, status
            elif stat.S_ISLNK(status.st_mode):
                left_out.links += 1
            elif stat.S_ISDIR(status.st_mode):
                if status.st_dev == device or other_file_systems:
                    folders.append(path)
                else:
                    left_out.other_file_systems.append(path)
        waiting += reversed(folders)


def _status(entry: "os.DirEntry[str]", path: str, left_out: LeftOut) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        left_out.unreadable.append((path, error.strerror or str(error)))
        return None
