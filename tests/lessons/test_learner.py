import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlhpc.errors import MlhpcError
from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.learner import write_learner_copy
from tests.lessons.conftest import STEM, Edit


def change(path: Path, edit: Callable[[Any], object]) -> None:
    """Change a notebook as a learner's Jupyter would, and save it."""
    notebook = json.loads(path.read_text())
    edit(notebook)
    path.write_text(json.dumps(notebook))


def write_code(notebook: Any) -> None:
    notebook["cells"][-1]["source"] = ["my = 'work'"]


def run_cell(notebook: Any) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["42\n"]}
    notebook["cells"][-1].update(execution_count=1, outputs=[output])


def test_a_copy_is_written_once_and_then_left(lesson: LessonFiles, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    first = write_learner_copy(STEM, out, lesson.root)
    assert (first.path, first.outcome) == (out / f"{STEM}.ipynb", "written")
    assert "isclose" not in first.path.read_text()
    assert write_learner_copy(STEM, out, lesson.root).outcome == "unchanged"
    assert [path.name for path in out.iterdir()] == [f"{STEM}.ipynb"]


def test_an_untouched_copy_follows_the_course(lesson: LessonFiles, tmp_path: Path, edit: Edit) -> None:
    copy = write_learner_copy(STEM, tmp_path / "out", lesson.root).path
    change(copy, lambda notebook: notebook["metadata"].update(trusted=True))
    edit(lesson.source, "Ten tenths should make one.", "Ten tenths should be one.")
    assert write_learner_copy(STEM, tmp_path / "out", lesson.root).outcome == "written"
    assert "should be one" in copy.read_text()


@pytest.mark.parametrize("work", [write_code, run_cell])
def test_work_is_never_overwritten(
    lesson: LessonFiles, tmp_path: Path, edit: Edit, work: Callable[[Any], object]
) -> None:
    out = tmp_path / "out"
    copy = write_learner_copy(STEM, out, lesson.root).path
    change(copy, work)
    mine = copy.read_bytes()
    edit(lesson.source, "Ten tenths should make one.", "Ten tenths should be one.")
    second = write_learner_copy(STEM, out, lesson.root)
    assert second.outcome == "written beside the edited one"
    assert second.path == out / f"{STEM}.new.ipynb"
    assert copy.read_bytes() == mine
    change(second.path, work)
    also_mine = second.path.read_bytes()
    with pytest.raises(MlhpcError, match="both hold work of yours"):
        write_learner_copy(STEM, out, lesson.root)
    assert (copy.read_bytes(), second.path.read_bytes()) == (mine, also_mine)


@pytest.mark.parametrize(
    "content", [b"", b"not a notebook", b"\xff", b"{}", b"[]", b'{"metadata": {"mlhpc": 3}}']
)
def test_a_file_that_is_no_copy_is_somebodys_work(
    lesson: LessonFiles, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / f"{STEM}.ipynb").write_bytes(content)
    assert write_learner_copy(STEM, tmp_path, lesson.root).path.name == f"{STEM}.new.ipynb"
    assert (tmp_path / f"{STEM}.ipynb").read_bytes() == content


def test_a_folder_that_cannot_be_written_is_one_sentence(lesson: LessonFiles, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MlhpcError, match="Cannot write"):
        write_learner_copy(STEM, tmp_path / "file" / "out", lesson.root)
