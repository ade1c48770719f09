"""What the GPUs of this node say of themselves, added to the cluster's row of that kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlhpc.sites.clusters import computes_in_bf16
from mlhpc.sites.probe.commands import Commands
from mlhpc.sites.probe.slurm_text import gpus_of

Row = dict[str, Any]


def describe_gpus(commands: Commands, cluster: Row, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Fill in model, memory and capability of the kind of GPU on this node; return the places that it filled.

    Only where the node has one kind, and that kind is certain: from Slurm's entry for this node, or because
    the cluster has only one. Everywhere else the profile keeps "not known".
    """
    seen = _reported(commands)
    rows: Sequence[Row] = cluster.get("gpus", ())
    row = _row_of_this_node(commands, rows, environment)
    if row is None or len(seen) != 1:
        return ()
    name, memory, capability = seen.pop()
    row |= {"model": name, "reported_memory": f"{memory} MiB", "capability": capability}
    row["bf16"] = computes_in_bf16(capability)
    return (f"clusters.{cluster['id']}.gpus.{row['id']}.memory",)


def _reported(commands: Commands) -> set[tuple[str, str, str]]:
    """Return name, memory in MiB and compute capability of each kind of GPU here."""
    query = ("nvidia-smi", "--query-gpu=name,memory.total,compute_cap", "--format=csv,noheader,nounits")
    parts = (tuple(part.strip() for part in line.split(",")) for line in commands.lines(*query))
    return {(one[0], one[1], one[2]) for one in parts if len(one) == 3 and one[1].isdigit()}


def _row_of_this_node(commands: Commands, rows: Sequence[Row], environment: Mapping[str, str]) -> Row | None:
    node = environment.get("SLURMD_NODENAME")
    if node is None:
        return rows[0] if len(rows) == 1 else None
    kinds = {
        gres.type
        for line in commands.lines("sinfo", "--noheader", "--Node", "--nodes", node, "-o", "%G")
        for gres in gpus_of(line)
    }
    matching = [row for row in rows if row["request"].get("type") in kinds]
    return matching[0] if len(kinds) == 1 and len(matching) == 1 else None
