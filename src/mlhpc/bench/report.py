"""The result of a run as text: one line per case, each comparison with its baseline and interval."""

from collections.abc import Sequence

from mlhpc.formatting import format_number, format_range, format_value
from mlhpc.records.compare import compare
from mlhpc.records.schema import Quantity, Record

_HIDDEN = ("device", "processes", "threads", "seed")


def group_table(records: Sequence[Record]) -> str:
    """Return the table of one group of cases; each is compared with the first.

    Empty for no records.
    """
    if not records:
        return ""
    first = records[0]
    header = ("case", first.metric.replace("_", " "), "throughput", "of peak", "against the first")
    verdicts = ["the baseline", *(_comparison(first, record) for record in records[1:])]
    rows = [
        (*_measured(record, _label(record, records)), text)
        for record, text in zip(records, verdicts, strict=True)
    ]
    return "\n".join(_aligned([header, *rows]))


def _label(record: Record, group: Sequence[Record]) -> str:
    """Return the parameters in which a record differs from the others of its group."""
    differing = [
        name
        for name in record.parameters
        if name not in _HIDDEN and len({str(other.parameters.get(name)) for other in group}) > 1
    ]
    names = differing or [
        name for name in record.parameters if name not in _HIDDEN and record.parameters[name]
    ]
    return ", ".join(_setting(name, record) for name in names)


def _setting(name: str, record: Record) -> str:
    value = record.parameters[name]
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:,}" if isinstance(value, int | float) else str(value)


def _measured(record: Record, label: str) -> tuple[str, str, str, str]:
    summary = record.summary
    interval = format_range(summary.low, summary.high, record.unit)
    time = f"{format_value(summary.median, record.unit)} ({interval})"
    throughput, share = record.quantities.get("throughput"), record.quantities.get("share_of_measured_peak")
    return label, time, _text(throughput), _text(share)


def _text(quantity: Quantity | None) -> str:
    return "" if quantity is None else format_value(quantity.value, quantity.unit)


def _comparison(first: Record, record: Record) -> str:
    """Return the verdict in words, with the interval, or with the reason why there is none."""
    for one, name in ((first, "the baseline"), (record, "this")):
        if one.summary.noisy:
            spread = format_value(one.summary.interquartile_share, "share")
            return f"cannot tell: {name} was too noisy, half its samples spread over {spread} of the median"
    found = compare(first, record)
    if found.verdict == "cannot tell":
        return f"cannot tell: {found.reason}"
    ratio, low, high = found.ratio, found.low, found.high
    if found.verdict == "slower":
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    per_item = " per item" if found.per_item else ""
    return f"{format_number(ratio)}× {found.verdict}{per_item} [{format_number(low)}, {format_number(high)}]"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
