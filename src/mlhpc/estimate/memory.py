"""Memory of a training step, counted: weights, gradients, optimiser state, and what is kept for the way back.

The parts are those of Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter
Models" (2020), section 3: model states (weights, gradients, optimiser state) and activations. All counts are
exact for the given model and input: they are taken from real forward passes. Gradients of activations,
temporary buffers of the kernels, fragmentation and the CUDA context come on top and are not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mlhpc.errors import UsageError

if TYPE_CHECKING:
    import torch

Optimizer = Literal["sgd", "sgd-momentum", "adam"]
STATES: dict[Optimizer, int] = {"sgd": 0, "sgd-momentum": 1, "adam": 2}
"""Numbers that an optimiser keeps for each parameter, in fp32."""
FP32_BYTES = 4


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes of each part of a training step."""

    parameters: int
    """How many numbers the model learns."""
    weights: int
    buffers: int
    """What the model keeps beside its weights, such as running means."""
    gradients: int
    optimizer: int
    per_sample: float
    """What the forward pass keeps for the backward pass, for each sample; weights are not counted again."""
    per_step: float
    """What it keeps whatever the batch is: under autocast the copies of the weights in 16 bits."""

    @property
    def fixed(self) -> float:
        """Bytes that do not depend on the batch."""
        return self.weights + self.buffers + self.gradients + self.optimizer + self.per_step

    def activations(self, batch: int) -> float:
        """Return the bytes that are kept for the backward pass of ``batch`` samples.

        Raises:
            UsageError: if ``batch`` is not positive.
        """
        if batch < 1:
            raise UsageError(f"A batch of {batch} samples has no memory: name a positive number.")
        return self.per_step + self.per_sample * batch

    def total(self, batch: int) -> float:
        """Return the bytes of all parts for a step on ``batch`` samples.

        Raises:
            UsageError: if ``batch`` is not positive.
        """
        return self.fixed - self.per_step + self.activations(batch)

    def largest_batch(self, memory: float, reserved: float = 0.0) -> int:
        """Return how many samples fit into ``memory`` bytes of which ``reserved`` are taken, 0 or more."""
        return max(0, int((memory - reserved - self.fixed) // self.per_sample)) if self.per_sample else 0

    def least_traffic(self, batch: int) -> float:
        """Return the bytes that a step on ``batch`` samples moves to and from memory at least.

        What is kept is written once and read once. Weights are read forward, backward and by the optimiser,
        which also writes them; gradients are written and read; the optimiser's state is read and written.
        Real kernels move more: they also write and read what is not kept.
        """
        return 2 * self.activations(batch) + 4 * self.weights + 2 * self.gradients + 2 * self.optimizer


def count_memory(
    model: "torch.nn.Module",
    samples: "torch.Tensor",
    *,
    optimizer: Optimizer = "sgd-momentum",
    autocast: bool = False,
) -> TrainingMemory:
    """Count the memory of a training step of ``model``.

    Two forward passes, on ``samples`` and on half of them, run with autograd on the device of ``samples``.
    Weights, gradients and optimiser state are fp32, as torch keeps them under ``torch.autocast``, too.

    Args:
        model: the network, on the device of ``samples``; its training mode is left as it is.
        samples: a batch as the network takes it, shape (batch, ...), with at least two samples.
        optimizer: which optimiser's state to count: ``sgd`` none, ``sgd-momentum`` one number for each
            parameter, ``adam`` two.
        autocast: whether to run the forward pass under ``torch.autocast`` to bf16.

    Raises:
        UsageError: if the optimiser is unknown or there are fewer than two samples.
    """
    if optimizer not in STATES:
        raise UsageError(f"No optimiser {optimizer!r} here: known are {', '.join(STATES)}.")
    if samples.ndim == 0 or samples.shape[0] < 2:
        raise UsageError(
            "Give at least two samples, in a tensor of shape (batch, ...): one cannot tell what grows."
        )
    large, small = samples.shape[0], samples.shape[0] // 2
    # A slice would keep the memory of the whole batch alive: each pass gets samples of its own.
    kept = {size: _kept_bytes(model, samples[:size].clone(), autocast) for size in (large, small)}
    per_sample = (kept[large] - kept[small]) / (large - small)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    count = sum(parameter.numel() for parameter in learned)
    return TrainingMemory(
        parameters=count,
        weights=_bytes(model.parameters()),
        buffers=_bytes(model.buffers()),
        gradients=_bytes(learned),
        optimizer=STATES[optimizer] * count * FP32_BYTES,
        per_sample=per_sample,
        per_step=kept[large] - per_sample * large,
    )


def _bytes(tensors: "Iterable[torch.Tensor]") -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _kept_bytes(model: "torch.nn.Module", samples: "torch.Tensor", autocast: bool) -> int:
    """Return the bytes of all storages that autograd keeps, each counted once; weights are not counted."""
    import torch

    own = {tensor.untyped_storage().data_ptr() for tensor in (*model.parameters(), *model.buffers())}
    kept: dict[int, int] = {}

    def note(tensor: "torch.Tensor") -> "torch.Tensor":
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor),
        torch.autocast(samples.device.type, torch.bfloat16, enabled=autocast),
    ):
        result = model(samples)
    # The graph holds the tensors until here, so that no storage was freed and its address used again.
    del result
    return sum(kept.values())
