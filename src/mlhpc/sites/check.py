"""Faults that only show when the rows of a profile are held against each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mlhpc.errors import UsageError
from mlhpc.sites.clusters import (
    Cloud,
    Cluster,
    CondorPool,
    Gpu,
    Limits,
    Partition,
    SlurmCluster,
    computes_in_bf16,
)
from mlhpc.sites.facts import all_sources, locate
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Site, Tier


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where in the document."""

    place: tuple[str | int, ...]
    """Keys and list positions from the top of the document."""
    reason: str
    """One sentence without a full stop: what is wrong, and how to mend it."""


def faults(site: Site) -> tuple[Fault, ...]:
    """Return what is wrong across the rows of ``site``; empty for a sound profile."""
    return (
        *_sources(site),
        *_names(site),
        *(fault for number, cluster in enumerate(site.clusters) for fault in _cluster(number, cluster)),
        *(fault for number, tier in enumerate(site.storage) for fault in _tier(site, number, tier)),
        *_places(site),
    )


def _sources(site: Site) -> Iterator[Fault]:
    for place, key in all_sources(site):
        if key not in site.sources:
            known = ", ".join(site.sources)
            yield Fault(place, f"no source is called {key!r}; add it under sources, or name one of {known}")
    for key, source in site.sources.items():
        if not source.dates:
            yield Fault(("sources", key), "no date: add published, read or taken_over, as 2026-12-01")


def _names(site: Site) -> Iterator[Fault]:
    yield from _doubled(("clusters",), [one.id for one in site.clusters], "id")
    yield from _doubled(("storage",), [one.id for one in site.storage], "id")
    for number, cluster in enumerate(site.clusters):
        yield from _doubled(("clusters", number, "gpus"), [one.id for one in cluster.gpus], "id")
        names = [one.name for one in cluster.queues]
        yield from _doubled(("clusters", number, cluster.queue_key), names, "name")


def _doubled(place: tuple[str | int, ...], names: Sequence[str], key: str) -> Iterator[Fault]:
    for number, name in enumerate(names):
        if name in names[:number]:
            yield Fault((*place, number, key), f"{name!r} is there already; rename or remove one")


def _cluster(number: int, cluster: Cluster) -> Iterator[Fault]:
    place = ("clusters", number)
    known = {gpu.id for gpu in cluster.gpus}
    for row, gpu in enumerate(cluster.gpus):
        yield from _bf16((*place, "gpus", row), gpu)
    if any(value is not None for name, value in cluster.limits if name != "source"):
        yield from _limits((*place, "limits"), cluster.limits)
    if isinstance(cluster, SlurmCluster):
        for row, partition in enumerate(cluster.partitions):
            yield from _partition((*place, "partitions", row), partition, known)
        yield from _offered(place, cluster)
        yield from _counts(place, cluster)
        yield from _portal(place, cluster)
    elif isinstance(cluster, CondorPool):
        yield from _defaults(place, cluster)
    else:
        for row, flavor in enumerate(cluster.flavors):
            yield from _known_gpus((*place, "flavors", row), flavor.gpus, known)
        yield from _offered(place, cluster)


def _limits(place: tuple[str | int, ...], limits: Limits) -> Iterator[Fault]:
    if not limits.source:
        yield Fault((*place, "source"), "limits need a source: add source, with a key from sources")


def _defaults(place: tuple[str | int, ...], pool: CondorPool) -> Iterator[Fault]:
    defaults = [row for row, one in enumerate(pool.categories) if one.default]
    for row in defaults[1:]:
        first = pool.categories[defaults[0]].name
        yield Fault(
            (*place, "categories", row, "default"), f"{first} is the default already: keep one of them"
        )


def _bf16(place: tuple[str | int, ...], gpu: Gpu) -> Iterator[Fault]:
    if gpu.capability is None or gpu.bf16 is None:
        return
    if computes_in_bf16(gpu.capability) != gpu.bf16:
        yield Fault(
            (*place, "bf16"),
            f"bf16 is {str(gpu.bf16).lower()} and the capability {gpu.capability}, but GPUs have bf16 from "
            "8.0 on: correct one of the two",
        )


