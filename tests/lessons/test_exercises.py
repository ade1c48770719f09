from pathlib import Path

import pytest

from mlhpc.errors import MlhpcError
from mlhpc.lessons.execute import read_lesson_source
from mlhpc.lessons.exercises import blank_lesson, blank_notebook, exercise_findings
from mlhpc.lessons.front_matter import load_lesson
from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.notebook import code_cells
from mlhpc.lessons.proof import prove_exercises
from tests.lessons.conftest import STEM, Edit


def tag_messages(lesson: LessonFiles) -> list[str]:
    """Return what is said about the tags of the lesson's cells."""
    exercises = load_lesson(STEM, lesson.root).exercise_list
    return [
        found.message for found in exercise_findings(read_lesson_source(lesson), exercises, lesson.source)
    ]


def test_the_blank_copy_holds_tasks_and_no_solutions(lesson: LessonFiles) -> None:
    blank = blank_lesson(lesson)
    sources = [cell.source for cell in code_cells(blank)]
    assert sources[6] == (
        "# Exercise 901-1: Predict an equality (5 minutes)\n# Your code here.\nprediction = ..."
    )
    assert sources[8] == "def nearly_equal(a, b):\n    # Your code here.\n    ..."
    assert not any("isclose" in source or "prediction = True" in source for source in sources)
    assert all(cell.execution_count is None and cell.outputs == [] for cell in code_cells(blank))
    assert "solution" not in [tag for cell in blank.cells for tag in cell.metadata.get("tags", [])]
    kept = [cell.source for cell in code_cells(read_lesson_source(lesson))]
    assert [sources[i] for i in (0, 1, 2, 3, 4, 5, 7, 9)] == [kept[i] for i in (0, 1, 2, 3, 4, 5, 7, 9)]


def test_a_solution_that_cannot_be_blanked_names_its_cell() -> None:
    source = '# %% [markdown]\n# # T\n# %%\nx = 1\n# %% tags=["exercise-901-1"]\n# solution\nx = 2\n'
    with pytest.raises(MlhpcError, match=r"x\.py: code cell 2: line 1 of the cell: '# solution' without"):
        blank_notebook(source, (), "x.py")


def test_the_tags_of_a_new_lesson_fit_its_exercise_list(lesson: LessonFiles) -> None:
    assert tag_messages(lesson) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('tags=["check-901-1"]', "", "exercise 901-1 has no cell tagged check-901-1"),
        ('tags=["check-901-1"]', 'tags=["check-901-7"]', "the tag check-901-7 names no exercise"),
        (
            'tags=["exercise-901-2"]',
            'tags=["exercise-901-7"]',
            "exercise 901-2 has no cell tagged exercise-901-2",
        ),
        ('"exercise-901-1", "solution"', '"exercise-901-1"', "nothing in it is marked as a solution"),
        ('"exercise-901-1", "solution"', '"solution"', "no tag exercise-ID says of which exercise"),
        ('tags=["exercise-901-2"]', "", "no tag exercise-ID says of which exercise"),
        ('tags=["check-901-1"]', 'tags=["check-901-1x"]', "exercise 901-1 has no cell tagged check-901-1"),
        ("    # end of solution\n", "", "without a '# end of solution'"),
    ],
)
def test_tags_that_do_not_fit_are_named(
    lesson: LessonFiles, edit: Edit, old: str, new: str, expected: str
) -> None:
    edit(lesson.source, old, new)
    found = tag_messages(lesson)
    assert any(expected in message for message in found), found


def test_the_checks_of_a_new_lesson_mean_something_and_proving_it_changes_no_file(
    lesson: LessonFiles,
) -> None:
    def state(path: Path) -> tuple[bytes, float]:
        return path.read_bytes(), path.stat().st_mtime

    before = {path: state(path) for path in (lesson.episode, lesson.source, lesson.notebook)}
    assert prove_exercises(STEM, lesson.root) == ()
    assert {path: state(path) for path in before} == before


def test_checks_that_show_nothing_are_named(lesson: LessonFiles, edit: Edit) -> None:
    edit(lesson.source, "assert prediction is (0.25 * 4 == 1.0)", "assert prediction")
    edit(lesson.source, "assert nearly_equal(0.1 + 0.2, 0.3) is True", "assert 1 + nearly_equal(0.1, 0.1)")
    lesson.source.write_text(lesson.source.read_text() + "\n# %%\n1 + prediction\n")
    found = [finding.message for finding in prove_exercises(STEM, lesson.root)]
    assert [message.partition(" (TypeError")[0] for message in found] == [
        "code cell 8 of the blank copy: the check of 901-1 passes without a solution",
        "code cell 10 of the blank copy: the check of 901-2 fails by accident",
        "code cell 11 of the blank copy: it fails",
    ]


def test_a_wordless_check_and_a_wrong_solution_are_named(lesson: LessonFiles, edit: Edit) -> None:
    edit(lesson.source, ', "a quarter is a power of two: does it have a finite binary form?"', "")
    edit(lesson.source, "rel_tol=1e-9", "rel_tol=1e-99")
    wordless, wrong = [finding.message for finding in prove_exercises(STEM, lesson.root)]
    assert wordless.startswith("code cell 8 of the blank copy: the check of 901-1 fails without a word")
    assert wrong.startswith("with the solutions: ")
    assert "AssertionError: they differ in the last digit" in wrong
