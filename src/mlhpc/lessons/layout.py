"""Which files make up a lesson, and which lessons there are."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.paths import course_root

STEM = re.compile(r"[1-9][0-9]{2}(-[a-z0-9]+)+")


@dataclass(frozen=True)
class LessonFiles:
    """The three files of one lesson. They need not exist."""

    stem: str
    root: Path

    @property
    def number(self) -> str:
        """The three digits that the stem starts with."""
        return self.stem[:3]

    @property
    def episode(self) -> Path:
        """The explanation, MyST Markdown with front matter."""
        return self.root / "episodes" / f"{self.stem}.md"

    @property
    def source(self) -> Path:
        """The notebook's source, jupytext py:percent: the one that is edited."""
        return self.root / "notebooks" / f"{self.stem}.py"

    @property
    def notebook(self) -> Path:
        """The same notebook executed, with its outputs: never edited by hand."""
        return self.root / "notebooks" / f"{self.stem}.ipynb"


def locate(stem: str, root: Path | None = None) -> LessonFiles:
    """Return the files of the lesson ``stem`` under ``root`` (the course checkout unless given).

    Raises:
        UsageError: if ``stem`` is not three digits and a slug in lower case.
    """
    if not STEM.fullmatch(stem):
        raise UsageError(
            f"{stem!r} is not the stem of a lesson: it is three digits and a slug in lower case, "
            "such as 102-choosing-a-gpu."
        )
    return LessonFiles(stem, course_root() if root is None else root)


def lesson_stems(root: Path | None = None) -> tuple[str, ...]:
    """Return the stems of all files in ``episodes`` and ``notebooks``, sorted.

    A stem appears here as soon as one of its three files exists, so that checks can say which are missing.
    Files whose name is not a stem are not lessons; `misnamed` returns them.
    """
    return tuple(sorted({path.stem for path in _candidates(root) if STEM.fullmatch(path.stem)}))


def misnamed(root: Path | None = None) -> tuple[Path, ...]:
    """Return the files in ``episodes`` and ``notebooks`` whose name is not a lesson's stem, sorted."""
    return tuple(sorted(path for path in _candidates(root) if not STEM.fullmatch(path.stem)))


def _candidates(root: Path | None) -> list[Path]:
    base = course_root() if root is None else root
    patterns = ("episodes/*.md", "notebooks/*.py", "notebooks/*.ipynb")
    return [path for pattern in patterns for path in base.glob(pattern)]


def existing(stem: str, root: Path | None = None) -> LessonFiles:
    """Return the files of a lesson of which at least one exists.

    Raises:
        UsageError: if there is none; the message names the nearest stem.
    """
    files = locate(stem, root)
    stems = lesson_stems(root)
    if stem in stems:
        return files
    near = get_close_matches(stem, stems, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(stems) or 'none yet'}."
    raise UsageError(f"There is no lesson {stem}; {hint}")


def read_text(path: Path) -> str:
    """Return the text of a lesson's file.

    Raises:
        MlhpcError: if it is missing, cannot be read or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise MlhpcError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise MlhpcError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}).") from error
