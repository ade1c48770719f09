"""Runs end to end on steps of known length: records, wrong numbers, interruption, failing sinks."""

import itertools
from collections.abc import Callable

import pytest

from mlhpc.bench.case import Request
from mlhpc.bench.interruption import Interrupted
from mlhpc.bench.numerics import WrongNumbers
from mlhpc.bench.runner import run
from mlhpc.bench.session import Progress
from mlhpc.errors import MlhpcError, UsageError
from mlhpc.records.schema import Record
from tests.bench.fakes import FakeClock, FakeWorkload, failing

SMOKE = Request("smoke")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)


def interrupt_after(clock: FakeClock, calls: int, seconds: float = 0.1) -> Callable[[], None]:
    """Return a step at whose call number ``calls`` (from 0) Ctrl-C arrives."""
    counter = itertools.count()

    def step() -> None:
        if next(counter) == calls:
            raise KeyboardInterrupt
        clock.nanoseconds += round(seconds * 1e9)

    return step


def test_a_run_gives_one_record_per_case(clock: FakeClock) -> None:
    workload = FakeWorkload({"slow": clock.step(lambda: 0.2), "fast": clock.step(lambda: 0.1)})
    seen: list[Record] = []
    groups: list[tuple[str, list[str]]] = []
    records = run(
        workload,
        SMOKE,
        sink=seen.append,
        on_group=lambda name, of_group: groups.append((name, [record.id for record in of_group])),
    )
    assert records == seen
    assert groups == [("default", [record.id for record in records])]
    slow, fast = records
    assert (slow.summary.median, fast.summary.median) == (0.2, 0.1)
    assert fast.quantities["throughput"].value == pytest.approx(100)
    assert fast.quantities["throughput"].unit == "items/s"
    assert slow.stopped == "converged"
    assert slow.gates[0].passed
    assert len(slow.warmup) == 3
    assert workload.closed == ["fast", "slow"]


def test_the_command_repeats_the_case(clock: FakeClock) -> None:
    (record,) = run(FakeWorkload({"one": clock.step(lambda: 0.1)}), Request("smoke", seed=4, threads=1))
    assert " ".join(record.command) == (
        "mlhpc bench fake --variant one --tier smoke --device cpu --threads 1 --seed 4"
    )


def test_progress_names_each_case_and_ends_at_one(clock: FakeClock) -> None:
    seen: list[Progress] = []
    run(FakeWorkload({"one": clock.step(lambda: 0.1), "two": clock.step(lambda: 0.1)}), SMOKE, seen.append)
    assert [progress.label for progress in seen if progress.stage == "prepare"] == ["one", "two"]
    assert (seen[-1].stage, seen[-1].share) == ("done", 1.0)


@pytest.mark.parametrize("when", ["before", "after"])
def test_wrong_numbers_are_an_error_and_no_record(clock: FakeClock, when: str) -> None:
    workload = FakeWorkload({"wrong": clock.step(lambda: 0.01), "right": clock.step(lambda: 0.1)})
    if when == "before":
        workload.gates["wrong"] = failing()
    else:
        workload.final_gates["wrong"] = failing
    seen: list[Record] = []
    with pytest.raises(WrongNumbers, match=r"wrong computes something else: sum is 7, the limit is 1"):
        run(workload, SMOKE, sink=seen.append)
    assert [record.parameters["name"] for record in seen] == ["right"]


def test_an_interruption_keeps_what_has_enough_samples(clock: FakeClock) -> None:
    # The second case stops the run in its third turn, when the first has had at least two and at most three.
    workload = FakeWorkload({"kept": clock.step(lambda: 0.001), "lost": interrupt_after(clock, 3 + 2)})
    seen: list[Record] = []
    with pytest.raises(Interrupted, match=r"1 record was kept. .* left out: lost \(2\)") as caught:
        run(workload, SMOKE, sink=seen.append)
    assert caught.value.exit_status == 130
    assert [(record.parameters["name"], record.stopped) for record in seen] == [("kept", "interrupted")]
    assert len(seen[0].samples) >= 40
    assert sorted(workload.closed) == ["kept", "lost"]


def test_a_case_that_had_converged_stays_converged(clock: FakeClock) -> None:
    calls, noise = itertools.count(), itertools.cycle([0.02, 0.05])

    def noisy() -> float:
        if next(calls) == 3 + 7:
            raise KeyboardInterrupt
        return next(noise)

    workload = FakeWorkload({"steady": clock.step(lambda: 0.05), "noisy": clock.step(noisy)})
    seen: list[Record] = []
    with pytest.raises(Interrupted, match="2 records were kept"):
        run(workload, SMOKE, sink=seen.append)
    assert [record.stopped for record in seen] == ["converged", "interrupted"]


def test_an_interruption_during_warm_up_names_what_is_missing(clock: FakeClock) -> None:
    workload = FakeWorkload({"one": interrupt_after(clock, 1), "two": clock.step(lambda: 0.1)})
    with pytest.raises(Interrupted, match=r"0 records were kept. .*one \(0\), two \(0\)"):
        run(workload, SMOKE)


def test_a_sink_that_fails_ends_the_run_at_once(clock: FakeClock) -> None:
    workload = FakeWorkload({"one": clock.step(lambda: 0.1), "two": clock.step(lambda: 0.1)})
    seen: list[Record] = []

    def sink(record: Record) -> None:
        if seen:
            raise MlhpcError("Cannot append to records.jsonl: No space left on device.")
        seen.append(record)

    with pytest.raises(MlhpcError, match="No space left"):
        run(workload, SMOKE, sink=sink)
    assert len(seen) == 1
    assert sorted(workload.closed) == ["one", "two"]


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="No GPU"):
        run(FakeWorkload({}), Request("smoke", device="cuda"))


def test_more_gpus_than_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UsageError, match="3 GPUs were asked for and 2 can be seen"):
        run(FakeWorkload({}), Request("smoke", device="cuda", processes=3))
