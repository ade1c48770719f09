"""Timing the exchange of gradients alone: what data-parallel training pays for each step at the least."""

from mlhpc.bench.case import Case, Prepared, Request
from mlhpc.bench.device import common_parameters

VARIANT = "all-reduce"


def all_reduce_case(parameters: int, request: Request) -> Case:
    """Return the case that sums ``parameters`` float32 values over all processes of the request.

    ``achieved_bandwidth`` is what NVIDIA's nccl-tests call bus bandwidth: each process sends and receives at
    least 2 (n - 1) / n of the values, however the sum is arranged.
    """

    def prepare() -> Prepared:
        import torch
        import torch.distributed

        # Zeros stay zeros, however often they are summed; the time does not depend on the values.
        values = torch.zeros(parameters, device=request.device)
        moved = 2.0 * (request.processes - 1) / request.processes * values.nbytes

        def step() -> None:
            torch.distributed.all_reduce(values)

        return Prepared(step, items_per_step=1.0, item="all-reduces", bytes_per_step=moved)

    return Case(
        label=VARIANT,
        variant=VARIANT,
        parameters={**common_parameters(request), "precision": "fp32", "values": parameters},
        prepare=prepare,
        metric="all_reduce_time",
        group=VARIANT,
    )
