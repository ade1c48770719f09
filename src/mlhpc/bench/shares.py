"""What a step time means: items per second, operations per second, and the share of the peak."""

from typing import TYPE_CHECKING

from mlhpc.bench.case import Prepared
from mlhpc.records.schema import Quantity, Summary

if TYPE_CHECKING:
    from mlhpc.bench.ceiling import Ceiling


BELIEVABLE = 1.1
"""Share of a measured peak above which the peak cannot have been one."""


def performance(
    prepared: Prepared,
    summary: Summary,
    *,
    ceiling: "Ceiling | None",
    datasheet_flops: float | None,
    processes: int,
) -> dict[str, Quantity]:
    """Return the quantities that follow from the time of a step, each with the interval carried over.

    Args:
        prepared: says what one step processes, computes and moves, over all processes.
        summary: of the step times in seconds.
        ceiling: measured for one process; None where there is nothing to compare.
        datasheet_flops: of one GPU in the case's precision (floating-point operations per second), or None.
        processes: how many ceilings work together.

    ``throughput`` is in items per second; ``achieved_flops`` in FLOP/s; ``achieved_bandwidth`` in B/s; shares
    have the unit ``share``. ``roofline_bound_flops`` is min(peak, bandwidth x operations per byte), the bound
    of Williams, Waterman, Patterson, "Roofline" (2009), from the measured ceiling. A share can exceed 1
    slightly: the ceiling is itself a measurement, and caches serve bytes that the bound counts as memory's. A
    ceiling that the case clearly beats was measured while somebody else used the machine, and is left out.
    """
    found = {"throughput": _rate(prepared.items_per_step, summary, f"{prepared.item}/s")}
    flop, moved = prepared.flop_per_step, prepared.bytes_per_step
    if ceiling is not None and flop and flop / summary.median > BELIEVABLE * ceiling.flops * processes:
        ceiling = None
    if flop:
        found["achieved_flops"] = _rate(flop, summary, "FLOP/s")
        if ceiling is not None:
            peak = ceiling.flops * processes
            found["measured_peak_flops"] = Quantity(value=peak, unit="FLOP/s")
            found["share_of_measured_peak"] = _rate(flop / peak, summary, "share")
        if datasheet_flops is not None:
            found["share_of_datasheet_peak"] = _rate(flop / datasheet_flops / processes, summary, "share")
    if moved:
        found["achieved_bandwidth"] = _rate(moved, summary, "B/s")
    if flop and moved and ceiling is not None:
        bound = processes * min(ceiling.flops, ceiling.bandwidth * flop / moved)
        found["roofline_bound_flops"] = Quantity(value=bound, unit="FLOP/s")
        found["share_of_roofline_bound"] = _rate(flop / bound, summary, "share")
    return found


def _rate(amount: float, summary: Summary, unit: str) -> Quantity:
    """Return ``amount`` per step as a rate; the longest time gives the lowest rate."""
    return Quantity(
        value=amount / summary.median, unit=unit, low=amount / summary.high, high=amount / summary.low
    )
