"""A small course in a temporary folder: one lesson made from the templates, its placeholders replaced."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mlhpc.lessons.execute import execute_lesson
from mlhpc.lessons.layout import LessonFiles, locate
from mlhpc.lessons.new import new_lesson

STEM = "901-sums-of-tenths"


@pytest.fixture(scope="session")
def executed_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of a course with one finished, executed lesson. Not to be changed: copy it."""
    root = tmp_path_factory.mktemp("course")
    (root / "data").mkdir()
    for path in new_lesson(STEM, root):
        path.write_text(path.read_text().replace("REPLACE.svg", "sums.svg").replace("REPLACE", "Some"))
    execute_lesson(STEM, root, tier="smoke")
    return root


@pytest.fixture
def lesson(executed_course: Path, tmp_path: Path) -> LessonFiles:
    """Return a finished lesson of this test's own."""
    root = tmp_path / "course"
    shutil.copytree(executed_course, root)
    return locate(STEM, root)


Edit = Callable[[Path, str, str], None]


@pytest.fixture
def edit() -> Edit:
    """Return a function that replaces text which must be in a file."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace
