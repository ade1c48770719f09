"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.formatting import NO_BREAK, format_exact, format_number, format_range, format_value

READABLE = st.floats(min_value=1e-4, max_value=9e14)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.012345, "0.0123"),
        (0.9996, "1.00"),
        (9.996, "10.0"),
        (999.6, "1,000"),
        (12345, "12,300"),
        (-2.5, "−2.50"),
        (1.5e-7, "1.50e−07"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    """Rounding never adds a digit, and what is no number is said to be none."""
    assert format_number(value) == text


@given(READABLE)
def test_a_formatted_number_reads_back_within_its_rounding(value: float) -> None:
    """Three digits lose at most one part in two hundred, whatever the size."""
    assert math.isclose(float(format_number(value).replace(",", "")), value, rel_tol=5.1e-3)


@given(st.integers(min_value=-(10**11), max_value=10**11))
def test_whole_numbers_keep_every_digit(value: int) -> None:
    """What a source states is shown as it states it."""
    assert int(format_exact(value).replace(",", "").replace("−", "-")) == value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.000161, "s", "161 µs"),
        (2.5e-10, "s", "0.250 ns"),
        (0, "s", "0 s"),
        (31, "s", "31.0 s"),
        (22.66, "images/s", "22.7 images/s"),
        (989e12, "FLOP/s", "989 TFLOP/s"),
        (12, "FLOP/s", "12.0 FLOP/s"),
        (16e9, "bytes", "16.0 GB"),
        (0.234, "share", "23.4 %"),
        (1.234, "x", "1.23×"),
        (0.81, "", "0.810"),
    ],
)
def test_a_value_has_a_fitting_unit(value: float, unit: str, text: str) -> None:
    """The prefix follows the size, and value and unit are never torn apart."""
    assert format_value(value, unit).replace(NO_BREAK, " ") == text
    assert " " not in format_value(value, unit)


def test_both_ends_of_a_range_have_one_unit() -> None:
    """The larger end chooses the prefix; equal texts are written once."""
    assert format_range(0.0009, 0.0012, "s") == f"0.900 to 1.20{NO_BREAK}ms"
    assert format_range(15, 20, "x") == "15.0 to 20.0×"
    assert format_range(1.0001, 1.0002, "x") == "1.00×"
