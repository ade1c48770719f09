"""Connecting the XGBoost of several ranks, so that they build one matrix and train one model together.

The ranks themselves are started by ``mlhpc.bench.ranks``. While they are connected, everything that makes or
uses a matrix is collective: a rank that builds one alone waits for the others, or crashes.
"""

from dataclasses import dataclass, field
from typing import Any

from mlhpc.bench.ranks import Ranks


@dataclass
class _Connection:
    """The one communicator that a process can have, shared by all cases that are open in it."""

    users: int = 0
    context: Any = None
    tracker: Any = field(default=None, repr=False)


_connection = _Connection()


def connect(ranks: Ranks) -> None:
    """Connect this rank with the others, or count one more user where they are connected already.

    All ranks must call it together; for one rank alone it does nothing.
    """
    if ranks.size == 1:
        return
    if _connection.users == 0:
        from xgboost.collective import CommunicatorContext
        from xgboost.tracker import RabitTracker

        arguments: dict[str, Any] = {}
        if ranks.first:
            # Sorted by task, rank numbers are the same as those of the launcher.
            _connection.tracker = RabitTracker(n_workers=ranks.size, host_ip="127.0.0.1", sortby="task")
            _connection.tracker.start()
            arguments = _connection.tracker.worker_args()
        context = CommunicatorContext(**ranks.share(arguments), dmlc_task_id=f"{ranks.rank:05d}")
        context.__enter__()
        _connection.context = context
    _connection.users += 1


def disconnect(ranks: Ranks) -> None:
    """Undo one ``connect``; the last user's call disconnects. All ranks must call it together."""
    if ranks.size == 1 or _connection.users == 0:
        return
    _connection.users -= 1
    if _connection.users == 0:
        _connection.context.__exit__(None, None, None)
        if _connection.tracker is not None:
            _connection.tracker.wait_for(timeout=60)
        _connection.context = _connection.tracker = None


def share_of_rows(rows: int, ranks: Ranks) -> tuple[int, int]:
    """Return the first row and the number of rows of this rank; counts differ by one at the most."""
    start, stop = (rows * rank // ranks.size for rank in (ranks.rank, ranks.rank + 1))
    return start, stop - start
