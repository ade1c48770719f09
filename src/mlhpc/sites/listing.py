"""Profiles as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlhpc.sites.clusters import Cluster, CondorGpu, SlurmGpu
from mlhpc.sites.facts import text_of
from mlhpc.sites.schema import Site, Tier
from mlhpc.text_table import format_table

NOT_KNOWN = "?"
"""What stands in a table for a fact that nobody knows."""

ASKED_FOR = "asked_for_as"
"""The column with how a job asks for a GPU."""


def summary(site: Site) -> dict[str, Any]:
    """Return what a list of sites says about one."""
    return {
        "id": site.id,
        "name": site.site.name,
        "clusters": [cluster.id for cluster in site.clusters],
        "schedulers": sorted({cluster.scheduler for cluster in site.clusters}),
        "gpu_kinds": sum(len(cluster.gpus) for cluster in site.clusters),
        "conflicts": len(site.conflicts),
        "not_known": len(site.unknown),
        "confirmed_on": site.site.confirmed_on.isoformat() if site.site.confirmed_on else None,
    }


QUEUE_COLUMNS: Mapping[str, Sequence[str]] = {
    "slurm": (
        "name",
        "purpose",
        "max_time",
        "nodes",
        "cores_per_node",
        "memory_per_node",
        "gpus",
        "gpus_per_node",
    ),
    "htcondor": ("name", "attribute", "value", "max_time", "default"),
    "cloud": ("name", "cores", "memory", "gpus"),
}
"""What is shown of the rows that a job chooses from, by the cluster's scheduler."""


def overview(sites: Sequence[Site]) -> str:
    """Return one line for each site."""
    header = ("SITE", "NAME", "CLUSTERS", "SCHEDULERS", "GPU KINDS", "CONFLICTS", "NOT KNOWN", "CONFIRMED")
    return format_table(header, [[_listed(value) for value in summary(site).values()] for site in sites])


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "no" if value is None else str(value)


def profile_text(site: Site) -> str:
    """Return a whole profile for reading."""
    blocks = [f"{site.site.name} ({site.id})", f"ask: {site.site.support}"]
    if site.site.documentation:
        blocks.append(f"documentation: {site.site.documentation}")
    blocks.append(_confirmed(site))
    for cluster in site.clusters:
        blocks += ["", *_cluster(cluster)]
    blocks += [
        "",
        "STORAGE",
        _storage(site.storage),
        "",
        *_software(site),
        "",
        *_conflicts(site),
        *_unknown(site),
    ]
    blocks += [
        "SOURCES",
        *(f"  {key}: {one.title}; {one.where} ({one.dates})" for key, one in site.sources.items()),
    ]
    return "\n".join(blocks)


def _confirmed(site: Site) -> str:
    about = site.site
    if about.confirmed_on is None:
        return "confirmed by the site: no"
    return f"confirmed by the site: {about.confirmed_by or 'yes'}, {about.confirmed_on}"


def _cluster(cluster: Cluster) -> Iterator[str]:
    yield f"CLUSTER {cluster.name} ({cluster.id}): {cluster.scheduler}"
    facts = {
        "login": cluster.login_host,
        "two factors": cluster.two_factor,
        "account needed": cluster.account.required,
        "portal": cluster.ondemand.url if cluster.ondemand else None,
        "largest array": cluster.limits.max_array_size,
        "GPUs for one user": cluster.limits.max_gpus_per_user,
    }
    yield "  " + "; ".join(f"{name}: {_shown(value)}" for name, value in facts.items())
    yield from _portal(cluster)
    yield from _rows(cluster.queue_key, QUEUE_COLUMNS[cluster.scheduler], cluster.queues)
    yield from _rows(
        "gpus", ("id", "model", "memory", "capability", "bf16", "count", ASKED_FOR), cluster.gpus
    )


def _portal(cluster: Cluster) -> Iterator[str]:
    portal = cluster.ondemand
    if portal is None:
        return
    limits = {
        "time": portal.max_time,
        "GPUs": portal.max_gpus,
        "cores": portal.max_cores,
        "memory": portal.max_memory,
    }
    yield "  a session of the portal has at most " + "; ".join(
        f"{name}: {_shown(value)}" for name, value in limits.items()
    )
    if portal.note:
        yield f"  portal: {portal.note}"


def _storage(tiers: Sequence[Tier]) -> str:
    header = ("id", "role", "place", "quota", "backed up", "purge", "visible", "sqlite")
    rows = [
        [
            _shown(value)
            for value in (
                tier.id,
                tier.role,
                tier.place,
                tier.quota,
                tier.backed_up,
                " ".join(str(part) for part in (tier.purge.basis, tier.purge.after) if part) or None,
                tier.visible,
                tier.sqlite,
            )
        ]
        for tier in tiers
    ]
    notes = [f"{tier.id}: {tier.note}" for tier in tiers if tier.note]
    table = format_table([name.upper() for name in header], rows)
    return _indented("\n".join([table, *notes])) if rows else f"  {NOT_KNOWN}"


def _rows(title: str, columns: Sequence[str], rows: Sequence[Any]) -> Iterator[str]:
    yield f"  {title.upper()}" if rows else f"  {title.upper()}: not known"
    if rows:
        cells = [[_cell(row, column) for column in columns] for row in rows]
        yield _indented(format_table([name.upper().replace("_", " ") for name in columns], cells), "    ")
        for row in rows:
            if row.note:
                yield f"    {_shown(getattr(row, 'name', None) or row.id)}: {row.note}"


def _software(site: Site) -> Iterator[str]:
    software = site.software
    yield f"PYTHON  {software.python.how}"
    yield from (f"  avoid: {one}" for one in software.python.avoid)
    yield f"CONTAINER  {_shown(software.container)}"


def _conflicts(site: Site) -> Iterator[str]:
    if site.conflicts:
        yield "SOURCES DISAGREE"
        for one in site.conflicts:
            said = "; ".join(f"{value.value} ({value.source})" for value in one.values)
            yield f"  {one.fact}: {said}. To find out: {one.ask}"
        yield ""


def _unknown(site: Site) -> Iterator[str]:
    if site.unknown:
        yield "NOT KNOWN"
        yield from (f"  {one.what}. To find out: {one.ask or site.site.support}" for one in site.unknown)
        yield ""


def _cell(row: Any, column: str) -> str:
    if column == ASKED_FOR:
        return _request(row)
    value = getattr(row, column)
    if column == "gpus" and not value:
        return "none"
    return "-" if column == "gpus_per_node" and not row.gpus else _shown(value)


def _request(gpu: Any) -> str:
    """Return how a job asks for one GPU of a kind."""
    if isinstance(gpu, SlurmGpu):
        return " ".join(gpu.request.options(1))
    return "; ".join(gpu.request.lines(1)) if isinstance(gpu, CondorGpu) else "the flavor of the instance"


def _shown(value: Any) -> str:
    return text_of(value) or NOT_KNOWN


def _indented(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.splitlines())
