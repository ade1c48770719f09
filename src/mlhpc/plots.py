"""One look for all figures: legible in grey, for colour-blind readers and on a dark page.

Series differ in colour, marker, line style and hatch. Figures have a white ground of their own, so that they
read the same in the site's light and dark mode.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from mlhpc.errors import UsageError
from mlhpc.formatting import format_number, format_value, scale_for, with_unit
from mlhpc.machine.naming import machine_name
from mlhpc.records.query import measured
from mlhpc.records.schema import Quantity, Record, Scalar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mlhpc.notebook_figure import NotebookFigure

Parameters = ParamSpec("Parameters")

# From Okabe and Ito's palette and Paul Tol's, those with a contrast of at least 3 : 1 on white.
COLOURS = ("#0072B2", "#D55E00", "#117733", "#882255", "#5C5C5C", "#AA4499")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
CLAIMED, EDGE = "#D9D9D9", "#5C5C5C"
WIDTH = 6.4
"""Width of a figure in inches: that of the text, so that letters have its size."""
WIDE_SPAN = 30.0
"""Above this ratio of largest to smallest value an axis is logarithmic."""
THOUSANDS = 10_000
"""From here on the numbers on a linear axis are grouped, so that their zeros need not be counted."""


def _style() -> Any:
    """Return the look as matplotlib's settings, whose type names each of its keys."""
    from cycler import cycler

    return {
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.prop_cycle": cycler(color=COLOURS) + cycler(marker=MARKERS) + cycler(linestyle=LINES),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "errorbar.capsize": 3.0,
        "figure.constrained_layout.use": True,
        "figure.dpi": 110,
        "figure.facecolor": "white",
        "figure.figsize": (WIDTH, 4.0),
        "font.size": 11.0,
        "grid.color": "#DDDDDD",
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 6.5,
        "savefig.facecolor": "white",
    }


def apply_style() -> None:
    """Set matplotlib's defaults to the course's look, for figures of your own.

    The functions of this module draw in it anyway.
    """
    import matplotlib as mpl

    mpl.rcParams.update(_style())


def in_style(
    draw: "Callable[Parameters, NotebookFigure]",
) -> "Callable[Parameters, NotebookFigure]":
    """Return ``draw`` so that it draws in the course's look and leaves matplotlib's defaults as they were."""

    @wraps(draw)
    def styled(*args: Parameters.args, **kwargs: Parameters.kwargs) -> "NotebookFigure":
        from matplotlib import rc_context

        with rc_context(_style()):
            return draw(*args, **kwargs)

    return styled


def new_figure(height: float) -> "NotebookFigure":
    """Return an empty figure as wide as the text, ``height`` inches high."""
    from mlhpc.notebook_figure import NotebookFigure

    return NotebookFigure(figsize=(WIDTH, height), layout="constrained")


@dataclass(frozen=True)
class Point:
    """A measured quantity at a place on the x axis."""

    x: Scalar
    quantity: Quantity

    @property
    def value(self) -> float:
        """The measured value, in the quantity's unit."""
        return self.quantity.value

    @property
    def low(self) -> float:
        """Lower end of the interval, or the value where there is none."""
        return self.value if self.quantity.low is None else self.quantity.low

    @property
    def high(self) -> float:
        """Upper end of the interval, or the value where there is none."""
        return self.value if self.quantity.high is None else self.quantity.high


@dataclass(frozen=True)
class Range:
    """One row of `plot_ranges`: what a source says, and what was measured."""

    label: str
    claimed_low: float
    """Infinite where the claim names no lower end."""
    claimed_high: float
    """Equal to ``claimed_low`` for a single value, infinite where the claim names no upper end."""
    measured: tuple[Quantity, ...] = ()
    """In the unit of the claim."""


def value_of(record: Record, name: str) -> Quantity:
    """Return a quantity of ``record``, or the median of its samples for the name of its metric or ``median``.

    Raises:
        UsageError: if the record has no quantity of this name.
    """
    return measured(record, None if name in (record.metric, "median") else name)


