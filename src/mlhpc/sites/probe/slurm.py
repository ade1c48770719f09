"""One Slurm cluster as its own commands describe it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlhpc.sites.probe.commands import Commands
from mlhpc.sites.probe.slurm_text import configuration, gpus_of, limit_in, settings, time_limit

Row = dict[str, Any]
"""A row of a profile, before it is written."""

SOURCE = "probe"
SEPARATOR = "\x1f"
"""Stands in no name of a node or partition, where a bar or a blank might."""


@dataclass(frozen=True)
class Node:
    """One node in one partition."""

    name: str
    partition: str
    cores: int
    memory_mebibytes: int
    gres: str


@dataclass
class Found:
    """A cluster's row, and what could not be known about it."""

    cluster: Row
    unknown: list[Row] = field(default_factory=list)


def read_cluster(commands: Commands, name: str | None = None) -> Found | None:
    """Return the local cluster, or the one called ``name``; None where Slurm does not answer."""
    chosen = [f"--clusters={name}"] if name else []
    described = commands.output("scontrol", *chosen, "show", "config")
    if described is None:
        return None
    config = configuration(described)
    identifier = identify(config.get("ClusterName", name or "cluster"))
    nodes = _nodes(commands, chosen)
    unknown: list[Row] = []
    gpus, types = _gpus(nodes, identifier, unknown)
    cluster: Row = {
        "id": identifier,
        "name": config.get("ClusterName", identifier).capitalize(),
        "scheduler": "slurm",
        "version": config.get("SLURM_VERSION"),
        "limits": _limits(commands, config, chosen, identifier, unknown),
        "partitions": _partitions(commands, chosen, nodes, types, identifier, unknown),
        "gpus": gpus,
    }
    unknown += _never_told(identifier)
    return Found({key: value for key, value in cluster.items() if value}, unknown)


def identify(name: str) -> str:
    """Return ``name`` as an identifier of a profile: lower-case letters and digits, joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


def _nodes(commands: Commands, chosen: Sequence[str]) -> list[Node]:
    form = SEPARATOR.join(("%N", "%R", "%c", "%m", "%G"))
    found = []
    for line in commands.lines("sinfo", *chosen, "--noheader", "--Node", "--all", "-o", form):
        parts = line.split(SEPARATOR)
        if len(parts) == 5 and parts[2].isdigit() and parts[3].isdigit():
            found.append(Node(parts[0], parts[1], int(parts[2]), int(parts[3]), parts[4]))
    return found


def _gpus(
    nodes: Iterable[Node], cluster: str, unknown: list[Row]
) -> tuple[list[Row], Mapping[str | None, str]]:
    """Return the rows of the GPU kinds, and the identifier of each of the scheduler's types."""
    counts: dict[str | None, int] = defaultdict(int)
    for node in {node.name: node for node in nodes}.values():
        for gres in gpus_of(node.gres):
            counts[gres.type] += gres.count
    names: dict[str | None, str] = {}
    for kind in counts:
        wanted = identify(kind or "gpu")
        taken = sum(identify(other or "gpu") == wanted for other in names)
        names[kind] = f"{wanted}-{taken + 1}" if taken else wanted
    rows = []
    for kind, count in counts.items():
        request = {"option": "gres", **({"type": kind} if kind else {})}
        rows.append(
            {"id": names[kind], "model": kind or "GPU", "count": count, "request": request, "source": SOURCE}
        )
        unknown.append(
            {
                "what": f"clusters.{cluster}.gpus.{names[kind]}.memory",
                "ask": "nvidia-smi, or mlhpc site probe, in a job on a node with this GPU",
            }
        )
    return rows, names


