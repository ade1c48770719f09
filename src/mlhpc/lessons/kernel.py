"""Run the cells of a notebook in a kernel of their own, which is gone afterwards, whatever happens."""

import asyncio
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.notebook import code_cells

CELL_LIMIT_SECONDS = 600
"""For a cell at smoke tier, which should take a few seconds. Larger tiers may run for as long as they do."""


LONGEST_SOCKET_PATH = 103
"""Bytes that every Unix takes; Linux takes 107 (``man 7 unix``)."""


def run_cells(notebook: Any, files: LessonFiles, *, tier: str, stop_at_error: bool = True) -> None:
    """Run all code cells of ``notebook`` in place, in a new kernel that is gone afterwards.

    What the cells record (MLHPC_RECORDS) goes to a folder that is removed at the end.

    Args:
        notebook: as `read_source` returns it.
        files: the lesson; its notebooks' folder is the working folder.
        tier: value of MLHPC_TIER for the cells.
        stop_at_error: raise at the first cell that fails; otherwise its error is kept as an output.

    Raises:
        MlhpcError: if the kernel does not start, or a cell fails (unless kept), ends the kernel, or takes
            over ten minutes at smoke tier.
    """
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    started: list[Any] = []
    try:
        with tempfile.TemporaryDirectory(prefix="mlhpc-") as scratch:
            # An empty folder of records, and one order of sets of strings: else outputs depend on what
            # this user has measured before, and on chance.
            settings = {"MLHPC_TIER": tier, "MLHPC_RECORDS": f"{scratch}/records", "PYTHONHASHSEED": "0"}
            client = _client(notebook, files.notebook.parent, scratch)
            client.allow_errors = not stop_at_error
            client.timeout = CELL_LIMIT_SECONDS if tier == "smoke" else None
            client.on_cell_start = lambda cell, cell_index: started.append(cell)
            _run_in_thread(client, {**os.environ, **settings})
    except CellExecutionError as error:
        raise _failure(notebook, started, files, f"{error.ename}: {error.evalue}") from error
    except CellTimeoutError as error:
        raise _failure(notebook, started, files, f"it took over {CELL_LIMIT_SECONDS} seconds") from error
    except DeadKernelError as error:
        raise _failure(notebook, started, files, "it ended the kernel (often: too little memory)") from error
    except (NoSuchKernel, RuntimeError) as error:
        raise MlhpcError(f"The kernel python3 does not start ({error}): is ipykernel installed?") from error


def _client(notebook: Any, folder: Path, scratch: str) -> Any:
    from nbclient import NotebookClient
    from traitlets.config import Config

    # Sockets in a folder of this user's only: over TCP, anybody on a shared node could read what is run.
    sockets = {"transport": "ipc", "connection_file": f"{scratch}/kernel.json"}
    if len(os.fsencode(f"{scratch}/kernel-ipc-5")) > LONGEST_SOCKET_PATH:
        raise MlhpcError(
            f"{scratch} is too long a path for a kernel's sockets: set TMPDIR to a shorter folder."
        )
    return NotebookClient(
        notebook,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        config=Config({"KernelManager": sockets}),
    )


def _failure(notebook: Any, started: list[Any], files: LessonFiles, what: str) -> MlhpcError:
    """Return the one sentence for the cell that failed: the last one that was started."""
    if not started:
        return MlhpcError(f"The kernel python3 ended before the first cell of {files.source}.")
    cell = started[-1]
    number = [one.id for one in code_cells(notebook)].index(cell.id) + 1
    first_line = cell.source.partition("\n")[0]
    return MlhpcError(
        f"{files.source}: code cell {number} ({first_line}) failed: {what.strip().splitlines()[0]}; "
        f"{files.notebook.name} is as it was."
    )


def _run_in_thread(client: Any, environment: dict[str, str]) -> None:
    """Run ``client`` in a thread of its own, so that Ctrl-C reaches this one.

    In the main thread nbclient takes SIGINT for itself, ends the kernel and reports a dead kernel, which
    cannot be told from one that ran out of memory.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(client.async_execute(env=environment))
    done = threading.Event()
    threading.Thread(target=_finish, args=(loop, task, done)).start()
    try:
        # Not Thread.join, which in Python 3.11 takes the thread for ended once Ctrl-C has interrupted it.
        done.wait()
    except KeyboardInterrupt:
        client.shutdown_kernel = "immediate"
        loop.call_soon_threadsafe(task.cancel)
        done.wait()
        if not task.cancelled():
            task.exception()
        raise
    task.result()


def _finish(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[Any]", done: threading.Event) -> None:
    """Run ``task`` to its end; its outcome, an exception or not, stays in it."""
    try:
        loop.run_until_complete(asyncio.wait({task}))
        # nbclient leaves tasks behind when it is cancelled: they end here, and nobody reports them.
        left = asyncio.all_tasks(loop)
        for one in left:
            one.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
            _ = [one.exception() for one in left if not one.cancelled()]
    finally:
        loop.close()
        done.set()