@in_style
def plot_records(
    records: Sequence[Record],
    *,
    x: str,
    y: str,
    series: str | None = None,
    this_machine: Sequence[Record] = (),
    x_label: str | None = None,
    y_label: str | None = None,
) -> "NotebookFigure":
    """Draw a quantity of records against one of their parameters, with intervals.

    A numeric ``x`` gives lines, anything else gives one dot and interval per row. ``series`` names the
    parameter that tells the lines apart; machines are told apart where there are several. Records in
    ``this_machine`` are drawn with hollow markers and named so.

    Raises:
        UsageError: if there is no record, or one lacks ``x``, ``y`` or ``series``.
    """
    if not records and not this_machine:
        raise UsageError("There is no record to draw.")
    groups = _group(records, x, y, series) | _group(this_machine, x, y, series, own=True)
    points = [point for group in groups.values() for point in group]
    numeric = all(isinstance(point.x, int | float) and not isinstance(point.x, bool) for point in points)
    factor, unit = scale_for(max(point.value for point in points), points[0].quantity.unit)
    figure = new_figure(4.0 if numeric else 1.6 + 0.34 * len(points))
    axes = figure.subplots()
    value_label = f"{y_label or words(y)} ({unit})" if unit else y_label or words(y)
    if numeric:
        _draw_lines(axes, groups, factor)
        axes.set(xlabel=x_label or words(x), ylabel=value_label)
    else:
        _draw_rows(axes, groups, factor)
        axes.set(xlabel=value_label, ylabel=x_label or words(x))
    if len(groups) > 1:
        axes.legend()
    return figure


def words(name: str) -> str:
    """Return a parameter's or quantity's name as words, for instance ``Share of measured peak``."""
    text = name.replace("_", " ").replace("-", " ")
    return text[:1].upper() + text[1:]


def _group(
    records: Sequence[Record], x: str, y: str, series: str | None, *, own: bool = False
) -> dict[str, list[Point]]:
    machines = {machine_name(record.machine, record.parameters.get("device")) for record in records}
    groups: dict[str, list[Point]] = {}
    for record in records:
        for name in filter(None, (x, series)):
            if name not in record.parameters:
                known = ", ".join(sorted(record.parameters))
                raise UsageError(
                    f"Record {record.id} ({record.workload}) has no parameter {name!r}; it has: {known}."
                )
        parts = [] if series is None else [str(record.parameters[series])]
        if own:
            parts.append("this machine")
        elif len(machines) > 1 or series is None:
            parts.append(machine_name(record.machine, record.parameters.get("device")))
        groups.setdefault(", ".join(parts), []).append(Point(record.parameters[x], value_of(record, y)))
    return groups


def _looks() -> Iterable[tuple[str, str, Any]]:
    while True:
        yield from zip(COLOURS, MARKERS, LINES, strict=True)


def _errors(points: Sequence[Point], factor: float) -> list[list[float]]:
    # Rounding may leave an end of the interval on the wrong side of the value by the last bit.
    lower = [max((point.value - point.low) / factor, 0.0) for point in points]
    upper = [max((point.high - point.value) / factor, 0.0) for point in points]
    return [lower, upper]


def _draw_lines(axes: "Axes", groups: Mapping[str, list[Point]], factor: float) -> None:
    for (name, points), (colour, marker, line) in zip(groups.items(), _looks(), strict=False):
        ordered = sorted(points, key=lambda point: float(point.x or 0))
        axes.errorbar(
            [float(point.x or 0) for point in ordered],
            [point.value / factor for point in ordered],
            yerr=_errors(ordered, factor),
            color=colour,
            marker=marker,
            linestyle=line,
            markerfacecolor="white" if name.endswith("this machine") else colour,
            capsize=3,
            label=name,
        )
    every = [point for points in groups.values() for point in points]
    _choose_scale(axes, "x", [float(point.x or 0) for point in every])
    _choose_scale(axes, "y", [point.value for point in every])


def _draw_rows(axes: "Axes", groups: Mapping[str, list[Point]], factor: float) -> None:
    labels = list(dict.fromkeys(str(point.x) for points in groups.values() for point in points))
    for index, ((name, points), (colour, marker, _)) in enumerate(
        zip(groups.items(), _looks(), strict=False)
    ):
        shift = (index - (len(groups) - 1) / 2) * 0.7 / len(groups)
        axes.errorbar(
            [point.value / factor for point in points],
            [labels.index(str(point.x)) + shift for point in points],
            xerr=_errors(points, factor),
            color=colour,
            marker=marker,
            linestyle="none",
            markerfacecolor="white" if name.endswith("this machine") else colour,
            capsize=3,
            label=name,
        )
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    values = [point.value for points in groups.values() for point in points]
    _choose_scale(axes, "x", values)
    if axes.get_xscale() == "linear":
        axes.set_xlim(left=0)


def _choose_scale(axes: "Axes", which: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic where the values span so much that a linear one would hide the small ones."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis = getattr(axes, f"{which}axis")
    if min(values) <= 0 or max(values) / min(values) < WIDE_SPAN:
        if max(values) >= THOUSANDS:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        return
    getattr(axes, f"set_{which}scale")("log")
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_number(value)))
    axis.set_minor_formatter(NullFormatter())


