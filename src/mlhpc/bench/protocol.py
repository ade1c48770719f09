"""How things are timed: warm-up, shuffled rounds, raw samples, and when to stop.

The cases of a group take turns in rounds; each round's order is shuffled. A neighbour's load or a clock that
drifts then touches all cases alike, and their ratio survives what their absolute times do not. (PyTorch's own
benchmark runner for compilers interleaves as well.) One turn is one step of a slow case, and as many steps of
a fast one as fill ``turn_seconds``.

Warm-up is dropped and kept apart: 3 steps on a CPU, where the first one or two steps are slow (allocation,
kernel choice: MSER, the marginal standard error rule, drops 1 to 2), and 10 on a GPU, which also has to raise
its clocks and try convolution algorithms.

A case stops when the 95 % interval of its median is narrower than 2 % of it to either side, looked at after
at least ``minimum_samples`` samples and ``minimum_rounds`` rounds, or at the cap on time or count. The looks
are in growing strides (a quarter more samples each): that keeps the loop cheap, and few looks keep the
interval's coverage near its nominal value, which stopping at the first lucky look would not.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mlhpc.bench.case import CaseUnavailable
from mlhpc.records.compare import FEWEST_SAMPLES
from mlhpc.records.schema import Tier

Stopped = Literal["converged", "cap", "interrupted"]

_VERDICTS: tuple[Stopped | None, ...] = (None, "converged", "cap")
_NORMAL_95 = 1.96
_STRIDE = 1.25


@dataclass(frozen=True)
class Limits:
    """When warm-up and sampling end. Times in seconds; they count the steps themselves and nothing else."""

    warmup_steps: int
    warmup_seconds: float
    """Warm-up ends here even with fewer steps, but never before one."""
    minimum_samples: int
    minimum_rounds: int
    maximum_samples: int
    maximum_seconds: float
    """Per case. A case still gets ``FEWEST_SAMPLES`` samples, however slow its step."""
    half_width: float = 0.02
    """Half the width of the median's interval, divided by the median, at which sampling stops."""
    turn_seconds: float = 0.02


_BY_TIER: dict[Tier, Limits] = {
    "smoke": Limits(3, 1.0, 6, 6, 500, 0.6),
    "quick": Limits(3, 6.0, 12, 12, 2000, 10.0),
    "full": Limits(3, 60.0, 12, 12, 5000, 60.0),
}


def limits_for(tier: Tier, device: str) -> Limits:
    """Return the limits of a tier on ``cpu`` or ``cuda``."""
    limits = _BY_TIER[tier]
    return replace(limits, warmup_steps=10) if device == "cuda" else limits


@dataclass
class Sampler:
    """Times one case and holds its samples (seconds)."""

    label: str
    step: Callable[[], None]
    synchronise: Callable[[], None]
    """Waits until the device has finished all work; called before and after each step."""
    before_step: Callable[[], None] = lambda: None
    """Called before each step and not timed (``Prepared.before_step``)."""
    samples: list[float] = field(default_factory=list)
    warmup: list[float] = field(default_factory=list)
    rounds: int = 0
    stopped: Stopped | None = None
    elapsed: float = 0.0
    """Sum of the samples."""
    interval: float = math.inf
    """Half width of the median's interval over the median, at the last look."""
    next_look: int = 0
    unavailable: str | None = None
    """Why the case was given up: the state that it is about could not be reached (``CaseUnavailable``)."""

    def take(self, count: int, into: list[float]) -> float:
        """Time ``count`` steps, append them to ``into``, and return the seconds they took together.

        An interruption in the middle of a step leaves the steps before it in ``into``.
        """
        begun = len(into)
        # Local names: everything in this loop that is not the step is a cost of measuring.
        step, synchronise, clock, keep = self.step, self.synchronise, time.perf_counter_ns, into.append
        before_step = self.before_step
        for _ in range(count):
            before_step()
            synchronise()
            start = clock()
            step()
            synchronise()
            keep((clock() - start) / 1e9)
        return sum(into[begun:])


