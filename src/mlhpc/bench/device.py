"""The device of a run: whether it is there, how to wait for it, and how many threads a process uses."""

import os
from collections.abc import Callable

from mlhpc.bench.case import Request
from mlhpc.errors import UsageError

DEVICES = ("cpu", "cuda")
MOST_THREADS = 4096
"""More than any node has; far more make OpenMP end the process without a word."""


def check_device(request: Request) -> None:
    """Refuse a request that this machine cannot meet.

    Raises:
        UsageError: for an unknown device, a GPU that is not there, or more GPUs than there are.
    """
    if request.device not in DEVICES:
        raise UsageError(f"Unknown device {request.device!r}: choose one of {', '.join(DEVICES)}.")
    if request.processes < 1:
        raise UsageError(f"{request.processes} processes cannot run anything: ask for 1 or more.")
    if max(request.processes, request.threads or 1) > MOST_THREADS:
        raise UsageError(f"No node has cores for that many: at most {MOST_THREADS} threads and processes.")
    if request.device == "cpu":
        return
    import torch

    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if present == 0:
        raise UsageError(
            "No GPU: torch finds no CUDA device in this session. Use --device cpu, or ask the scheduler for "
            "a GPU (mlhpc machine shows what this session has)."
        )
    if request.processes > present:
        raise UsageError(
            f"{request.processes} GPUs were asked for and {present} can be seen here: lower --gpus."
        )


def threads_per_process(request: Request) -> int:
    """Return how many threads each process of the request computes with.

    That is ``request.threads``, else ``OMP_NUM_THREADS`` for a single process, else this process's share of
    the cores that it may use (affinity and quota, not ``os.cpu_count()``).
    """
    if request.threads is not None:
        return request.threads
    setting = os.environ.get("OMP_NUM_THREADS", "")
    given = int(setting) if setting.isascii() and setting.isdigit() and len(setting) < 10 else 0
    if request.processes == 1 and 0 < given <= MOST_THREADS:
        return given
    from mlhpc.machine import inspect

    return max(1, inspect().cpu.cores_usable // request.processes)


def common_parameters(request: Request) -> dict[str, str | int]:
    """Return the parameters that every record has: device, processes, threads, seed."""
    return {
        "device": request.device,
        "processes": request.processes,
        "threads": threads_per_process(request),
        "seed": request.seed,
    }


def synchroniser(device: str) -> Callable[[], None]:
    """Return what waits until the device has finished its work; it does nothing for a CPU."""
    if device == "cpu":
        return _nothing
    import torch

    return torch.cuda.synchronize


def _nothing() -> None:
    """A CPU has finished when the call returns."""
