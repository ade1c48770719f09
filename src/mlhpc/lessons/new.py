"""Start a lesson: the two files that its author goes on to edit."""

from importlib.resources import files as package_files
from pathlib import Path
from string import Template

from mlhpc.errors import UsageError
from mlhpc.files import write_atomically
from mlhpc.lessons.layout import lesson_stems, locate


def new_lesson(stem: str, root: Path | None = None) -> tuple[Path, Path]:
    """Write the episode and the notebook's source of a new lesson, and return their paths.

    Both run and follow the course's form; what is to be replaced says so, and checks find what is left of it.

    Raises:
        UsageError: if ``stem`` is not a lesson's name, or its number is taken; nothing is written then.
        MlhpcError: if a file cannot be written.
    """
    lesson = locate(stem, root)
    taken = [other for other in lesson_stems(root) if other[:3] == lesson.number]
    if taken:
        raise UsageError(f"Lesson {lesson.number} exists already ({taken[0]}): choose another number.")
    texts = {
        path: _fill(template, lesson.stem) for path, template in _templates(lesson.episode, lesson.source)
    }
    written: list[Path] = []
    try:
        for path, text in texts.items():
            write_atomically(path, text)
            written.append(path)
    except BaseException:
        # A lesson is both files: half of one would take the number and fail every check.
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return lesson.episode, lesson.source


def _templates(episode: Path, source: Path) -> tuple[tuple[Path, str], ...]:
    return (episode, "episode.md.template"), (source, "notebook.py.template")


def _fill(template: str, stem: str) -> str:
    text = (package_files("mlhpc.lessons") / "templates" / template).read_text(encoding="utf-8")
    return Template(text).substitute(stem=stem, number=stem[:3])
