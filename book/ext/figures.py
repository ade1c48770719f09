"""Figures that are drawn while the site is built."""

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.environment import BuildEnvironment

from mlhpc.plots import save_svg

if TYPE_CHECKING:
    from mlhpc.notebook_figure import NotebookFigure


def figure_nodes(
    figure: "NotebookFigure", *, alternative: str, caption: str, environment: BuildEnvironment
) -> nodes.figure:
    """Write ``figure`` beside the build's other files and return it as part of a page.

    The alternative text is for those who do not see the figure; the caption, if any, is for all.
    """
    folder = Path(environment.app.doctreedir) / "figures"
    name = hashlib.sha256(f"{environment.docname}{environment.new_serialno('figure')}".encode()).hexdigest()[
        :16
    ]
    path = folder / f"{name}.svg"
    save_svg(figure, path)
    place = "/" + os.path.relpath(path, environment.srcdir)
    shown = nodes.figure("", nodes.image(uri=place, alt=alternative))
    if caption:
        shown += nodes.caption(caption, caption)
    return shown
