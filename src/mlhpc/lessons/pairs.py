"""A notebook's source and its executed pair belong together, and the pair was really run.

nbval passes a cell that was never run, even one that it is told to compare, and jupytext's own comparison
lets differences in metadata pass. The pair is made from the source by one command, so here it must be equal.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.lessons.execute import read_lesson_source
from mlhpc.lessons.exercises import exercise_of
from mlhpc.lessons.findings import Finding
from mlhpc.lessons.layout import LessonFiles, read_text
from mlhpc.lessons.notebook import code_cells, tags
from mlhpc.lessons.privacy import private_outputs

COMPARED = "nbval-check-output"
"""The tag of cells whose output is the same on each run: nbval compares it."""
FEWEST_CELLS, MOST_CELLS = 6, 14


def check_pair(files: LessonFiles) -> tuple[Finding, ...]:
    """Return what is wrong with a lesson's notebook: its source, its executed pair, or the two together.

    Raises:
        MlhpcError: if one of the two files cannot be read.
    """
    source, pair = read_lesson_source(files), _read_pair(files.notebook)
    return (
        *_shape(source, files.source),
        *_drift(source, pair, files),
        *_run(pair, files.notebook),
        *(Finding(files.notebook, None, text) for text in private_outputs(pair)),
    )


def _read_pair(path: Path) -> Any:
    import nbformat

    text = read_text(path)
    try:
        # Validated before it becomes a notebook: nbformat first upgrades what it takes for an older format,
        # and fails in many ways on what is none.
        nbformat.validate(json.loads(text), version=4)
    except (nbformat.ValidationError, ValueError, TypeError, AttributeError, LookupError) as error:
        reason = str(error).splitlines()[0]
        raise MlhpcError(
            f"{path} is not a notebook: {reason}; make it again with 'mlhpc lesson run'."
        ) from error
    return nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]


def _shape(source: Any, path: Path) -> Iterator[Finding]:
    """Check what a notebook looks like: title, number of cells."""
    first = source.cells[0]
    if first.cell_type != "markdown" or not first.source.startswith("# "):
        yield Finding(path, None, "the first cell must be Markdown that starts with a title, '# ...'")
    empty = [number for number, cell in enumerate(code_cells(source), 1) if not cell.source.strip()]
    for number in empty:
        yield Finding(path, None, f"code cell {number} is empty")
    own = [
        cell
        for cell in code_cells(source)
        if not (exercise_of(cell, "exercise") or exercise_of(cell, "check"))
    ]
    if not FEWEST_CELLS <= len(own) <= MOST_CELLS:
        limits = f"{FEWEST_CELLS} to {MOST_CELLS}"
        yield Finding(
            path, None, f"{len(own)} code cells besides exercises; a lesson has {limits}, one idea each"
        )


def _drift(source: Any, pair: Any, files: LessonFiles) -> Iterator[Finding]:
    """Compare all of the pair that comes from the source: cells, tags, identifiers, kernel."""
    again = f"run 'mlhpc lesson run {files.stem}', and edit the source only"
    if len(source.cells) != len(pair.cells):
        message = f"has {len(pair.cells)} cells, {files.source.name} has {len(source.cells)}: {again}"
        yield Finding(files.notebook, None, message)
        return
    for number, (expected, found) in enumerate(zip(source.cells, pair.cells, strict=True), 1):
        for key in ("cell_type", "source", "metadata", "id"):
            if expected[key] != found.get(key):
                message = f"cell {number} differs in {key} from {files.source.name}: {again}"
                yield Finding(files.notebook, None, message)
                break
    expected_metadata = {**source.metadata, "mlhpc": pair.metadata.get("mlhpc")}
    if not expected_metadata["mlhpc"] or pair.metadata != expected_metadata:
        yield Finding(
            files.notebook, None, f"was not written by 'mlhpc lesson run' (metadata differ): {again}"
        )


def _run(pair: Any, path: Path) -> Iterator[Finding]:
    """Check that the pair was run from top to bottom, once, without errors."""
    for number, cell in enumerate(code_cells(pair), 1):
        if cell.execution_count is None:
            yield Finding(path, None, f"code cell {number} was never run")
        elif cell.execution_count != number:
            yield Finding(path, None, f"code cell {number} was run as number {cell.execution_count}")
        elif COMPARED in tags(cell) and not cell.outputs:
            yield Finding(path, None, f"code cell {number} is tagged {COMPARED} but has no output to compare")
        for output in cell.outputs:
            if output.output_type == "error":
                yield Finding(path, None, f"code cell {number} ended in {output.ename}: {output.evalue}")
            elif output.get("name") == "stderr":
                yield Finding(path, None, f"code cell {number} shows standard error")
