"""Which file system a path is on, and whether that one is in memory, on this machine or behind a network."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mlhpc.machine.sources import Sources

FileSystemKind = Literal["memory", "local", "network", "container", "unknown"]
"""Where the bytes are: main memory, a device of this machine, a server, a container's own layer."""

_KINDS: dict[FileSystemKind, frozenset[str]] = {
    "memory": frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}),
    "local": frozenset(
        {
            "ext2",
            "ext3",
            "ext4",
            "xfs",
            "btrfs",
            "zfs",
            "f2fs",
            "jfs",
            "reiserfs",
            "bcachefs",
            "vfat",
            "exfat",
        }
        | {"ntfs3", "squashfs", "iso9660", "apfs"}
    ),
    "network": frozenset(
        {
            "nfs",
            "nfs4",
            "lustre",
            "gpfs",
            "beegfs",
            "fhgfs",
            "beegfs_nodev",
            "ceph",
            "cifs",
            "smb3",
            "smbfs",
            "9p",
        }
        | {"afs", "panfs", "wekafs", "pvfs2", "orangefs", "glusterfs", "virtiofs", "dvs", "cvmfs2"}
        | {
            f"fuse.{name}"
            for name in ("sshfs", "glusterfs", "ceph-fuse", "s3fs", "gcsfuse", "rclone", "juicefs")
        }
    ),
    "container": frozenset({"overlay", "fuse-overlayfs", "fuse.fuse-overlayfs", "aufs"}),
}
_ESCAPE = re.compile(r"\\([0-7]{3})")


def kind_of(file_system: str) -> FileSystemKind:
    """Return the kind of a type of file system, for instance ``network`` for ``lustre``."""
    return next((kind for kind, names in _KINDS.items() if file_system in names), "unknown")


@dataclass(frozen=True)
class Mount:
    """One line of ``/proc/self/mountinfo``."""

    identifier: int
    device: str
    """Major and minor number, for instance ``254:0``: equal for two mounts of one file system."""
    point: str
    file_system: str

    @property
    def kind(self) -> FileSystemKind:
        """The kind of its file system."""
        return kind_of(self.file_system)


def read_mounts(sources: Sources) -> tuple[Mount, ...]:
    """Return what is mounted, in the kernel's order; empty where ``mountinfo`` cannot be read.

    The format is that of ``man 5 proc_pid_mountinfo``: identifier, parent, device, root, mount point,
    options, any number of optional fields, a dash, file-system type, source, options. A line of another form
    is skipped.
    """
    lines = (sources.text("/proc/self/mountinfo") or "").splitlines()
    return tuple(mount for line in lines if (mount := _parse(line)) is not None)


def _parse(line: str) -> Mount | None:
    before, dash, after = line.partition(" - ")
    fields, types = before.split(" "), after.split(" ")
    if not dash or len(fields) < 6 or not fields[0].isdecimal() or not types[0]:
        return None
    return Mount(int(fields[0]), fields[2], _unescape(fields[4]), types[0])


def _unescape(text: str) -> str:
    """Return a path in which blanks and the like were written as three octal digits."""
    # The kernel escapes bytes: a value above 255 cannot come from it, and is left as it stands.
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)) if int(found[1], 8) < 256 else found[0], text)


def mount_of(path: Path, mounts: Sequence[Mount], sources: Sources) -> Mount | None:
    """Return the mount that an existing path is on; None where nobody can tell.

    The kernel is asked first (``mnt_id`` in ``/proc/self/fdinfo``), because of mounts that hide others. Where
    it does not say, the mount with the longest matching mount point counts, of two equal ones the later.

    Raises:
        OSError: if the path cannot be opened.
    """
    place = path.resolve()
    number = _mount_id(place, sources)
    exact = next((mount for mount in mounts if mount.identifier == number), None)
    if exact is not None:
        return exact
    points = {mount.point: mount for mount in mounts}
    return next((points[str(one)] for one in (place, *place.parents) if str(one) in points), None)


def _mount_id(place: Path, sources: Sources) -> int | None:
    descriptor = os.open(place, os.O_PATH)
    try:
        information = sources.text(f"/proc/self/fdinfo/{descriptor}") or ""
    finally:
        os.close(descriptor)
    found = re.search(r"^mnt_id:\s*(\d+)$", information, re.MULTILINE)
    return int(found[1]) if found else None
