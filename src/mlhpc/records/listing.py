"""Records as text for a terminal: a list, one in full, a comparison."""

import json
from collections.abc import Iterator, Sequence

from mlhpc.formatting import format_number, format_range, format_value
from mlhpc.machine.naming import machine_name
from mlhpc.records.compare import Comparison
from mlhpc.records.query import measured
from mlhpc.records.schema import Quantity, Record, Scalar
from mlhpc.text_table import GAP, format_table

SHORT_ID = 8
"""Digits of an id that a list shows; commands take any unique first digits."""


REMARKS = {
    "noisy": "half of the samples spread too widely for any verdict",
    "cap": "the time or the count was used up before the interval was as narrow as it should be",
    "interrupted": "cut short",
}


def list_text(records: Sequence[Record]) -> str:
    """Return one line per record, grouped by workload and tier; what a group shares stands above it.

    Remarks that occur are explained below.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.workload, record.tier), []).append(record)
    occurring = {remark for record in records for remark in _remarks(record)}
    legend = "\n".join(f"{word}: {meaning}" for word, meaning in REMARKS.items() if word in occurring)
    tables = [_group_text(group) for _, group in sorted(groups.items())]
    return "\n\n".join(filter(None, [*tables, legend]))


def _group_text(records: Sequence[Record]) -> str:
    first = records[0]
    names = dict.fromkeys(name for record in records for name in record.parameters)
    shared = {
        name: first.parameters[name]
        for name in names
        if len({json.dumps(record.parameters.get(name, "")) for record in records}) == 1
    }
    title = f"{first.workload}, {first.tier} tier: {_assignments(shared)}"
    rows = [
        (
            record.id[:SHORT_ID],
            _assignments({name: value for name, value in record.parameters.items() if name not in shared}),
            record.metric,
            _interval(measured(record)),
            _throughput(record),
            str(record.summary.count),
            ", ".join(_remarks(record)) or "-",
            machine_name(record.machine, record.parameters.get("device")),
            f"{record.measured_at:%Y-%m-%d %H:%M}",
        )
        for record in records
    ]
    header = ("id", "parameters", "metric", "median [95 %]", "throughput", "n", "remarks", "machine", "UTC")
    return f"{title}\n{format_table(header, rows)}"


def _assignments(parameters: dict[str, Scalar]) -> str:
    return " ".join(f"{name}={_plain(value)}" for name, value in parameters.items()) or "-"


def _plain(value: Scalar) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _interval(quantity: Quantity) -> str:
    text = format_value(quantity.value, quantity.unit)
    if quantity.low is None or quantity.high is None:
        return text
    return f"{text} [{format_range(quantity.low, quantity.high, quantity.unit)}]"


def _throughput(record: Record) -> str:
    quantity = record.quantities.get("throughput")
    return "-" if quantity is None else format_value(quantity.value, quantity.unit)


def _remarks(record: Record) -> list[str]:
    remarks = ["noisy"] if record.summary.noisy else []
    return remarks + ([record.stopped] if record.stopped != "converged" else [])


def record_text(record: Record) -> str:
    """Return everything about one record but its samples, a name and a value on each line."""
    entries = list(_entries(record))
    width = max(len(name) for name, _ in entries) + len(GAP)
    return "\n".join(f"{name:<{width}}{value}" for name, value in entries)


def _entries(record: Record) -> Iterator[tuple[str, str]]:
    summary = record.summary
    yield "id", record.id
    yield "workload", f"{record.workload}, {record.tier} tier"
    yield "parameters", _assignments(record.parameters)
    yield record.metric, f"{_interval(measured(record))}, median of {summary.count} ({record.stopped})"
    yield "spread", f"{summary.interquartile_share:.1%} of the median{', noisy' if summary.noisy else ''}"
    yield "warm-up", f"{len(record.warmup)} samples dropped"
    for name, seconds in record.fixed_seconds.items():
        yield f"once: {name}", format_value(seconds, "s")
    for name, quantity in record.quantities.items():
        yield name, _interval(quantity)
    for gate in record.gates:
        passed = "passed" if gate.passed else "failed"
        yield (
            f"check {passed}",
            f"{gate.name}: {format_number(gate.value)}, limit {format_number(gate.limit)}",
        )
    yield "machine", machine_name(record.machine, record.parameters.get("device"))
    yield "system", record.machine.operating_system
    for warning in record.machine.warnings:
        yield "warning", warning
    contention = record.contention
    yield (
        "load average",
        f"{contention.load_average_before:g} before, {contention.load_average_after:g} after",
    )
    versions = {"python": record.software.python, **record.software.packages}
    yield "software", ", ".join(f"{name} {version}" for name, version in versions.items())
    yield "command", " ".join(record.command)
    yield "commit", (record.commit or "none") + (" with changes" if record.modified else "")
    yield "measured", f"{record.measured_at:%Y-%m-%d %H:%M} UTC"


def comparison_text(first: Record, second: Record, comparison: Comparison) -> str:
    """Return the verdict on ``second`` relative to ``first`` in sentences."""
    what = "per item" if comparison.per_item else "per sample"
    lines = [
        f"A  {first.id}  {_assignments(_only_in(first, second))}  {_interval(measured(first))}",
        f"B  {second.id}  {_assignments(_only_in(second, first))}  {_interval(measured(second))}",
        f"B is {format_number(comparison.ratio)} times as fast as A {what}, "
        f"95 % interval {format_number(comparison.low)} to {format_number(comparison.high)}.",
        f"Verdict on B: {comparison.verdict}, as {comparison.reason}.",
        *(f"Mind: {caution}" for caution in comparison.cautions),
    ]
    rows = [
        (name, *(_interval(record.quantities[name]) for record in (first, second)), _interval(ratio))
        for name, ratio in comparison.quantities.items()
    ]
    table = ["", format_table(("quantity", "A", "B", "B / A"), rows)] if rows else []
    return "\n".join((*lines, *table))


def _only_in(record: Record, other: Record) -> dict[str, Scalar]:
    """Return the parameters in which ``record`` differs from ``other``."""
    return {
        name: value
        for name, value in record.parameters.items()
        if name not in other.parameters or other.parameters[name] != value
    }
