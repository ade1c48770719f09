"""Counting the floating-point operations of a training step, without running it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def training_flop(
    build: Callable[[], "torch.nn.Module"],
    input_shape: tuple[int, ...],
    loss: Callable[["torch.Tensor"], "torch.Tensor"],
) -> float:
    """Return the operations of one forward and backward pass (a multiplication and an addition are two).

    The model is built on torch's ``meta`` device, where tensors have shapes and no values: it costs neither
    time nor memory. torch's ``FlopCounterMode`` counts products and convolutions, forward and backward;
    element-wise work (activations, normalisation, the optimiser) is not counted, as is usual.
    (torch.profiler's own count misses the backward pass of convolutions.)

    Args:
        build: makes the model; called inside the ``meta`` device.
        input_shape: of one batch.
        loss: makes a scalar of the model's output.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with torch.device("meta"):
        model = build()
        inputs = torch.empty(input_shape)
    with FlopCounterMode(display=False) as counter:
        loss(model(inputs)).backward()  # type: ignore[no-untyped-call]
    return float(counter.get_total_flops())
