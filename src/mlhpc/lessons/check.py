"""All checks of a lesson, and of the course."""

from collections.abc import Callable, Iterable
from pathlib import Path

from mlhpc.errors import MlhpcError
from mlhpc.lessons.execute import read_lesson_source
from mlhpc.lessons.exercises import exercise_findings
from mlhpc.lessons.findings import Finding
from mlhpc.lessons.front_matter import load_lesson, split_front_matter
from mlhpc.lessons.layout import LessonFiles, existing, lesson_stems, misnamed, read_text
from mlhpc.lessons.pairs import check_pair
from mlhpc.lessons.prose import check_prose
from mlhpc.lessons.structure import check_structure

PLACEHOLDER = "REPLACE"
"""Stands in a new lesson's files wherever the author's text belongs."""


def check_course(root: Path | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with the lessons under ``root`` (the course checkout unless given).

    Files in ``episodes`` and ``notebooks`` that belong to no lesson are findings too.
    """
    strays = [
        Finding(path, None, "not a lesson's name: three digits and a slug, 102-choosing-a-gpu")
        for path in misnamed(root)
    ]
    lessons = [finding for stem in lesson_stems(root) for finding in check_lesson(stem, root)]
    return (*strays, *lessons)


def check_lesson(stem: str, root: Path | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with one lesson; an empty tuple says that it is complete.

    What a file that cannot be read would have shown is left out; the file itself is a finding.

    Raises:
        UsageError: if there is no lesson of that name.
    """
    files = existing(stem, root)
    missing = [path for path in (files.episode, files.source, files.notebook) if not path.exists()]
    findings = [Finding(path, None, _missing(path, files)) for path in missing]
    checks: tuple[tuple[Callable[[LessonFiles], Iterable[Finding]], tuple[Path, ...]], ...] = (
        (_episode, (files.episode,)),
        (_structure, (files.episode,)),
        (_exercises, (files.episode, files.source)),
        (check_pair, (files.source, files.notebook)),
        (_placeholders, ()),
    )
    for check, needed in checks:
        if set(needed) & set(missing):
            continue
        try:
            findings += check(files)
        except MlhpcError as error:
            findings += [Finding(None, None, sentence) for sentence in str(error).splitlines()]
    # Several checks read the front matter: what is wrong with it is said once.
    return tuple(dict.fromkeys(findings))


def _missing(path: Path, files: LessonFiles) -> str:
    if path == files.notebook:
        return f"is missing: make it with 'mlhpc lesson run {files.stem}'"
    return "is missing: a lesson is an episode and a notebook's source with the same stem"


def _episode(files: LessonFiles) -> Iterable[Finding]:
    return check_prose(read_text(files.episode), files.episode)


def _structure(files: LessonFiles) -> Iterable[Finding]:
    lesson = load_lesson(files.stem, files.root)
    _, body, before = split_front_matter(read_text(files.episode), files.episode)
    return check_structure(body, before + 1, lesson, files.episode)


def _exercises(files: LessonFiles) -> Iterable[Finding]:
    lesson = load_lesson(files.stem, files.root)
    return exercise_findings(read_lesson_source(files), lesson.exercise_list, files.source)


def _placeholders(files: LessonFiles) -> Iterable[Finding]:
    for path in (files.episode, files.source):
        for number, line in enumerate(read_text(path).splitlines() if path.exists() else (), 1):
            if PLACEHOLDER in line:
                yield Finding(path, number, f"a placeholder is left: {line.strip()}")
