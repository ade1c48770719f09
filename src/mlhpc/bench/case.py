"""The interface between a workload (what to time) and the runner (how to time it).

Adding a workload is adding one module to ``mlhpc.bench.workloads`` that defines ``WORKLOAD``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from mlhpc.errors import MlhpcError
from mlhpc.records.schema import Gate, Quantity, Record, Scalar, Tier


class CaseUnavailable(MlhpcError):
    """This machine cannot show what a case is to measure; the message says why in one sentence.

    Raised by ``Case.prepare`` or ``Prepared.before_step``. It is no fault of the other cases: the runner
    closes and leaves out the case, tells the reason, and goes on with the rest.
    """


DEFAULT_GROUP = "default"
"""The group of a workload that has only one."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    tier: Tier
    device: str = "cpu"
    """``cpu`` or ``cuda``."""
    processes: int = 1
    """Ranks that work together: GPUs on ``cuda``, processes with gloo on ``cpu``."""
    variants: tuple[str, ...] = ()
    """Names that select cases by their variant labels; empty for the workload's usual set."""
    seed: int = 0
    threads: int | None = None
    """Threads of each process; None for its share of the usable cores (``device.threads_per_process``)."""


@dataclass
class Prepared:
    """A case that is built and ready to be timed."""

    step: Callable[[], None]
    """One sample: the runner times a call of it, synchronising the device before and after."""
    items_per_step: float
    """Images, rows or samples that one step processes, over all ranks."""
    item: str
    """Plural name of an item, for instance ``images``."""
    gates: Sequence[Gate] = ()
    """Checks already made; the runner refuses a case with one that did not pass."""
    fixed_seconds: dict[str, float] = field(default_factory=dict)
    """Costs paid while preparing, for instance ``{"compile": 31.0}``."""
    flop_per_step: float | None = None
    """Floating-point operations of one step, counted and not guessed; None where it makes no sense."""
    bytes_per_step: float | None = None
    """Bytes that one step must move at the least; None where it is not known."""
    final_gates: Callable[[], Sequence[Gate]] = tuple
    """Checks that need the timed work's own result (a loss that stayed finite, an AUC)."""
    final_quantities: Callable[[], dict[str, Quantity]] = dict
    """Values known only afterwards (peak memory, AUC), by name."""
    close: Callable[[], None] = lambda: None
    """Frees what the case holds (temporary files, device memory)."""
    before_step: Callable[[], None] = lambda: None
    """Called before each step, warm-up included, outside of the timed region: brings the machine into the
    state that the case is about, for instance files that are verified to be out of the page cache. May raise
    ``CaseUnavailable`` where that state cannot be reached."""


@dataclass(frozen=True)
class Case:
    """One thing to time: its identity and how to build it."""

    label: str
    """Short name for progress and tables, unique within a run, for instance ``bf16 channels_last``."""
    variant: str
    """The name that ``--variant`` selects, for instance ``bf16-channels_last``."""
    parameters: dict[str, Scalar]
    """Goes into the record as it is."""
    prepare: Callable[[], Prepared]
    metric: str = "step_time"
    group: str = DEFAULT_GROUP
    """Cases of one group are timed interleaved and compared with the group's first case."""
    packages: tuple[str, ...] = ("torch",)
    """Distributions whose versions belong into the record."""


class Workload(Protocol):
    """A named set of cases."""

    name: str
    """As on the command line."""
    title: str
    summary: str
    """One sentence for ``--help`` and for pages."""

    def variants(self, device: str) -> Sequence[str]:
        """Return the variant names that exist on ``device``, the usual set first."""
        ...

    def cases(self, request: Request) -> Sequence[Case]:
        """Return the cases for a request, in the order of groups.

        Raises:
            UsageError: if the request names a variant that does not exist or cannot run on the device.
        """
        ...


@runtime_checkable
class Annotating(Protocol):
    """A workload that has something to say about its records as a whole, for instance a fit."""

    def notes(self, records: Sequence[Record]) -> Sequence[str]:
        """Return sentences about the records of one run."""
        ...


@runtime_checkable
class Capped(Protocol):
    """A workload of many cases, each of which gets less time than the tier allows."""

    def maximum_seconds(self, tier: Tier) -> float:
        """Return the most seconds that the samples of one case may take together."""
        ...