def _partition(place: tuple[str | int, ...], row: Partition, known: set[str]) -> Iterator[Fault]:
    yield from _known_gpus(place, row.gpus, known)
    if row.gpus_per_node and not row.gpus:
        yield Fault((*place, "gpus_per_node"), "the partition names no GPUs: add gpus, or remove this")
    if isinstance(row.max_time, Duration) and row.default_time and row.default_time > row.max_time:
        yield Fault((*place, "default_time"), f"longer than max_time, {row.max_time}")
    if row.nodes and row.max_nodes_per_job and row.max_nodes_per_job > row.nodes:
        yield Fault((*place, "max_nodes_per_job"), f"more than the partition's {row.nodes} nodes")
    if row.memory_per_core and row.memory_per_node and row.memory_per_core > row.memory_per_node:
        yield Fault((*place, "memory_per_core"), f"more than a whole node has, {row.memory_per_node}")


def _known_gpus(place: tuple[str | int, ...], named: Iterable[str], known: set[str]) -> Iterator[Fault]:
    for number, gpu in enumerate(named):
        if gpu not in known:
            there = ", ".join(sorted(known)) or "none"
            yield Fault(
                (*place, "gpus", number), f"no GPU of this cluster has the id {gpu!r}; there are {there}"
            )


def _offered(place: tuple[str | int, ...], cluster: SlurmCluster | Cloud) -> Iterator[Fault]:
    kind = "partition" if isinstance(cluster, SlurmCluster) else "flavor"
    offered = {gpu for row in cluster.queues for gpu in row.gpus}
    for number, gpu in enumerate(cluster.gpus):
        if cluster.queues and gpu.id not in offered:
            yield Fault(
                (*place, "gpus", number, "id"),
                f"no {kind} offers the GPU {gpu.id!r}: add it to the gpus of one",
            )


def _counts(place: tuple[str | int, ...], cluster: SlurmCluster) -> Iterator[Fault]:
    """Hold nodes x GPUs per node against the number of GPUs, where a partition has one kind."""
    for number, gpu in enumerate(cluster.gpus):
        for row in cluster.partitions:
            if row.gpus != (gpu.id,) or not row.nodes or not row.gpus_per_node or gpu.count is None:
                continue
            if row.nodes * row.gpus_per_node > gpu.count:
                yield Fault(
                    (*place, "gpus", number, "count"),
                    f"{gpu.count} GPUs, but the partition {row.name} has {row.nodes} nodes with "
                    f"{row.gpus_per_node} each: correct one of the three",
                )


def _portal(place: tuple[str | int, ...], cluster: SlurmCluster) -> Iterator[Fault]:
    names = [row.name for row in cluster.partitions]
    for number, name in enumerate(cluster.ondemand.partitions if cluster.ondemand else ()):
        if names and name not in names:
            where = (*place, "ondemand", "partitions", number)
            yield Fault(where, f"no partition is called {name!r}; there are {', '.join(names)}")


def _tier(site: Site, number: int, tier: Tier) -> Iterator[Fault]:
    place = ("storage", number)
    known = [cluster.id for cluster in site.clusters]
    for row, name in enumerate(tier.clusters):
        if name not in known:
            yield Fault(
                (*place, "clusters", row), f"no cluster has the id {name!r}; there are {', '.join(known)}"
            )
    if tier.role == "job-local":
        yield from _job_local(place, tier)
    elif tier.path and "{job_id}" in tier.path:
        yield Fault((*place, "role"), "its path holds the job's number: the role is job-local")
    if tier.purge.after is not None and tier.purge.basis in ("never", "job-end"):
        yield Fault((*place, "purge", "after"), f"a purge that is {tier.purge.basis!r} has no number of days")


def _job_local(place: tuple[str | int, ...], tier: Tier) -> Iterator[Fault]:
    for row, where in enumerate(tier.visible):
        if where != "job":
            yield Fault(
                (*place, "visible", row),
                f"storage of one job cannot be seen from {where!r}: write [job], or the role scratch",
            )
    if tier.purge.basis not in (None, "job-end"):
        yield Fault((*place, "purge", "basis"), "storage of one job ends with it: write job-end")


def _places(site: Site) -> Iterator[Fault]:
    for number, conflict in enumerate(site.conflicts):
        yield from _place(site, ("conflicts", number, "fact"), conflict.fact)
    for number, unknown in enumerate(site.unknown):
        if unknown.is_place:
            yield from _place(site, ("unknown", number, "what"), unknown.what)


def _place(site: Site, where: tuple[str | int, ...], place: str) -> Iterator[Fault]:
    try:
        locate(site, place)
    except UsageError as error:
        yield Fault(where, str(error).rstrip("."))
