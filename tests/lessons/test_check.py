import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.lessons.check import PLACEHOLDER, check_course, check_lesson
from mlhpc.lessons.execute import execute_lesson
from mlhpc.lessons.layout import LessonFiles, locate, misnamed
from mlhpc.lessons.new import new_lesson
from tests.lessons.conftest import STEM, Edit


def messages(lesson: LessonFiles) -> list[str]:
    """Return what the check of the lesson says."""
    return [str(found) for found in check_lesson(STEM, lesson.root)]


def test_a_finished_lesson_has_nothing_to_find(lesson: LessonFiles) -> None:
    assert messages(lesson) == []
    assert check_course(lesson.root) == ()


def test_a_new_lesson_lacks_only_what_its_author_has_to_write(tmp_path: Path) -> None:
    new_lesson("902-new", tmp_path)
    execute_lesson("902-new", tmp_path)
    found = check_lesson("902-new", tmp_path)
    assert len(found) > 10
    assert all(finding.message.startswith("a placeholder is left: ") for finding in found)
    files = locate("902-new", tmp_path)
    lines = [line for path in (files.episode, files.source) for line in path.read_text().splitlines()]
    assert len(found) == sum(PLACEHOLDER in line for line in lines)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("episode", "901-sums-of-tenths.md: is missing"),
        ("source", "901-sums-of-tenths.py: is missing"),
        ("notebook", "901-sums-of-tenths.ipynb: is missing: make it with 'mlhpc lesson run"),
    ],
)
def test_each_missing_file_is_one_finding(lesson: LessonFiles, missing: str, expected: str) -> None:
    getattr(lesson, missing).unlink()
    found = messages(lesson)
    assert len(found) == 1
    assert expected in found[0]


def test_a_renamed_file_is_found_from_both_sides(lesson: LessonFiles) -> None:
    lesson.source.rename(lesson.source.with_name("901-sum-of-tenths.py"))
    found = [str(finding) for finding in check_course(lesson.root)]
    assert sum("is missing" in message for message in found) == 3


def test_files_that_belong_to_no_lesson_are_found(lesson: LessonFiles) -> None:
    lesson.episode.with_name("Notes.md").write_text("x")
    lesson.source.with_name("101_underscore.py").write_text("x")
    assert [path.name for path in misnamed(lesson.root)] == ["Notes.md", "101_underscore.py"]
    assert ["not a lesson's name" in str(finding) for finding in check_course(lesson.root)] == [True, True]


def test_a_faulty_front_matter_is_said_once_and_hides_nothing_else(lesson: LessonFiles, edit: Edit) -> None:
    edit(lesson.episode, "teaching: 30", "teachin: 30")
    edit(lesson.episode, "## The case", "## The case that took 3 GB")
    edit(lesson.source, "exact = math.fsum(tenths)", "exact = math.fsum(list(tenths))")
    found = messages(lesson)
    assert sum("unknown key; did you mean teaching" in message for message in found) == 1
    assert sum("'3 GB' has nothing behind it" in message for message in found) == 1
    assert sum("differs in source" in message for message in found) == 1


def test_an_unreadable_pair_is_a_finding(lesson: LessonFiles) -> None:
    lesson.notebook.write_text("{")
    assert ["is not a notebook" in message for message in messages(lesson)] == [True]


def test_unknown_and_impossible_names_are_refused(lesson: LessonFiles) -> None:
    with pytest.raises(UsageError, match="did you mean 901-sums-of-tenths"):
        check_lesson("901-sum-of-tenths", lesson.root)
    for stem in ("Foo", "../901-x", "901", "901-", "901-X", "091-x", "901-x/y", ""):
        with pytest.raises(UsageError, match="is not the stem of a lesson"):
            check_lesson(stem, lesson.root)


def test_a_number_is_given_once(lesson: LessonFiles) -> None:
    before = lesson.episode.read_bytes()
    for stem in (STEM, "901-other"):
        with pytest.raises(UsageError, match=f"Lesson 901 exists already \\({STEM}\\)"):
            new_lesson(stem, lesson.root)
    assert lesson.episode.read_bytes() == before
    assert not locate("901-other", lesson.root).episode.exists()


def test_new_files_that_cannot_be_written_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "episodes").write_text("in the way")
    with pytest.raises(MlhpcError, match="Cannot write"):
        new_lesson("902-new", tmp_path)


@pytest.mark.slow
def test_a_new_lesson_passes_ruff_and_nbval(lesson: LessonFiles) -> None:
    root = Path(__file__).parents[2]
    for arguments in (
        ["ruff", "check", "--config", str(root / "pyproject.toml"), str(lesson.source)],
        ["ruff", "format", "--check", "--config", str(root / "pyproject.toml"), str(lesson.source)],
        ["pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", str(lesson.notebook)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=lesson.root,
            env={**os.environ, "MLHPC_TIER": "smoke"},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "10 passed" in done.stdout or arguments[0] == "ruff"
