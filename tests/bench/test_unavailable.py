"""A case that this machine cannot show is left out with its reason, and the rest is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from mlhpc.bench.case import Case, CaseUnavailable, Prepared, Request
from mlhpc.bench.runner import run
from mlhpc.bench.session import Progress


@dataclass
class Scripted:
    """A workload whose cases write down what is done with them."""

    refuse: str = ""
    """``prepare``, or the number of the call of ``before_step`` that is refused."""
    calls: list[str] = field(default_factory=list)
    name: str = "scripted"
    title: str = "Scripted"
    summary: str = "Writes down what is done."

    def variants(self, device: str) -> Sequence[str]:
        return ("sound", "doubtful")

    def cases(self, request: Request) -> Sequence[Case]:
        return [
            Case(name, name, {"name": name}, self._preparing(name), packages=("numpy",))
            for name in ("doubtful", "sound")
        ]

    def _preparing(self, name: str) -> Callable[[], Prepared]:
        def prepare() -> Prepared:
            if name == "doubtful" and self.refuse == "prepare":
                raise CaseUnavailable("Nothing to see here.")
            return Prepared(
                step=lambda: self.calls.append(f"{name} step"),
                before_step=lambda: self._before(name),
                close=lambda: self.calls.append(f"{name} close"),
                items_per_step=1,
                item="steps",
            )

        return prepare

    def _before(self, name: str) -> None:
        self.calls.append(f"{name} before")
        if name == "doubtful" and self.calls.count("doubtful before") == int(self.refuse or -1):
            raise CaseUnavailable("It went away.")


def _measure(workload: Scripted) -> tuple[list[str], list[Progress]]:
    told: list[Progress] = []
    records = run(workload, Request(tier="smoke"), told.append)
    return [str(record.parameters["name"]) for record in records], told


def test_before_step_precedes_each_step_of_its_case() -> None:
    workload = Scripted()
    assert _measure(workload)[0] == ["doubtful", "sound"]
    for name in ("doubtful", "sound"):
        own = [call.split()[1] for call in workload.calls if call.startswith(name)]
        assert own[-1] == "close"
        assert own[:-1] == ["before", "step"] * (len(own) // 2)


@pytest.mark.parametrize(
    ("refuse", "reason"),
    [("prepare", "Nothing to see here."), ("1", "It went away."), ("6", "It went away.")],
)
def test_a_case_that_is_unavailable_is_told_and_the_rest_goes_on(refuse: str, reason: str) -> None:
    workload = Scripted(refuse)
    names, told = _measure(workload)
    assert names == ["sound"]
    left_out = [progress for progress in told if progress.stage == "left out"]
    assert [(progress.label, progress.reason) for progress in left_out] == [("doubtful", reason)]
    assert ("doubtful close" in workload.calls) == (refuse != "prepare")
