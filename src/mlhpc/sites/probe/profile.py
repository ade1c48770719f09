"""The parts of a probe put together as a profile that passes the check."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from mlhpc.errors import MlhpcError
from mlhpc.sites.load import check_text
from mlhpc.sites.probe.commands import Commands
from mlhpc.sites.probe.gpus import describe_gpus
from mlhpc.sites.probe.slurm import Found, read_cluster
from mlhpc.sites.probe.storage import read_storage
from mlhpc.sites.schema import Site

Row = dict[str, Any]

HEAD = """\
# yaml-language-server: $schema=schema.json
# Written by `mlhpc site probe` from what this machine says. What no command tells stands under `unknown`:
# fill it in, delete the entry there, and run `mlhpc site check` on this file.
"""


def probe(
    clusters: Sequence[str] = (),
    *,
    identifier: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[str, Site, tuple[str, ...]]:
    """Return a profile of this machine, as YAML and as data, and a sentence for each command that was silent.

    Args:
        clusters: names of Slurm clusters to ask about; the local one if empty.
        identifier: the profile's id; the first cluster's if None.
        environment: environment variables; those of this process if None.

    Raises:
        MlhpcError: if Slurm does not answer here.
    """
    variables = os.environ if environment is None else environment
    commands = Commands()
    found = [one for name in clusters or (None,) if (one := read_cluster(commands, name)) is not None]
    if not found:
        reason = "; ".join(commands.silent)
        raise MlhpcError(
            f"No Slurm answers here ({reason}): run the probe on a login node, "
            "or start a profile by hand with mlhpc site new."
        )
    text = HEAD + yaml.safe_dump(
        _document(commands, found, identifier, variables), sort_keys=False, width=110, allow_unicode=True
    )
    return text, check_text(text, Path("probed.yml")), tuple(commands.silent)


def _document(
    commands: Commands, found: Sequence[Found], identifier: str | None, variables: Mapping[str, str]
) -> Row:
    storage, unknown = read_storage(commands, variables)
    told = {place for one in found for place in describe_gpus(commands, one.cluster, variables)}
    unknown = [row for one in found for row in one.unknown if row["what"] not in told] + unknown
    name = identifier or found[0].cluster["id"]
    version = found[0].cluster.get("version", "of an unknown version")
    where = f"sinfo, scontrol and sacctmgr of Slurm {version}, df, nvidia-smi and the environment"
    source = {"title": "mlhpc site probe", "where": where, "read": datetime.now(UTC).date()}
    return {
        "profile_version": 1,
        "site": {"id": name, "name": name, "support": "your centre's support"},
        "sources": {"probe": source},
        "clusters": [one.cluster for one in found],
        "storage": storage,
        "software": _software(variables),
        "unknown": [
            {"what": "the site's full name, its documentation and whom to ask", "ask": "edit site: above"},
            *unknown,
        ],
    }


def _software(variables: Mapping[str, str]) -> Row:
    import shutil

    software: Row = {"python": {"how": "Not known yet: ask how Python is set up here (module avail)."}}
    setup = Path(variables.get("MODULESHOME", "/nonexistent")) / "init" / "bash"
    if setup.is_file():
        software["module_setup"] = str(setup)
    container = next(
        (name for name in ("apptainer", "singularity", "podman-hpc") if shutil.which(name)), None
    )
    return {**software, **({"container": container} if container else {})}
