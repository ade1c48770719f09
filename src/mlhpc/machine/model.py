"""What a process may use of the machine it runs on, as typed data without host, user or path."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

SessionKind = Literal["ondemand", "batch", "login", "continuous-integration", "laptop"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Cpu(_Model):
    """The processor, and how much of it this process may use."""

    model: str
    architecture: str
    cores_present: int
    """Logical processors that the operating system shows (``os.cpu_count()``)."""
    cores_in_affinity: int
    """Logical processors that this process may be scheduled on."""
    cores_in_quota: float | None
    """Processors' worth of time that the control group allows; None where there is no quota."""
    cores_usable: int
    """The smallest of the three and of the scheduler's grant, at least 1: the number of threads to start."""
    instruction_sets: tuple[str, ...]
    """Those that matter here, lower case: avx2, avx512f, avx512_bf16, amx_bf16, sve, ..."""


class Memory(_Model):
    """Main memory in bytes."""

    total_bytes: int
    limit_bytes: int | None
    """Limit of the control group; None where there is none below the total."""
    usable_bytes: int
    """The smaller of the two."""


class Gpu(_Model):
    """One GPU that this process can see."""

    index: int
    """The number in ``cuda:N``: the place among the visible ones."""
    name: str
    memory_bytes: int
    compute_capability: str | None
    driver: str | None
    multi_instance: bool
    """True for a MIG instance: a part of a device that looks like one of its own."""


class Scheduler(_Model):
    """The scheduler's job that this process belongs to."""

    kind: Literal["slurm", "htcondor"]
    job_id: str
    cluster: str | None
    partition: str | None
    cores: int | None
    """Cores that the job was given on this node, where the scheduler says so."""


class Machine(_Model):
    """Everything that ``mlhpc machine`` shows and that a record keeps."""

    cpu: Cpu
    memory: Memory
    gpus: tuple[Gpu, ...]
    scheduler: Scheduler | None
    session: SessionKind
    operating_system: str
    """Kernel and distribution, for instance ``Linux 6.1, Debian GNU/Linux 12``."""
    warnings: tuple[str, ...]
    """One sentence for each disagreement, for instance a core count that a library would get wrong."""


class Contention(_Model):
    """Who else was using the machine around a measurement, and how threads wait."""

    load_average_before: float
    load_average_after: float
    throttled_seconds: float | None
    """Seconds for which the control group's quota stopped this process while it was measured."""
    stolen_share: float | None
    """Share of processor time that the hypervisor took away in the meantime, 0 to 1."""
    omp_wait_policy: str | None
    """``OMP_WAIT_POLICY``; None where it is not set."""
    omp_num_threads: str | None
    """``OMP_NUM_THREADS``; None where it is not set."""