@in_style
def plot_fit(
    sizes: Sequence[float],
    seconds: Sequence[float],
    *,
    fixed: float,
    per_item: float,
    item: str,
    label: str = "measured",
) -> "NotebookFigure":
    """Draw measured times over sizes with the line ``fixed + per_item * size`` fitted to them.

    ``seconds`` and ``fixed`` are in seconds, ``per_item`` in seconds per ``item`` (plural, for the axis).
    A dotted line marks the fixed part alone, so that the size at which it stops to matter can be read off.

    Raises:
        UsageError: if there are no points or the two sequences differ in length.
    """
    import numpy as np

    if not sizes or len(sizes) != len(seconds):
        raise UsageError(
            f"plot_fit needs as many times as sizes, at least one: got {len(seconds)} and {len(sizes)}."
        )
    factor, unit = scale_for(max(seconds), "s")
    grid = np.geomspace(min(sizes), max(sizes), 200)
    figure = new_figure(4.0)
    axes = figure.subplots()
    axes.plot(
        sizes, np.asarray(seconds) / factor, color=COLOURS[0], marker="o", linestyle="none", label=label
    )
    line = f"{format_value(fixed, 's')} + {format_value(per_item, 's')} per item"
    axes.plot(
        grid, (fixed + per_item * grid) / factor, color=COLOURS[1], linestyle="-", marker="", label=line
    )
    axes.axhline(fixed / factor, color=COLOURS[4], linestyle=":", label="fixed part alone")
    _choose_scale(axes, "x", sizes)
    _choose_scale(axes, "y", seconds)
    axes.set(xlabel=words(item), ylabel=f"Time ({unit})")
    axes.legend()
    return figure


@in_style
def plot_ranges(rows: Sequence[Range], *, label: str, unit: str = "x") -> "NotebookFigure":
    """Draw for each row the range that a source claims, and what was measured as points with intervals.

    ``label`` names the value axis without its unit.

    Raises:
        UsageError: if there are no rows.
    """
    if not rows:
        raise UsageError("There is no claim to draw.")
    figure = new_figure(1.5 + 0.6 * len(rows))
    axes = figure.subplots()
    for place, row in enumerate(rows):
        _draw_claimed(axes, place, row, label="claimed" if place == 0 else None)
        _draw_measured(axes, place, row.measured)
    if any(row.measured for row in rows):
        axes.errorbar(
            [], [], xerr=[], color=COLOURS[0], marker="o", linestyle="none", capsize=3, label="measured"
        )
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    ends = [
        end
        for row in rows
        for end in (row.claimed_low, row.claimed_high, *(one.value for one in row.measured))
        if math.isfinite(end)
    ]
    _choose_scale(axes, "x", ends)
    if axes.get_xscale() == "linear":
        axes.set_xlim(left=0)
    axes.set_xlabel(with_unit(label, f"({'×' if unit == 'x' else unit})"))
    axes.legend()
    return figure


def _draw_claimed(axes: "Axes", place: int, row: Range, *, label: str | None) -> None:
    """Draw a range as a bar, a single value as a line across, a bound as an arrow to its open side."""
    low, high = row.claimed_low, row.claimed_high
    if math.isfinite(low) and math.isfinite(high) and high > low:
        axes.barh(
            place,
            high - low,
            left=low,
            height=0.5,
            facecolor=CLAIMED,
            edgecolor=EDGE,
            hatch="//",
            label=label,
        )
        return
    end = low if math.isfinite(low) else high
    axes.plot([end, end], [place - 0.25, place + 0.25], color=EDGE, linestyle="-", marker="", label=label)
    if low != high:
        sign = ">" if math.isfinite(low) else "<"
        axes.plot([end], [place], color=EDGE, marker=sign, linestyle="none", markersize=10)


def _draw_measured(axes: "Axes", place: int, quantities: Sequence[Quantity]) -> None:
    """Draw measured values one above the other, so that equal ones stay apart."""
    for index, one in enumerate(quantities):
        shift = (index - (len(quantities) - 1) / 2) * 0.4 / max(len(quantities), 1)
        low, high = (one.value if end is None else end for end in (one.low, one.high))
        error = [[max(one.value - low, 0.0)], [max(high - one.value, 0.0)]]
        axes.errorbar(
            [one.value],
            [place + shift],
            xerr=error,
            color=COLOURS[0],
            marker="o",
            linestyle="none",
            capsize=3,
        )


def save_svg(figure: "NotebookFigure", path: Path) -> None:
    """Write ``figure`` as SVG, the same bytes for the same figure.

    Raises:
        MlhpcError: if the file cannot be written.
    """
    from mlhpc.files import write_atomically

    write_atomically(path, figure.svg())
