from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.datasets import load_sample_image

from mlhpc.bench.photographs import HEIGHT, SOURCES, WIDTH, photographs


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**40), short=st.integers(0, 3), longer=st.integers(0, 3))
def test_a_photograph_depends_on_seed_and_number_only(seed: int, short: int, longer: int) -> None:
    few = list(photographs(short, seed=seed))
    more = list(photographs(short + longer, seed=seed))
    assert more[:short] == few


def test_another_seed_gives_other_photographs() -> None:
    assert next(photographs(1, seed=0)) != next(photographs(1, seed=1))


def test_size_and_number_of_bytes() -> None:
    made = list(photographs(40, seed=0))
    assert {Image.open(BytesIO(photograph.jpeg)).size for photograph in made} == {(WIDTH, HEIGHT)}
    assert np.mean([len(photograph.jpeg) for photograph in made]) == pytest.approx(54_000, rel=0.15)
    assert len({photograph.jpeg for photograph in made}) == 40


def test_the_label_says_which_photograph_the_patch_is_from() -> None:
    colours = [load_sample_image(name).reshape(-1, 3).mean(0) for name in SOURCES]
    made = list(photographs(30, seed=2))
    assert {photograph.label for photograph in made} == {0, 1}
    right = 0
    for photograph in made:
        colour = np.asarray(Image.open(BytesIO(photograph.jpeg))).reshape(-1, 3).mean(0)
        right += int(np.argmin([np.linalg.norm(colour - each) for each in colours])) == photograph.label
    assert right >= 28


def test_negative_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        next(photographs(-1, seed=0))
