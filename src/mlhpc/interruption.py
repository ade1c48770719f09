"""Ctrl-C, and a scheduler's SIGTERM: treated alike, and held back where a write must be whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C inside the block: it is what a scheduler sends before the walltime ends.

    Outside the main thread, where Python allows no signal handlers, the block runs unchanged.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def shielded() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the block has ended, so that a write is whole.

    Raises:
        KeyboardInterrupt: at the end of the block, if one of the signals came in the meantime and the block
            itself did not fail.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        signal.signal(number, lambda received, frame: held.append(received))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        raise KeyboardInterrupt
