"""The workload storage: every layout gives back every byte, and what cannot be measured says so."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlhpc.bench import page_cache, sample_store
from mlhpc.bench.case import Case, CaseUnavailable, Request
from mlhpc.bench.protocol import limits_for
from mlhpc.bench.runner import run
from mlhpc.bench.sample_store import LAYOUTS, SAMPLE_BYTES, Layout, Samples, SampleStore
from mlhpc.bench.workloads.storage import WORKLOAD
from mlhpc.errors import UsageError
from mlhpc.records.compare import FEWEST_SAMPLES
from tests.bench.fakes import FakeClock, FakeWorkload

COUNT = 1100


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this "job"."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def require(layout: Layout) -> None:
    if layout == "parquet":
        pytest.importorskip("pyarrow")


def cases(**wishes: object) -> list[Case]:
    return list(WORKLOAD.cases(Request(tier="smoke", **wishes)))  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_back_every_byte_and_notices_a_wrong_one(layout: Layout, parent: Path) -> None:
    require(layout)
    samples = Samples(COUNT, seed=3)
    store = SampleStore(samples, layout, parent)
    store.open()
    assert store.read() == samples.data
    assert samples.gate(store.read()).passed
    assert not samples.gate(store.read()[:-1]).passed
    assert not samples.gate([*store.read()[:-1], b"x" * SAMPLE_BYTES]).passed
    assert all(path.is_file() for path in store.paths())
    store.close()
    assert list(parent.iterdir()) == []


def test_the_seed_decides_the_bytes() -> None:
    assert Samples(3, seed=1).data == Samples(3, seed=1).data
    assert Samples(3, seed=1).data != Samples(3, seed=2).data


def test_without_names_each_file_system_is_measured_once_and_no_path_is_told() -> None:
    usual = cases()
    assert len({(case.parameters["place"], case.label) for case in usual}) == len(usual)
    assert [case.group for case in usual] == sorted(case.group for case in usual)
    assert not any("/" in str(value) for case in usual for value in case.parameters.values())
    memory = [case for case in usual if case.parameters["filesystem"] in page_cache.OWN_CACHE]
    assert "cold" not in {case.parameters["cache"] for case in memory}


@pytest.mark.parametrize("action", ["warm", "cold", "write"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_case_runs_and_cleans_up(layout: Layout, action: str, parent: Path) -> None:
    require(layout)
    (case,) = cases(variants=(f"temporary-{layout}-{action}",))
    if action == "cold" and case.parameters["filesystem"] in page_cache.OWN_CACHE:
        pytest.skip("the temporary folder is in memory")
    prepared = case.prepare()
    assert [gate.passed for gate in prepared.gates] == [True]
    for _ in range(2):
        prepared.before_step()
        prepared.step()
    prepared.close()
    assert list(parent.iterdir()) == []


def test_a_run_gives_records_of_places_and_kinds(parent: Path) -> None:
    records = run(WORKLOAD, Request("smoke", variants=("temporary-tar-warm", "temporary-files-write")))
    read, written = records
    assert (read.metric, written.metric) == ("pass_time", "write_time")
    assert (read.parameters["cache"], written.parameters["cache"]) == ("warm", "none")
    assert read.quantities["throughput"].unit == "samples/s"
    assert list(parent.iterdir()) == []


def left_out(case: Case) -> str:
    with pytest.raises(CaseUnavailable) as reason:
        case.prepare()
    return str(reason.value)


def test_a_place_that_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    monkeypatch.delenv("SCRATCH", raising=False)
    assert "$TMPDIR: No such file or directory" in left_out(cases(variants=("temporary-files-warm",))[0])
    assert "nothing here names such a place" in left_out(cases(variants=("scratch-files-warm",))[0])


def test_memory_has_no_cold_number() -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no file system in memory that may be written")
    assert "No cold read in /dev/shm" in left_out(cases(variants=("memory-files-cold",))[0])


def test_a_missing_package_leaves_out_its_layout_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    variants = ("temporary-parquet-warm", "temporary-tar-warm")
    reasons: list[str] = []
    records = run(
        WORKLOAD, Request("smoke", variants=variants), lambda seen: reasons.append(seen.reason or "")
    )
    assert [record.parameters["layout"] for record in records] == ["tar"]
    assert any("pyarrow" in reason for reason in reasons)


def test_a_quota_that_ends_while_writing_leaves_out_the_case_and_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, parent: Path
) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(122, os.strerror(122))

    monkeypatch.setattr("mlhpc.bench.workloads.storage.flush", refuse)
    assert "Disk quota exceeded" in left_out(cases(variants=("temporary-files-write",))[0])
    assert list(parent.iterdir()) == []


def test_a_file_system_without_inodes_for_the_files_is_left_out(parent: Path) -> None:
    code = (
        "from mlhpc.bench.case import Request\n"
        "from mlhpc.bench.workloads.storage import WORKLOAD\n"
        "case, = WORKLOAD.cases(Request('smoke', variants=('temporary-files-warm',)))\n"
        "try: case.prepare()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    mount = 'mount -t tmpfs -o size=64m,nr_inodes=300 tmpfs "$TMPDIR" || exit 77; exec "$0" -c "$1"'
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        ["unshare", "--mount", *own, "sh", "-c", mount, sys.executable, code],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("this machine lets nobody mount a file system")
    assert done.stdout.startswith("CaseUnavailable $TMPDIR has too few inodes free for 200 small files")


def test_what_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean temporary-tar-warm"):
        cases(variants=("temporary-tar-warn",))
    assert "measured by one process" in left_out(cases(processes=2)[0])


def test_flush_of_a_folder_that_is_gone_is_an_error(parent: Path) -> None:
    sample_store.flush(parent)
    with pytest.raises(FileNotFoundError):
        sample_store.flush(parent / "gone")


def unsteady(seconds: float) -> Callable[[], float]:
    """Return step times that no number of samples makes steady."""
    turns = itertools.cycle([0.5, 1.0, 1.5])
    return lambda: seconds * next(turns)


def test_a_workload_may_give_its_cases_less_time_than_the_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hasty(FakeWorkload):
        def maximum_seconds(self, tier: str) -> float:
            return 0.0

    clock = FakeClock(monkeypatch)
    long = 2 * limits_for("smoke", "cpu").maximum_seconds / FEWEST_SAMPLES / 10
    plain = run(FakeWorkload({"step": clock.step(unsteady(long))}), Request("smoke"))
    hasty = run(Hasty({"step": clock.step(unsteady(long))}), Request("smoke"))
    assert len(hasty[0].samples) == FEWEST_SAMPLES
    assert len(plain[0].samples) > FEWEST_SAMPLES
