"""`mlhpc doctor` on this machine, on broken environments, and with schedulers that refuse."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from mlhpc.doctor.environment import check_python, check_readable
from mlhpc.doctor.kernel import check_kernel
from mlhpc.doctor.places import check_gpu, check_job, check_room
from mlhpc.sites.load import load_site

Put = Callable[[str, str], None]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Return a function that puts a stand-in for a scheduler's command on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    return put


class TestEnvironment:
    def test_an_environment_that_is_not_there(self, tmp_path: Path) -> None:
        found = check_python(tmp_path / "none")
        assert found.state == "failed"
        assert "--environment" in found.text

    def test_an_environment_without_the_packages(self, tmp_path: Path) -> None:
        venv.create(tmp_path / "empty", with_pip=False, symlinks=True)
        found = check_python(tmp_path / "empty")
        assert found.state == "failed"
        assert "No module named" in found.text

    def test_files_made_under_umask_077_are_named(self, tmp_path: Path) -> None:
        course = tmp_path / "course"
        packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
        for folder in (course, packages / "numpy"):
            folder.mkdir(parents=True)
        for folder in (tmp_path, *tmp_path.rglob("*")):
            folder.chmod(0o755)
        (packages / "numpy").chmod(0o700)
        found = [one for one in [check_readable(tmp_path / "env", course)] if one.state == "failed"]
        assert found
        if not _hidden_above(tmp_path):
            assert str(packages / "numpy") in found[0].text
            assert "chmod -R o+rX" in found[0].text

    def test_a_folder_above_that_is_closed_is_named(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        (closed / "env").mkdir(parents=True)
        closed.chmod(0o700)
        found = check_readable(closed / "env", tmp_path)
        assert found.state == "failed"


def _hidden_above(path: Path) -> bool:
    """Return whether a folder of pytest's own is closed to others, as they usually are."""
    return any(not folder.stat().st_mode & 0o001 for folder in path.parents)


def test_a_cell_runs_in_the_kernel() -> None:
    found = check_kernel()
    assert (found.state, sys.prefix in found.text) == ("ok", True)


def test_without_a_driver_the_gpu_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    if torch.cuda.is_available():
        assert check_gpu().state == "ok"
    else:
        monkeypatch.setenv("PATH", "/nonexistent")
        found = check_gpu()
        assert (found.state, "GPU job" in found.text) == ("not checked", True)


def test_room_of_a_folder_and_of_one_that_is_not_there(tmp_path: Path) -> None:
    states = [one.state for one in check_room((tmp_path, tmp_path / "none"))]
    assert states[1] == "failed"
    assert states[0] in ("ok", "failed")


class TestJob:
    def test_without_a_scheduler_it_says_where_to_run_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nonexistent")
        found = check_job(load_site("sagehen"), None, None)
        assert (found.state, "login node" in found.text) == ("not checked", True)

    def test_the_scheduler_sees_the_script_and_no_job_of_ours(
        self, command: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        seen = tmp_path / "seen"
        command("sbatch", f'{{ echo "$@"; cat; env; }} > {seen}; echo "sbatch: Job 1 to start at noon" >&2')
        monkeypatch.setenv("SLURM_JOB_ID", "99")
        monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
        found = check_job(load_site("sagehen"), None, None)
        text = seen.read_text()
        assert found.state == "ok"
        assert "Job 1 to start" in found.text
        assert text.startswith("--test-only\n#!/bin/bash\n")
        assert "SLURM_CONF=/etc/slurm/slurm.conf" in text
        assert "SLURM_JOB_ID=99" not in text

    def test_a_refusal_is_told_in_the_schedulers_words(self, command: Put) -> None:
        command("sbatch", "echo 'sbatch: error: Invalid account' >&2; exit 1")
        found = check_job(load_site("osc"), "pitzer", "PAS1234")
        assert (found.state, "Invalid account" in found.text) == ("failed", True)

    def test_a_missing_account_is_told_before_the_scheduler_is_asked(self) -> None:
        found = check_job(load_site("osc"), "pitzer", None)
        assert (found.state, "--account" in found.text) == ("not checked", True)


def test_command_line_prints_each_finding_and_fails_on_a_fault(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mlhpc", "doctor", "--json", "--environment", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)
    assert done.returncode == 1
    assert {row["check"] for row in rows} >= {
        "environment",
        "readable by all",
        "kernel",
        "GPU",
        "room",
        "test job",
    }
