"""This machine's own peak: matrix product, convolution, memory copy."""

from collections.abc import Callable, Sequence
from functools import partial

from mlhpc.bench.case import Case, Prepared, Request
from mlhpc.bench.device import common_parameters
from mlhpc.bench.kernels import Kernel, convolution, matrix_product, memory_copy
from mlhpc.bench.precision import PRECISIONS, check_precision
from mlhpc.bench.registry import chosen_variants
from mlhpc.errors import UsageError
from mlhpc.records.schema import Gate

_COPY = "memory-copy"
_ALL = [
    *(f"{kernel}-{precision}" for kernel in ("matrix-product", "convolution") for precision in PRECISIONS),
    _COPY,
]

_ERROR_LIMITS = {"fp32": 1e-4, "tf32": 5e-3, "bf16": 2e-2}
"""Relative error of a product of random matrices: half a unit in the last place of fp32 (24 bits), tf32 (11)
and bf16 (8) is 6e-8, 5e-4 and 4e-3; the sums add a little, and the limits leave a factor of 5 and more."""


class Peak:
    """The operations that bound all others."""

    name = "peak"
    title = "Peak of this machine"
    summary = "Matrix product, convolution and memory copy: the measured ceiling of this machine."

    def variants(self, device: str) -> Sequence[str]:
        """Return the operations with the precisions that exist on ``device``."""
        return [name for name in _ALL if device == "cuda" or not name.endswith("tf32")]

    def cases(self, request: Request) -> Sequence[Case]:
        """Return one group of cases per operation, fp32 first.

        Raises:
            UsageError: for several processes: the ceiling is that of one.
        """
        if request.processes > 1:
            raise UsageError("peak measures the ceiling of one process: leave --gpus and --processes out.")
        names = chosen_variants(_ALL, self._usual(request), request)
        return [_case(name, request) for name in names]

    def _usual(self, request: Request) -> list[str]:
        names = []
        for name in self.variants(request.device):
            try:
                check_precision(_precision(name), request.device)
            except UsageError:
                continue
            names.append(name)
        return names


def _precision(name: str) -> str:
    return "fp32" if name == _COPY else name.rsplit("-", 1)[1]


def _case(name: str, request: Request) -> Case:
    precision = _precision(name)
    check_precision(precision, request.device)
    operation = name if name == _COPY else name.rsplit("-", 1)[0]
    make: Callable[[], Kernel] = {
        "matrix-product": partial(matrix_product, request.device, precision, request.tier),
        "convolution": partial(convolution, request.device, precision, request.tier),
        _COPY: partial(memory_copy, request.device, request.tier),
    }[operation]
    arithmetic = None if name == _COPY else precision
    return Case(
        label=name.replace("-", " "),
        variant=name,
        parameters={**common_parameters(request), "operation": operation, "precision": arithmetic},
        prepare=partial(_prepare, make, precision),
        metric="call_time",
        group=operation,
    )


def _prepare(make: Callable[[], Kernel], precision: str) -> Prepared:
    kernel = make()
    error, limit = kernel.error(), _ERROR_LIMITS[precision]
    gate = Gate(name="relative error against float64", value=error, limit=limit, passed=error <= limit)
    return Prepared(
        kernel.run,
        items_per_step=1.0,
        item="calls",
        gates=(gate,),
        flop_per_step=kernel.flop or None,
        bytes_per_step=kernel.bytes,
    )


WORKLOAD = Peak()
