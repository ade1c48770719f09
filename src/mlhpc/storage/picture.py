"""Which purge takes a file that has just arrived, as a picture: one row for each way to arrive."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlhpc.plots import COLOURS, in_style, new_figure
from mlhpc.storage.rule import NAMES, Basis

if TYPE_CHECKING:
    from mlhpc.notebook_figure import NotebookFigure

ROW_HEIGHT, FRAME = 0.27, 1.1
"""Inches for each row, and for the names of the columns and the key."""


@in_style
def plot_taken(taken: Mapping[str, Mapping[Basis, bool]]) -> "NotebookFigure":
    """Draw for each row and each basis whether the purge takes the file.

    A filled square says taken, an empty circle kept: they differ in shape and filling as well as in colour.

    Args:
        taken: for each row's name, whether a purge by each basis takes the file.
    """
    figure = new_figure(FRAME + ROW_HEIGHT * len(taken))
    axes = figure.add_subplot()
    looks = ((True, "taken", "s", COLOURS[1], COLOURS[1]), (False, "kept", "o", COLOURS[0], "white"))
    for state, label, marker, colour, filling in looks:
        points = [
            (column, row)
            for row, by_basis in enumerate(taken.values())
            for column, basis in enumerate(NAMES)
            if basis in by_basis and by_basis[basis] is state
        ]
        axes.plot(
            [column for column, _ in points],
            [row for _, row in points],
            color=colour,
            marker=marker,
            markerfacecolor=filling,
            markersize=9,
            linestyle="none",
            label=label,
        )
    axes.set_xticks(range(len(NAMES)), [f"{name}\n({basis})" for basis, name in NAMES.items()])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("The purge goes by")
    axes.set_yticks(range(len(taken)), list(taken))
    axes.set_ylabel("How the file arrived")
    axes.set_ylim(len(taken) - 0.4, -0.6)
    axes.set_xlim(-0.6, len(NAMES) - 0.4)
    axes.tick_params(length=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=2)
    return figure
