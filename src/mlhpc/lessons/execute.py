"""Execute the source of a notebook and write the result beside it, in a form that stays the same.

Neither nbconvert nor ``jupytext --execute`` does: both write the time of each cell and new identifiers on
every run, so that a file changes where nothing in it has.
"""

import contextlib
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.files import write_atomically
from mlhpc.lessons.kernel import run_cells
from mlhpc.lessons.layout import LessonFiles, existing, read_text
from mlhpc.lessons.notebook import code_cells, read_source, write_notebook
from mlhpc.lessons.privacy import private_outputs
from mlhpc.records.schema import Tier

WIDGETS = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Execution:
    """An executed notebook, and what was kept out of it."""

    path: Path
    hidden: tuple[str, ...]
    """What cells wrote to standard error (warnings, progress), with the number of the code cell."""


def execute_lesson(stem: str, root: Path | None = None, *, tier: str | None = None) -> Execution:
    """Execute the notebook source of ``stem`` and write its .ipynb pair.

    The kernel is ``python3``, its working folder the one of the notebook. The pair is replaced only once all
    cells have run: a failure or Ctrl-C leaves the old one.

    Args:
        stem: the lesson's stem.
        root: the course checkout, unless given the one that `course_root` finds.
        tier: how large the measurements in the notebook are; unless given MLHPC_TIER, else ``smoke``.

    Raises:
        UsageError: if there is no such lesson or tier.
        MlhpcError: if there is no source, a cell fails, or an output names a path, user or host of this
            machine.
    """
    files = existing(stem, root)
    chosen = tier or os.environ.get("MLHPC_TIER") or "smoke"
    if chosen not in get_args(Tier):
        raise UsageError(f"{chosen!r} is not a tier: choose one of {', '.join(get_args(Tier))}.")
    notebook = read_lesson_source(files)
    metadata = dict(notebook.metadata)
    run_cells(notebook, files, tier=chosen)
    hidden = _drop_standard_error(notebook)
    tidy_outputs(notebook)
    notebook.metadata = {**metadata, "mlhpc": _provenance(chosen)}
    private = private_outputs(notebook)
    if private:
        raise MlhpcError(f"{files.source}: {private[0]}; {files.notebook.name} is as it was.")
    write_atomically(files.notebook, write_notebook(notebook))
    return Execution(files.notebook, hidden)


def read_lesson_source(files: LessonFiles) -> Any:
    """Return the notebook without outputs that the source of a lesson describes.

    Raises:
        MlhpcError: if the source cannot be read or holds no cell.
    """
    return read_source(read_text(files.source), str(files.source))


def _drop_standard_error(notebook: Any) -> tuple[str, ...]:
    """Remove what cells wrote to standard error, and return it."""
    hidden = []
    for number, cell in enumerate(code_cells(notebook), 1):
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                hidden.append(f"code cell {number}: {output.text.rstrip()}")
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return tuple(hidden)


def tidy_outputs(notebook: Any) -> None:
    """Make outputs independent of how their messages arrived.

    Neighbouring pieces of one stream become one, a progress line keeps its last state only, and widgets,
    which show nothing without a kernel, are dropped.
    """
    for cell in code_cells(notebook):
        tidy: list[Any] = []
        for output in cell.outputs:
            if WIDGETS in output.get("data", {}):
                continue
            if tidy and output.output_type == "stream" and tidy[-1].get("name") == output.name:
                tidy[-1].text += output.text
            else:
                tidy.append(output)
        for output in tidy:
            if output.output_type == "stream":
                output.text = _last_states(output.text)
        cell.outputs = tidy


def _last_states(text: str) -> str:
    """Return ``text`` as a terminal shows it: what stands before a carriage return is overwritten."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)


def _provenance(tier: str) -> dict[str, str]:
    """Return what the outputs depend on, in words that do not change from run to run."""
    facts = {"tier": tier, "python": ".".join(platform.python_version_tuple()[:2])}
    # A lesson about files or schedulers needs no torch, and says so by the missing key.
    with contextlib.suppress(PackageNotFoundError):
        facts["torch"] = version("torch")
    return facts
