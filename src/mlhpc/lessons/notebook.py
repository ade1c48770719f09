"""From a notebook's source to a notebook that is the same, byte for byte, whenever the source is the same."""

import hashlib
import re
from typing import Any

from mlhpc.errors import MlhpcError

_CELL_START = re.compile(r"#\s*%%")
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}

# Without the version: it would change the file on each machine. The versions that matter are under `mlhpc`.
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


def read_source(text: str, name: str) -> Any:
    """Return the notebook that the jupytext py:percent source ``text`` of the file ``name`` describes.

    It has no outputs; identifiers of cells follow from their place and content, and metadata from nothing
    but the source.

    Raises:
        MlhpcError: if the source holds no cell, or the settings of a cell cannot be used.
    """
    import jupytext

    for number, line in enumerate(text.splitlines(), start=1):
        if _CELL_START.match(line):
            _check_settings(line, f"{name}:{number}")
    notebook = jupytext.reads(text, fmt="py:percent")
    if not notebook.cells:
        raise MlhpcError(f"{name} holds no cell: cells start with a line '# %%' or '# %% [markdown]'.")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata.clear()
    notebook.metadata.update(kernelspec=KERNELSPEC, language_info=LANGUAGE_INFO)
    for index, cell in enumerate(notebook.cells):
        cell.id = cell_id(index, cell.cell_type, cell.source)
    return notebook


def _check_settings(marker: str, where: str) -> None:
    """Refuse the line that starts a cell if jupytext trips over its settings, such as tags that are no words.

    Raises:
        MlhpcError: names the line.
    """
    import jupytext
    from nbformat import ValidationError

    try:
        jupytext.reads(f"{marker}\n", fmt="py:percent")
    except (TypeError, AttributeError, ValueError, KeyError, ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise MlhpcError(
            f"{where}: the settings of this cell cannot be used ({reason}): "
            'write tags as a list of words, for instance tags=["solution"].'
        ) from error


def cell_id(index: int, kind: str, source: str) -> str:
    """Return the identifier of the cell at place ``index``: 12 hexadecimal digits."""
    return hashlib.sha256(f"{index}\n{kind}\n{source}".encode()).hexdigest()[:12]


def tags(cell: Any) -> frozenset[str]:
    """Return the tags of a cell; what is no list of words counts as none."""
    found = cell.metadata.get("tags", ())
    return frozenset(tag for tag in found if isinstance(tag, str)) if isinstance(found, list) else frozenset()


def code_cells(notebook: Any) -> list[Any]:
    """Return the code cells of a notebook, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def write_notebook(notebook: Any) -> str:
    """Return the text of the .ipynb file: sorted keys, one line break at the end.

    Raises:
        MlhpcError: if the notebook is not valid by the format's own schema.
    """
    import nbformat

    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise MlhpcError(f"The notebook is not valid: {error.message}.") from error
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"
