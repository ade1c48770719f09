"""JPEG files made from the two photographs that scikit-learn ships; nothing is downloaded.

Noise would not do: how long a JPEG takes to decode depends on what is in it. Each file is a seeded patch of a
photograph (half of its height to all of it, four wide by three high), sometimes mirrored, scaled to 500 x 375
pixels, which is about the median size in ImageNet. At quality 93 a file has 54 KB on average.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH = 500
HEIGHT = 375
QUALITY = 93
SOURCES = ("china.jpg", "flower.jpg")
"""Names in ``sklearn.datasets.load_sample_image``; their order gives the labels 0 and 1."""


@dataclass(frozen=True)
class Photograph:
    """One encoded image."""

    jpeg: bytes
    label: int
    """Which photograph it is a patch of: 0 or 1."""


def photographs(count: int, *, seed: int) -> Iterator[Photograph]:
    """Yield ``count`` photographs; number ``i`` depends on the seed and ``i`` only.

    Raises:
        ValueError: if ``count`` or ``seed`` is negative.
    """
    if count < 0 or seed < 0:
        raise ValueError("count and seed must not be negative")
    sources = _sources()
    for index in range(count):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
        label = int(generator.integers(len(sources)))
        yield Photograph(_encode(_patch(sources[label], generator)), label)


def _sources() -> "list[Image]":
    from PIL import Image
    from sklearn.datasets import load_sample_image

    return [Image.fromarray(load_sample_image(name)) for name in SOURCES]


def _patch(source: "Image", generator: np.random.Generator) -> "Image":
    from PIL import Image, ImageOps

    height = int(generator.integers(source.height // 2, source.height + 1))
    width = height * WIDTH // HEIGHT
    left = int(generator.integers(source.width - width + 1))
    top = int(generator.integers(source.height - height + 1))
    box = (left, top, left + width, top + height)
    patch = source.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR, box=box)
    return ImageOps.mirror(patch) if generator.random() < 0.5 else patch


def _encode(image: "Image") -> bytes:
    stream = BytesIO()
    image.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()
