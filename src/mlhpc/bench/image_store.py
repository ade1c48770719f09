"""The same photographs stored three ways: one file each, one tar file, and arrays ready for a model."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mlhpc.bench.image_loading import crop_decoded, decode_bytes
from mlhpc.bench.photographs import photographs
from mlhpc.bench.scratch import SharedFolder


class ImageStore(SharedFolder):
    """``count`` photographs, numbered from 0, in a temporary folder."""

    def __init__(self, count: int, *, batch: int, seed: int) -> None:
        super().__init__()
        self.count = count
        self.batch = batch
        self.seed = seed
        self.labels: tuple[int, ...] = ()
        """The label of each photograph; empty until the store is open."""

    @property
    def files(self) -> Sequence[Path]:
        """One JPEG file for each photograph."""
        return [self.folder / "files" / f"{number:06d}.jpg" for number in range(self.count)]

    @property
    def tar(self) -> Path:
        """All photographs in one file, each followed by its label, in the manner of WebDataset."""
        return self.folder / "images.tar"

    @property
    def batches(self) -> Sequence[Path]:
        """Arrays of cropped images, uint8, shape (batch, 3, 224, 224); the last may hold fewer."""
        count = -(-self.count // self.batch)
        return [self.folder / "batches" / f"{number:06d}.npy" for number in range(count)]

    @property
    def shuffled(self) -> Sequence[int]:
        """The numbers of all photographs in a seeded random order, as training reads them."""
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0, 1)))
        return [int(number) for number in generator.permutation(self.count)]

    def _fill(self) -> None:
        files, batches = self.files, iter(self.batches)
        files[0].parent.mkdir()
        (self.folder / "batches").mkdir()
        labels: list[int] = []
        waiting: list[NDArray[np.uint8]] = []
        with tarfile.open(self.tar, "w") as archive:
            for number, photograph in enumerate(photographs(self.count, seed=self.seed)):
                labels.append(photograph.label)
                files[number].write_bytes(photograph.jpeg)
                _add(archive, f"{number:06d}.jpg", photograph.jpeg)
                _add(archive, f"{number:06d}.cls", str(photograph.label).encode())
                waiting.append(crop_decoded(decode_bytes(photograph.jpeg), self.seed, number).numpy())
                if len(waiting) == self.batch or number == self.count - 1:
                    np.save(next(batches), np.stack(waiting))
                    waiting.clear()
        self.labels = tuple(labels)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))
