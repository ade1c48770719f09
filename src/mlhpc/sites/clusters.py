"""The clusters of a site: Slurm clusters, HTCondor pools and clouds, with their queues and GPUs."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from mlhpc.sites.base import Identifier, Model, Row, Words
from mlhpc.sites.quantities import DURATION_PATTERN, Duration, Size


def _read_limit(value: Any) -> Any:
    return value if value == "unlimited" else Duration.read(value, or_else="unlimited")


Limit = Annotated[
    Duration | Literal["unlimited"],
    PlainValidator(_read_limit),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": f"{DURATION_PATTERN}|^unlimited$", "examples": ["7 days"]}),
]
"""A longest run time: a time with its unit, or that there is none. Left out means not known."""

Count = Annotated[int, Field(ge=0, le=10_000_000)]
Positive = Annotated[int, Field(ge=1, le=10_000_000)]
Capability = Annotated[str, Field(pattern=r"^\d{1,2}\.\d$", examples=["8.0", "12.0"])]
"""CUDA compute capability as text: 8.0 as a number would lose nothing today, 12.10 would."""

FIRST_BF16 = 8
"""Major compute capability of the first GPUs whose matrix units compute in bf16 (Ampere)."""


def computes_in_bf16(capability: str) -> bool:
    """Return whether the matrix units of a GPU with this compute capability compute in bf16."""
    return int(capability.partition(".")[0]) >= FIRST_BF16


class SlurmGpuRequest(Model):
    """How a batch script asks for GPUs of one kind."""

    option: Literal["gres", "gpus-per-node", "gpus"]
    """``gres`` writes ``--gres=gpu:TYPE:N``, the others ``--gpus-per-node=TYPE:N`` and ``--gpus=TYPE:N``."""
    type: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]+$")] | None = None
    """The scheduler's name of the kind; left out where the partition or a constraint decides."""
    constraint: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.&|!*()\[\]-]+$")] | None = None
    """A value of ``--constraint`` that selects the kind, where the site needs one."""

    def options(self, count: int) -> tuple[str, ...]:
        """Return the options of sbatch for ``count`` GPUs (per node, except for ``gpus``: in all)."""
        name = f"gpu:{self.type}:" if self.option == "gres" and self.type else ""
        name = name or ("gpu:" if self.option == "gres" else f"{self.type}:" if self.type else "")
        constraint = (f"--constraint={self.constraint}",) if self.constraint else ()
        return (f"--{self.option}={name}{count}", *constraint)


class CondorGpuRequest(Model):
    """What a submit description demands of a GPU, so that only this kind or better matches."""

    minimum_memory: Size | None = None
    """``gpus_minimum_memory``; HTCondor counts it in MiB."""
    minimum_capability: Capability | None = None
    """``gpus_minimum_capability``."""
    require: str | None = None
    """An expression for ``require_gpus``, for what the two others cannot say."""

    def lines(self, count: int) -> tuple[str, ...]:
        """Return the lines of a submit description for ``count`` GPUs."""
        found = [f"request_gpus = {count}"]
        if self.minimum_memory:
            found.append(f"gpus_minimum_memory = {self.minimum_memory.mebibytes}")
        if self.minimum_capability:
            found.append(f"gpus_minimum_capability = {self.minimum_capability}")
        if self.require:
            found.append(f"require_gpus = {self.require}")
        return tuple(found)


class Gpu(Row):
    """One kind of GPU; ``memory`` is the model's, ``reported_memory`` what the scheduler or driver says."""

    id: Identifier
    model: str
    memory: Size | None = None
    reported_memory: Size | None = None
    capability: Capability | None = None
    bf16: bool | None = None
    """Whether its matrix units compute in bf16 (compute capability 8.0 and later)."""
    count: Count | None = None
    """How many the cluster has."""


class SlurmGpu(Gpu):
    """A kind of GPU at a Slurm cluster."""

    request: SlurmGpuRequest


class CondorGpu(Gpu):
    """A kind of GPU in an HTCondor pool."""

    request: CondorGpuRequest


class CloudGpu(Gpu):
    """A kind of GPU in a cloud: the flavor of the instance decides."""


