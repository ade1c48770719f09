"""Several processes that work together: starting them, following them, and never leaving one behind.

The side that starts them calls :func:`launch`; it runs ``module:function`` once per rank through
``torchrun``::

    launch("mlhpc.bench.runner:measure_in_rank", {"workload": "dense"}, processes=2, threads=1,
           on_message=print)

The function takes the payload (a dictionary of plain JSON values) and asks for its place among the others::

    def measure_in_rank(payload: dict[str, Any]) -> None:
        ranks = current()                        # rank, size, local_rank; the process group is ready
        port = ranks.share(open_tracker())       # every rank gets what rank 0 passed in
        ...
        count = ranks.agree(10.0)                # every rank gets rank 0's number; stops all after Ctrl-C
        ranks.emit({"kind": "result", ...})      # rank 0's messages reach the launcher's on_message

Code that can run alone uses the same calls: ``current()`` is then rank 0 of 1 and all calls are local.

How it ends: the ranks hold the read end of a pipe from the launcher. When the launcher is interrupted, or
dies in any way, the pipe closes; each rank's next :meth:`Ranks.agree` then raises ``KeyboardInterrupt`` on
all ranks at once, so that rank 0 can hand over what it has. A rank that has not ended ``GRACE_SECONDS`` later
ends itself.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from mlhpc.errors import MlhpcError
from mlhpc.interruption import shielded

GRACE_SECONDS = 20.0
"""How long ranks may take to hand over their results after a request to stop."""

LOOPBACK = "127.0.0.1"
_CONNECT_SECONDS = 10.0
_POLL_SECONDS = 0.1
_Value = TypeVar("_Value")
Message = dict[str, Any]


@dataclass(frozen=True)
class Ranks:
    """This process's place among those that work together."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """Index of the GPU that this rank uses."""
    stop: Event = field(default_factory=Event)
    """Set when the launcher asks to stop or is gone."""
    messages: Path | None = None
    """File through which rank 0 speaks to the launcher."""

    @property
    def first(self) -> bool:
        """True on the rank that decides, reports and writes."""
        return self.rank == 0

    def agree(self, value: float) -> float:
        """Return rank 0's ``value`` on every rank. All ranks must call it, in the same order.

        Raises:
            KeyboardInterrupt: on all ranks together, if any of them was asked to stop.
        """
        if self.size == 1:
            return value
        import torch
        import torch.distributed

        shared = torch.tensor(
            [value if self.first else -float("inf"), float(self.stop.is_set())], dtype=torch.float64
        )
        torch.distributed.all_reduce(shared, op=torch.distributed.ReduceOp.MAX)
        if shared[1].item():
            raise KeyboardInterrupt
        return float(shared[0].item())

    def share(self, value: _Value) -> _Value:
        """Return rank 0's ``value`` (anything that pickles) on every rank. All ranks must call it."""
        if self.size == 1:
            return value
        import torch.distributed

        box = [value]
        torch.distributed.broadcast_object_list(box, src=0)
        return box[0]

    def emit(self, message: Message) -> None:
        """Send a message of plain JSON values to the launcher; other ranks than 0 say nothing."""
        if self.first and self.messages is not None:
            with self.messages.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(message) + "\n")


_current = Ranks()


def current() -> Ranks:
    """Return this process's place; rank 0 of 1 where nothing was launched."""
    return _current


def join(ranks: Ranks) -> None:
    """Make ``ranks`` this process's place (called once by a launched process, see ``rank_process``)."""
    global _current
    _current = ranks


def launch(
    target: str,
    payload: Message,
    *,
    processes: int,
    threads: int,
    on_message: Callable[[Message], None],
) -> None:
    """Run ``target`` (``module:function``) in ``processes`` ranks on this machine and wait for all of them.

    Args:
        target: the function that each rank calls with ``payload``.
        payload: plain JSON values.
        processes: number of ranks.
        threads: value of ``OMP_NUM_THREADS`` in each rank.
        on_message: called here, in order, with each message that rank 0 emits.

    Raises:
        MlhpcError: if this machine cannot be reached over its loopback device, or a rank fails; the sentence
            is then that rank's own, and all others have been ended.
        KeyboardInterrupt: after Ctrl-C, once the ranks have handed over what they had and have ended.
    """
    _check_loopback()
    with tempfile.TemporaryDirectory(prefix="mlhpc-ranks-") as name:
        folder = Path(name)
        (folder / "payload.json").write_text(json.dumps(payload), encoding="utf-8")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                _torchrun(target, folder, processes),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(threads),
                # Ctrl-C in a terminal reaches the whole foreground group; the ranks must hear by the pipe.
                start_new_session=True,
            )
        try:
            interrupted = _follow(process, folder / "messages", on_message)
        finally:
            _end(process)
        if interrupted:
            raise KeyboardInterrupt
        if process.returncode:
            raise _fault(folder, process.returncode)


def _check_loopback() -> None:
    """Refuse to start ranks that could not find each other: torchrun would wait for them without a word.

    Raises:
        MlhpcError: if a connection to an own port does not come about.
    """
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            socket.create_connection(server.getsockname(), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise MlhpcError(
            f"Several processes talk over the loopback device, and {LOOPBACK} cannot be reached "
            f"({error.strerror or error}): bring it up (ip link set lo up), or use one process."
        ) from error


def _torchrun(target: str, folder: Path, processes: int) -> list[str]:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", LOOPBACK]
    options = ["--nproc-per-node", str(processes), "--shutdown-timeout", "5", "--monitor-interval", "0.2"]
    options += ["--log-dir", str(folder / "ranks")]
    return [*launcher, *options, "-m", "mlhpc.bench.rank_process", target, str(folder)]


def _environment(threads: int) -> dict[str, str]:
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    # All ranks are on this machine; without this, gloo resolves the host's name, which many nodes cannot.
    environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return environment


def _follow(
    process: "subprocess.Popen[bytes]", messages: Path, on_message: Callable[[Message], None]
) -> bool:
    """Pass messages on until the ranks have ended; return True if Ctrl-C asked them to end early."""
    position = 0
    deadline: float | None = None
    while True:
        try:
            ended = process.poll() is not None
            # A message must not be cut off in the middle, nor passed on twice.
            with shielded():
                position = _pass_on(messages, position, on_message)
            if ended:
                return deadline is not None
            if deadline is not None and time.monotonic() > deadline:
                return True
            time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            if deadline is not None:
                raise
            deadline = time.monotonic() + GRACE_SECONDS
            _ask_to_stop(process)


def _pass_on(messages: Path, position: int, on_message: Callable[[Message], None]) -> int:
    """Pass on the whole lines beyond ``position`` (bytes) and return the position after them."""
    if not messages.exists():
        return position
    with messages.open("rb") as stream:
        stream.seek(position)
        for line in stream:
            if not line.endswith(b"\n"):
                break
            position += len(line)
            on_message(json.loads(line))
    return position


def _ask_to_stop(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Make sure that the launcher of the ranks has ended, and with it every rank."""
    _ask_to_stop(process)
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _fault(folder: Path, status: int) -> MlhpcError:
    """Return the error of the rank that failed first, or the end of the log where none left a sentence."""
    faults = sorted(folder.glob("fault-*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in faults:
        fault = json.loads(path.read_text(encoding="utf-8"))
        error = MlhpcError(fault["message"])
        error.exit_status = fault["exit_status"]
        return error
    log = (folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return MlhpcError(f"The ranks ended with status {status}; the end of their log: {' / '.join(log[-5:])}")
