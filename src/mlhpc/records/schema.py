"""The record of one measurement: what was measured, where and how."""

import hashlib
import json
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from mlhpc.machine.model import Contention, Machine

Tier = Literal["smoke", "quick", "full"]
Scalar = str | int | float | bool | None


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Summary(_Model):
    """The distribution of the raw samples, derived from them and never entered by hand."""

    count: int
    median: float
    low: float
    """Lower end of the bootstrap interval of the median."""
    high: float
    """Upper end of the bootstrap interval of the median."""
    confidence: float
    """Nominal coverage of ``low`` to ``high``, for instance 0.95."""
    interquartile_share: float
    """Interquartile range divided by the median: how noisy the machine was."""
    noisy: bool
    """True where ``interquartile_share`` is over the limit for any verdict."""


class Quantity(_Model):
    """A value derived from the samples, with the same interval carried over."""

    value: float
    unit: str
    low: float | None = None
    high: float | None = None


class Gate(_Model):
    """A check of the numerics that had to pass before the speed was allowed to count."""

    name: str
    """What was compared, for instance ``gradient cosine against float64``."""
    value: float
    limit: float
    passed: bool


class Software(_Model):
    """Versions behind a measurement."""

    python: str
    packages: dict[str, str]
    """Package name to version, only those that the workload used."""
    gpu_architectures: tuple[str, ...] = ()
    """Architectures that the installed torch was compiled for, for instance ``sm_80``."""


class Record(_Model):
    """One line of a records file.

    ``workload``, ``tier``, ``metric`` and ``parameters`` say what was measured: two records are of the same
    thing exactly if these four agree. The unit of ``samples``, ``warmup``, ``summary`` is ``unit``.
    """

    schema_version: Literal[1] = 1
    id: str
    """First 16 hexadecimal digits of the SHA-256 of the record without this field."""
    workload: str
    tier: Tier
    metric: str
    """What one sample is, for instance ``step_time``."""
    unit: str
    parameters: dict[str, Scalar]
    """Everything that was chosen: device, precision, layout, batch, threads, processes, seed, ..."""
    samples: tuple[float, ...] = Field(min_length=1)
    """Raw samples in the order in which they were taken."""
    warmup: tuple[float, ...]
    """Samples dropped at the start, kept for whoever doubts the cut."""
    summary: Summary
    stopped: Literal["converged", "cap", "interrupted"]
    """Why sampling ended: interval narrow enough, time or count used up, or Ctrl-C."""
    fixed_seconds: dict[str, float]
    """Costs paid once and not in the samples, for instance ``{"compile": 31.0}``."""
    quantities: dict[str, Quantity]
    """Derived values by name: ``throughput``, ``achieved_flops``, ``share_of_measured_peak``, ..."""
    gates: tuple[Gate, ...]
    machine: Machine
    contention: Contention
    software: Software
    command: tuple[str, ...]
    """The command line that repeats the measurement."""
    commit: str | None
    """Commit of the checkout; None where it is not a checkout."""
    modified: bool
    """True where the checkout had uncommitted changes."""
    measured_at: AwareDatetime
    """Coordinated universal time at the end of the measurement."""


def record_id(fields: dict[str, object]) -> str:
    """Return the identity of a record from its JSON-ready fields (``id`` itself is left out)."""
    content = {key: value for key, value in fields.items() if key != "id"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
