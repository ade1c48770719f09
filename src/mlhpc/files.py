"""Writing files so that a reader never sees half of one, and appending lines that never tear."""

import fcntl
import os
import tempfile
from pathlib import Path

from mlhpc.errors import MlhpcError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the new one, never a part.

    Text is written in UTF-8. The content goes to a temporary file in the same folder, is flushed to disk and
    renamed over ``path``.

    Raises:
        MlhpcError: if the folder cannot be written or the disk is full; ``path`` is then as it was.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(_mode_for(path))
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise MlhpcError(f"Cannot write {path}: {error.strerror}; nothing was changed.") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _mode_for(path: Path) -> int:
    """Return the permission bits for a replaced file: those it had, or the usual ones for a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    current = os.umask(0)
    os.umask(current)
    return 0o666 & ~current


def append_line(path: Path, line: str) -> None:
    """Append one line to ``path``, whole or not at all, safe with other processes that append to it.

    The file is locked for the write; if the write fails in the middle (a full disk), the part that was
    written is cut off again, so that earlier lines stay readable.

    Raises:
        MlhpcError: if the line cannot be written; the file then ends where it ended before.
        ValueError: if ``line`` itself holds a line break.
    """
    if "\n" in line:
        raise ValueError("a line to append must not hold a line break")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise MlhpcError(f"Cannot open {path} for appending: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        end = os.fstat(descriptor).st_size
        torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
        data = (b"\n" if torn else b"") + line.encode() + b"\n"
        _write_or_undo(descriptor, data, end)
    except OSError as error:
        raise MlhpcError(
            f"Cannot append to {path}: {error.strerror}; the lines before are untouched."
        ) from error
    finally:
        os.close(descriptor)


def _write_or_undo(descriptor: int, data: bytes, end: int) -> None:
    """Write all of ``data``, or cut the file back to ``end`` bytes and raise."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, end)
        raise
