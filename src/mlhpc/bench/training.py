"""A training step as the workloads time it: forward, loss, backward, update."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlhpc.bench import ranks
from mlhpc.bench.case import Prepared, Request
from mlhpc.bench.device import synchroniser
from mlhpc.bench.numerics import finite_loss_gate, gradient_gate, gradient_of
from mlhpc.bench.precision import autocast, set_float32_mode
from mlhpc.records.schema import Gate, Quantity

if TYPE_CHECKING:
    import torch

    Batch = tuple[torch.Tensor, torch.Tensor]

LEARNING_RATE = 1e-4
"""So small that the weights hardly move: every step does the same work on the same numbers. With a usual
rate the model would learn its one batch by heart in seconds, and vanishing gradients are slow on a CPU."""


@dataclass(frozen=True)
class Task:
    """What is trained. All functions are called on every rank."""

    build: Callable[[], "torch.nn.Module"]
    """Makes the model with the seed's weights, float32, on the CPU."""
    batch: Callable[[int, int], "Batch"]
    """Makes inputs and targets from a size and a seed, on the CPU."""
    ready: Callable[["torch.Tensor", "torch.dtype"], "torch.Tensor"]
    """Turns a batch's inputs into what the model takes, inside the step; the dtype is the weights'."""
    loss: Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
    item: str


@dataclass(frozen=True)
class Setting:
    """How it is trained."""

    precision: str
    batch: int
    """Per process."""
    gate_batch: int
    """Batch size of the comparison with float64."""
    channels_last: bool = False
    compiled: bool = False
    alone: bool = False
    """True to leave the other processes out, for attempts that each may end differently."""


def reference_gradient(task: Task, size: int, request: Request) -> "torch.Tensor":
    """Return the gradient of the first step in float64 arithmetic, shape (number of parameters,)."""
    model = task.build().to(request.device).double()
    inputs, targets = (tensor.to(request.device) for tensor in task.batch(size, request.seed))
    set_float32_mode("fp32")
    _loss(task, model, inputs, targets, "fp32", request.device).backward()  # type: ignore[no-untyped-call]
    return gradient_of(model)


def prepare_training(
    task: Task,
    setting: Setting,
    request: Request,
    *,
    flop_per_item: float,
    reference: Callable[[], "torch.Tensor"],
) -> Prepared:
    """Build the model, check its first gradient against the reference, and return the step to time.

    With several processes the model is wrapped in DistributedDataParallel, and each rank has its own batch.
    """
    import torch

    place, device = ranks.current(), request.device
    occupied = _reset_memory(device)
    model = task.build().to(device)
    if setting.channels_last:
        model = model.to(memory_format=torch.channels_last)
    network: torch.nn.Module = torch.compile(model, dynamic=False) if setting.compiled else model  # type: ignore[assignment]
    inputs, targets = _on_device(task.batch(setting.batch, request.seed + place.rank), setting, device)

    fixed = _first_pass(task, network, inputs, targets, setting, device)
    gate = _gradient_gate(task, model, network, setting, request, reference)
    if place.size > 1 and not setting.alone:
        network = torch.nn.parallel.DistributedDataParallel(
            network, device_ids=[place.local_rank] if device == "cuda" else None
        )
    optimiser = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, momentum=0.9)
    last: list[torch.Tensor] = []

    def step() -> None:
        set_float32_mode(setting.precision)
        optimiser.zero_grad(set_to_none=True)
        loss = _loss(task, network, inputs, targets, setting.precision, device)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        last[:] = [loss.detach()]

    step()
    memory = _peak_memory(device, occupied)
    return Prepared(
        step,
        items_per_step=float(setting.batch * request.processes),
        item=task.item,
        gates=(gate,),
        fixed_seconds=fixed,
        flop_per_step=flop_per_item * setting.batch * request.processes,
        final_gates=lambda: (finite_loss_gate(float(last[0].item())),),
        final_quantities=lambda: memory,
    )


def _loss(
    task: Task,
    network: "torch.nn.Module",
    inputs: "torch.Tensor",
    targets: "torch.Tensor",
    precision: str,
    device: str,
) -> "torch.Tensor":
    dtype = next(network.parameters()).dtype
    with autocast(precision, device):
        return task.loss(
            network(task.ready(inputs, dtype)), targets.to(dtype) if targets.is_floating_point() else targets
        )


def _on_device(batch: "Batch", setting: Setting, device: str) -> "Batch":
    import torch

    inputs, targets = batch
    inputs = inputs.to(device)
    if setting.channels_last:
        inputs = inputs.to(memory_format=torch.channels_last)
    return inputs, targets.to(device)


def _first_pass(
    task: Task,
    network: "torch.nn.Module",
    inputs: "torch.Tensor",
    targets: "torch.Tensor",
    setting: Setting,
    device: str,
) -> dict[str, float]:
    """Run forward and backward once, without an update, and return what that took (seconds).

    For a compiled model this is nearly all compilation; otherwise it is allocation and the choice of kernels.
    """
    synchronise = synchroniser(device)
    set_float32_mode(setting.precision)
    synchronise()
    start = time.perf_counter()
    _loss(task, network, inputs, targets, setting.precision, device).backward()  # type: ignore[no-untyped-call]
    synchronise()
    network.zero_grad(set_to_none=True)
    return {"compile" if setting.compiled else "first_pass": time.perf_counter() - start}


def _gradient_gate(
    task: Task,
    model: "torch.nn.Module",
    network: "torch.nn.Module",
    setting: Setting,
    request: Request,
    reference: Callable[[], "torch.Tensor"],
) -> Gate:
    """Return the check of the gradient that the timed network gives before its first update."""
    inputs, targets = _on_device(task.batch(setting.gate_batch, request.seed), setting, request.device)
    set_float32_mode(setting.precision)
    _loss(task, network, inputs, targets, setting.precision, request.device).backward()  # type: ignore[no-untyped-call]
    gate = gradient_gate(gradient_of(model), reference(), setting.precision)
    model.zero_grad(set_to_none=True)
    return gate


def _reset_memory(device: str) -> int:
    """Start counting a GPU's peak memory anew; return the bytes that other cases hold."""
    if device == "cpu":
        return 0
    import torch

    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def _peak_memory(device: str, occupied: int) -> dict[str, Quantity]:
    if device == "cpu":
        return {}
    import torch

    torch.cuda.synchronize()
    return {"peak_memory": Quantity(value=float(torch.cuda.max_memory_allocated() - occupied), unit="B")}
