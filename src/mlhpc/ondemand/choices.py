"""What a learner may choose from in the portal's form: partitions and kinds of GPU, each with its limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mlhpc.scripts.request import ANY_GPU
from mlhpc.sites.clusters import OnDemand, Partition, SlurmCluster, SlurmGpu, SlurmGpuRequest
from mlhpc.sites.quantities import Duration

COUNT = "COUNT"
"""Stands in a GPU request for the number of GPUs, which the learner fills in."""

Limit = int | Literal["unlimited"] | None
"""The most that is allowed; None where that is not known."""

Quantity = Literal["hours", "cores", "memory", "gpus"]


@dataclass(frozen=True)
class Choice:
    """One line of the form's list of resources."""

    key: str
    """What the form sends; the partition and the kind of GPU."""
    label: str
    partition: str | None
    """None where the profile knows no partitions: the form then asks for one."""
    gpu: str | None
    """Id of the kind of GPU, ``any``, or None for no GPU."""
    gpu_options: tuple[str, ...]
    """Options of sbatch for GPUs, with ``COUNT`` for their number; empty for none."""
    hours: Limit
    cores: Limit
    memory: Limit
    """GiB, rounded down."""
    gpus: Limit
    fixed_share: bool
    """Whether each GPU brings its share of cores and memory, so that a job does not ask for them."""

    def limit(self, quantity: Quantity) -> Limit:
        """Return the most that this choice allows of a quantity."""
        found: Limit = getattr(self, quantity)
        return found


def choices(cluster: SlurmCluster) -> tuple[Choice, ...]:
    """Return what sessions may ask for, in the profile's order.

    A partition with GPUs is offered with each of its kinds, and not without one. A partition that runs jobs
    for less than an hour, the form's unit, is left out.
    """
    portal = cluster.ondemand
    if not cluster.partitions:
        return tuple(_unknown_partitions(cluster))
    found: list[Choice] = []
    for row in cluster.partitions:
        offered = portal is None or not portal.partitions or row.name in portal.partitions
        if offered and _hours(row, portal) != 0:
            found += _of_partition(cluster, row)
    return tuple(found)


def _of_partition(cluster: SlurmCluster, row: Partition) -> Iterator[Choice]:
    portal = cluster.ondemand
    kinds = [gpu for gpu in cluster.gpus if gpu.id in row.gpus]
    if not kinds:
        yield _choice(row, portal, None, None)
    elif portal is None or portal.max_gpus != 0:
        for gpu in kinds:
            yield _choice(row, portal, gpu, gpu.request)


def _unknown_partitions(cluster: SlurmCluster) -> Iterator[Choice]:
    portal = cluster.ondemand
    yield _choice(None, portal, None, None)
    for gpu in cluster.gpus:
        yield _choice(None, portal, gpu, gpu.request)
    if not cluster.gpus:
        yield _choice(None, portal, None, SlurmGpuRequest(option="gpus-per-node"))


def _choice(
    row: Partition | None, portal: OnDemand | None, gpu: SlurmGpu | None, request: SlurmGpuRequest | None
) -> Choice:
    name = row.name if row else None
    kind = gpu.id if gpu else ANY_GPU if request else None
    memory = [row.memory_per_node if row else None, portal.max_memory if portal else None]
    return Choice(
        key=" ".join(part for part in (name, kind) if part) or "none",
        label=_label(row, gpu, request),
        partition=name,
        gpu=kind,
        gpu_options=_with_count(request) if request else (),
        hours=_hours(row, portal),
        cores=_least(row.cores_per_node if row else None, portal.max_cores if portal else None),
        memory=_least(*(size.bytes // 2**30 for size in memory if size)),
        gpus=_least(row.gpus_per_node if row else None, portal.max_gpus if portal else None)
        if request
        else None,
        fixed_share=bool(row and request and row.allocation == "per-gpu"),
    )


def _label(row: Partition | None, gpu: SlurmGpu | None, request: SlurmGpuRequest | None) -> str:
    if gpu:
        what = f"{gpu.model}, {gpu.memory}" if gpu.memory else gpu.model
    else:
        what = "GPU of any kind" if request else "No GPU"
    if row is None:
        return what
    may_stop = " (may be interrupted)" if row.purpose in ("preemptible", "backfill") else ""
    return f"{what}; partition {row.name}{may_stop}"


def _with_count(request: SlurmGpuRequest) -> tuple[str, ...]:
    # The first option ends with the number of GPUs, whatever the site's spelling is.
    first, *others = request.options(1)
    return (first.removesuffix("1") + COUNT, *others)


def _hours(row: Partition | None, portal: OnDemand | None) -> Limit:
    """Return the shorter of the partition's and the portal's time, in whole hours."""
    limits = [row.max_time if row else None, portal.max_time if portal else None]
    known = [int(limit.hours) for limit in limits if isinstance(limit, Duration)]
    if known:
        return min(known)
    return "unlimited" if "unlimited" in limits else None


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
