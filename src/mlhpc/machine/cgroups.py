"""The control groups that this process is in, version 1 and 2, and the limits that they set.

Formats: ``man 7 cgroups``, ``man 5 proc`` (``/proc/pid/cgroup``, ``/proc/pid/mountinfo``) and
https://docs.kernel.org/admin-guide/cgroup-v2.html. A limit of any group above the process counts, so the
tightest one of the whole way up is the limit.
"""

import posixpath
from dataclasses import dataclass
from pathlib import PurePosixPath

from mlhpc.machine.sources import Sources


@dataclass(frozen=True)
class Group:
    """One control group folder that applies to this process."""

    version: int
    folder: PurePosixPath


def groups(sources: Sources, controller: str) -> tuple[Group, ...]:
    """Return the folders that may limit ``controller`` (``cpu`` or ``memory``), the innermost first."""
    memberships = _memberships(sources.text("/proc/self/cgroup") or "")
    found: list[Group] = []
    for line in (sources.text("/proc/self/mountinfo") or "").splitlines():
        mount = _parse_mount(line, controller)
        if mount is None:
            continue
        version, mounted_path, mount_point = mount
        path = memberships.get(controller if version == 1 else "")
        if path is not None:
            found += [Group(version, folder) for folder in _way_up(path, mounted_path, mount_point)]
    return tuple(found)


def _memberships(text: str) -> dict[str, str]:
    """Return controller name to group path from ``/proc/self/cgroup``; the name of version 2 is empty."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            paths.update(dict.fromkeys(fields[1].split(","), fields[2]))
    return paths


def _parse_mount(line: str, controller: str) -> tuple[int, str, str] | None:
    """Return version, group path and mount point of a line of mountinfo that serves ``controller``."""
    before, separator, after = line.partition(" - ")
    fields, kind = before.split(), after.split()
    if not separator or len(fields) < 5 or len(kind) < 3:
        return None
    if kind[0] == "cgroup2":
        return 2, fields[3], fields[4]
    if kind[0] == "cgroup" and controller in kind[2].split(","):
        return 1, fields[3], fields[4]
    return None


def _way_up(path: str, mounted_path: str, mount_point: str) -> list[PurePosixPath]:
    """Return the folders from the group ``path`` up to the mount point.

    A container often shows only its own group, mounted as the root, while ``/proc/self/cgroup`` names the
    path from outside, or one with ``..``; the mount point itself is then all that can be read.
    """
    inside = path.removeprefix(mounted_path.rstrip("/")) if path.startswith(mounted_path) else "/"
    folder = PurePosixPath(posixpath.normpath("/" + inside.lstrip("/")))
    point = PurePosixPath(mount_point)
    return [point / level.relative_to("/") for level in (folder, *folder.parents)]


def cpu_quota(sources: Sources) -> float | None:
    """Return the processors' worth of time that the tightest group allows; None without a quota."""
    quotas = [_quota_of(sources, group) for group in groups(sources, "cpu")]
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota_of(sources: Sources, group: Group) -> float | None:
    if group.version == 2:
        fields = (sources.text(group.folder / "cpu.max") or "max").split()
        quota, period = (_number(fields[0]), _number(fields[1])) if len(fields) == 2 else (None, None)
    else:
        quota = _number(sources.text(group.folder / "cpu.cfs_quota_us"))
        period = _number(sources.text(group.folder / "cpu.cfs_period_us"))
    return quota / period if quota is not None and period else None


def memory_limit(sources: Sources) -> int | None:
    """Return the tightest memory limit in bytes; None without one (version 1 then shows a huge number)."""
    names = {1: "memory.limit_in_bytes", 2: "memory.max"}
    limits = [
        _number(sources.text(group.folder / names[group.version])) for group in groups(sources, "memory")
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def throttled_seconds(sources: Sources) -> float | None:
    """Return the seconds for which quotas have stopped the groups so far; None where nothing counts them."""
    counted = [_throttled_of(sources, group) for group in groups(sources, "cpu")]
    known = [seconds for seconds in counted if seconds is not None]
    return sum(known) if known else None


def _throttled_of(sources: Sources, group: Group) -> float | None:
    name, per_second = ("throttled_usec", 1e6) if group.version == 2 else ("throttled_time", 1e9)
    for line in (sources.text(group.folder / "cpu.stat") or "").splitlines():
        key, _, value = line.partition(" ")
        count = _number(value)
        if key == name and count is not None:
            return count / per_second
    return None


def _number(text: str | None) -> int | None:
    """Return a whole number that is not negative; None for ``max``, ``-1``, nothing and anything else."""
    stripped = (text or "").strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() else None
