"""``mlhpc bench``: what it prints, keeps and refuses; Ctrl-C and a full disk in a process of its own."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlhpc.records.schema import Record
from mlhpc.records.store import read_records
from tests.cli.running import Runner

SMOKE = ("--tier", "smoke")


def start(folder: Path, *arguments: str, file_limit: int | None = None) -> "subprocess.Popen[str]":
    """Start ``mlhpc bench`` in a process of its own, with a limit on the size of files it may write."""
    limit = (
        None if file_limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit,) * 2)
    )
    return subprocess.Popen(
        [sys.executable, "-m", "mlhpc", "bench", *arguments, *SMOKE, "--records", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
    )


def test_a_run_prints_a_table_and_keeps_the_records(mlhpc: Runner, tmp_path: Path) -> None:
    done = mlhpc(
        "bench", "dense", "--variant", "batch-64", "--variant", "batch-1k", *SMOKE, "--records", str(tmp_path)
    )
    assert done.status == 0
    lines = done.output.splitlines()
    assert lines[0] == "Dense network training"
    assert lines[1].split()[:3] == ["case", "step", "time"]
    assert lines[2].startswith("batch 64")
    assert lines[2].endswith("the baseline")
    assert "per item" in lines[3] or "cannot tell" in lines[3]
    assert "Fixed cost of a step" in done.output
    assert "dense batch 64 (preparing)" in done.messages
    assert "2 records appended" in done.messages
    kept = read_records(tmp_path).records
    assert [record.parameters["batch"] for record in kept] == [64, 1024]


def test_what_was_measured_before_may_be_left_out(mlhpc: Runner, tmp_path: Path) -> None:
    arguments = (
        "bench",
        "dense",
        "--variant",
        "batch-64",
        *SMOKE,
        "--if-missing",
        "--records",
        str(tmp_path),
    )
    assert mlhpc(*arguments).status == 0
    (first,) = read_records(tmp_path).records
    again = mlhpc(*arguments)
    assert again.status == 0
    assert "dense: measured here on" in again.messages
    assert read_records(tmp_path).records == (first,)


def test_json_is_one_record_a_line(mlhpc: Runner, tmp_path: Path) -> None:
    done = mlhpc("bench", "dense", "--variant", "batch-64", *SMOKE, "--json", "--records", str(tmp_path))
    (line,) = done.output.splitlines()
    assert Record.model_validate_json(line) == read_records(tmp_path).records[0]
    assert json.loads(line)["workload"] == "dense"


def test_the_tier_comes_from_the_environment(
    mlhpc: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLHPC_TIER", "smoke")
    mlhpc("bench", "dense", "--variant", "batch-64", "--records", str(tmp_path))
    assert read_records(tmp_path).records[0].tier == "smoke"


def test_threads_and_seed_reach_the_record(mlhpc: Runner, tmp_path: Path) -> None:
    mlhpc(
        *("bench", "dense", "--variant", "batch-64", *SMOKE, "--records", str(tmp_path)),
        *("--threads", "1", "--seed", "7"),
    )
    (record,) = read_records(tmp_path).records
    assert (record.parameters["threads"], record.parameters["seed"]) == (1, 7)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rsnet50"], "Unknown workload 'rsnet50'. Did you mean resnet50?"),
        (["dense", "--variant", "batch-63"], "Unknown variant 'batch-63'. Did you mean batch-64?"),
        (["resnet50", "--variant", "tf32-nchw"], "tf32 is a mode of NVIDIA GPUs"),
        (["dense", "--gpus", "2"], "--gpus needs --device cuda"),
        (["dense", "--device", "cuda", "--processes", "2"], "--processes is for --device cpu"),
        (["all", "--variant", "batch-64"], "--variant belongs to one workload"),
        (["dense", "--tier", "huge"], "Invalid value for '--tier'"),
        (["dense", "--processes", "0"], "Invalid value for '--processes'"),
    ],
)
def test_what_cannot_be_met_is_one_sentence(
    mlhpc: Runner, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    done = mlhpc("bench", *arguments, "--records", str(tmp_path))
    assert done.status == 2
    assert sentence in done.messages
    assert "Traceback" not in done.messages
    assert list(tmp_path.iterdir()) == []


def test_a_gpu_that_is_not_there_is_one_sentence(
    mlhpc: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    done = mlhpc("bench", "dense", "--device", "cuda", "--records", str(tmp_path))
    assert done.status == 2
    # Before it, a machine that is busy with something else says so.
    *_, last = done.messages.splitlines()
    assert last.startswith("mlhpc: No GPU:")


def test_a_folder_that_is_a_file_is_refused_before_measuring(mlhpc: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = mlhpc("bench", "dense", *SMOKE, "--records", str(tmp_path / "file"))
    assert done.status == 1
    assert "Cannot make the folder for records" in done.messages
    assert "preparing" not in done.messages


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    before = '{"a line": "from before"}\n'
    (tmp_path / "records.jsonl").write_text(before)
    process = start(tmp_path, "dense", "--variant", "batch-64", file_limit=1500)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "mlhpc: Cannot append to" in messages
    assert "Traceback" not in messages
    assert (tmp_path / "records.jsonl").read_text() == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    """The copy is slow and many: the signal comes after the product's record and before the copy's."""
    process = start(tmp_path, "peak", "--variant", "matrix-product-fp32", "--variant", "memory-copy")
    path = tmp_path / "records.jsonl"
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    output, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted; 1 record was kept." in messages
    assert "memory copy" in messages
    assert "Traceback" not in messages
    assert "matrix-product" in output
    result = read_records(tmp_path)
    assert len(result.records) == 1
    assert result.damaged == ()


def test_the_help_needs_neither_torch_nor_the_workloads() -> None:
    code = (
        "import sys; sys.argv = ['mlhpc', 'bench', '--help']\n"
        "from mlhpc.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'torch', 'xgboost', 'sklearn', 'scipy', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "--variant" in done.stdout
