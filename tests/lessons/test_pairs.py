import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlhpc.errors import MlhpcError
from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.pairs import check_pair
from tests.lessons.conftest import Edit


def messages(lesson: LessonFiles) -> list[str]:
    """Return what is said about the lesson's pair."""
    return [str(found) for found in check_pair(lesson)]


def change(path: Path, edit: Callable[[Any], object]) -> None:
    """Change the executed notebook as an editor would, and write it back."""
    notebook = json.loads(path.read_text())
    edit(notebook)
    path.write_text(json.dumps(notebook))


def code_cell(notebook: Any, number: int) -> Any:
    """Return code cell ``number``, from 1."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"][number - 1]


def test_an_executed_pair_is_in_order(lesson: LessonFiles) -> None:
    assert messages(lesson) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("terms / 10", "terms / 10.0", "cell 7 differs in source"),
        ('tags=["nbval-check-output"]', 'tags=["other"]', "cell 7 differs in metadata"),
        ("# %% [markdown]\n# ## See it", "# %%\n# ## See it", "cell 6 differs in cell_type"),
        ("exact = math.fsum(tenths)", "exact = math.fsum(tenths)\n\n# %%\nexact", "has 18 cells,"),
    ],
)
def test_a_source_that_was_edited_since_is_named(
    lesson: LessonFiles, edit: Edit, old: str, new: str, expected: str
) -> None:
    edit(lesson.source, old, new)
    found = messages(lesson)
    assert any(expected in message or "cells, 901" in message for message in found), found
    assert any("mlhpc lesson run 901-sums-of-tenths" in message for message in found)


@pytest.mark.parametrize(
    ("edit_cell", "expected"),
    [
        (lambda cell: cell.update(execution_count=None), "code cell 3 was never run"),
        (lambda cell: cell.update(execution_count=7), "code cell 3 was run as number 7"),
        (lambda cell: cell.update(outputs=[]), "code cell 3 is tagged nbval-check-output but has no output"),
        (lambda cell: cell.update(source="1 / 0"), "differs in source"),
        (lambda cell: cell.update(id="handmade"), "differs in id"),
        (lambda cell: cell["metadata"].update(scrolled=True), "differs in metadata"),
        (
            lambda cell: cell["outputs"].append(
                {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
            ),
            "code cell 3 ended in KeyError: 'x'",
        ),
        (
            lambda cell: cell["outputs"].append(
                {"output_type": "stream", "name": "stderr", "text": "Warning"}
            ),
            "code cell 3 shows standard error",
        ),
        (
            lambda cell: cell["outputs"].append(
                {"output_type": "stream", "name": "stdout", "text": "/home/someone/data"}
            ),
            "code cell 3 holds the absolute path /home/someone/data",
        ),
    ],
)
def test_a_pair_that_was_edited_by_hand_is_named(
    lesson: LessonFiles, edit_cell: Callable[[Any], object], expected: str
) -> None:
    change(lesson.notebook, lambda notebook: edit_cell(code_cell(notebook, 3)))
    found = messages(lesson)
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize(
    "edit_metadata",
    [
        lambda metadata: metadata.pop("mlhpc"),
        lambda metadata: metadata["kernelspec"].update(name="other"),
        lambda metadata: metadata["language_info"].update(version="3.11.7"),
        lambda metadata: metadata.update(widgets={}),
    ],
)
def test_metadata_of_another_tool_is_named(
    lesson: LessonFiles, edit_metadata: Callable[[Any], object]
) -> None:
    change(lesson.notebook, lambda notebook: edit_metadata(notebook["metadata"]))
    assert "was not written by 'mlhpc lesson run'" in "".join(messages(lesson))


def test_a_stripped_notebook_is_named_for_every_cell(lesson: LessonFiles) -> None:
    def strip(notebook: Any) -> None:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(execution_count=None, outputs=[])

    change(lesson.notebook, strip)
    assert [message.split(": ")[-1] for message in messages(lesson)] == [
        f"code cell {number} was never run" for number in range(1, 11)
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("# # Some the title", "# Some the title", "must be Markdown that starts with a title"),
        ("exact = math.fsum(tenths)", "", "is empty"),
        ("# %%\nnaive = 0.0", "naive = 0.0", "5 code cells besides exercises; a lesson has 6 to 14"),
    ],
)
def test_the_shape_of_a_notebook_is_checked(
    lesson: LessonFiles, edit: Edit, old: str, new: str, expected: str
) -> None:
    edit(lesson.source, old, new)
    assert any(expected in message for message in messages(lesson)), messages(lesson)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"nbformat": 4, "nbformat_minor": 5}'])
def test_a_damaged_pair_is_one_sentence(lesson: LessonFiles, text: str) -> None:
    lesson.notebook.write_text(text)
    with pytest.raises(MlhpcError, match="is not a notebook") as caught:
        check_pair(lesson)
    assert len(str(caught.value).splitlines()) == 1
