"""Measured values on pages: ``{record}``, ``{record-table}`` and ``{record-plot}``."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace

from book.ext import parts
from book.ext.course import CourseDirective, CourseRole, records
from book.ext.figures import figure_nodes
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from mlhpc.errors import UsageError
from mlhpc.formatting import format_exact, format_range, format_value
from mlhpc.machine.naming import machine_name
from mlhpc.plots import plot_records, value_of, words
from mlhpc.records.query import Reference, machine_identity, measured, parse_reference, select, select_one
from mlhpc.records.schema import Quantity, Record, Scalar

TIERS = ("full", "quick", "smoke")
"""From the most thorough to the least."""
SPECIAL_COLUMNS = ("machine", "tier", "date")
NO_LOCAL_RECORDS = "Nothing was measured on this machine yet: make bench adds it."


def machine_label(record: Record) -> str:
    """Return the label of a record's machine on the page that lists machines."""
    return "machine-" + hashlib.sha256(machine_identity(record.machine).encode()).hexdigest()[:8]


def value_text(quantity: Quantity) -> str:
    """Return a value with its unit."""
    return format_value(quantity.value, quantity.unit)


def interval_text(quantity: Quantity) -> str:
    """Return the interval of a value, empty where it has none."""
    if quantity.low is None or quantity.high is None:
        return ""
    return format_range(quantity.low, quantity.high, quantity.unit)


def confidence_text(record: Record) -> str:
    """Return the nominal coverage of a record's intervals, for instance ``95 %``."""
    return format_value(record.summary.confidence, "share", digits=2)


def scalar_text(value: Scalar) -> str:
    """Return a parameter's value as a page shows it."""
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return format_exact(value)
    return value.replace("_", " ")


class RecordRole(CourseRole):
    """``{record}`resnet50?device=cpu&precision=bf16#throughput```: one record's value with its interval."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the value as a link to the machine, and its interval."""
        reference = parse_reference(self.text)
        record = select_one(records().published, reference)
        quantity = measured(record, reference.quantity)
        value = parts.link_to_label(
            machine_label(record), [nodes.Text(value_text(quantity))], self.env.docname
        )
        remarks = [
            f"{confidence_text(record)} interval {interval_text(quantity)}"
            if interval_text(quantity)
            else "",
            "noisy" if record.summary.noisy else "",
        ]
        aside = ", ".join(filter(None, remarks))
        shown = [value, parts.small(f" ({aside})")] if aside else [value]
        return [nodes.inline("", "", *shown, classes=["measured"])]


def _columns(text: str) -> list[tuple[str, str]]:
    """Return name and heading of each column from ``precision, throughput as Images``."""
    columns = []
    for part in text.split(","):
        name, separator, heading = part.strip().partition(" as ")
        columns.append((name.strip(), heading.strip() if separator else words(name.strip())))
    if not all(name for name, _ in columns):
        raise UsageError(f"':columns: {text}' has an empty name between commas.")
    return columns


