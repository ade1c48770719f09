"""What ResNet-50 is trained on: random images, 1000 classes, torchvision's model."""

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from mlhpc.bench.training import Task

if TYPE_CHECKING:
    import torch

CLASSES = 1000

_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)
"""Mean and standard deviation of ImageNet's channels, as in torchvision's training reference."""


def make_task(pixels: int, seed: int) -> Task:
    """Return the task for square images of ``pixels`` by ``pixels``."""
    return Task(partial(make_model, seed), partial(_images, pixels), _ready, _cross_entropy, "images")


def make_model(seed: int) -> "torch.nn.Module":
    """Return ResNet-50 with the seed's weights, float32, on the CPU."""
    import torch
    from torchvision.models import resnet50

    torch.manual_seed(seed)
    # Without zero_init_residual the gradient is too ill-conditioned to be checked (see mlhpc.bench.numerics).
    model: torch.nn.Module = resnet50(zero_init_residual=True)
    return model


def _images(pixels: int, count: int, seed: int) -> "tuple[torch.Tensor, torch.Tensor]":
    import torch

    generator = torch.Generator().manual_seed(seed)
    images = torch.randint(0, 256, (count, 3, pixels, pixels), dtype=torch.uint8, generator=generator)
    return images, torch.randint(0, CLASSES, (count,), generator=generator)


def _ready(images: "torch.Tensor", dtype: "torch.dtype") -> "torch.Tensor":
    """Return bytes as normalised numbers; part of every step, as in training."""
    mean, deviation = _channel_statistics(dtype, images.device)
    return (images.to(dtype) / 255 - mean) / deviation


@lru_cache
def _channel_statistics(dtype: "torch.dtype", device: "torch.device") -> "tuple[torch.Tensor, torch.Tensor]":
    """Return mean and deviation, shape (1, 3, 1, 1); kept, because a copy to a GPU makes a step wait."""
    import torch

    mean, deviation = (torch.tensor(values, dtype=dtype, device=device) for values in (_MEAN, _DEVIATION))
    return mean.view(1, 3, 1, 1), deviation.view(1, 3, 1, 1)


def _cross_entropy(output: "torch.Tensor", labels: "torch.Tensor") -> "torch.Tensor":
    import torch

    return torch.nn.functional.cross_entropy(output, labels)
