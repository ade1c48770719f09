"""ResNet-50 training on random images: compute only, the loader is a workload of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING

from mlhpc.bench import ranks
from mlhpc.bench.all_reduce import VARIANT as ALL_REDUCE
from mlhpc.bench.all_reduce import all_reduce_case
from mlhpc.bench.batch import Trial, double_batch, try_batch
from mlhpc.bench.case import Case, Prepared, Request
from mlhpc.bench.device import common_parameters
from mlhpc.bench.flops import training_flop
from mlhpc.bench.precision import PRECISIONS, check_precision
from mlhpc.bench.registry import chosen_variants
from mlhpc.bench.resnet50_task import make_model, make_task
from mlhpc.bench.training import Setting, prepare_training, reference_gradient
from mlhpc.errors import MlhpcError, UsageError

if TYPE_CHECKING:
    import torch

LAYOUTS = ("nchw", "channels_last")
_LARGEST_BATCH = {"cpu": 128, "cuda": 1024}
_GATE_BATCH = 8


@dataclass(frozen=True)
class Variant:
    """How the network is trained."""

    precision: str
    layout: str
    compiled: bool = False
    strong: bool = False
    """Strong scaling: the batch of one process is shared out over all of them."""

    @property
    def name(self) -> str:
        """As on the command line, for instance ``bf16-channels_last-compile``."""
        parts = [self.precision, self.layout]
        return "-".join(parts + ["compile"] * self.compiled + ["strong"] * self.strong)


_ALL = {
    variant.name: variant
    for strong, compiled, precision, layout in product((False, True), (False, True), PRECISIONS, LAYOUTS)
    for variant in [Variant(precision, layout, compiled, strong)]
}
_USUAL = {
    ("cpu", "smoke"): ("fp32-nchw", "fp32-channels_last", "bf16-channels_last"),
    ("cpu", "quick"): ("fp32-nchw", "fp32-channels_last", "bf16-nchw", "bf16-channels_last"),
    ("cpu", "full"): tuple(
        name for name, variant in _ALL.items() if variant.precision != "tf32" and not variant.strong
    ),
    ("cuda", "smoke"): ("fp32-nchw", "tf32-nchw", "bf16-channels_last"),
    ("cuda", "quick"): ("fp32-nchw", "tf32-nchw", "tf32-channels_last", "bf16-nchw", "bf16-channels_last"),
    ("cuda", "full"): tuple(name for name, variant in _ALL.items() if not variant.strong),
}
_SIZES = {
    ("cpu", "smoke"): (64, 8),
    ("cpu", "quick"): (224, 8),
    ("cpu", "full"): (224, 8),
    ("cuda", "smoke"): (64, 32),
    ("cuda", "quick"): (224, 64),
    ("cuda", "full"): (224, 32),
}
"""Image size in pixels, and batch per process; at full tier the batch from which doubling starts."""


class ResNet50:
    """Training steps of torchvision's ResNet-50 with SGD and momentum."""

    name = "resnet50"
    title = "ResNet-50 training"
    summary = "Training steps of ResNet-50 on random images, by precision, memory layout and compilation."

    def variants(self, device: str) -> Sequence[str]:
        """Return the names that exist on ``device``, the plain baseline first."""
        return [name for name, variant in _ALL.items() if device == "cuda" or variant.precision != "tf32"]

    def cases(self, request: Request) -> Sequence[Case]:
        """Return one case per variant, in one group with one batch size; with processes also an all-reduce.

        At full tier this tries batch sizes first, with the first of the variants, which takes a while.
        """
        several = request.processes > 1
        known = [*_ALL, ALL_REDUCE] if several else list(_ALL)
        usual = [*_usual(request), *([ALL_REDUCE] if several else [])]
        listed = [name for name in self.variants(request.device) if several or not _ALL[name].strong]
        names = chosen_variants(known, usual, request, listed=listed)
        variants = [_ALL[name] for name in names if name != ALL_REDUCE]
        for variant in variants:
            _check(variant, request)
        run = _Run(request, variants)
        cases = [run.case(variant) for variant in variants]
        return [*cases, *([all_reduce_case(run.parameter_count, request)] if ALL_REDUCE in names else [])]


def _usual(request: Request) -> list[str]:
    """Return the usual variants that this device can compute (an older GPU lacks bf16)."""
    names = []
    for name in _USUAL[request.device, request.tier]:
        try:
            check_precision(_ALL[name].precision, request.device)
        except UsageError:
            continue
        names.append(name)
    return names


def _check(variant: Variant, request: Request) -> None:
    check_precision(variant.precision, request.device)
    if variant.strong and request.processes == 1:
        option = "--gpus" if request.device == "cuda" else "--processes"
        raise UsageError(f"{variant.name} shares a batch out over several processes: add {option} 2 or more.")
    if (
        variant.strong
        and request.tier != "full"
        and _SIZES[request.device, request.tier][1] < request.processes
    ):
        raise UsageError(
            f"{variant.name}: a batch of one item per process is needed at least; use fewer processes."
        )


class _Run:
    """What the cases of one run share: the batch size, the float64 gradient, the counted operations."""

    def __init__(self, request: Request, variants: Sequence[Variant]) -> None:
        self.request = request
        self.pixels, self.batch = _SIZES[request.device, request.tier]
        self.task = make_task(self.pixels, request.seed)
        if request.tier == "full" and variants:
            self.batch = int(ranks.current().agree(float(self._best_batch(variants[0]))))

    def case(self, variant: Variant) -> Case:
        several = self.request.processes > 1
        batch = max(1, self.batch // self.request.processes) if variant.strong else self.batch
        return Case(
            label=variant.name.replace("-", " "),
            variant=variant.name,
            parameters={
                **common_parameters(self.request),
                "precision": variant.precision,
                "layout": variant.layout,
                "compile": variant.compiled,
                "batch": batch,
                "image_size": self.pixels,
                "scaling": ("strong" if variant.strong else "weak") if several else None,
            },
            prepare=lambda: self._prepare(variant, batch),
            packages=("torch", "torchvision"),
        )

    def _prepare(self, variant: Variant, batch: int, *, alone: bool = False) -> Prepared:
        setting = Setting(
            variant.precision,
            batch,
            gate_batch=min(batch, _GATE_BATCH),
            channels_last=variant.layout == "channels_last",
            compiled=variant.compiled,
            alone=alone,
        )
        return prepare_training(
            self.task,
            setting,
            self.request,
            flop_per_item=self.flop_per_image,
            reference=lambda: self._reference(setting.gate_batch),
        )

    @cached_property
    def _references(self) -> dict[int, "torch.Tensor"]:
        return {}

    def _reference(self, size: int) -> "torch.Tensor":
        if size not in self._references:
            self._references[size] = reference_gradient(self.task, size, self.request)
        return self._references[size]

    @cached_property
    def flop_per_image(self) -> float:
        return (
            training_flop(partial(make_model, 0), (2, 3, self.pixels, self.pixels), lambda out: out.sum()) / 2
        )

    @cached_property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in make_model(0).parameters())

    def _best_batch(self, variant: Variant) -> int:
        """Return the batch size per process at which doubling stops to pay, for the variant at hand."""
        eager = Variant(variant.precision, variant.layout)

        def attempt(batch: int) -> Trial | None:
            return try_batch(lambda: self._prepare(eager, batch, alone=True), self.request.device)

        try:
            return double_batch(self.batch, _LARGEST_BATCH[self.request.device], attempt)
        except MemoryError as error:
            raise MlhpcError(f"ResNet-50: {error} into this device's memory; use --tier quick.") from error


WORKLOAD = ResNet50()
