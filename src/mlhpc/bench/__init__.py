"""Measuring: the protocol, the workloads, and one call for notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlhpc.records.schema import Record, Tier


def measure(
    workload: str, *, tier: "Tier" = "smoke", device: str = "cpu", variants: Sequence[str] = ()
) -> "list[Record]":
    """Measure a workload in this process and return its records, without keeping them in a file.

    Args:
        workload: a name that ``mlhpc bench`` knows, for instance ``dense``.
        tier: ``smoke`` (seconds), ``quick`` (minutes) or ``full`` (a GPU node).
        device: ``cpu`` or ``cuda``.
        variants: names of variants; empty for the usual ones.

    Raises:
        UsageError: for an unknown workload or variant, or a device that is not there.
        MlhpcError: if a variant computes something wrong.
    """
    from mlhpc.bench.case import Request
    from mlhpc.bench.registry import find_workload
    from mlhpc.bench.runner import run

    return run(find_workload(workload), Request(tier=tier, device=device, variants=tuple(variants)))
