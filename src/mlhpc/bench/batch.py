"""Finding the batch size by doubling: until it no longer pays, or memory ends."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

from mlhpc.bench.case import Prepared
from mlhpc.bench.device import synchroniser

SMALLEST_GAIN = 0.03
"""A doubling that raises the throughput by less than this is not worth its memory."""

MEMORY_SHARE = 0.9
"""The next doubling must be expected to stay within this share of the memory."""


@dataclass(frozen=True)
class Trial:
    """What one batch size gave."""

    throughput: float
    """Items per second."""
    memory_share: float
    """Part of the device's memory that the process took at most, 0 to 1."""


def double_batch(first: int, last: int, attempt: Callable[[int], Trial | None]) -> int:
    """Return the smallest batch size whose doubling gains less than ``SMALLEST_GAIN``, or does not fit.

    Args:
        first: where to start.
        last: where to end at the latest.
        attempt: measures a batch size; None where it did not fit into memory.

    Raises:
        MemoryError: if even ``first`` does not fit.
    """
    best = attempt(first)
    if best is None:
        raise MemoryError(f"batch {first} does not fit")
    batch = first
    # Twice the batch takes less than twice the memory: the weights are there already.
    while batch * 2 <= last and best.memory_share * 2 <= MEMORY_SHARE:
        trial = attempt(batch * 2)
        if trial is None or trial.throughput < best.throughput * (1 + SMALLEST_GAIN):
            break
        batch, best = batch * 2, trial
    return batch


def try_batch(prepare: Callable[[], Prepared], device: str) -> Trial | None:
    """Return what the best of three steps gives, or None where the GPU's memory did not suffice.

    All memory of the attempt is given back, so that the next one finds what this one found.
    """
    import torch

    try:
        return _time_steps(prepare(), device)
    except torch.cuda.OutOfMemoryError:
        return None
    finally:
        # Models are part of reference cycles: without this their memory counts against the next attempt.
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()


def _time_steps(prepared: Prepared, device: str) -> Trial:
    synchronise = synchroniser(device)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        prepared.step()
        synchronise()
        times.append(time.perf_counter() - start)
    return Trial(prepared.items_per_step / min(times), _memory_share(device))


def _memory_share(device: str) -> float:
    """Return the part of the memory that this process has used at most: of its GPU's, or of its limit."""
    if device == "cuda":
        import torch

        total: int = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        return torch.cuda.max_memory_reserved() / total
    import resource

    from mlhpc.machine import inspect

    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kibibytes * 1024 / inspect().memory.usable_bytes
