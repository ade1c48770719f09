"""Times and sizes with units: read, compared, shown as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.sites.quantities import Duration, Size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("168 h", 604800),
        ("7 days", 604800),
        ("1 day", 86400),
        ("90min", 5400),
        ("12 h 30 min", 45000),
        ("0.5 h", 1800),
    ],
)
def test_times(text: str, seconds: float) -> None:
    found = Duration.parse(text)
    assert (found.seconds, str(found)) == (seconds, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("80 GB", 80 * 10**9), ("178 GiB", 178 * 2**30), ("1.5TB", 1_500_000_000_000), ("0 B", 0)],
)
def test_sizes(text: str, size: int) -> None:
    found = Size.parse(text)
    assert (found.bytes, str(found)) == (size, text)


@pytest.mark.parametrize(
    "text", ["", "80", "GB", "80 gb", "80 GB ", "-1 GB", "1e3 GB", "٣ GB", "nan GB", "8 0 GB"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        Size.parse(text)


@pytest.mark.parametrize("text", ["", "7", "days", "7 Days", "7 days ", "-1 h", "1 month", "1 h30", "inf h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        Duration.parse(text)


def test_equal_amounts_are_equal_however_they_are_written() -> None:
    assert Duration.parse("168 h") == Duration.parse("7 days")
    assert len({Size.parse("1 TB"), Size.parse("1000 GB")}) == 1
    assert Size.parse("80 GB") < Size.parse("80 GiB")


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for kind in (Duration, Size):
        try:
            found = kind.parse(text)
        except ValueError:
            continue
        assert str(found) == text


@given(
    st.integers(0, 10**9 - 1),
    st.sampled_from(["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "PiB"]),
)
def test_whole_numbers_of_a_unit_are_exact(number: int, unit: str) -> None:
    one = Size.parse(f"1 {unit}").bytes
    assert Size.parse(f"{number} {unit}").bytes == number * one
