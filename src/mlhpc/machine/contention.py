"""Who else used the machine while something was measured."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mlhpc.machine.cgroups import throttled_seconds
from mlhpc.machine.model import Contention
from mlhpc.machine.sources import Sources


@dataclass(frozen=True)
class _Reading:
    """The counters at one moment."""

    load: float
    throttled: float | None
    stolen: tuple[int, int] | None
    """Ticks that the hypervisor took, and all ticks, since the machine started."""


class ContentionWatch:
    """The counters before and after a piece of work; ``result`` is known once the block has ended."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._before = _read(sources)
        self._after: _Reading | None = None

    def stop(self) -> None:
        """Take the second reading."""
        self._after = _read(self._sources)

    def result(self) -> Contention:
        """Return what happened in between.

        Raises:
            RuntimeError: if the block has not ended yet.
        """
        if self._after is None:
            raise RuntimeError("the contention is known only after the with block has ended")
        return Contention(
            load_average_before=self._before.load,
            load_average_after=self._after.load,
            throttled_seconds=_difference(self._before.throttled, self._after.throttled),
            stolen_share=_stolen_share(self._before.stolen, self._after.stolen),
            omp_wait_policy=self._sources.environment.get("OMP_WAIT_POLICY"),
            omp_num_threads=self._sources.environment.get("OMP_NUM_THREADS"),
        )


@contextmanager
def watch_contention(sources: Sources | None = None) -> Iterator[ContentionWatch]:
    """Watch the machine during the block; also after an exception or Ctrl-C, ``result`` is then known."""
    watch = ContentionWatch(sources or Sources())
    try:
        yield watch
    finally:
        watch.stop()


def load_average(sources: Sources) -> float:
    """Return the number of processes that ran or wanted to, averaged over the last minute."""
    fields = (sources.text("/proc/loadavg") or "").split()
    return float(fields[0]) if fields else os.getloadavg()[0]


def _read(sources: Sources) -> _Reading:
    return _Reading(load_average(sources), throttled_seconds(sources), _ticks(sources))


def _ticks(sources: Sources) -> tuple[int, int] | None:
    """Return stolen and all ticks from ``/proc/stat``; guests' time is already part of the user's time."""
    fields = (sources.text("/proc/stat") or "").split("\n", 1)[0].split()
    if len(fields) < 9 or fields[0] != "cpu":
        return None
    ticks = [int(field) for field in fields[1:9]]
    return ticks[7], sum(ticks)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _stolen_share(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float | None:
    """Return the stolen part of the ticks in between; None where no tick passed or nothing counts them."""
    if before is None or after is None or after[1] <= before[1]:
        return None
    return min(1.0, max(0.0, (after[0] - before[0]) / (after[1] - before[1])))
