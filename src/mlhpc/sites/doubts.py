"""What a profile may say and hardly means: a wrong unit, a digit too many, a list that was not kept up."""

from collections.abc import Iterator, Sequence

from mlhpc.sites.check import Fault
from mlhpc.sites.clusters import Partition, SlurmCluster
from mlhpc.sites.facts import all_sources, fact, text_of
from mlhpc.sites.quantities import Duration, Size
from mlhpc.sites.schema import Site, Tier

LONGEST_JOB = Duration.parse("60 days")
MOST_CORES = 1024
GPU_MEMORY = ("1 GB", "1 TB")
NODE_MEMORY = ("1 GB", "100 TB")
QUOTA = ("100 MB", "100 PB")
PURGE = ("1 day", "1000 days")
SPARE_MEMORY = 1.5
"""Slurm's MaxMemPerCPU may be more than a core's share of the node, but hardly this many times as much."""


def doubts(site: Site) -> tuple[Fault, ...]:
    """Return what is possible and hardly right, as sentences that end in a question or a proposal."""
    found: list[Fault] = []
    for number, cluster in enumerate(site.clusters):
        for row, gpu in enumerate(cluster.gpus):
            place = ("clusters", number, "gpus", row, "memory")
            found += _outside(place, gpu.memory, GPU_MEMORY, f"the memory of the GPU {gpu.id}")
        if isinstance(cluster, SlurmCluster):
            found += _partitions(number, cluster.partitions)
    for number, tier in enumerate(site.storage):
        found += _tier(number, tier)
    return (*found, *_conflicts(site), *_unknown(site), *_unused_sources(site))


def _partitions(number: int, rows: Sequence[Partition]) -> Iterator[Fault]:
    for row, partition in enumerate(rows):
        place = ("clusters", number, "partitions", row)
        if isinstance(partition.max_time, Duration) and partition.max_time > LONGEST_JOB:
            yield Fault((*place, "max_time"), f"{partition.max_time} is unusually long: right unit?")
        if partition.cores_per_node and partition.cores_per_node > MOST_CORES:
            yield Fault(
                (*place, "cores_per_node"), f"{partition.cores_per_node} cores in one node: right column?"
            )
        yield from _memory_per_core(place, partition)
        memory = partition.memory_per_node
        yield from _outside(
            (*place, "memory_per_node"), memory, NODE_MEMORY, f"the memory of {partition.name}"
        )


def _memory_per_core(place: tuple[str | int, ...], row: Partition) -> Iterator[Fault]:
    if row.memory_per_core is None or row.memory_per_node is None or row.cores_per_node is None:
        return
    if row.memory_per_core.bytes * row.cores_per_node > SPARE_MEMORY * row.memory_per_node.bytes:
        reason = (
            f"{row.cores_per_node} cores with {row.memory_per_core} each are far more than the node's "
            f"{row.memory_per_node}: right unit?"
        )
        yield Fault((*place, "memory_per_core"), reason)


def _tier(number: int, tier: Tier) -> Iterator[Fault]:
    yield from _outside(("storage", number, "quota"), tier.quota, QUOTA, f"the quota of {tier.id}")
    low, high = (Duration.parse(one) for one in PURGE)
    if tier.purge.after is not None and not low <= tier.purge.after <= high:
        place = ("storage", number, "purge", "after")
        yield Fault(place, f"a purge after {tier.purge.after} is unusual: right unit?")


def _outside(
    place: tuple[str | int, ...], size: Size | None, usual: tuple[str, str], what: str
) -> Iterator[Fault]:
    low, high = usual
    if size is not None and not Size.parse(low) <= size <= Size.parse(high):
        yield Fault(place, f"{what} is {size}, outside of {low} to {high}: right unit?")


def _conflicts(site: Site) -> Iterator[Fault]:
    """The value that the profile uses should be one of those that it lists as said."""
    for number, conflict in enumerate(site.conflicts):
        used = fact(site, conflict.fact).text
        said = [str(text_of(one.value)) for one in conflict.values]
        if used is not None and not any(used in one for one in said):
            shown = "; ".join(said)
            place = ("conflicts", number, "values")
            yield Fault(place, f"the profile uses {used}, which is none of these ({shown}): add it?")


def _unknown(site: Site) -> Iterator[Fault]:
    for number, entry in enumerate(site.unknown):
        used = fact(site, entry.what).text if entry.is_place else None
        if used is not None:
            place = ("unknown", number, "what")
            yield Fault(place, f"the profile knows it ({used}): delete this entry?")


def _unused_sources(site: Site) -> Iterator[Fault]:
    used = {key for _, key in all_sources(site)}
    for key in site.sources:
        if key not in used:
            yield Fault(("sources", key), "nothing in the profile names this source: delete it?")
