"""Running generated scripts as a scheduler would: in a folder of their own, with the job's variables."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

# `module` is a shell function of the site; this stand-in only writes down what it was asked for.
MODULE = 'module() { printf "%s\\n" "module $*" >>"$MODULES_SEEN"; }\nexport -f module\n'

Run = Callable[..., subprocess.CompletedProcess[str]]


def job_variables(folder: Path) -> dict[str, str]:
    """Return the variables that Slurm sets for a batch script, and those of the machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "USER": "learner",
        "TMPDIR": str(folder / "node-local"),
        "SLURM_JOB_ID": "41230001",
        "SLURM_CPUS_PER_TASK": "3",
        "MODULES_SEEN": str(folder / "modules"),
        "PYTHON": sys.executable,
    }


@pytest.fixture
def run_script(tmp_path: Path) -> Run:
    """Return a function that runs a script under bash in ``tmp_path / "submit"``, as a batch job would."""
    submit = tmp_path / "submit"
    submit.mkdir()

    def run(text: str, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        script = submit / "job.sh"
        script.write_text(text, encoding="utf-8")
        return subprocess.run(
            ["bash", "-c", f"{MODULE}exec bash ./job.sh"],
            cwd=submit,
            env={**job_variables(tmp_path), **(variables or {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