class _RecordsDirective(CourseDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def selected(self, names: Sequence[str]) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
        """Return the published and the local records that the argument selects and that have ``names``.

        Local records are taken on whatever machine and at the best tier at which they were measured. They
        never make a build fail.
        """
        reference: Reference = parse_reference(self.arguments[0])
        published = select(records().published, reference.query)
        if not published:
            raise UsageError(f"No published record matches {reference}.")
        tiers = sorted({record.tier for record in published})
        if len(tiers) > 1:
            raise UsageError(f"{reference} selects the tiers {' and '.join(tiers)}: choose one with tier=...")
        anywhere = replace(reference.query, tier=None, machine={})
        local = [
            one for one in select(records().local, anywhere) if all(has_value(one, name) for name in names)
        ]
        best = next((tier for tier in TIERS if any(one.tier == tier for one in local)), None)
        return published, tuple(one for one in local if one.tier == best)


def has_value(record: Record, name: str) -> bool:
    """Return whether a record can fill a column or an axis."""
    known = {*SPECIAL_COLUMNS, *record.parameters, *record.quantities, record.metric, "median"}
    return name in known


class RecordTable(_RecordsDirective):
    """``{record-table} QUERY`` with ``:columns:``, and optionally ``:caption:`` and ``:sort:``.

    A column is a parameter, a quantity, ``median``, or ``machine``, ``tier``, ``date``.
    """

    option_spec = {  # noqa: RUF012 - docutils' own interface
        "columns": directives.unchanged_required,
        "caption": directives.unchanged,
        "sort": directives.unchanged_required,
    }

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table and a line on where it comes from."""
        if "columns" not in self.options:
            raise UsageError("':columns:' is missing: name the parameters and quantities to show.")
        columns = _columns(self.options["columns"])
        published, local = self.selected([])
        for name, _ in columns:
            if not any(has_value(record, name) for record in published):
                value_of(published[0], name)  # says what there is instead
        key = self.options.get("sort")
        rows = [
            [self._cell(record, name, own=own) for name, _ in columns]
            for own, chosen in ((False, published), (True, local))
            for record in (sorted(chosen, key=lambda one: _sort_key(one, key)) if key else chosen)
        ]
        numeric = [place for place, (name, _) in enumerate(columns) if _is_numeric(published[0], name)]
        headings = [heading for _, heading in columns]
        shown = parts.table(headings, rows, caption=self.options.get("caption", ""), numeric=numeric)
        return [shown, provenance(published, local)]

    def _cell(self, record: Record, name: str, *, own: bool) -> parts.Cell:
        if name == "machine":
            text = machine_name(record.machine, record.parameters.get("device"))
            link = parts.link_to_label(machine_label(record), [nodes.Text(text)], self.env.docname)
            return [nodes.strong("", "this machine"), nodes.Text(f" ({text})")] if own else [link]
        if name == "tier":
            return record.tier
        if name == "date":
            return f"{record.measured_at:%Y-%m-%d}"
        if name in record.parameters:
            return scalar_text(record.parameters[name])
        if not has_value(record, name):
            return "–"
        quantity = value_of(record, name)
        interval = interval_text(quantity)
        return [nodes.Text(value_text(quantity)), *([parts.small(interval)] if interval else [])]


def _is_numeric(record: Record, name: str) -> bool:
    if name in SPECIAL_COLUMNS:
        return False
    return not isinstance(record.parameters.get(name, 0.0), str)


def _sort_key(record: Record, name: str) -> tuple[float, str]:
    if not has_value(record, name):
        return (math.inf, "")
    value = record.parameters[name] if name in record.parameters else value_of(record, name).value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (float(value), "") if number and value is not None else (0.0, str(value))


def provenance(published: Sequence[Record], local: Sequence[Record]) -> nodes.paragraph:
    """Return a line that says when, at which tier and with which interval ``published`` was measured."""
    dates = sorted({f"{record.measured_at:%Y-%m-%d}" for record in published})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    noisy = sum(record.summary.noisy for record in published)
    remark = f" {noisy} of {len(published)} are noisy: read them with care." if noisy else ""
    own = f"“This machine” is yours, measured at tier {local[0].tier}." if local else NO_LOCAL_RECORDS
    interval = f"medians with their {confidence_text(published[0])} interval"
    return parts.note(f"Measured {when}, tier {published[0].tier}; {interval}.{remark} {own}")


class RecordPlot(_RecordsDirective):
    """``{record-plot} QUERY`` with ``:x:``, ``:y:``, ``:alt:``, and optionally series, labels and caption."""

    option_spec = {  # noqa: RUF012 - docutils' own interface
        "x": directives.unchanged_required,
        "y": directives.unchanged_required,
        "alt": directives.unchanged_required,
        "series": directives.unchanged_required,
        "x-label": directives.unchanged_required,
        "y-label": directives.unchanged_required,
        "caption": directives.unchanged,
    }

    def content_nodes(self) -> list[nodes.Node]:
        """Return the figure and a line on where it comes from."""
        missing = [f"':{name}:'" for name in ("x", "y", "alt") if not self.options.get(name, "").strip()]
        if missing:
            raise UsageError(f"{' and '.join(missing)} missing: a figure needs both axes and a text for it.")
        published, local = self.selected(
            [self.options[name] for name in ("x", "y", "series") if name in self.options]
        )
        figure = plot_records(
            published,
            x=self.options["x"],
            y=self.options["y"],
            series=self.options.get("series"),
            this_machine=local,
            x_label=self.options.get("x-label"),
            y_label=self.options.get("y-label"),
        )
        shown = figure_nodes(
            figure,
            alternative=self.options["alt"],
            caption=self.options.get("caption", ""),
            environment=self.env,
        )
        return [shown, provenance(published, local)]


def setup(app: Sphinx) -> None:
    """Register the role and the directives."""
    app.add_role("record", RecordRole())
    app.add_directive("record-table", RecordTable)
    app.add_directive("record-plot", RecordPlot)