def _partitions(
    commands: Commands,
    chosen: Sequence[str],
    nodes: Sequence[Node],
    types: Mapping[str | None, str],
    cluster: str,
    unknown: list[Row],
) -> list[Row]:
    rows = []
    for line in commands.lines("scontrol", *chosen, "--oneliner", "--all", "show", "partition"):
        told = settings(line)
        name = told.get("PartitionName")
        if name is None:
            continue
        members = [node for node in nodes if node.partition == name]
        row = {
            "name": name,
            "purpose": "preemptible" if told.get("PreemptMode", "OFF") not in ("OFF", "GANG") else None,
            "max_time": time_limit(told.get("MaxTime", "")),
            "default_time": _finite(time_limit(told.get("DefaultTime", ""))),
            "max_nodes_per_job": _whole(told.get("MaxNodes")),
            "memory_per_core": _mebibytes(told.get("MaxMemPerCPU")),
            "allocation": "node" if told.get("OverSubscribe") == "EXCLUSIVE" else "cores-and-memory",
            **_hardware(members, types, f"clusters.{cluster}.partitions.{name}", unknown),
            "note": _restrictions(told),
            "source": SOURCE,
        }
        rows.append({key: value for key, value in row.items() if value})
    return rows


def _hardware(
    members: Sequence[Node], types: Mapping[str | None, str], place: str, unknown: list[Row]
) -> Row:
    """Return what the nodes of a partition have in common; what differs is unknown."""
    gpus = [gpus_of(node.gres) for node in members]
    kinds = sorted({types[gres.type] for node in gpus for gres in node})
    values: dict[str, set[Any]] = {
        "cores_per_node": {node.cores for node in members},
        "memory_per_node": {f"{node.memory_mebibytes} MiB" for node in members},
        "gpus_per_node": {sum(gres.count for gres in node) for node in gpus} if kinds else set(),
    }
    row: Row = {"nodes": len(members), "gpus": kinds}
    for key, seen in values.items():
        if len(seen) == 1:
            row[key] = next(iter(seen))
        elif seen:
            shown = " or ".join(sorted(map(str, seen)))
            unknown.append({"what": f"{place}.{key}", "ask": f"its nodes differ: {shown}"})
    return row


def _limits(
    commands: Commands, config: Mapping[str, str], chosen: Sequence[str], cluster: str, unknown: list[Row]
) -> Row:
    limits: Row = {"max_array_size": _whole(config.get("MaxArraySize"))}
    qos = _quality_of_service(commands, config.get("ClusterName", ""))
    if qos is None:
        where = f"clusters.{cluster}.limits"
        unknown += [{"what": f"{where}.{key}"} for key in ("max_gpus_per_user", "max_submitted_jobs")]
    else:
        per_user, submitted = qos
        limits |= {
            "max_gpus_per_user": limit_in(per_user, "gres/gpu"),
            "max_submitted_jobs": _whole(submitted),
        }
    known = {key: value for key, value in limits.items() if value}
    return {**known, "source": SOURCE} if known else {}


def _quality_of_service(commands: Commands, cluster: str) -> tuple[str, str] | None:
    """Return the limits per user of this user's quality of service; None where there is not exactly one."""
    asked = ("sacctmgr", "--noheader", "--parsable2", "show")
    columns = "format=Cluster,QOS"
    own = [line.split("|") for line in commands.lines(*asked, "assoc", f"user={_user()}", columns)]
    names = {name for line in own if line[0] == cluster for name in line[1].split(",") if name}
    if len(names) != 1:
        return None
    form = "format=MaxTRESPU,MaxSubmitPU"
    rows = [line.split("|") for line in commands.lines(*asked, "qos", f"name={names.pop()}", form)]
    return (rows[0][0], rows[0][1]) if rows and len(rows[0]) == 2 else ("", "")


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _restrictions(told: Mapping[str, str]) -> str | None:
    """Return a sentence for a partition that is not open to everybody; names of groups are left out."""
    limited = [key for key in ("AllowGroups", "AllowAccounts", "AllowQos") if told.get(key, "ALL") != "ALL"]
    closed = [] if told.get("State", "UP") == "UP" else [f"state {told['State']} when probed"]
    if limited:
        closed.append(f"not open to everybody ({', '.join(limited)})")
    return f"{'; '.join(closed).capitalize()}." if closed else None


def _never_told(cluster: str) -> list[Row]:
    """Return the facts that no command of Slurm tells."""
    where = f"clusters.{cluster}"
    return [
        {"what": f"{where}.{key}"} for key in ("login_host", "two_factor", "ondemand", "account.required")
    ]


def _finite(text: str | None) -> str | None:
    return None if text == "unlimited" else text


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and int(text) else None


def _mebibytes(text: str | None) -> str | None:
    amount = _whole(text)
    return f"{amount} MiB" if amount else None
