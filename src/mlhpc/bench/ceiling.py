"""What this machine can do at its best, measured here and now, as the yardstick for everything else."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from mlhpc.bench.device import synchroniser
from mlhpc.bench.kernels import convolution, matrix_product, memory_copy
from mlhpc.machine.model import Machine
from mlhpc.records.schema import Tier

_SECONDS: dict[Tier, float] = {"smoke": 0.15, "quick": 0.6, "full": 2.0}


@dataclass(frozen=True)
class Ceiling:
    """The measured peak of one process: its threads, or its GPU."""

    flops: float
    """Floating-point operations per second, the faster of matrix product and convolution."""
    bandwidth: float
    """Bytes per second of a memory copy, read and written bytes counted."""


@lru_cache(maxsize=8)
def measured_ceiling(device: str, precision: str, tier: Tier) -> Ceiling:
    """Return the ceiling, measured once per process and precision.

    The fastest of several calls counts: a ceiling is what the machine can do, and a neighbour's load can only
    lower it. The workload ``peak`` measures the same operations with the full protocol.
    """
    seconds = _SECONDS[tier]
    computing = (matrix_product(device, precision, tier), convolution(device, precision, tier))
    copying = memory_copy(device, tier)
    return Ceiling(
        flops=max(kernel.flop / _best_seconds(kernel.run, device, seconds) for kernel in computing),
        bandwidth=copying.bytes / _best_seconds(copying.run, device, seconds),
    )


def _best_seconds(run: Callable[[], None], device: str, seconds: float) -> float:
    """Return the shortest time of one call, from as many as fit into ``seconds`` and at least three."""
    synchronise = synchroniser(device)
    run()
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        synchronise()
        start = time.perf_counter()
        run()
        synchronise()
        times.append(time.perf_counter() - start)
    return min(times)


def datasheet_flops(machine: Machine, device: str, precision: str) -> float | None:
    """Return the vendor's peak (FLOP/s, dense) of the GPU in use, from ``data/hardware.yml``.

    None for a CPU, and for a GPU or precision that the file does not have.
    """
    if device != "cuda" or not machine.gpus:
        return None
    from mlhpc.machine.hardware import load_hardware

    found = load_hardware().find_gpu(machine.gpus[0].name)
    return None if found is None else found.peak(precision)
