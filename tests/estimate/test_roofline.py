"""The two ceilings of a device."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.estimate.roofline import Roofline

RATE = st.floats(1e6, 1e18)


def test_below_the_ridge_memory_is_the_limit_and_above_it_computing() -> None:
    device = Roofline("x", peak=100.0, bandwidth=10.0)
    assert device.ridge == 10.0
    assert device.attainable(5.0) == 50.0
    assert device.attainable(50.0) == 100.0
    assert device.shortest_time(flop=1000.0, bytes_moved=10.0) == 10.0
    assert device.shortest_time(flop=10.0, bytes_moved=1000.0) == 100.0


@given(RATE, RATE, st.floats(1, 1e15), st.floats(1, 1e15))
def test_time_and_rate_are_two_ways_to_say_the_same(
    peak: float, bandwidth: float, flop: float, moved: float
) -> None:
    device = Roofline("x", peak, bandwidth)
    assert device.shortest_time(flop, moved) == pytest.approx(flop / device.attainable(flop / moved))


@pytest.mark.parametrize(("peak", "bandwidth"), [(0, 1), (1, 0), (-1, 1), (float("nan"), 1)])
def test_ceilings_must_be_positive(peak: float, bandwidth: float) -> None:
    with pytest.raises(UsageError, match="positive"):
        Roofline("x", peak, bandwidth)


@pytest.mark.parametrize("intensity", [0, -1, float("nan")])
def test_an_intensity_must_be_positive(intensity: float) -> None:
    with pytest.raises(UsageError, match="positive"):
        Roofline("x", 1, 1).attainable(intensity)
