"""Showing the progress of a run on standard error, without disturbing what is being timed."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mlhpc.bench.session import Progress

if TYPE_CHECKING:
    from rich.progress import TaskID


class Display:
    """A bar in a terminal, plain lines elsewhere. Used as a context manager."""

    def __init__(self, workloads: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._workloads = workloads
        self._finished = 0
        console = Console(stderr=True)
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        if console.is_terminal:
            # No refresh thread: it would take the interpreter from the code that is being timed.
            self._bar = Bar(
                BarColumn(bar_width=24),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=console,
                auto_refresh=False,
                transient=True,
            )

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("starting", total=1.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Take note of a step forward; the runner calls this between timed steps only."""
        if progress.stage == "done":
            self._finished += 1
            return
        if progress.stage == "left out":
            self._tell(f"{_line(progress)}: left out. {progress.reason}")
            return
        if self._bar is not None and self._task is not None:
            done = (self._finished + progress.share) / self._workloads
            self._bar.update(self._task, completed=done, description=_line(progress), refresh=True)
        elif progress.stage == "prepare":
            print(_line(progress), file=sys.stderr, flush=True)

    def skip(self) -> None:
        """Count a workload that failed as finished."""
        self._finished += 1

    def _tell(self, text: str) -> None:
        """Print a sentence to standard error, above the bar."""
        if self._bar is not None:
            self._bar.stop()
        print(text, file=sys.stderr, flush=True)
        if self._bar is not None:
            self._bar.start()

    def print(self, text: str) -> None:
        """Print a result to standard output, above the bar."""
        if self._bar is not None:
            self._bar.stop()
        print(text, flush=True)
        if self._bar is not None:
            self._bar.start()


def _line(progress: Progress) -> str:
    from mlhpc.formatting import format_value

    words = [progress.workload, progress.label]
    if progress.stage == "prepare":
        words.append("(preparing)")
    if progress.median_seconds is not None:
        words.append(f"{progress.samples} samples, median {format_value(progress.median_seconds, 's')}")
    return " ".join(word for word in words if word)
