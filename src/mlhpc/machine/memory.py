"""Main memory: what the machine has and what this process may take of it."""

from mlhpc.machine.cgroups import memory_limit
from mlhpc.machine.model import Memory
from mlhpc.machine.sources import Sources


def read_memory(sources: Sources) -> Memory:
    """Return total and limit in bytes; a limit that is not below the total is no limit."""
    total = _total(sources)
    limit = memory_limit(sources)
    if limit is not None and limit >= total:
        limit = None
    return Memory(total_bytes=total, limit_bytes=limit, usable_bytes=total if limit is None else limit)


def _total(sources: Sources) -> int:
    for line in (sources.text("/proc/meminfo") or "").splitlines():
        fields = line.split()
        if len(fields) >= 2 and fields[0] == "MemTotal:" and fields[1].isdigit():
            return int(fields[1]) * 1024
    import psutil

    return int(psutil.virtual_memory().total)
