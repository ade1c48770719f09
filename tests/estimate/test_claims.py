"""The counts that the ledger holds as this course's own are counted again."""

import pytest
import torch
from torch import nn
from torchvision.models import resnet50

from mlhpc.bench.flops import training_flop
from mlhpc.claims import load_claims
from mlhpc.estimate.memory import TrainingMemory, count_memory
from mlhpc.estimate.roofline import Roofline
from mlhpc.machine.hardware import load_hardware

BATCH = 256


def claimed(identifier: str) -> float:
    value = load_claims().claim(identifier).value
    assert value is not None
    assert value.value is not None
    return value.value


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return torch.rand(4, 3, 224, 224)


@pytest.fixture(scope="module")
def model() -> nn.Module:
    network: nn.Module = resnet50(weights=None).train()
    return network


@pytest.fixture(scope="module")
def half(model: nn.Module, images: torch.Tensor) -> TrainingMemory:
    return count_memory(model, images, autocast=True)


def test_memory_of_resnet50(model: nn.Module, images: torch.Tensor, half: TrainingMemory) -> None:
    full = count_memory(model, images)
    adam = count_memory(model, images, optimizer="adam")
    counted = {
        "counted-resnet50-kept-image": full.per_sample / 1e6,
        "counted-resnet50-kept-image-bf16": half.per_sample / 1e6,
        "counted-resnet50-fixed": full.fixed / 1e6,
        "counted-resnet50-adam-state": adam.optimizer / 1e6,
        "counted-resnet50-adam-state-gb": adam.optimizer / 1e9,
        "counted-resnet50-step-256": full.total(BATCH) / 1e9,
        "counted-resnet50-step-256-bf16": half.total(BATCH) / 1e9,
    }
    for identifier, value in counted.items():
        assert value == pytest.approx(claimed(identifier), rel=0.005), identifier


def test_outputs_of_the_convolutions(model: nn.Module, images: torch.Tensor) -> None:
    sizes: list[int] = []
    handles = [
        part.register_forward_hook(lambda _part, _given, out: sizes.append(out.numel()))
        for part in model.modules()
        if isinstance(part, nn.Conv2d)
    ]
    with torch.no_grad():
        model(images)
    for handle in handles:
        handle.remove()
    outputs = 4 * sum(sizes) / len(images) * BATCH
    assert outputs / 1e9 == pytest.approx(claimed("counted-resnet50-convolutions-256"), rel=0.005)


def test_bounds_of_two_gpus(half: TrainingMemory) -> None:
    flop = BATCH * training_flop(lambda: resnet50(weights=None), (1, 3, 224, 224), lambda out: out.sum())
    bounds = {}
    for gpu in load_hardware().gpus:
        peak = gpu.peak("bf16")
        if gpu.id in ("l40s", "a100-sxm4-80gb") and peak is not None:
            roofline = Roofline(gpu.name, peak, gpu.memory_bytes_per_second)
            bounds[gpu.id] = BATCH / roofline.shortest_time(flop, half.least_traffic(BATCH))
    assert bounds["l40s"] == pytest.approx(claimed("bound-l40s-resnet50"), rel=0.005)
    assert bounds["a100-sxm4-80gb"] == pytest.approx(claimed("bound-a100-resnet50"), rel=0.005)
    ratio = bounds["a100-sxm4-80gb"] / bounds["l40s"]
    assert ratio == pytest.approx(claimed("bound-a100-over-l40s"), rel=0.005)
