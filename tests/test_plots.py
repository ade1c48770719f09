"""Figures: they show the values of the records, and can be told apart without colour."""

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.machine.naming import machine_name
from mlhpc.plots import (
    COLOURS,
    LINES,
    MARKERS,
    Range,
    apply_style,
    plot_fit,
    plot_ranges,
    plot_records,
    save_svg,
)
from mlhpc.records.schema import Quantity, Record
from tests.site.sample import local, machine, published, record

DENSE = [one for one in published() if one.workload == "dense"]
RESNET = [one for one in published() if one.workload == "resnet50"]


def points_of(line: Line2D) -> list[tuple[float, float]]:
    """Return the points of a line."""
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def drawn(figure: Figure) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each series by its name in the legend."""
    found = {}
    for container in figure.axes[0].containers:
        assert isinstance(container, ErrorbarContainer)
        line = container.lines[0]
        assert line is not None
        found[str(container.get_label())] = points_of(line)
    return found


def test_lines_hold_the_values_of_the_records() -> None:
    """A numeric parameter gives one line per machine, sorted, through the measured values."""
    series = drawn(plot_records(list(reversed(DENSE)), x="batch", y="throughput"))
    assert set(series) == {"Example CPU 9000, 2 cores", "Example GPU 80GB"}
    for points in series.values():
        assert points == sorted(points)
    on_laptop = [one for one in DENSE if not one.machine.gpus]
    expected = [(one.parameters["batch"], one.quantities["throughput"].value) for one in on_laptop]
    assert series["Example CPU 9000, 2 cores"] == sorted(expected)


def test_times_are_drawn_in_the_unit_that_the_axis_names() -> None:
    """Seconds of about a tenth are drawn as milliseconds, and the axis says so."""
    figure = plot_records(RESNET[:1], x="precision", y="step_time")
    assert "(ms)" in figure.axes[0].get_xlabel()
    [[(value, _)]] = drawn(figure).values()
    assert value == pytest.approx(800)


def test_own_records_are_named_and_hollow() -> None:
    """ "This machine" can be told apart without its colour."""
    own = [one for one in local() if "batch" in one.parameters and one.workload == "dense"]
    figure = plot_records(DENSE, x="batch", y="throughput", this_machine=own)
    series = drawn(figure)
    assert "this machine" in series
    hollow = {
        str(one.get_label())
        for one in figure.axes[0].containers
        if isinstance(one, ErrorbarContainer)
        and one.lines[0] is not None
        and one.lines[0].get_markerfacecolor() == "white"
    }
    assert hollow == {"this machine"}


def test_many_series_still_differ() -> None:
    """More series than looks: the looks start again, and no series is lost."""
    many = [record("dense", 0.1, 8, "samples", machine(), batch=8, depth=depth) for depth in range(9)]
    assert len(drawn(plot_records(many, x="batch", y="throughput", series="depth"))) == 9


@pytest.mark.parametrize(
    ("records", "names", "message"),
    [
        ([], {"x": "batch", "y": "throughput"}, "no record"),
        (DENSE, {"x": "depth", "y": "throughput"}, "no parameter 'depth'"),
        (DENSE, {"x": "batch", "y": "energy"}, "no quantity energy"),
        (DENSE, {"x": "batch", "y": "throughput", "series": "colour"}, "no parameter 'colour'"),
    ],
)
def test_what_cannot_be_drawn_is_named(records: list[Record], names: dict[str, str], message: str) -> None:
    """The sentence names what is missing and what there is."""
    with pytest.raises(UsageError, match=message):
        plot_records(records, **names)  # type: ignore[arg-type]


def test_a_fit_draws_the_line_that_it_names() -> None:
    """The line lies at fixed + per item * size, in the unit of the axis."""
    figure = plot_fit([64, 65536], [0.00026, 0.164], fixed=1e-4, per_item=2.5e-6, item="batch size")
    line = next(one for one in figure.axes[0].get_lines() if "per item" in str(one.get_label()))
    assert points_of(line)[0][1] == pytest.approx((1e-4 + 2.5e-6 * 64) * 1e3)
    assert "(ms)" in figure.axes[0].get_ylabel()
    with pytest.raises(UsageError, match="as many times as sizes"):
        plot_fit([1, 2], [1.0], fixed=0, per_item=1, item="rows")


def test_claims_and_measurements_share_an_axis() -> None:
    """A range, a single value and a bound are all drawn, with the measurement where there is one."""
    found = Quantity(value=6.0, unit="x", low=5.0, high=7.0)
    rows = [Range("range", 15, 20, (found,)), Range("value", 3, 3), Range("bound", 8, float("inf"))]
    axes = plot_ranges(rows, label="Speed-up").axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["range", "value", "bound"]
    assert axes.get_xlabel().endswith("(×)")
    bars = [bar for bar in axes.patches if bar.get_height() > 0]  # type: ignore[attr-defined]
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(15, 5)]  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="no claim"):
        plot_ranges([], label="Speed-up")


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_are_legible_on_white() -> None:
    """WCAG 2.2 asks for a contrast of 3 to 1 of graphics; markers and lines differ besides."""
    for colour in COLOURS:
        assert 1.05 / (_luminance(colour) + 0.05) >= 3, colour
    for looks in (COLOURS, MARKERS, LINES):
        assert len(set(looks)) == len(looks)
        assert all(one != other for one, other in pairwise(looks))


def test_figures_have_the_look_whatever_matplotlib_is_set_to() -> None:
    """A notebook need not set anything up, and what it did set stays."""
    with mpl.rc_context({"axes.grid": False, "axes.spines.top": True, "font.size": 30}):
        axes = plot_records(DENSE, x="batch", y="throughput").axes[0]
        assert not axes.spines["top"].get_visible()
        assert float(axes.xaxis.label.get_fontsize()) < 15
        assert mpl.rcParams["font.size"] == 30


def test_the_style_can_be_taken_over_for_own_figures() -> None:
    """The ground is white, so that a dark page does not hide the axes."""
    with mpl.rc_context():
        apply_style()
        assert mpl.rcParams["savefig.facecolor"] == "white"
        assert mpl.rcParams["axes.prop_cycle"].by_key()["marker"] == list(MARKERS)


def test_an_svg_is_the_same_each_time(tmp_path: Path) -> None:
    """No date, no random identifiers: a rebuilt site differs only where its content does."""
    for name in ("one.svg", "two.svg"):
        save_svg(plot_records(DENSE, x="batch", y="throughput"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MlhpcError, match="Cannot write"):
        save_svg(plot_records(DENSE, x="batch", y="throughput"), tmp_path / "file" / "three.svg")


def test_a_notebook_shows_a_figure_once_and_without_pyplot() -> None:
    """A cell that ends in a figure has it as SVG, in whichever order the libraries were imported."""
    from IPython.core.interactiveshell import InteractiveShell

    formatter = InteractiveShell.instance().display_formatter
    assert formatter is not None
    shown, _ = formatter.format(  # type: ignore[no-untyped-call]
        plot_records(DENSE, x="batch", y="throughput")
    )
    assert shown["image/svg+xml"].startswith("<?xml")
    assert not {"text/html", "image/png"} & set(shown)


def test_a_machine_is_named_by_what_did_the_work() -> None:
    """On a GPU node the GPU names a GPU measurement, the processor one on the CPU."""
    node = machine(gpu="Example GPU 80GB", cores=1)
    assert machine_name(node, "cuda") == "Example GPU 80GB"
    assert machine_name(node, "cpu") == "Example CPU 9000, 1 core"
