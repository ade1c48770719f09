"""Storage tiers as the environment and ``df`` name them, without the name of the person who asks."""

import getpass
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlhpc.sites.probe.commands import Commands

Row = dict[str, Any]

ROLES = (
    ("HOME", "home", "home"),
    ("PROJECT", "project", "project"),
    ("WORK", "work", "project"),
    ("SCRATCH", "scratch", "scratch"),
    ("PSCRATCH", "scratch", "scratch"),
    ("SCRATCHDIR", "scratch", "scratch"),
)
"""Variables that sites set by custom, the tier's id and its role."""

SHARED = {
    "nfs": "nfs", "nfs4": "nfs",
    "lustre": "parallel", "gpfs": "parallel", "beegfs": "parallel", "beegfs_nodev": "parallel",
    "ceph": "parallel", "wekafs": "parallel", "panfs": "parallel", "pvfs2": "parallel",
}  # fmt: skip
"""File systems that several machines share, by the type that the kernel names, and their speed class."""
LOCAL = {"tmpfs": "memory", "ramfs": "memory", "ext4": "node-local", "xfs": "node-local", "zfs": "node-local"}

NOT_TOLD = ("quota", "backed_up", "purge.basis")
"""What no command tells in the same way at every site."""


def read_storage(commands: Commands, environment: Mapping[str, str]) -> tuple[list[Row], list[Row]]:
    """Return the tiers that were found, and what could not be known about them."""
    rows: dict[str, Row] = {}
    unknown: list[Row] = []
    for variable, identifier, role in ROLES:
        path = environment.get(variable, "")
        if identifier not in rows and path.startswith("/"):
            rows[identifier] = _tier(commands, identifier, role, path, variable, environment)
    job_local = environment.get("SLURM_TMPDIR") or environment.get("TMPDIR", "")
    if environment.get("SLURM_JOB_ID") and job_local.startswith("/"):
        variable = "SLURM_TMPDIR" if environment.get("SLURM_TMPDIR") else "TMPDIR"
        row = _tier(commands, "job-local", "job-local", job_local, variable, environment)
        rows["job-local"] = {**row, "visible": ["job"]}
    else:
        ask = "mlhpc site probe inside a job"
        unknown.append({"what": "the storage of a node inside a job: path, size, purge", "ask": ask})
    for name in rows:
        unknown += [{"what": f"storage.{name}.{key}"} for key in NOT_TOLD]
    unknown += _others(commands, rows)
    return list(rows.values()), unknown


def _tier(
    commands: Commands, identifier: str, role: str, path: str, variable: str, environment: Mapping[str, str]
) -> Row:
    kind = _file_system(commands, path)
    row = {
        "id": identifier,
        "role": role,
        "path": _without_person(path, environment),
        "variable": variable,
        "file_system": kind,
        "speed": {**LOCAL, **SHARED}.get(kind or ""),
        "source": "probe",
    }
    return {key: value for key, value in row.items() if value}


def _without_person(path: str, environment: Mapping[str, str]) -> str | None:
    """Return ``path`` with the login name and the job's number as placeholders; None if it cannot be one."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    job = environment.get("SLURM_JOB_ID", "")
    parts = [
        "{user}" if user and part == user else "{job_id}" if job and part == job else part
        for part in path.rstrip("/").split("/")
    ]
    shown = "/".join(parts)
    return None if any(character in shown for character in "\"'`\\\n") else shown


def _file_system(commands: Commands, path: str) -> str | None:
    lines = commands.lines("df", "--output=fstype", path) if Path(path).exists() else []
    return lines[-1].strip() if len(lines) > 1 else None


def _others(commands: Commands, rows: Mapping[str, Row]) -> list[Row]:
    """Return one entry for each shared file system that no variable leads to."""
    seen = {row.get("path", "").split("/{", 1)[0] for row in rows.values()}
    found = []
    for line in commands.lines("df", "--output=fstype,target")[1:]:
        kind, _, target = line.strip().partition(" ")
        target = target.strip()
        if kind in SHARED and not any(f"{path}/".startswith(f"{target}/") for path in seen):
            what = f"the storage tier at {target} ({kind}): its role, quota and purge"
            found.append({"what": what})
    return found
