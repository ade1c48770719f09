"""A written profile held against what the machine says of itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mlhpc.errors import UsageError
from mlhpc.sites.clusters import Partition, SlurmCluster, SlurmGpu
from mlhpc.sites.quantities import Size
from mlhpc.sites.schema import Site

ROUNDING = 0.01
"""People round sizes: two that differ by less than this share are the same."""

PARTITION_FACTS = (
    "max_time",
    "default_time",
    "nodes",
    "max_nodes_per_job",
    "cores_per_node",
    "memory_per_node",
    "memory_per_core",
    "gpus_per_node",
)
LIMITS = ("max_array_size", "max_submitted_jobs", "max_gpus_per_user")
GPU_FACTS = ("count", "reported_memory", "capability", "bf16")


@dataclass(frozen=True)
class Difference:
    """One fact on which the profile and the machine do not agree."""

    place: str
    written: str | None
    """What the profile says; None where it does not know, or has no such row."""
    found: str | None
    """What the machine says; None where it has no such thing."""
    kind: Literal["differs", "not in the profile", "not on the machine", "not known to the profile"]


def differences(written: Site, probed: Site) -> tuple[Difference, ...]:
    """Return what the two profiles say differently, for the clusters that both have.

    What the probe could not know is left alone: silence is not a difference.

    Raises:
        UsageError: if they have no Slurm cluster in common.
    """
    pairs = [
        (mine, theirs)
        for mine in written.clusters
        for theirs in probed.clusters
        if isinstance(mine, SlurmCluster) and isinstance(theirs, SlurmCluster) and mine.id == theirs.id
    ]
    if not pairs:
        here = ", ".join(cluster.id for cluster in probed.clusters)
        known = ", ".join(cluster.id for cluster in written.clusters)
        raise UsageError(
            f"The profile {written.id} describes {known}, this machine is {here}: nothing to compare."
        )
    return (*(one for mine, theirs in pairs for one in _cluster(mine, theirs)), *_paths(written, probed))


def _cluster(mine: SlurmCluster, theirs: SlurmCluster) -> Iterator[Difference]:
    where = f"clusters.{mine.id}"
    yield from _rows(
        where, {row.name: row for row in mine.partitions}, {row.name: row for row in theirs.partitions}
    )
    yield from _gpus(where, mine, theirs)
    for key in LIMITS:
        yield from _compare(f"{where}.limits.{key}", getattr(mine.limits, key), getattr(theirs.limits, key))


def _rows(where: str, mine: dict[str, Partition], theirs: dict[str, Partition]) -> Iterator[Difference]:
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        place = f"{where}.partitions.{name}"
        if name not in theirs:
            yield Difference(place, name, None, "not on the machine")
        elif name not in mine:
            yield Difference(place, None, name, "not in the profile")
        else:
            for key in PARTITION_FACTS:
                yield from _compare(f"{place}.{key}", getattr(mine[name], key), getattr(theirs[name], key))


def _gpus(where: str, mine: SlurmCluster, theirs: SlurmCluster) -> Iterator[Difference]:
    """Compare kinds by the scheduler's name of the type, as a profile may call them otherwise."""
    types = {gpu.request.type: gpu for gpu in mine.gpus if gpu.request.type}
    seen = {gpu.request.type: gpu for gpu in theirs.gpus if gpu.request.type}
    for kind, gpu in types.items():
        place = f"{where}.gpus.{gpu.id}"
        if kind in seen:
            yield from _facts(place, gpu, seen[kind])
        elif seen:
            yield Difference(f"{place}.request.type", kind, None, "not on the machine")
    if all(gpu.request.type for gpu in mine.gpus):
        # A row without a type may be any of those that the machine has; then nothing can be said.
        for kind in seen.keys() - types.keys():
            yield Difference(f"{where}.gpus", None, kind, "not in the profile")


def _facts(place: str, mine: SlurmGpu, theirs: SlurmGpu) -> Iterator[Difference]:
    for key in GPU_FACTS:
        yield from _compare(f"{place}.{key}", getattr(mine, key), getattr(theirs, key))


def _compare(place: str, written: object, found: object) -> Iterator[Difference]:
    if found is None or written == found:
        return
    if isinstance(written, Size) and isinstance(found, Size) and _nearly(written, found):
        return
    if written is None:
        yield Difference(place, None, str(found), "not known to the profile")
    else:
        yield Difference(place, str(written), str(found), "differs")


def _nearly(one: Size, other: Size) -> bool:
    return abs(one.bytes - other.bytes) <= ROUNDING * max(one.bytes, other.bytes)


def _paths(written: Site, probed: Site) -> Iterator[Difference]:
    """Look for the fixed part of each path; add the file system of a tier that both name by one variable."""
    seen = {tier.variable: tier for tier in probed.storage if tier.variable}
    here = {cluster.id for cluster in probed.clusters}
    for tier in written.storage:
        if tier.clusters and not here & set(tier.clusters):
            continue
        place = f"storage.{tier.id}"
        fixed = Path((tier.path or "").split("{", 1)[0])
        if tier.path and tier.path.startswith("/") and tier.role != "job-local" and not _exists(fixed):
            yield Difference(f"{place}.path", tier.path, None, "not on the machine")
        elif tier.variable in seen and tier.role == seen[tier.variable].role:
            found = seen[tier.variable].file_system
            if tier.file_system is None:
                yield from _compare(f"{place}.file_system", None, found)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # A path that this account may not look at is there, as far as a comparison goes.
        return True
