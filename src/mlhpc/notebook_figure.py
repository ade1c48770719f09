"""A matplotlib figure that a notebook shows without pyplot."""

import io

from matplotlib import rc_context
from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that draws itself where a cell ends in it.

    Figures made by pyplot are kept until they are closed, and are shown twice where a cell both draws and
    returns them. This one is shown once and goes when nobody holds it.
    """

    def svg(self) -> str:
        """Return the figure as SVG, the same text for the same figure: no date, no random identifiers."""
        buffer = io.StringIO()
        with rc_context({"svg.hashsalt": "mlhpc"}):
            self.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def _repr_svg_(self) -> str:
        """Show the figure in Jupyter."""
        return self.svg()

    def _repr_html_(self) -> None:
        """Leave it to SVG: matplotlib's own answer needs a web server."""
