"""The proof that the checks of exercises mean something: they fail without a solution and pass with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.lessons.execute import read_lesson_source
from mlhpc.lessons.exercises import blank_lesson, exercise_of
from mlhpc.lessons.findings import Finding
from mlhpc.lessons.kernel import run_cells
from mlhpc.lessons.layout import existing
from mlhpc.lessons.notebook import code_cells


def prove_exercises(stem: str, root: Path | None = None) -> tuple[Finding, ...]:
    """Run the blank copy and the solutions of a lesson, and return what its checks fail to show.

    On the blank copy each check cell must fail, by its assertion, and no other cell may: what a lesson goes
    on to do must not hang on an exercise. With the solutions every cell must pass.

    Raises:
        MlhpcError: if there is no such lesson or it cannot be blanked.
    """
    files = existing(stem, root)
    blank = blank_lesson(files)
    run_cells(blank, files, tier="smoke", stop_at_error=False)
    findings = list(_blank_findings(blank, files.source))
    try:
        run_cells(read_lesson_source(files), files, tier="smoke")
    except MlhpcError as error:
        findings.append(Finding(files.source, None, f"with the solutions: {error}"))
    return tuple(findings)


def _blank_findings(blank: Any, source: Path) -> Iterator[Finding]:
    for number, cell in enumerate(code_cells(blank), 1):
        error = next((output for output in cell.outputs if output.output_type == "error"), None)
        checked = exercise_of(cell, "check")
        if checked is not None:
            fault = _check_fault(error)
            what = fault and f"the check of {checked} {fault}"
        else:
            what = error and f"it fails ({_named(error)}), but only checks may hang on a solution"
        if what:
            yield Finding(source, None, f"code cell {number} of the blank copy: {what}")


def _check_fault(error: Any) -> str | None:
    """Return what is wrong with how a check fails on the blank copy; None where it fails as it should."""
    if error is None:
        return "passes without a solution"
    if error.ename != "AssertionError":
        return f"fails by accident ({_named(error)}), not by its assertion"
    if not error.evalue.strip():
        return "fails without a word: write assert condition, 'what to look at'"
    return None


def _named(error: Any) -> str:
    return f"{error.ename}: {error.evalue}"
