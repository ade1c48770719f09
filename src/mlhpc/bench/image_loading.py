"""Four ways from stored photographs to batches of floating-point images, 224 x 224, on the device.

The random crop of a photograph depends on the seed and its number only. So all ways deliver the same pixels,
but for the rounding of their decoders and filters, and each pass does the same work.
"""

import signal
import tarfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

IMAGE_SIZE = 224


def decode_bytes(jpeg: bytes) -> Tensor:
    """Decode with torchvision: uint8, shape (3, height, width)."""
    from torchvision.io import ImageReadMode, decode_jpeg

    image: Tensor = decode_jpeg(torch.frombuffer(bytearray(jpeg), dtype=torch.uint8), mode=ImageReadMode.RGB)
    return image


def crop_decoded(image: Tensor, seed: int, number: int) -> Tensor:
    """Crop and scale on bytes with torchvision's second transforms: uint8, shape (3, 224, 224)."""
    _seed_crop(seed, number)
    return _crop_of_bytes()(image)


@cache
def _crop_of_bytes() -> Callable[[Tensor], Tensor]:
    from torchvision.transforms import v2

    crop: Callable[[Tensor], Tensor] = v2.RandomResizedCrop(IMAGE_SIZE, antialias=True)
    return crop


def _seed_crop(seed: int, number: int) -> None:
    # torch.manual_seed would seed every GPU as well, each time.
    torch.default_generator.manual_seed((seed << 32 | number) % 2**63)


class PilFiles(Dataset[tuple[Tensor, int]]):
    """What most tutorials do: PIL, ``RandomResizedCrop``, ``ToTensor``; floating point from there on."""

    def __init__(self, files: Sequence[Path], labels: Sequence[int], seed: int) -> None:
        from torchvision import transforms

        self._files, self._labels, self._seed = files, labels, seed
        self._transform = transforms.Compose(
            [transforms.RandomResizedCrop(IMAGE_SIZE), transforms.ToTensor()]
        )

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> tuple[Tensor, int]:
        from PIL import Image

        with Image.open(self._files[number]) as opened:
            image = opened.convert("RGB")
        _seed_crop(self._seed, number)
        return self._transform(image), self._labels[number]


class TorchvisionFiles(Dataset[tuple[Tensor, int]]):
    """Decoded and cropped as bytes by torchvision; a quarter of the memory traffic of floating point."""

    def __init__(self, files: Sequence[Path], labels: Sequence[int], seed: int) -> None:
        self._files, self._labels, self._seed = files, labels, seed

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> tuple[Tensor, int]:
        image = decode_bytes(self._files[number].read_bytes())
        return crop_decoded(image, self._seed, number), self._labels[number]


class TarStream(IterableDataset[tuple[Tensor, int]]):
    """One tar file read from start to end; each photograph is followed by its label."""

    def __init__(self, tar: Path, seed: int) -> None:
        self._tar, self._seed = tar, seed

    def __iter__(self) -> Iterator[tuple[Tensor, int]]:
        with tarfile.open(self._tar, "r|") as archive:
            members = iter(archive)
            for number, photograph in enumerate(members):
                image = decode_bytes(_content(archive, photograph))
                label = int(_content(archive, next(members)))
                yield crop_decoded(image, self._seed, number), label


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    if stream is None:
        raise ValueError(f"{member.name} in the tar file is not a regular file")
    return stream.read()


class Prebatched(Dataset[tuple[Tensor, Tensor]]):
    """Whole batches of cropped bytes, one array file each: nothing to decode, and the crops are frozen."""

    def __init__(self, batches: Sequence[Path], labels: Sequence[int], batch: int) -> None:
        self._batches = batches
        self._labels = torch.split(torch.tensor(labels), batch)

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        return torch.from_numpy(np.load(self._batches[number])), self._labels[number]


def batches_of(
    dataset: Dataset[Any], *, batch: int | None, order: Sequence[int] | None, workers: int, pinned: bool
) -> DataLoader[Any]:
    """Return a loader that delivers the photographs in ``order``, or in stored order where it is None.

    ``batch`` None passes on what the dataset gives. Workers stay alive between passes.
    """
    return DataLoader(
        dataset,
        batch_size=batch,
        sampler=order,
        num_workers=workers,
        persistent_workers=workers > 0,
        pin_memory=pinned,
        worker_init_fn=_leave_ending_to_the_parent if workers else None,
    )


def _leave_ending_to_the_parent(_worker: int) -> None:
    """Ignore the signals that reach the whole process group: the parent ends its workers in order."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def deliver(images: Tensor, device: str) -> Tensor:
    """Return a batch as a model takes it: on the device, float32, 0 to 1. Bytes are widened there."""
    images = images.to(device, non_blocking=True)
    return images if images.is_floating_point() else images.to(torch.float32).div_(255)
