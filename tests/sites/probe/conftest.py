"""A machine on which Slurm's commands answer as a real Slurm did.

``slurm-24.11.5.json`` holds what sinfo, scontrol and sacctmgr of two real clusters printed (Debian 13's Slurm
24.11.5 with fake GPUs); ``scontrol show config`` is cut to the lines that matter. The commands on the path
replay that recording; nothing else in these tests stands in for Slurm.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RECORDING = Path(__file__).with_name("slurm-24.11.5.json")
REPLAY = f"""#!{sys.executable}
import json, os, sys
name, *rest = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
rest = ["user=USER" if part.startswith("user=") else part for part in rest]
for entry in json.load(open({str(RECORDING)!r})):
    if entry["command"] == [name, *rest]:
        sys.stdout.write(entry["stdout"])
        sys.stderr.write(entry["stderr"])
        sys.exit(entry["exit_status"])
sys.exit(f"not in the recording: {{[name, *rest]}}")
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that puts a command with a given text on the path, before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, text: str) -> None:
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)

    return put


@pytest.fixture
def login_node(command: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process see the recorded clusters, from outside any job."""
    for name in ("sinfo", "scontrol", "sacctmgr"):
        command(name, REPLAY)
    for variable in ("SLURM_JOB_ID", "SLURM_TMPDIR", "SLURMD_NODENAME", "PROJECT", "WORK", "SCRATCH"):
        monkeypatch.delenv(variable, raising=False)
