"""Writing the app as a whole folder: all of it or nothing, and never over somebody else's work."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError

MARK = ".mlhpc-files.json"
"""Names and hashes of the files that were written, so that ``--force`` only replaces those."""


@dataclass(frozen=True)
class AppFile:
    """A file to write."""

    text: str
    executable: bool = False


def write_folder(folder: Path, files: Mapping[str, AppFile], *, force: bool = False) -> None:
    """Write ``files`` as the new folder ``folder``; the folder appears whole or not at all.

    Args:
        folder: a path where nothing is, unless ``force`` is given.
        files: content by path relative to the folder.
        force: replace a folder that this function wrote and nobody changed since.

    Raises:
        UsageError: if something is there that may not be replaced.
        MlhpcError: if it cannot be written; what was there is then as it was.
    """
    if folder.is_symlink() or folder.exists():
        _check_replaceable(folder, force=force)
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        new = temporary / "new"
        _write(new, files)
        if folder.exists():
            folder.rename(temporary / "old")
        new.rename(folder)
    except OSError as error:
        if temporary is not None and (temporary / "old").exists() and not folder.exists():
            (temporary / "old").rename(folder)
        raise MlhpcError(f"Cannot write {folder}: {error.strerror}; nothing was changed.") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _write(folder: Path, files: Mapping[str, AppFile]) -> None:
    """Write the files so that everybody can read them: a portal reads an app as the learner."""
    folder.mkdir()
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
        path.chmod(0o755 if file.executable else 0o644)
    hashes = {name: _hash(file.text.encode()) for name, file in files.items()}
    (folder / MARK).write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (folder / MARK).chmod(0o644)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)


def _check_replaceable(folder: Path, *, force: bool) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise UsageError(f"{folder} is not a folder of its own: choose another --out.")
    if not force:
        raise UsageError(f"{folder} exists already: choose another --out, or replace it with --force.")
    try:
        hashes = json.loads((folder / MARK).read_text(encoding="utf-8"))
        ours = isinstance(hashes, dict)
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise UsageError(f"{folder} was not written by this command and is left alone: choose another --out.")
    changed = sorted(set(_changed(folder, hashes)))
    if changed:
        raise UsageError(
            f"{folder} was changed since it was written ({', '.join(changed)}): move those files away "
            "first, or choose another --out."
        )


def _changed(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """Return the files that were edited or added by hand."""
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            relative = path.relative_to(folder).as_posix()
            if relative != MARK and (path.is_symlink() or hashes.get(relative) != _hash(path.read_bytes())):
                found.append(relative)
    return found


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
