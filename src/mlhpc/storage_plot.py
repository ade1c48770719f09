"""A site's storage tiers as a picture: from where each can be seen, and what becomes of the files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlhpc.plots import COLOURS, EDGE, in_style, new_figure
from mlhpc.sites.schema import Tier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mlhpc.notebook_figure import NotebookFigure

SPEEDS = ("memory", "node-local", "parallel", "nfs", "wide-area", None)
"""From the fastest class to the slowest; tiers of unknown speed come last."""
PLACES = ("this job", "the next job", "login node", "OnDemand")
ROW_HEIGHT, FRAME = 0.62, 1.2
"""Inches for each tier, and for the names of the places and the key."""


def by_speed(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    """Return the tiers from the fastest class to the slowest."""
    return tuple(sorted(tiers, key=lambda tier: SPEEDS.index(tier.speed)))


def seen_from(tier: Tier) -> tuple[bool | None, ...]:
    """Return for each of ``PLACES`` whether the tier can be seen from there; None where nobody knows.

    What compute nodes see, this job and the next one see; what belongs to one job, only that job.
    """
    if not tier.visible:
        return (None,) * len(PLACES)
    shared = "compute" in tier.visible
    return (shared or "job" in tier.visible, shared, "login" in tier.visible, "ondemand" in tier.visible)


def fate(tier: Tier) -> str:
    """Return in a few words how much fits, when files go, and whether there is a copy."""
    quota = f"quota {tier.quota}" if tier.quota else "quota not known"
    basis, after = tier.purge.basis, tier.purge.after
    if basis is None:
        gone = "purge not known"
    elif basis == "never":
        gone = "not purged"
    elif basis == "job-end":
        gone = "gone when the job ends"
    else:
        gone = (
            f"purged {after or 'some time'} after the last {'read' if basis == 'access-time' else 'change'}"
        )
    backup = {"yes": "backed up", "snapshots": "snapshots", "no": "no backup"}.get(
        tier.backed_up or "", "backup not known"
    )
    return f"{quota}, {gone}, {backup}"


@in_style
def plot_storage(tiers: Sequence[Tier]) -> "NotebookFigure":
    """Draw one row for each tier, the fastest class on top.

    A filled circle stands where the tier can be seen, a cross where it cannot, a question mark where nobody
    knows: they differ in shape as well as in colour.
    """
    rows = by_speed(tiers)
    figure = new_figure(FRAME + ROW_HEIGHT * len(rows))
    axes = figure.add_subplot()
    for height, tier in enumerate(rows):
        for place, visible in enumerate(seen_from(tier)):
            _mark(axes, place, height, visible)
        axes.text(-0.6, height, f"{tier.id}\n{tier.speed or 'speed not known'}", ha="right", va="center")
        axes.text(0, height + 0.42, fate(tier), ha="left", va="center", fontsize=9, color=EDGE)
    axes.set_xticks(range(len(PLACES)), PLACES)
    axes.xaxis.tick_top()
    axes.set_yticks([])
    axes.set_xlim(-2.6, len(PLACES) - 0.4)
    axes.set_ylim(len(rows) - 0.2, -0.6)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    return figure


def _mark(axes: "Axes", place: int, height: int, visible: bool | None) -> None:
    if visible is None:
        axes.text(place, height, "?", ha="center", va="center", fontsize=14, color=EDGE)
    elif visible:
        axes.plot([place], [height], marker="o", markersize=11, color=COLOURS[0])
    else:
        axes.plot([place], [height], marker="x", markersize=8, color=EDGE, markeredgewidth=1.5)


def describe(tiers: Sequence[Tier]) -> str:
    """Return what the picture shows as text, for those who do not see it."""
    sentences = []
    for tier in by_speed(tiers):
        seen = [place for place, visible in zip(PLACES, seen_from(tier), strict=True) if visible]
        where = f"seen from {', '.join(seen)}" if seen else "seen from nobody knows where"
        sentences.append(f"{tier.id} ({tier.speed or 'speed not known'}): {where}; {fate(tier)}.")
    return " ".join(["Storage tiers, the fastest class first.", *sentences])
