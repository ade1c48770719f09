"""The set-up scripts say in one sentence what is missing, and do nothing when nothing is."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the checkout with changed environment variables."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run("setup/environment.sh", PYTHON=str(old))
    assert done.returncode == 1
    assert "is not a Python 3.11 to 3.13" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(
    not (ROOT / ".venv" / "ready").exists(), reason="this checkout's environment was not made by make setup"
)
def test_an_environment_that_is_ready_is_left_alone() -> None:
    before = (ROOT / ".venv" / "ready").stat().st_mtime_ns
    done = run("setup/environment.sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (ROOT / ".venv" / "ready").stat().st_mtime_ns == before


def test_an_unknown_part_of_the_system_is_refused() -> None:
    done = run("setup/system.sh", "printer")
    assert done.returncode == 2
    assert "usage" in done.stderr


@pytest.mark.parametrize(
    ("part", "package"), [("browser", "chromium"), ("ruby", "ruby"), ("shellcheck", "shellcheck")]
)
def test_a_missing_program_is_named_with_the_command_to_run(tmp_path: Path, part: str, package: str) -> None:
    for name in ("bash", "id", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\necho 1000\n" if name == "id" else "#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", str(ROOT / "setup" / "system.sh"), part],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"Run: sudo apt-get install {package}" in done.stderr


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the server script."""
    return run(sys.executable, "setup/serve.py", *arguments)


@pytest.mark.skipif(not (ROOT / "_build" / "html" / "index.html").exists(), reason="needs a built site")
def test_a_port_in_use_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = serve("--port", str(other.getsockname()[1]))
    assert done.returncode == 1
    assert "is in use by another program: choose another" in done.stderr
