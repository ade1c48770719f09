"""What a person sees: the table of a group, and progress without a terminal."""

import pytest

from mlhpc.bench.display import Display
from mlhpc.bench.report import group_table
from mlhpc.bench.session import Progress
from mlhpc.formatting import NO_BREAK
from mlhpc.machine import inspect
from mlhpc.machine.model import Contention
from mlhpc.records.build import make_record
from mlhpc.records.schema import Quantity, Record


def record(name: str, seconds: float, *, spread: float = 0.001, batch: int = 8) -> Record:
    samples = [seconds * (1 + spread * (number - 6)) for number in range(13)]
    return make_record(
        workload="fake",
        tier="smoke",
        metric="step_time",
        unit="s",
        parameters={"device": "cpu", "precision": name, "batch": batch, "compile": False},
        samples=samples,
        warmup=[],
        stopped="converged",
        fixed_seconds={},
        quantities={"throughput": Quantity(value=batch / seconds, unit="images/s")},
        gates=(),
        machine=inspect(),
        contention=Contention(
            load_average_before=0,
            load_average_after=0,
            throttled_seconds=None,
            stolen_share=None,
            omp_wait_policy=None,
            omp_num_threads=None,
        ),
        packages=(),
        command=("mlhpc",),
    )


def plain(table: str) -> str:
    """Return a table with usual blanks in place of those that hold a value and its unit together."""
    return table.replace(NO_BREAK, " ")


def test_rows_are_compared_with_the_first() -> None:
    table = plain(group_table([record("fp32", 0.2), record("bf16", 0.1), record("tf32", 0.4)]))
    header, first, faster, slower = table.splitlines()
    assert header.startswith("case  step time")
    assert first.startswith("fp32  200 ms (")
    assert "40.0 images/s" in first
    assert first.endswith("the baseline")
    assert "2.00× faster [" in faster
    assert "2.00× slower [" in slower


def test_only_what_differs_is_named() -> None:
    table = group_table([record("fp32", 0.2), record("fp32", 0.3, batch=16)])
    assert [line.split("  ")[0] for line in table.splitlines()[1:]] == ["batch 8", "batch 16"]
    assert "1.33× faster per item" in table


def test_equal_times_cannot_be_told_apart() -> None:
    table = group_table([record("fp32", 0.2), record("bf16", 0.2)])
    assert "cannot tell: the interval of the ratio holds 1" in table


@pytest.mark.parametrize(("noisy", "named"), [(0, "the baseline"), (1, "this")])
def test_a_noisy_machine_gives_no_verdict(noisy: int, named: str) -> None:
    records = [record("fp32", 0.2), record("bf16", 0.1)]
    records[noisy] = record(("fp32", "bf16")[noisy], 0.2, spread=0.09)
    assert f"cannot tell: {named} was too noisy" in group_table(records)


def test_no_records_give_no_table() -> None:
    assert group_table([]) == ""


def test_without_a_terminal_progress_is_one_line_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(1) as display:
        display.show(Progress("dense", "", "start", 0.0))
        display.show(Progress("dense", "batch 64", "prepare", 0.0))
        display.show(Progress("dense", "batch 64", "measure", 0.5, 12, 0.001))
        display.print("result")
        display.show(Progress("dense", "", "done", 1.0))
    captured = capsys.readouterr()
    assert captured.out == "result\n"
    assert captured.err == "dense batch 64 (preparing)\n"


def test_in_a_terminal_a_bar_shows_the_case_and_results_stay_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Display(2) as display:
        display.show(Progress("dense", "batch 64", "measure", 0.5, 12, 0.001))
        display.print("result")
    captured = capsys.readouterr()
    assert captured.out == "result\n"
    assert "dense batch 64 12 samples, median 1.00" in captured.err
    assert "25 %" in captured.err
