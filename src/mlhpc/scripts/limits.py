"""What a partition allows of GPUs, cores and memory: refusals with the way out, and remarks."""

import math
from collections.abc import Iterator

from mlhpc.errors import UsageError
from mlhpc.scripts.request import JobRequest
from mlhpc.sites.clusters import Gpu, Partition, SlurmCluster
from mlhpc.sites.quantities import Size
from mlhpc.sites.schema import Site


def check_limits(cluster: SlurmCluster, row: Partition, request: JobRequest) -> None:
    """Refuse what a node of the partition cannot give.

    Raises:
        UsageError: with the reason and the nearest thing that works.
    """
    if request.gpu is not None:
        _check_gpus(cluster, row, request)
    where = f"a node of the partition {row.name} of {cluster.name}"
    if row.cores_per_node and request.cores > row.cores_per_node:
        raise UsageError(
            f"{where} has {row.cores_per_node} cores: ask for at most that many, not {request.cores}."
        )
    if request.memory is None:
        return
    if row.memory_per_node and request.memory > row.memory_per_node:
        raise UsageError(
            f"{where} has {row.memory_per_node} for jobs: ask for at most that much, not {request.memory}."
        )
    needed = cores_for_memory(row, request)
    if row.cores_per_node and needed > row.cores_per_node:
        most = (
            Size.parse(f"{row.memory_per_core.bytes * row.cores_per_node // 2**30} GiB")
            if row.memory_per_core
            else ""
        )
        raise UsageError(
            f"{request.memory} turns into {needed} cores, at {row.memory_per_core} for each, and {where} has "
            f"{row.cores_per_node}: ask for at most {most}."
        )


def _check_gpus(cluster: SlurmCluster, row: Partition, request: JobRequest) -> None:
    if row.gpus_per_node and request.gpus > row.gpus_per_node:
        larger = [one for one in cluster.partitions if (one.gpus_per_node or 0) >= request.gpus]
        way = f", or choose --gpu {larger[0].gpus[0]} (partition {larger[0].name})" if larger else ""
        raise UsageError(
            f"A node of the partition {row.name} of {cluster.name} has {row.gpus_per_node} GPUs: ask for at "
            f"most that many, not {request.gpus}{way}. One job here runs on one node."
        )
    most = cluster.limits.max_gpus_per_user
    if most and request.gpus > most:
        raise UsageError(f"{cluster.name} lets one user have {most} GPUs: ask for at most that many.")


def cores_for_memory(row: Partition, request: JobRequest) -> int:
    """Return the cores that the scheduler gives and counts: more than asked for if the memory needs it."""
    if row.memory_per_core is None or request.memory is None:
        return request.cores
    return max(request.cores, math.ceil(request.memory.bytes / row.memory_per_core.bytes))


def remarks_on(cluster: SlurmCluster, row: Partition, request: JobRequest) -> Iterator[str]:
    """Yield what the user should know though nothing is refused."""
    needed = cores_for_memory(row, request)
    if needed > request.cores:
        yield (
            f"{request.memory} turns into {needed} cores here ({row.memory_per_core} for each core): the job "
            f"waits and is charged for {needed}."
        )
    if row.allocation == "node":
        yield f"The partition {row.name} gives whole nodes: the job is charged for all of one."
    if row.allocation == "per-gpu":
        yield f"In the partition {row.name} cores and memory follow the GPUs: the script asks for neither."
    if row.purpose in ("preemptible", "backfill"):
        yield f"Jobs in the partition {row.name} may be interrupted: save checkpoints."
    if row.note:
        yield f"The profile says of the partition {row.name}: {row.note}"


def disagreements(
    site: Site, cluster: SlurmCluster, row: Partition | None, gpu: Gpu | None, *, storage: bool
) -> Iterator[str]:
    """Yield a sentence for each fact that the script rests on and that sources disagree about."""
    used = [f"clusters.{cluster.id}.limits."]
    used += [f"clusters.{cluster.id}.partitions.{row.name}."] if row else []
    used += [f"clusters.{cluster.id}.gpus.{gpu.id}."] if gpu else []
    used += [f"storage.{tier.id}.path" for tier in site.tiers(cluster.id, "job-local")] if storage else []
    for conflict in site.conflicts:
        if conflict.fact.startswith(tuple(used)):
            yield conflict.sentence
