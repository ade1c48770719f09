"""A small dense network, 28-256-256-1, at four batch sizes: what a step costs, and what a sample costs."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from mlhpc.bench.all_reduce import VARIANT as ALL_REDUCE
from mlhpc.bench.all_reduce import all_reduce_case
from mlhpc.bench.case import Case, Prepared, Request
from mlhpc.bench.device import common_parameters
from mlhpc.bench.flops import training_flop
from mlhpc.bench.registry import chosen_variants
from mlhpc.bench.training import Setting, Task, prepare_training, reference_gradient
from mlhpc.records.schema import Record

if TYPE_CHECKING:
    import torch

FEATURES, WIDTH = 28, 256
BATCHES = {"batch-64": 64, "batch-1k": 1024, "batch-16k": 16_384, "batch-64k": 65_536}

_PARAMETERS = FEATURES * WIDTH + WIDTH + WIDTH * WIDTH + WIDTH + WIDTH + 1
_LARGEST_GATE_BATCH = 1024


class Dense:
    """Training steps of a small dense network with SGD and momentum, in float32."""

    name = "dense"
    title = "Dense network training"
    summary = (
        "Training steps of a small dense network by batch size: fixed cost per step and cost per sample."
    )

    def variants(self, device: str) -> Sequence[str]:
        """Return the batch sizes, smallest first; they are the same on all devices."""
        return list(BATCHES)

    def cases(self, request: Request) -> Sequence[Case]:
        """Return one case per batch size (per process, weak scaling); with processes also an all-reduce."""
        several = request.processes > 1
        known = [*BATCHES, *([ALL_REDUCE] if several else [])]
        names = chosen_variants(known, known, request)
        cases = [_case(name, request) for name in names if name != ALL_REDUCE]
        return [*cases, *([all_reduce_case(_PARAMETERS, request)] if ALL_REDUCE in names else [])]

    def notes(self, records: Sequence[Record]) -> Sequence[str]:
        """Return the fitted costs as sentences, where the records hold two batch sizes or more."""
        from mlhpc.bench.fit import fit_records

        training = [record for record in records if record.metric == "step_time"]
        if len(training) < 2:
            return ()
        fit = fit_records(training)
        step, sample = fit.per_step, fit.per_sample
        return (
            f"Fixed cost of a step: {step.value * 1e6:.0f} µs [{step.low * 1e6:.0f}, {step.high * 1e6:.0f}]. "
            f"Cost of a sample: {sample.value * 1e6:.2f} µs "
            f"[{sample.low * 1e6:.2f}, {sample.high * 1e6:.2f}]. "
            f"They are equal at a batch of {fit.break_even_batch:.0f}.",
            f"A straight line misses the measured steps by at most {fit.worst_error:.0%} "
            f"(at batch {fit.worst_batch}).",
        )


def _case(name: str, request: Request) -> Case:
    batch = BATCHES[name]
    return Case(
        label=name.replace("-", " "),
        variant=name,
        parameters={
            **common_parameters(request),
            "precision": "fp32",
            "batch": batch,
            "scaling": "weak" if request.processes > 1 else None,
        },
        prepare=partial(_prepare, batch, request),
    )


def _prepare(batch: int, request: Request) -> Prepared:
    task = make_task(request.seed)
    setting = Setting("fp32", batch, gate_batch=min(batch, _LARGEST_GATE_BATCH))
    prepared = prepare_training(
        task,
        setting,
        request,
        flop_per_item=_flop_per_sample(),
        reference=lambda: reference_gradient(task, setting.gate_batch, request),
    )
    prepared.bytes_per_step = _least_bytes(batch) * request.processes
    return prepared


def make_task(seed: int) -> Task:
    """Return what the network is trained on: a seeded table with labels that depend on it."""
    return Task(partial(_model, seed), _table, _ready, _binary_cross_entropy, "samples")


@lru_cache
def _flop_per_sample() -> float:
    return training_flop(partial(_model, 0), (1, FEATURES), lambda out: out.sum())


def _least_bytes(batch: int) -> float:
    """Return the bytes that one process must move in a step at the least, all numbers in float32.

    Weights: read forward and backward; their gradients written and read; the update reads and writes weights
    and momentum. Inputs: read forward and for the first layer's gradient. Outputs of each layer: written
    once, read by the next layer and again on the way back; likewise their gradients, written and read.
    """
    layers = WIDTH + WIDTH + 1
    return 4.0 * (8 * _PARAMETERS + batch * (2 * FEATURES + 5 * layers))


def _model(seed: int) -> "torch.nn.Module":
    import torch
    from torch import nn

    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1)
    )


def _table(count: int, seed: int) -> "tuple[torch.Tensor, torch.Tensor]":
    """Return features of shape (count, 28) and labels 0 or 1 of shape (count,) that depend on them."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(count, FEATURES, generator=generator)
    return features, (features[:, 0] * features[:, 1] > 0).float()


def _ready(features: "torch.Tensor", dtype: "torch.dtype") -> "torch.Tensor":
    return features.to(dtype)


def _binary_cross_entropy(output: "torch.Tensor", labels: "torch.Tensor") -> "torch.Tensor":
    import torch

    return torch.nn.functional.binary_cross_entropy_with_logits(output.squeeze(1), labels)


WORKLOAD = Dense()
