"""Checks of the arithmetic that a case must pass before its speed counts: fast and wrong is an error.

The gradient at the first step is compared with the one that float64 arithmetic gives for the same weights and
the same batch. Later steps cannot be compared: training is chaotic, and equally correct variants drift apart
within a dozen steps.

The comparison only means something for a model that is well conditioned. ResNet-50 at its default
initialisation is not: its bf16 gradient differs from the float64 one by more than its own length. With
``zero_init_residual=True`` each residual block starts as the identity, and the limits below can tell rounding
from a mistake.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mlhpc.errors import MlhpcError
from mlhpc.records.schema import Gate

if TYPE_CHECKING:
    import torch

GRADIENT_LIMITS = {"fp32": 1e-2, "tf32": 6e-2, "bf16": 0.25}
"""Largest relative error of the gradient, by precision.

Measured with ResNet-50 (64 to 224 pixels, batch 4 to 32, both layouts, six seeds, two processors): fp32 1e-6
to 8e-4, bf16 0.064 to 0.14. The limits stand a factor of 12 (fp32) and 1.8 (bf16) above the worst. Real
mistakes lie above them: a loss half or twice what it should be gives 0.5 and 1, images left unnormalised 0.31
(224 pixels) to 1. tf32 keeps 3 bits more than bf16, which makes the error 8 times smaller; its limit is a
quarter of bf16's until it has been measured."""


class WrongNumbers(MlhpcError):
    """A case that computes something else than it should; its speed does not count."""


_LARGEST_LOSS = 3.4e38
"""The largest float32: beyond it a loss is no longer finite."""


def gradient_of(model: "torch.nn.Module") -> "torch.Tensor":
    """Return all gradients of ``model`` in one float64 vector on the CPU, shape (number of parameters,)."""
    import torch

    return torch.cat(
        [p.grad.detach().double().flatten().cpu() for p in model.parameters() if p.grad is not None]
    )


def gradient_gate(gradient: "torch.Tensor", reference: "torch.Tensor", precision: str) -> Gate:
    """Return the check of a gradient vector against the float64 one: |g - r| / |r| within the limit."""
    error = ((gradient - reference).norm() / reference.norm()).item()
    limit = GRADIENT_LIMITS[precision]
    return Gate(
        name="relative error of the gradient against float64", value=error, limit=limit, passed=error <= limit
    )


def finite_loss_gate(loss: float) -> Gate:
    """Return the check that the last loss of the timed steps is a finite number."""
    finite = math.isfinite(loss) and abs(loss) <= _LARGEST_LOSS
    return Gate(name="last loss is finite", value=loss, limit=_LARGEST_LOSS, passed=finite)


def require(label: str, gates: Iterable[Gate]) -> None:
    """Raise where a check did not pass.

    Raises:
        WrongNumbers: naming the case, the check, its value and its limit.
    """
    for gate in gates:
        if not gate.passed:
            raise WrongNumbers(
                f"{label} computes something else: {gate.name} is {gate.value:.3g}, the limit is "
                f"{gate.limit:.3g}; its speed does not count and no record was made of it."
            )
