"""Starting daemons so that they can be found again, and ending everything that belongs to a folder."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlhpc.errors import MlhpcError

PROCESSES = Path("/proc")
SECONDS_TO_END = 5.0
"""How long a process may take to end after SIGTERM, before it is killed."""


@dataclass(frozen=True)
class Daemon:
    """A program that was started and goes on in the background."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path


def start(name: str, command: Sequence[str], log: Path, variables: Mapping[str, str]) -> Daemon:
    """Start a program that stays in the foreground as a session of its own; its output goes to ``log``.

    A session of its own means that Ctrl-C in the terminal does not reach it.

    Raises:
        MlhpcError: if it cannot be started at all.
    """
    try:
        with log.open("ab") as stream:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=dict(variables),
                cwd="/",
                start_new_session=True,
            )
    except OSError as error:
        raise MlhpcError(
            f"{name} cannot be started ({error.strerror}): mlhpc practice install repairs it."
        ) from error
    return Daemon(name, process, log)


def wait_until(ready: Callable[[], bool], daemon: Daemon, seconds: float) -> None:
    """Wait until ``ready`` holds.

    Raises:
        MlhpcError: if the daemon ends before, or the time is up; holds the last line of its log.
    """
    end = time.monotonic() + seconds
    while not ready():
        code = daemon.process.poll()
        if code is not None:
            raise MlhpcError(
                f"{daemon.name} ended with status {code}: {last_line(daemon.log)} (see {daemon.log})."
            )
        if time.monotonic() > end:
            raise MlhpcError(
                f"{daemon.name} was not ready after {seconds:.0f} s: {last_line(daemon.log)} "
                f"(see {daemon.log})."
            )
        time.sleep(0.05)


def last_line(log: Path) -> str:
    """Return the last line of a log that is not empty."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return "no log"
    return lines[-1].strip() if lines else "its log is empty"


def owned_by(folder: Path) -> list[int]:
    """Return the processes that belong to the practice cluster in ``folder``, daemons and jobs.

    They are known by the variable ``MLHPC_PRACTICE_LAB``, or by a scheduler's variable that leads into the
    folder; this process and those above it are never among them.
    """
    marker = os.fsencode(folder)
    spared = set(_ancestors(os.getpid()))
    return [pid for pid in _processes() if pid not in spared and _belongs(pid, marker)]


def _processes() -> Iterator[int]:
    for entry in PROCESSES.iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def _belongs(pid: int, marker: bytes) -> bool:
    names = (b"MLHPC_PRACTICE_LAB=", b"SLURM_CONF=", b"CONDOR_CONFIG=", b"_CONDOR_SCRATCH_DIR=")
    try:
        variables = (PROCESSES / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        # It has ended in the meantime, or is another user's.
        return False
    return any(
        entry.partition(b"=")[2] == marker or entry.partition(b"=")[2].startswith(marker + b"/")
        for entry in variables
        if entry.startswith(names)
    )


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        try:
            stat = (PROCESSES / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return
        pid = int(stat.rpartition(")")[2].split()[1])


def end_all(folder: Path, seconds: float = SECONDS_TO_END) -> int:
    """End all processes of the practice cluster in ``folder``; return how many had to be killed.

    First SIGTERM, then SIGKILL for those that do not listen; new ones that appear meanwhile are ended, too.

    Raises:
        MlhpcError: if some cannot be ended.
    """
    killed = 0
    deadline = time.monotonic() + seconds
    _send(owned_by(folder), signal.SIGTERM)
    while owned_by(folder):
        if time.monotonic() > deadline + seconds:
            raise MlhpcError(f"These processes of {folder} cannot be ended: {owned_by(folder)}.")
        if time.monotonic() > deadline:
            left = owned_by(folder)
            killed += len(left)
            _send(left, signal.SIGKILL)
        time.sleep(0.05)
    return killed


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for pid in processes:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