def rank_half_width(samples: Sequence[float]) -> float:
    """Return the half width of the median's 95 % interval, divided by the median.

    The interval is the one between order statistics (the ranks n/2 ± 0.98 sqrt(n), from the binomial's normal
    approximation; Conover, Practical Nonparametric Statistics, section 3.2). It costs one sort; the bootstrap
    of the record agrees with it closely and costs a thousand times more.
    """
    ordered = sorted(samples)
    count = len(ordered)
    reach = _NORMAL_95 * math.sqrt(count) / 2
    low = ordered[max(0, math.floor(count / 2 - reach) - 1)]
    high = ordered[min(count - 1, math.ceil(count / 2 + reach))]
    return (high - low) / 2 / ordered[count // 2]


def measure_group(
    samplers: Sequence[Sampler],
    limits: Limits,
    *,
    seed: int = 0,
    agree: Callable[[float], float] = lambda value: value,
    on_turn: Callable[[Sampler], None] = lambda sampler: None,
) -> None:
    """Warm up all samplers and time them in shuffled rounds until each has stopped.

    Args:
        samplers: the cases of one group; their ``samples``, ``warmup`` and ``stopped`` are filled in.
        limits: when to stop.
        seed: of the rounds' order.
        agree: makes rank 0's decisions those of all ranks (``Ranks.agree``): with several processes, all must
            take the same turns.
        on_turn: called between turns, outside what is timed, to show progress.

    Raises:
        KeyboardInterrupt: as it came; the samplers hold what was measured until then.
    """
    order = random.Random(seed)
    for sampler in samplers:
        _unless_unavailable(_warm_up, sampler, limits, agree)
        on_turn(sampler)
    running = [sampler for sampler in samplers if sampler.unavailable is None]
    while running:
        order.shuffle(running)
        for sampler in running:
            _unless_unavailable(_take_turn, sampler, limits, agree)
            on_turn(sampler)
        running = [sampler for sampler in running if sampler.stopped is None and sampler.unavailable is None]


def _unless_unavailable(
    turn: Callable[[Sampler, Limits, Callable[[float], float]], None],
    sampler: Sampler,
    limits: Limits,
    agree: Callable[[float], float],
) -> None:
    """Take a turn, or note why the case has to be given up."""
    try:
        turn(sampler, limits, agree)
    except CaseUnavailable as reason:
        sampler.unavailable = str(reason)


def _warm_up(sampler: Sampler, limits: Limits, agree: Callable[[float], float]) -> None:
    spent = 0.0
    while True:
        spent += sampler.take(1, sampler.warmup)
        done = len(sampler.warmup) >= limits.warmup_steps or spent >= limits.warmup_seconds
        if agree(float(done)):
            return


def _take_turn(sampler: Sampler, limits: Limits, agree: Callable[[float], float]) -> None:
    """Take one turn's samples, then stop the sampler if it is time to."""
    count = int(agree(float(_turn_length(sampler, limits))))
    sampler.elapsed += sampler.take(count, sampler.samples)
    sampler.rounds += 1
    code = _VERDICTS.index(_verdict(sampler, limits))
    sampler.stopped = _VERDICTS[int(agree(float(code)))]


def _turn_length(sampler: Sampler, limits: Limits) -> int:
    """Return how many steps fill a turn, judged by the fastest step so far: a slow first one says little."""
    fastest = min(sampler.samples or sampler.warmup)
    wanted = max(1, round(limits.turn_seconds / fastest))
    return min(wanted, limits.maximum_samples - len(sampler.samples))


def _verdict(sampler: Sampler, limits: Limits) -> Stopped | None:
    """Return why the sampler should stop now, or None."""
    count = len(sampler.samples)
    enough = count >= limits.minimum_samples and sampler.rounds >= limits.minimum_rounds
    if enough and count >= sampler.next_look:
        sampler.next_look = math.ceil(count * _STRIDE)
        sampler.interval = _half_width(sampler.samples, limits.half_width)
        if sampler.interval <= limits.half_width:
            return "converged"
    spent = sampler.elapsed >= limits.maximum_seconds and count >= FEWEST_SAMPLES
    return "cap" if spent or count >= limits.maximum_samples else None


def _half_width(samples: Sequence[float], wanted: float) -> float:
    """Return the relative half width, by the cheap interval and, where that passes, the record's."""
    cheap = rank_half_width(samples)
    if cheap > wanted:
        return cheap
    from mlhpc.records.summary import summarise

    summary = summarise(samples)
    return (summary.high - summary.low) / 2 / summary.median
