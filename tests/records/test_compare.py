"""A comparison says faster or slower only where that can be told."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.records.compare import FEWEST_SAMPLES, compare, quotient, ratio_interval, why_no_verdict
from mlhpc.records.schema import Gate, Quantity, Record
from tests.records.sample import QUIET, STEADY, machine, record


def times(factor: float, count: int = len(STEADY)) -> list[float]:
    return [value * factor for value in STEADY[:count]]


def test_half_the_time_is_twice_as_fast() -> None:
    result = compare(record(batch=8), record(times(0.5), batch=8))
    assert result.verdict == "faster"
    assert result.ratio == pytest.approx(2.0)
    assert 1.9 < result.low <= result.ratio <= result.high < 2.1
    assert result.p_value < 0.01
    assert not result.per_item
    assert result.quantities["throughput"].value == pytest.approx(2.0)


def test_the_other_way_round_is_slower_by_the_inverse() -> None:
    one, other = record(), record(times(0.5))
    there, back = compare(one, other), compare(other, one)
    assert (there.verdict, back.verdict) == ("faster", "slower")
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.p_value == pytest.approx(there.p_value)


def test_the_same_times_cannot_be_told_apart() -> None:
    result = compare(record(batch=8), record(batch=8, note="again"))
    assert result.verdict == "cannot tell"
    assert "holds 1" in result.reason


def test_a_noisy_side_gives_no_verdict_however_large_the_difference() -> None:
    noisy = record([1, 2, 3, 4, 5, 6, 7, 8.0])
    for pair in ((noisy, record(times(0.01))), (record(times(0.01)), noisy)):
        result = compare(*pair)
        assert result.verdict == "cannot tell"
        assert noisy.id in result.reason
        assert "busy" in result.reason


def test_few_samples_give_no_verdict() -> None:
    few = record(times(0.5, FEWEST_SAMPLES - 1))
    assert compare(record(), few).verdict == "cannot tell"
    assert compare(record(), record(times(0.5, FEWEST_SAMPLES))).verdict == "faster"
    assert why_no_verdict(few) == f"{few.id} has {FEWEST_SAMPLES - 1} samples, fewer than {FEWEST_SAMPLES}"


def test_wrong_numbers_give_no_verdict() -> None:
    wrong = record(times(0.5), gates=[Gate(name="loss is finite", value=0, limit=1, passed=False)])
    result = compare(record(), wrong)
    assert result.verdict == "cannot tell"
    assert "loss is finite" in result.reason


def test_different_batches_are_compared_per_item() -> None:
    """Four times the batch in twice the time is twice as fast, though each step takes longer."""
    result = compare(record(items=8, batch=8), record(times(2.0), items=32, batch=32))
    assert result.per_item
    assert result.ratio == pytest.approx(2.0)
    assert result.verdict == "faster"


UNLIKE = [{"workload": "dense"}, {"tier": "full"}, {"metric": "epoch_time"}, {"unit": "J"}]


@pytest.mark.parametrize("other", UNLIKE)
def test_unlike_records_are_refused(other: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=f"cannot be compared: the {next(iter(other))} of one"):
        compare(record(), record(**other))  # type: ignore[arg-type]


def test_cautions_name_what_the_numbers_do_not_show() -> None:
    passive = QUIET.model_copy(update={"omp_wait_policy": "PASSIVE"})
    plain = compare(record(), record()).cautions
    assert len(plain) == 1
    assert "in turns" in plain[0]
    both = " ".join(compare(record(), record(where=machine(cores=64), contention=passive)).cautions)
    assert "different machines" in both
    assert "OMP_WAIT_POLICY" in both


def test_false_alarms_are_about_as_rare_as_promised() -> None:
    """Records of equal distributions: a verdict other than cannot tell is a false alarm."""
    generator = np.random.default_rng(0)
    alarms = 0
    for _ in range(120):
        first, second = (record(generator.normal(1, 0.05, size=12).tolist(), items=None) for _ in range(2))
        alarms += compare(first, second).verdict != "cannot tell"
    assert alarms <= 12


TIMES = st.lists(st.floats(0.1, 10), min_size=1, max_size=12)
RECORDS = TIMES.map(lambda samples: record(samples, items=None))


@settings(max_examples=40, deadline=None)
@given(RECORDS, RECORDS)
def test_the_interval_holds_the_ratio_and_a_verdict_agrees_with_it(first: Record, second: Record) -> None:
    result = compare(first, second)
    assert result.low <= result.ratio <= result.high
    if result.verdict != "cannot tell":
        assert (result.verdict == "faster") == (result.low > 1)
        assert {first.summary.noisy, second.summary.noisy} == {False}


def test_the_interval_of_a_ratio_narrows_with_the_samples() -> None:
    generator = np.random.default_rng(2)
    few, many = (
        ratio_interval(generator.normal(1, 0.1, size=n).tolist(), generator.normal(1, 0.1, size=n).tolist())
        for n in (8, 200)
    )
    assert many[1] - many[0] < few[1] - few[0]


def test_a_quotient_of_numbers_without_interval_has_none() -> None:
    result = quotient(Quantity(value=6, unit="s"), Quantity(value=3, unit="s"))
    assert (result.low, result.value, result.high) == (None, 2, None)


def test_a_quotient_with_one_interval_has_that_interval() -> None:
    top = Quantity(value=6, unit="s", low=5, high=8)
    result = quotient(top, Quantity(value=2, unit="s"))
    assert (result.low, result.value, result.high) == pytest.approx((2.5, 3, 4))


def test_two_equal_intervals_add_as_squares_on_the_logarithms() -> None:
    side = Quantity(value=1, unit="s", low=1 / 1.1, high=1.1)
    result = quotient(side, side)
    assert result.high == pytest.approx(math.exp(math.sqrt(2) * math.log(1.1)))


def test_a_quotient_with_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        quotient(Quantity(value=1, unit="s"), Quantity(value=1, unit="s", low=0, high=2))
