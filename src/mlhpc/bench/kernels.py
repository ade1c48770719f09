"""The three operations whose speed is a machine's own ceiling: matrix product, convolution, memory copy.

The matrix product alone is not a ceiling: on some processors the library's product is slower than its
convolution. The peak of a machine is therefore the faster of the two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlhpc.bench.precision import set_float32_mode
from mlhpc.records.schema import Tier

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Kernel:
    """One call of an operation, with what it computes and moves at the least."""

    run: Callable[[], None]
    flop: float
    """Floating-point operations of one call."""
    bytes: float
    """Bytes read and written by one call, each operand once."""
    size: int
    """Rows of the matrices, images of the batch, or bytes copied."""
    error: Callable[[], float]
    """Runs a call and returns the relative error of a part of its result against float64."""


def matrix_product(device: str, precision: str, tier: Tier) -> Kernel:
    """Return the product of two square matrices, large enough that computing hides the reading of them."""
    import torch

    size = _MATRIX[device][tier]
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    out = torch.empty_like(a)

    def run() -> None:
        set_float32_mode(precision)
        torch.mm(a, b, out=out)

    def error() -> float:
        run()
        return _relative_error(out[:8], a[:8].double() @ b.double())

    return Kernel(run, 2.0 * size**3, 3.0 * size**2 * a.element_size(), size, error)


def convolution(device: str, precision: str, tier: Tier) -> Kernel:
    """Return a 3 x 3 convolution of 256 channels on 28 x 28 pixels, channels last, as in ResNet-50."""
    import torch

    images = _IMAGES[device][tier]
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    layer = torch.nn.Conv2d(256, 256, 3, padding=1, bias=False, device=device, dtype=dtype)
    layer = layer.to(memory_format=torch.channels_last)
    inputs = torch.randn(images, 256, 28, 28, device=device).to(dtype).to(memory_format=torch.channels_last)

    def run() -> None:
        set_float32_mode(precision)
        with torch.no_grad():
            layer(inputs)

    def error() -> float:
        set_float32_mode(precision)
        with torch.no_grad():
            exact = torch.nn.functional.conv2d(inputs[:1].double(), layer.weight.double(), padding=1)
            return _relative_error(layer(inputs)[:1], exact)

    # Each output value sums 256 channels at 9 places; the padding's zeros count, as in FlopCounterMode.
    flop = 2.0 * images * 256 * 28 * 28 * 256 * 9
    return Kernel(run, flop, 2.0 * inputs.nbytes + layer.weight.nbytes, images, error)


def memory_copy(device: str, tier: Tier) -> Kernel:
    """Return a copy of a block that is larger than the caches of most processors."""
    import torch

    size = _COPIED[device][tier]
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)

    def run() -> None:
        target.copy_(source)

    def error() -> float:
        run()
        return float((source != target).any().item())

    return Kernel(run, 0.0, 2.0 * size, size, error)


def _relative_error(result: "torch.Tensor", exact: "torch.Tensor") -> float:
    return float(((result.double() - exact).norm() / exact.norm()).item())


_MATRIX: dict[str, dict[Tier, int]] = {
    "cpu": {"smoke": 1024, "quick": 2048, "full": 4096},
    "cuda": {"smoke": 4096, "quick": 8192, "full": 8192},
}
_IMAGES: dict[str, dict[Tier, int]] = {
    "cpu": {"smoke": 4, "quick": 16, "full": 64},
    "cuda": {"smoke": 64, "quick": 256, "full": 256},
}
_MIB = 2**20
_COPIED: dict[str, dict[Tier, int]] = {
    "cpu": {"smoke": 128 * _MIB, "quick": 512 * _MIB, "full": 1024 * _MIB},
    "cuda": {"smoke": 256 * _MIB, "quick": 1024 * _MIB, "full": 1024 * _MIB},
}
