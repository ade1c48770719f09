"""The main program of one rank: ``torchrun -m mlhpc.bench.rank_process module:function folder``.

Started only by :func:`mlhpc.bench.ranks.launch`, whose docstring describes the arrangement.
"""

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from mlhpc.bench.ranks import GRACE_SECONDS, Ranks, join
from mlhpc.errors import MlhpcError


def main(target: str, folder: Path) -> int:
    """Join the other ranks, call ``target`` with the payload, and return an exit status."""
    stop = threading.Event()
    threading.Thread(target=_watch_launcher, args=(stop,), daemon=True).start()
    try:
        import torch
        import torch.distributed

        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        local_rank = int(os.environ["LOCAL_RANK"])
        if torch.cuda.is_available():
            torch.cuda.set_device(local_rank)
        torch.distributed.init_process_group(backend)
        place = Ranks(
            torch.distributed.get_rank(),
            torch.distributed.get_world_size(),
            local_rank,
            stop,
            folder / "messages",
        )
        join(place)
        _function(target)(json.loads((folder / "payload.json").read_text(encoding="utf-8")))
        torch.distributed.destroy_process_group()
    except KeyboardInterrupt:
        return 0
    except Exception as error:  # noqa: BLE001 - whatever it is, the launcher must hear of it
        _report(error, folder)
        return 1
    return 0


def _watch_launcher(stop: threading.Event) -> None:
    """Wait for the launcher's pipe to close; then ask for a stop and, after the grace time, end this rank."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    stop.set()
    if not threading.Event().wait(GRACE_SECONDS):
        os._exit(1)


def _function(target: str) -> Callable[[dict[str, Any]], None]:
    module, _, name = target.partition(":")
    function: Callable[[dict[str, Any]], None] = getattr(import_module(module), name)
    return function


def _report(error: Exception, folder: Path) -> None:
    """Leave the error as one sentence for the launcher and its traceback in the log."""
    traceback.print_exc()
    rank = os.environ["RANK"]
    if isinstance(error, MlhpcError):
        fault = {"message": str(error), "exit_status": error.exit_status}
    else:
        fault = {"message": f"Rank {rank} failed: {type(error).__name__}: {error}", "exit_status": 1}
    path = folder / f"fault-{rank}.json"
    path.with_suffix(".part").write_text(json.dumps(fault), encoding="utf-8")
    path.with_suffix(".part").replace(path)


if __name__ == "__main__":
    status = main(sys.argv[1], Path(sys.argv[2]))
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: tearing down a process group whose peers are gone can hang or abort.
    os._exit(status)
