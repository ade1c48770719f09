"""A clock that only steps move, and workloads made of such steps: the protocol without waiting."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from mlhpc.bench.case import Case, Prepared, Request
from mlhpc.records.schema import Gate


class FakeClock:
    """Stands in for ``time.perf_counter_ns``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nanoseconds = 0
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.nanoseconds)

    def step(self, seconds: Callable[[], float]) -> Callable[[], None]:
        """Return a step that takes as long as ``seconds`` says."""

        def step() -> None:
            self.nanoseconds += round(seconds() * 1e9)

        return step


def passing() -> Sequence[Gate]:
    return (Gate(name="sum", value=0.0, limit=1.0, passed=True),)


def failing() -> Sequence[Gate]:
    return (Gate(name="sum", value=7.0, limit=1.0, passed=False),)


@dataclass
class FakeWorkload:
    """Named steps in one group."""

    steps: dict[str, Callable[[], None]]
    gates: dict[str, Sequence[Gate]] = field(default_factory=dict)
    final_gates: dict[str, Callable[[], Sequence[Gate]]] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    name: str = "fake"
    title: str = "Fake"
    summary: str = "Steps of known length."

    def variants(self, device: str) -> Sequence[str]:
        return list(self.steps)

    def cases(self, request: Request) -> Sequence[Case]:
        return [
            Case(name, name, {"device": "cpu", "name": name}, self._preparing(name), packages=("numpy",))
            for name in self.steps
        ]

    def _preparing(self, name: str) -> Callable[[], Prepared]:
        return lambda: Prepared(
            self.steps[name],
            items_per_step=10.0,
            item="items",
            gates=self.gates.get(name, passing()),
            final_gates=self.final_gates.get(name, tuple),
            close=lambda: self.closed.append(name),
        )
