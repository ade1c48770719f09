"""Ranks: they hear each other, fail with a sentence, and never outlive their launcher."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from mlhpc.bench.case import Request
from mlhpc.bench.ranks import Message, current, launch
from mlhpc.bench.registry import find_workload
from mlhpc.bench.runner import run
from mlhpc.errors import MlhpcError
from mlhpc.records.schema import Record

ROOT = Path(__file__).resolve().parents[2]
TARGETS = "tests.bench.rank_targets"

LAUNCHER = f"""
from mlhpc.bench.ranks import launch
try:
    launch("{TARGETS}:wait", {{}}, processes=2, threads=1, on_message=lambda m: print(m, flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranks find the tests' own targets from the folder they start in."""
    monkeypatch.chdir(ROOT)


def ranks_alive() -> list[int]:
    """Return the processes of ranks that run the tests' targets or a workload."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "mlhpc.bench.rank_process" in words and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def wait_until_gone(before: list[int], seconds: float = 30) -> list[int]:
    """Return the ranks that were not there before and are still there after ``seconds``."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in ranks_alive() if pid not in before]) and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def test_alone_everything_is_local() -> None:
    here = current()
    assert (here.first, here.size, here.agree(3.0), here.share("x")) == (True, 1, 3.0, "x")
    here.emit({"to": "nobody"})


@pytest.mark.slow
def test_ranks_agree_and_the_first_is_heard() -> None:
    heard: list[Message] = []
    launch(f"{TARGETS}:talk", {"kept": [1, "ü"]}, processes=2, threads=3, on_message=heard.append)
    assert heard == [
        {"agreed": 100.0, "shared": {"from": 0}, "size": 2, "threads": "3"},
        {"kept": [1, "ü"]},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "status", "message"),
    [
        ("Nothing fits.", 2, r"^Nothing fits\.$"),
        (None, 1, "Rank 1 failed: ValueError: a fault of the program"),
    ],
)
def test_a_failing_rank_ends_all_with_its_sentence(sentence: str | None, status: int, message: str) -> None:
    before = ranks_alive()
    with pytest.raises(MlhpcError, match=message) as caught:
        launch(f"{TARGETS}:fail", {"sentence": sentence}, processes=2, threads=1, on_message=lambda _: None)
    assert caught.value.exit_status == status
    assert wait_until_gone(before) == []


@pytest.mark.slow
def test_a_crash_without_a_word_is_reported() -> None:
    before = ranks_alive()
    with pytest.raises(MlhpcError, match=r"failed|ended with status"):
        launch(f"{TARGETS}:crash", {}, processes=2, threads=1, on_message=lambda _: None)
    assert wait_until_gone(before) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ranks_do_not_outlive_their_launcher(how: signal.Signals) -> None:
    before = ranks_alive()
    launcher = subprocess.Popen([sys.executable, "-c", LAUNCHER], stdout=subprocess.PIPE, text=True)
    assert launcher.stdout is not None
    assert "pid" in launcher.stdout.readline()
    assert len([pid for pid in ranks_alive() if pid not in before]) >= 2
    time.sleep(0.5)
    os.kill(launcher.pid, how)
    output, _ = launcher.communicate(timeout=60)
    assert wait_until_gone(before) == []
    if how == signal.SIGINT:
        assert "'done':" in output
        assert output.endswith("interrupted\n")


@pytest.mark.slow
def test_two_processes_train_together() -> None:
    """The variants run with gloo; rank 0's records arrive, with the all-reduce beside them."""
    seen: list[Record] = []
    request = Request("smoke", processes=2, variants=("batch-64", "batch-1k", "all-reduce"))
    records = run(find_workload("dense"), request, sink=seen.append)
    assert records == seen
    assert [record.metric for record in records] == ["step_time", "step_time", "all_reduce_time"]
    small, large, _ = records
    assert small.parameters["processes"] == 2
    assert small.parameters["scaling"] == "weak"
    assert small.quantities["throughput"].value * small.summary.median == pytest.approx(2 * 64)
    assert large.gates
    assert all(gate.passed for gate in large.gates)
    assert records[2].quantities["achieved_bandwidth"].unit == "B/s"
