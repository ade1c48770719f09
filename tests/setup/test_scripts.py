"""The set-up scripts say in one sentence what is missing, and do nothing when nothing is."""

import hashlib
import os
import shutil
import socket
import struct
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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with what the set-up needs, in which it cannot write: its lock file is a folder."""
    (tmp_path / "setup").mkdir()
    (tmp_path / ".venv.lock").mkdir()
    for name in ("setup/environment.sh", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_checkout_that_cannot_be_written_is_one_sentence(checkout: Path) -> None:
    done = run(str(checkout / "setup" / "environment.sh"), PYTHON=sys.executable)
    assert done.returncode == 1
    assert done.stderr.startswith(f"setup: {checkout} cannot be written: copy the course")
    assert len(done.stderr.splitlines()) == 1
    assert not (checkout / ".venv").exists()


def test_a_checkout_that_cannot_be_written_and_is_ready_needs_nothing(checkout: Path) -> None:
    """A class shares one checkout, which its owner has set up."""
    content = b"".join((checkout / name).read_bytes() for name in ("requirements.lock", "pyproject.toml"))
    stamp = hashlib.sha256(content + str((sys.version_info[:2], checkout)).encode()).hexdigest()
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to("/bin/true")
    (checkout / ".venv" / "ready").write_text(stamp)
    done = run(str(checkout / "setup" / "environment.sh"), PYTHON=sys.executable)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_lock_is_one_sentence(checkout: Path) -> None:
    (checkout / "requirements.lock").unlink()
    done = run(str(checkout / "setup" / "environment.sh"), PYTHON=sys.executable)
    assert done.returncode == 1
    assert done.stderr.startswith(f"setup: {checkout}/requirements.lock cannot be read")
    assert len(done.stderr.splitlines()) == 1


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


@pytest.mark.skipif(not (ROOT / "_build" / "html" / "index.html").exists(), reason="needs a built site")
def test_readers_that_go_away_and_odd_addresses_are_nothing_to_report() -> None:
    server = subprocess.Popen(
        [sys.executable, "setup/serve.py", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().partition("127.0.0.1:")[2].split()[0])
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as reader:
                # Lingering for no time resets the connection where others close it.
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                reader.sendall(b"GET /searchindex.js HTTP/1.1\r\n\r\n")
        with socket.create_connection(("127.0.0.1", port), timeout=10) as reader:
            reader.sendall(b"GET /%00 HTTP/1.0\r\n\r\n")
            assert b" 404 " in reader.recv(100)
    finally:
        server.terminate()
        _, messages = server.communicate(timeout=10)
    assert messages == ""
