"""The exercises in a notebook's source, and the notebook without their solutions.

A cell tagged ``exercise-101-1`` belongs to exercise 101-1. Tagged ``solution`` as well it is blanked as a
whole, otherwise between its marks (see `mlhpc.lessons.blank`). The cell tagged ``check-101-1`` asserts that
the exercise is done, with a sentence that says what to look at.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.lessons.blank import blank_blocks, blank_cell, has_blocks, names_read
from mlhpc.lessons.findings import Finding
from mlhpc.lessons.front_matter import Exercise, load_lesson
from mlhpc.lessons.layout import LessonFiles, read_text
from mlhpc.lessons.notebook import cell_id, code_cells, read_source, tags

_TAG = re.compile(r"(?P<role>exercise|check)-(?P<id>[1-9]\d\d-[1-9])")
SOLUTION = "solution"


def exercise_of(cell: Any, role: str) -> str | None:
    """Return the id of the exercise that a cell is the ``exercise`` or the ``check`` of, or None."""
    for tag in sorted(tags(cell)):
        match = _TAG.fullmatch(tag)
        if match and match["role"] == role:
            return match["id"]
    return None


def blank_notebook(source: str, exercises: tuple[Exercise, ...], name: str) -> Any:
    """Return the learner's copy of a notebook: no outputs, no solutions.

    Args:
        source: the notebook's source, py:percent.
        exercises: the lesson's exercise list, for the headings of blanked cells.
        name: the source's file name, for messages.

    Raises:
        MlhpcError: if a solution cannot be blanked; names the code cell.
    """
    notebook = read_source(source, name)
    cells = code_cells(notebook)
    headings = {one.id: f"Exercise {one.id}: {one.title} ({one.minutes} minutes)" for one in exercises}
    for number, cell in enumerate(cells, 1):
        identifier = exercise_of(cell, "exercise")
        if identifier is None:
            continue
        later = frozenset[str]().union(*(names_read(other.source) for other in cells[number:]))
        try:
            if SOLUTION in tags(cell):
                cell.source = blank_cell(
                    cell.source, headings.get(identifier, f"Exercise {identifier}"), later
                )
            else:
                cell.source = blank_blocks(cell.source, later)
        except MlhpcError as error:
            raise MlhpcError(f"{name}: code cell {number}: {error}") from error
        cell.metadata.tags = [tag for tag in cell.metadata.tags if tag != SOLUTION]
    for index, cell in enumerate(notebook.cells):
        cell.id = cell_id(index, cell.cell_type, cell.source)
    return notebook


def blank_lesson(files: LessonFiles) -> Any:
    """Return the learner's copy of a lesson's notebook.

    Raises:
        MlhpcError: if the lesson cannot be read or a solution cannot be blanked.
    """
    lesson = load_lesson(files.stem, files.root)
    return blank_notebook(read_text(files.source), lesson.exercise_list, str(files.source))


def exercise_findings(
    notebook: Any, lesson_exercises: tuple[Exercise, ...], source: Path
) -> Iterator[Finding]:
    """Yield what is wrong with the tags: exercises without cells or checks, and the other way round."""
    listed = {exercise.id for exercise in lesson_exercises}
    tagged: dict[str, list[str]] = {"exercise": [], "check": []}
    for number, cell in enumerate(code_cells(notebook), 1):
        for role, found in tagged.items():
            identifier = exercise_of(cell, role)
            if identifier is not None:
                found.append(identifier)
        fault = _marks_fault(cell)
        if fault:
            yield Finding(source, None, f"code cell {number} {fault}")
    for role, found in tagged.items():
        for identifier in sorted(listed - set(found)):
            yield Finding(source, None, f"exercise {identifier} has no cell tagged {role}-{identifier}")
        for identifier in sorted(set(found) - listed):
            message = f"the tag {role}-{identifier} names no exercise of the episode's exercise_list"
            yield Finding(source, None, message)


def _marks_fault(cell: Any) -> str | None:
    """Return what is wrong with how a cell says that it is an exercise, or None."""
    try:
        solved = SOLUTION in tags(cell) or has_blocks(cell.source)
    except MlhpcError as error:
        return f"cannot be blanked: {error}"
    is_exercise = exercise_of(cell, "exercise") is not None
    if is_exercise and not solved:
        return "is tagged as an exercise, but nothing in it is marked as a solution"
    if solved and not is_exercise:
        return "holds a solution, but no tag exercise-ID says of which exercise"
    return None
