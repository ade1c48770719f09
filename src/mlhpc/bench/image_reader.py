"""Reading all photographs of a store in one of four ways, and checking that pixels and labels are right."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from mlhpc.bench import image_loading as ways
from mlhpc.bench.image_store import ImageStore
from mlhpc.records.schema import Gate

MEAN_DIFFERENCE_LIMIT = 0.004
"""Most that the mean difference of a photograph's pixel values (0 to 1) from the plain way may be."""

COMPARED_IMAGES = 32
"""Photographs whose pixels are compared; labels are compared for all."""


class ImageReader:
    """Brings all photographs to the device, batch by batch, as a model takes them."""

    item = "images"

    def __init__(self, store: ImageStore, method: str, *, workers: int, device: str) -> None:
        self._store, self._method, self._workers, self._device = store, method, workers, device
        self._loader: Iterable[Any] = ()
        self.order: Sequence[int] = ()
        """The numbers of the photographs in the order in which they come, once the reader is open."""
        self.items = store.count

    def open(self) -> None:
        """Make the files, unless another reader has. Workers start at the first pass only."""
        self._store.open()
        store, in_files = self._store, self._method in ("pil", "torchvision")
        datasets: dict[str, Callable[[], Any]] = {
            "pil": lambda: ways.PilFiles(store.files, store.labels, store.seed),
            "torchvision": lambda: ways.TorchvisionFiles(store.files, store.labels, store.seed),
            "tar": lambda: ways.TarStream(store.tar, store.seed),
            "prebatched": lambda: ways.Prebatched(store.batches, store.labels, store.batch),
        }
        self.order = store.shuffled if in_files else range(store.count)
        self._loader = ways.batches_of(
            datasets[self._method](),
            batch=None if self._method == "prebatched" else store.batch,
            order=self.order if in_files else None,
            workers=self._workers,
            pinned=self._device != "cpu",
        )

    def close(self) -> None:
        """End the workers and give the store back."""
        # Workers end when the loader goes.
        self._loader = ()
        self._store.close()

    def paths(self) -> Sequence[Path]:
        """Return the files that one pass reads."""
        choices = {"tar": [self._store.tar], "prebatched": self._store.batches}
        return choices.get(self._method, self._store.files)

    def read(self) -> None:
        """Make one pass over all photographs."""
        for _ in self.batches():
            pass

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield images, shape (batch, 3, 224, 224), as a model takes them, and their labels."""
        for images, labels in self._loader:
            yield ways.deliver(images, self._device), labels

    def gates(self) -> Sequence[Gate]:
        """Compare one pass with the plain way: labels of all photographs, pixels of the first ones."""
        reference = ways.PilFiles(self._store.files, self._store.labels, self._store.seed)
        expected = (reference[number][0] for number in islice(self.order, COMPARED_IMAGES))
        labels: list[int] = []
        differences: list[float] = []
        for images, batch_labels in self.batches():
            labels += batch_labels.tolist()
            # The images come first: where they end, zip must not have taken a reference yet.
            differences += [
                float((image - plain).abs().mean())
                for image, plain in zip(images.cpu(), expected, strict=False)
            ]
        return image_gates(labels, [self._store.labels[number] for number in self.order], differences)


def image_gates(
    labels: Sequence[int], expected: Sequence[int], differences: Sequence[float]
) -> Sequence[Gate]:
    """Return the checks of one pass.

    Args:
        labels: as they were delivered.
        expected: the same in the right order.
        differences: mean absolute difference of the pixel values (0 to 1) from the plain way, by photograph.
    """
    wrong = abs(len(labels) - len(expected)) + sum(a != b for a, b in zip(labels, expected, strict=False))
    # Unlike max, this lets a value that is not a number through.
    worst = float(np.max(differences)) if differences else float("inf")
    return [
        Gate(name="labels that are wrong or missing", value=wrong, limit=0, passed=wrong == 0),
        Gate(
            name="mean difference of pixel values from PIL, worst photograph",
            value=worst,
            limit=MEAN_DIFFERENCE_LIMIT,
            passed=worst <= MEAN_DIFFERENCE_LIMIT,
        ),
    ]
