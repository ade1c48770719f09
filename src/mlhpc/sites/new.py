"""A new profile to fill in, from the one that knows nothing."""

import re
from pathlib import Path

from mlhpc.errors import UsageError
from mlhpc.files import write_atomically
from mlhpc.sites.load import sites_folder

HEAD = """\
# yaml-language-server: $schema=schema.json
# Profile of {name}. A fact that is left out is not known: pages show that, and scripts leave it out.
# Fill in what you know, each row with its source, and delete its entry under `unknown`. Then:
#   mlhpc site check {name}        faults with line and key
#   mlhpc site diff {name}         on the cluster: what the profile says against what Slurm says
#   make site SITE={name}          the course for this site alone
# `mlhpc site probe` writes most of clusters: by itself. data/sites/osc.yml is a full example.
#
# A partition, a GPU and a storage tier look like this (an illustration, not a fact):
#   partitions:
#   - {{name: gpu, max_time: 48 h, nodes: 4, cores_per_node: 64, memory_per_node: 500 GiB, gpus: [a100],
#      gpus_per_node: 4, allocation: cores-and-memory, source: sinfo}}
#   gpus:
#   - {{id: a100, model: NVIDIA A100, memory: 40 GB, capability: "8.0", bf16: true, count: 16,
#      request: {{option: gpus-per-node, type: a100}}, source: sinfo}}
#   storage:
#   - {{id: scratch, role: scratch, path: "/scratch/{{user}}", quota: 10 TB, speed: parallel, backed_up: "no",
#      purge: {{basis: access-time, after: 60 days}}, visible: [login, compute], source: web-page}}
"""


def new_profile(name: str, folder: Path | None = None) -> Path:
    """Write ``NAME.yml`` into the folder of profiles and return its path.

    Raises:
        UsageError: if the name is no identifier, or there is such a profile.
        MlhpcError: if it cannot be written.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name, re.ASCII):
        raise UsageError(
            f"{name!r} must be lower-case letters and digits, joined by hyphens: for instance my-cluster."
        )
    target = (folder or sites_folder()) / f"{name}.yml"
    if target.exists():
        raise UsageError(f"{target} exists already: edit it, or choose another name.")
    generic = (sites_folder() / "generic.yml").read_text(encoding="utf-8")
    body = "".join(line for line in generic.splitlines(keepends=True) if not line.startswith("#"))
    body = body.replace("id: generic", f"id: {name}", 1)
    write_atomically(target, HEAD.format(name=name) + body)
    return target