class Partition(Row):
    """A partition of a Slurm cluster."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    purpose: Literal["production", "debug", "preemptible", "backfill", "large-memory", "class"] = "production"
    max_time: Limit | None = None
    default_time: Duration | None = None
    """The time of a job that names none."""
    nodes: Count | None = None
    max_nodes_per_job: Positive | None = None
    cores_per_node: Positive | None = None
    memory_per_node: Size | None = None
    """What jobs may use of it."""
    memory_per_core: Size | None = None
    """Most memory for each core (Slurm's MaxMemPerCPU): more memory turns into more cores."""
    gpus: tuple[Identifier, ...] = ()
    """Ids of the kinds of GPU on its nodes; empty for a partition without any."""
    gpus_per_node: Positive | None = None
    allocation: Literal["node", "cores-and-memory", "per-gpu"] | None = None
    """What a job gets: whole nodes; the cores and memory it asks for; or a fixed share with each GPU."""


class JobCategory(Row):
    """A class of jobs in an HTCondor pool that the user chooses in the submit description."""

    name: Identifier
    attribute: Annotated[str, Field(pattern=r"^\+?[A-Za-z_][A-Za-z0-9_]*$")]
    """What the line sets, for instance ``+JobDurationCategory``."""
    value: str | bool
    """What it is set to; text is quoted in the submit description."""
    with_lines: tuple[Annotated[str, Field(pattern=r"^[^\n]+$")], ...] = ()
    """Further lines of the submit description that belong to it."""
    default: bool = False
    max_time: Limit | None = None
    """Longest run time; the job is held or removed after it."""
    preemptible: bool = False

    def lines(self) -> tuple[str, ...]:
        """Return its lines of a submit description."""
        shown = str(self.value).lower() if isinstance(self.value, bool) else f'"{self.value}"'
        return (f"{self.attribute} = {shown}", *self.with_lines)


class Flavor(Row):
    """A kind of instance in a cloud."""

    name: str
    cores: Positive | None = None
    memory: Size | None = None
    gpus: tuple[Identifier, ...] = ()


class OnDemand(Row):
    """The Open OnDemand portal (or another way to a notebook in the browser) and its limits for a session."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s\"'<>]+$")]
    cluster_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] | None = None
    """The name of the cluster in the portal's configuration (``clusters.d/NAME.yml``)."""
    partitions: tuple[str, ...] = ()
    """Partitions that sessions may use; empty where that is not known: then all."""
    max_time: Limit | None = None
    max_gpus: Count | None = None
    max_cores: Positive | None = None
    max_memory: Size | None = None


class Account(Model):
    """Whether a job names an account or project."""

    required: bool | None = None
    attribute: Annotated[str, Field(pattern=r"^\+?[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """HTCondor: what the submit description sets, for instance ``+ProjectName``."""
    example: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$")] | None = None
    """What such a name looks like at this site; not a name that exists."""


class Limits(Model):
    """Limits for one user; left out means not known."""

    max_array_size: Positive | None = None
    max_submitted_jobs: Positive | None = None
    max_gpus_per_user: Positive | None = None
    source: Words = ()
    """Keys of the sources; needed as soon as one of the limits is given."""


class _Cluster(Model):
    queue_key: ClassVar[str]
    """Key of the profile under which ``queues`` stand."""
    id: Identifier
    name: str
    login_host: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+$")] | None = None
    two_factor: bool | None = None
    ondemand: OnDemand | None = None
    account: Account = Account()
    limits: Limits = Limits()
    source: Words = ()
    """Keys of the sources for what stands here itself: host, second factor, account, version."""


class SlurmCluster(_Cluster):
    """A cluster that runs Slurm."""

    queue_key: ClassVar[str] = "partitions"
    scheduler: Literal["slurm"]
    version: str | None = None
    """Slurm's version, for instance ``24.11``: what some outputs depend on."""
    partitions: tuple[Partition, ...] = ()
    gpus: tuple[SlurmGpu, ...] = ()

    @property
    def queues(self) -> tuple[Partition, ...]:
        """What a job chooses from: the partitions."""
        return self.partitions


class CondorPool(_Cluster):
    """A pool that runs HTCondor."""

    queue_key: ClassVar[str] = "categories"
    scheduler: Literal["htcondor"]
    version: str | None = None
    categories: tuple[JobCategory, ...] = ()
    gpus: tuple[CondorGpu, ...] = ()

    @property
    def queues(self) -> tuple[JobCategory, ...]:
        """What a job chooses from: the classes of jobs."""
        return self.categories


class Cloud(_Cluster):
    """A cloud: instances instead of jobs, so that no job script can be written for it."""

    queue_key: ClassVar[str] = "flavors"
    scheduler: Literal["cloud"]
    flavors: tuple[Flavor, ...] = ()
    gpus: tuple[CloudGpu, ...] = ()

    @property
    def queues(self) -> tuple[Flavor, ...]:
        """What one chooses from: the kinds of instances."""
        return self.flavors


Cluster = Annotated[SlurmCluster | CondorPool | Cloud, Field(discriminator="scheduler")]
