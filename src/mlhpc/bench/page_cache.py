"""Putting files out of the page cache or into it, and proving that they are out.

A read is called cold only where the pages were seen to be absent. Three things defeat an eviction without an
error: pages that were not written to disk yet, pages that some process has mapped, and file systems that live
in memory. What is evicted is the data in this kernel's page cache. Directory entries and inodes stay, and so
does whatever a file server, a RAID controller or the host of a virtual machine keeps.
"""

import ctypes
import mmap
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mlhpc.bench.case import CaseUnavailable

COLD_SHARE = 0.01
"""Most of the pages that may be resident in files called cold."""

OWN_CACHE = frozenset({"zfs", "gpfs", "tmpfs", "ramfs", "devtmpfs"})
"""File systems whose data is in memory of their own, which the page cache says nothing about."""

_ATTEMPTS = 4
_SECONDS_BETWEEN = 0.05


def evict(paths: Iterable[Path]) -> None:
    """Ask the kernel to drop the pages of ``paths``, after writing them to disk.

    Raises:
        OSError: if a file cannot be opened or written back.
    """
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            # Dirty pages cannot be dropped.
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def read_all(paths: Iterable[Path]) -> None:
    """Read ``paths`` from start to end, so that their pages are in the cache."""
    buffer = bytearray(1 << 20)
    for path in paths:
        with path.open("rb", buffering=0) as stream:
            while stream.readinto(buffer):
                pass


def resident_share(paths: Iterable[Path]) -> float:
    """Return the share of the pages of ``paths`` that are in memory, 0 to 1; 0 for no pages at all.

    For a file that this user neither owns nor may write, Linux (5.2 or newer) reports all pages as resident.

    Raises:
        OSError: if a file cannot be opened or the kernel refuses to answer.
    """
    resident = pages = 0
    for path in paths:
        in_file = _resident_pages(path)
        resident += int(in_file.sum())
        pages += in_file.size
    return resident / pages if pages else 0.0


def _resident_pages(path: Path) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return one truth value for each page of a file."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size == 0:
            return np.zeros(0, np.bool_)
        vector = np.zeros(-(-size // mmap.PAGESIZE), np.uint8)
        # The mapping has to go again before anybody evicts: a live one pins its pages.
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
            view = np.frombuffer(mapping, np.uint8)
            status = _mincore()(view.ctypes.data, size, vector.ctypes.data)
            number = ctypes.get_errno()
            del view
        if status != 0:
            raise OSError(number, os.strerror(number), str(path))
    # Only the lowest bit is defined.
    return (vector & 1).astype(np.bool_)


def _mincore() -> "ctypes._NamedFuncPointer":
    function = ctypes.CDLL(None, use_errno=True).mincore
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    function.restype = ctypes.c_int
    return function


def make_cold(paths: Sequence[Path], filesystem: str) -> None:
    """Evict ``paths`` and verify it.

    Args:
        paths: files on one file system.
        filesystem: its kind, as ``scratch.filesystem_kind`` gives it.

    Raises:
        CaseUnavailable: if the pages are still there, or nobody can know.
    """
    if filesystem in OWN_CACHE:
        raise CaseUnavailable(
            f"No cold read on {filesystem}: it keeps its data in memory of its own, which cannot be emptied; "
            "set MLHPC_DATA to a folder on another file system."
        )
    share = 1.0
    try:
        for attempt in range(_ATTEMPTS):
            # Pages under write-back or in another process's hands for a moment can go at the next attempt.
            time.sleep(_SECONDS_BETWEEN * attempt)
            evict(paths)
            share = resident_share(paths)
            if share <= COLD_SHARE:
                return
    except (OSError, AttributeError) as error:
        raise CaseUnavailable(
            f"No cold read on {filesystem}: eviction is not possible here ({error})."
        ) from error
    raise CaseUnavailable(
        f"No cold read on {filesystem}: {share:.0%} of the pages stayed in memory after they were evicted, "
        "so something else holds them (a memory map, another reader)."
    )
