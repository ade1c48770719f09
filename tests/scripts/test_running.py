"""Generated scripts really run: arguments arrive, files are staged, signals and exit codes pass through."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mlhpc.scripts import JobRequest, Script, write_script
from mlhpc.sites.load import load_site
from tests.scripts.conftest import Run, job_variables

SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), os.environ['OMP_NUM_THREADS']]))"
ARGUMENTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=30)


def slurm(*command: str, **options: object) -> Script:
    return write_script(load_site("generic"), JobRequest(command, cluster="slurm", **options))  # type: ignore[arg-type]


def argv(process: subprocess.CompletedProcess[str]) -> list[str]:
    assert process.returncode == 0, process.stderr
    found: list[str] = json.loads(process.stdout)[0]
    return found


class TestArguments:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(ARGUMENTS, max_size=5))
    @example(
        ["a b", "it's", '"$HOME"', "`id`", "$(id)", "-n", "", "\n", "*", "~", "é\u2028", "\\", "!x", "#"]
    )
    def test_each_arrives_as_it_was_given(self, arguments: list[str]) -> None:
        script = slurm(sys.executable, "-c", SHOW, *arguments)
        with TemporaryDirectory() as folder:
            process = subprocess.run(
                ["bash", "-s"],
                input=script.text.encode(),
                env=job_variables(Path(folder)),
                cwd=folder,
                capture_output=True,
                check=False,
            )
        assert process.returncode == 0, process.stderr
        assert json.loads(process.stdout)[0] == arguments

    @settings(max_examples=30, deadline=None)
    @given(st.lists(ARGUMENTS, max_size=4))
    def test_each_arrives_through_the_wrapper_of_htcondor(self, arguments: list[str]) -> None:
        request = JobRequest((sys.executable, "-c", SHOW, *arguments), cluster="htcondor")
        script = write_script(load_site("generic"), request)
        with TemporaryDirectory() as folder:
            process = subprocess.run(
                ["bash", "-s"],
                input=script.companions["job.sh"].encode(),
                env={**job_variables(Path(folder)), "OMP_NUM_THREADS": "2"},
                cwd=folder,
                capture_output=True,
                check=False,
            )
        assert json.loads(process.stdout)[0] == arguments

    def test_threads_follow_the_cores_of_the_job(self, run_script: Run) -> None:
        process = run_script(slurm(sys.executable, "-c", SHOW, cores=3).text)
        assert json.loads(process.stdout)[2] == "3"

    def test_the_exit_code_is_the_commands(self, run_script: Run) -> None:
        assert run_script(slurm(sys.executable, "-c", "raise SystemExit(7)").text).returncode == 7

    def test_modules_are_loaded_and_a_missing_one_ends_the_job(self, run_script: Run, tmp_path: Path) -> None:
        request = JobRequest((sys.executable, "-c", SHOW), cluster="cardinal", account="x")
        text = write_script(load_site("osc"), request).text
        assert run_script(text).returncode == 0
        assert (tmp_path / "modules").read_text() == "module load python/3.12\n"
        assert run_script(text, {"MODULES_SEEN": "/nonexistent/file"}).returncode != 0

    def test_an_environment_that_is_not_there_ends_the_job(self, run_script: Run) -> None:
        process = run_script(slurm(sys.executable, "-c", SHOW, environment="/nonexistent/it's").text)
        assert process.returncode != 0
        assert process.stdout == ""


class TestStaging:
    @pytest.fixture
    def submit(self, tmp_path: Path, run_script: Run) -> Path:
        folder = tmp_path / "submit"
        (folder / "my data").mkdir()
        (folder / "my data" / "x.txt").write_text("42")
        (folder / "train.py").write_text(
            "import pathlib, sys, time\n"
            "pathlib.Path('out dir').mkdir()\n"
            "pathlib.Path('out dir/result').write_text(open('my data/x.txt').read())\n"
            "print(pathlib.Path.cwd())\n"
            "sys.exit(int(sys.argv[1]))\n"
        )
        return folder

    def staged(self, *command: str, **options: object) -> Script:
        return slurm(*command, stage_in=("train.py", "my data"), stage_out=("out dir",), **options)

    @pytest.mark.parametrize("code", [0, 3])
    def test_results_come_back_whatever_the_exit_code(self, submit: Path, run_script: Run, code: int) -> None:
        process = run_script(self.staged(sys.executable, "train.py", str(code)).text)
        assert process.returncode == code, process.stderr
        result = submit / "logs" / "results-41230001" / "out dir" / "result"
        assert result.read_text() == "42"
        assert "node-local" in process.stdout

    def test_nothing_is_left_on_the_node(self, submit: Path, run_script: Run, tmp_path: Path) -> None:
        run_script(self.staged(sys.executable, "train.py", "0").text)
        assert list((tmp_path / "node-local").iterdir()) == []

    def test_results_that_cannot_be_copied_are_kept_and_told(
        self, submit: Path, run_script: Run, tmp_path: Path
    ) -> None:
        (submit / "logs").write_text("a file where the folder should be")
        process = run_script(self.staged(sys.executable, "train.py", "0").text)
        assert process.returncode == 1
        assert "could not be copied back" in process.stderr
        kept = list((tmp_path / "node-local").glob("work.*/out dir/result"))
        assert [path.read_text() for path in kept] == ["42"]

    def test_a_file_that_is_not_there_ends_the_job_before_the_command(
        self, submit: Path, run_script: Run, tmp_path: Path
    ) -> None:
        shutil.rmtree(submit / "my data")
        process = run_script(self.staged(sys.executable, "train.py", "0").text)
        assert process.returncode != 0
        assert process.stdout == ""
        assert list((tmp_path / "node-local").iterdir()) == []

    def test_what_the_command_did_not_make_is_told(self, submit: Path, run_script: Run) -> None:
        process = run_script(self.staged(sys.executable, "-c", "pass").text)
        assert process.returncode == 0
        assert "not made: out dir" in process.stderr


class TestSignals:
    PROGRAM = (
        "import pathlib, signal, sys, time\n"
        "def stop(number, frame):\n"
        "    pathlib.Path('checkpoint').write_text(str(number)); sys.exit(9)\n"
        "signal.signal(signal.SIGUSR1, stop); signal.signal(signal.SIGTERM, stop)\n"
        "print('ready', flush=True); time.sleep(60)\n"
    )

    @pytest.fixture
    def running(self, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
        script = slurm(
            sys.executable, "-c", self.PROGRAM, signal="USR1", stage_out=("checkpoint",), signal_seconds=60
        )
        (tmp_path / "job.sh").write_text(script.text)
        with subprocess.Popen(
            ["bash", "job.sh"],
            cwd=tmp_path,
            env=job_variables(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
            process.kill()

    @pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
    def test_the_command_hears_it_saves_and_its_checkpoint_comes_back(
        self, running: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
    ) -> None:
        running.send_signal(number)
        assert running.wait(timeout=30) == 9
        saved = tmp_path / "logs" / "results-41230001" / "checkpoint"
        assert saved.read_text() == str(int(number))

    def test_a_second_signal_does_not_stop_the_copying(
        self, running: subprocess.Popen[str], tmp_path: Path
    ) -> None:
        running.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=30)
        assert (tmp_path / "logs" / "results-41230001" / "checkpoint").exists()
