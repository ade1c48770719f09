"""The protocol: warm-up apart, shuffled rounds, the stop rule, interruption."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlhpc.bench.protocol import Limits, Sampler, limits_for, measure_group, rank_half_width
from mlhpc.records.compare import FEWEST_SAMPLES
from mlhpc.records.summary import summarise
from tests.bench.fakes import FakeClock

LIMITS = Limits(3, 100.0, 12, 12, maximum_samples=400, maximum_seconds=1e6)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)


def sampler(clock: FakeClock, *seconds: float, label: str = "case") -> Sampler:
    """Return a case whose steps take the given times, over and over."""
    times = itertools.cycle(seconds)
    return Sampler(label, clock.step(lambda: next(times)), synchronise=lambda: None)


def test_a_steady_case_converges_at_the_fewest_samples(clock: FakeClock) -> None:
    case = sampler(clock, 0.1)
    measure_group([case], LIMITS)
    assert case.stopped == "converged"
    assert case.samples == [0.1] * 12
    assert case.interval == 0


def test_warm_up_is_dropped_and_kept_apart(clock: FakeClock) -> None:
    times = iter([9.0, 3.0, 1.0, *[0.5] * 1000])
    case = Sampler("case", clock.step(lambda: next(times)), lambda: None)
    measure_group([case], LIMITS)
    assert case.warmup == [9.0, 3.0, 1.0]
    assert set(case.samples) == {0.5}


def test_warm_up_of_a_slow_case_ends_by_time_after_one_step(clock: FakeClock) -> None:
    case = sampler(clock, 200.0)
    measure_group([case], LIMITS)
    assert case.warmup == [200.0]


def test_a_gpu_gets_a_longer_warm_up() -> None:
    assert limits_for("quick", "cuda").warmup_steps == 10
    assert limits_for("quick", "cpu").warmup_steps == 3


def test_a_noisy_case_ends_at_the_count(clock: FakeClock) -> None:
    noise = random.Random(1)
    case = Sampler("case", clock.step(lambda: noise.lognormvariate(0, 1)), lambda: None)
    measure_group([case], LIMITS)
    assert (case.stopped, len(case.samples)) == ("cap", 400)


def test_a_noisy_case_ends_at_the_time(clock: FakeClock) -> None:
    case = sampler(clock, 1.0, 2.0)
    measure_group([case], Limits(3, 100.0, 12, 12, 400, maximum_seconds=30.0))
    assert case.stopped == "cap"
    assert 30 <= sum(case.samples) <= 32


def test_a_very_slow_case_still_gets_enough_samples_for_a_record(clock: FakeClock) -> None:
    case = sampler(clock, 1000.0)
    measure_group([case], Limits(3, 1.0, 12, 12, 400, maximum_seconds=1.0))
    assert len(case.samples) == FEWEST_SAMPLES
    assert case.stopped == "cap"


def test_fast_steps_fill_a_turn(clock: FakeClock) -> None:
    case = sampler(clock, 0.001)
    measure_group([case], LIMITS)
    assert case.rounds == 12
    assert len(case.samples) == 12 * 20


def test_an_outlier_in_the_warm_up_does_not_shorten_the_turns(clock: FakeClock) -> None:
    times = iter([5.0, 0.001, 0.001, *[0.001] * 10_000])
    case = Sampler("case", clock.step(lambda: next(times)), lambda: None)
    measure_group([case], LIMITS)
    assert len(case.samples) == 12 * 20


def test_cases_take_turns_in_shuffled_rounds(clock: FakeClock) -> None:
    cases = [sampler(clock, 0.1, label=label) for label in "abc"]
    turns: list[str] = []
    measure_group(cases, LIMITS, on_turn=lambda case: turns.append(case.label))
    rounds = [turns[start : start + 3] for start in range(3, len(turns), 3)]
    assert turns[:3] == ["a", "b", "c"]  # warm-up
    assert all(sorted(order) == ["a", "b", "c"] for order in rounds)
    assert len({tuple(order) for order in rounds}) > 1


def test_a_finished_case_leaves_the_others_running(clock: FakeClock) -> None:
    steady, noisy = sampler(clock, 0.1), sampler(clock, 0.1, 0.3, label="noisy")
    measure_group([steady, noisy], LIMITS)
    assert len(steady.samples) == 12
    assert len(noisy.samples) > 12


def test_the_same_seed_gives_the_same_order(clock: FakeClock) -> None:
    def order(seed: int) -> list[str]:
        turns: list[str] = []
        cases = [sampler(clock, 0.1, label=label) for label in "abcd"]
        measure_group(cases, LIMITS, seed=seed, on_turn=lambda case: turns.append(case.label))
        return turns

    assert order(3) == order(3)
    assert order(3) != order(4)


def test_an_interruption_leaves_whole_samples(clock: FakeClock) -> None:
    calls = itertools.count()

    def seconds() -> float:
        if next(calls) == 3 + 7:
            raise KeyboardInterrupt
        return 0.1

    case = Sampler("case", clock.step(seconds), lambda: None)
    with pytest.raises(KeyboardInterrupt):
        measure_group([case], LIMITS)
    assert case.samples == [0.1] * 7
    assert case.stopped is None


def test_all_ranks_follow_the_first(clock: FakeClock) -> None:
    """A rank whose own steps would never converge stops when rank 0 says so."""
    said: list[float] = []

    def listen(value: float) -> float:
        said.append(value)
        return value

    first = sampler(clock, 0.1)
    measure_group([first], LIMITS, agree=listen)
    decisions = iter(said)
    other = sampler(clock, 0.1, 0.9)
    measure_group([other], LIMITS, agree=lambda value: next(decisions))
    assert len(other.samples) == len(first.samples)
    assert other.stopped == "converged"


def test_the_device_is_waited_for_around_each_step() -> None:
    events: list[str] = []
    case = Sampler("case", lambda: events.append("step"), lambda: events.append("wait"))
    case.take(2, case.samples)
    assert events == ["wait", "step", "wait"] * 2


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(12, 300), st.floats(0.001, 0.3))
def test_the_cheap_interval_is_close_to_the_records(seed: int, count: int, spread: float) -> None:
    noise = random.Random(seed)
    samples = [noise.lognormvariate(0, spread) for _ in range(count)]
    summary = summarise(samples)
    exact = (summary.high - summary.low) / 2 / summary.median
    # A dozen samples have few ranks to choose from: there it can be several times as wide.
    assert 0.5 * exact <= rank_half_width(samples) <= 8 * exact


def test_the_cheap_interval_covers_the_median_as_often_as_it_says() -> None:
    noise = random.Random(5)
    covered = 0
    for _ in range(400):
        samples = sorted(noise.gauss(10, 1) for _ in range(25))
        reach = rank_half_width(samples) * samples[12]
        covered += abs(samples[12] - 10) <= 2 * reach
    assert covered >= 370
