"""What the ranks of the tests run."""

import os
import time
from typing import Any

from mlhpc.bench.ranks import current
from mlhpc.errors import UsageError


def talk(payload: dict[str, Any]) -> None:
    """Every rank gets rank 0's values; only rank 0 is heard."""
    here = current()
    agreed = here.agree(100.0 + here.rank)
    shared = here.share({"from": here.rank})
    here.emit(
        {"agreed": agreed, "shared": shared, "size": here.size, "threads": os.environ["OMP_NUM_THREADS"]}
    )
    if not here.first and (agreed, shared) != (100.0, {"from": 0}):
        raise AssertionError(f"rank {here.rank} got {agreed} and {shared}")
    here.emit(payload)


def fail(payload: dict[str, Any]) -> None:
    """The last rank fails while the first waits for it."""
    here = current()
    if not here.first:
        if payload["sentence"]:
            raise UsageError(payload["sentence"])
        raise ValueError("a fault of the program")
    here.agree(0.0)


def crash(payload: dict[str, Any]) -> None:
    """The last rank ends without a word."""
    here = current()
    if not here.first:
        os._exit(7)
    here.agree(0.0)


def wait(payload: dict[str, Any]) -> None:
    """Run until asked to stop; hand over what was done."""
    here = current()
    here.emit({"pid": os.getpid()})
    done = 0
    try:
        while True:
            here.agree(0.0)
            time.sleep(0.05)
            done += 1
    except KeyboardInterrupt:
        here.emit({"done": done})
