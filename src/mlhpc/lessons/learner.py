"""Learner copies of notebooks: without outputs and solutions, and never written over somebody's work."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.files import write_atomically
from mlhpc.lessons.exercises import blank_lesson
from mlhpc.lessons.layout import existing
from mlhpc.lessons.notebook import write_notebook


@dataclass(frozen=True)
class LearnerCopy:
    """Where a learner's copy is now."""

    path: Path
    outcome: str
    """``written``, ``unchanged``, or ``written beside the edited one``."""


def write_learner_copy(stem: str, folder: Path, root: Path | None = None) -> LearnerCopy:
    """Write the learner's copy of a lesson's notebook into ``folder``.

    A copy that was worked in is never overwritten: the new one is then written beside it as
    ``STEM.new.ipynb``.

    Raises:
        MlhpcError: if there is no such lesson, it cannot be blanked, or both copies were worked in.
    """
    notebook = blank_lesson(existing(stem, root))
    notebook.metadata["mlhpc"] = {"learner_copy": _digest(notebook)}
    text = write_notebook(notebook)
    first, second = folder / f"{stem}.ipynb", folder / f"{stem}.new.ipynb"
    for path in (first, second):
        present = _content(path)
        if present == text.encode():
            return LearnerCopy(path, "unchanged")
        if present is None or _is_untouched(path):
            write_atomically(path, text)
            return LearnerCopy(path, "written" if path == first else "written beside the edited one")
    raise MlhpcError(
        f"{first} and {second} both hold work of yours: rename or remove one, nothing was overwritten."
    )


def _content(path: Path) -> bytes | None:
    """Return what the file holds; None if there is no file.

    Raises:
        MlhpcError: if it cannot be read, or is a folder.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise MlhpcError(
            f"Cannot read {path}: {error.strerror}; choose another folder with --out."
        ) from error


def _digest(notebook: Any) -> str:
    """Return a hash of what a learner can change: kinds, sources and outputs of all cells."""
    content = [
        [cell["cell_type"], "".join(cell["source"]), cell.get("outputs", [])] for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _is_untouched(path: Path) -> bool:
    """Return whether a file is a learner's copy as it was written; anything else counts as work."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        recorded = notebook["metadata"]["mlhpc"]["learner_copy"]
        return bool(recorded == _digest(notebook))
    except (OSError, ValueError, KeyError, TypeError):
        return False
