"""The whole picture of a machine, put together from its parts."""

import platform

from mlhpc.machine.cpu import read_cpu
from mlhpc.machine.gpus import read_gpus
from mlhpc.machine.memory import read_memory
from mlhpc.machine.model import Machine
from mlhpc.machine.scheduler import granted_cores, granted_memory, read_scheduler
from mlhpc.machine.session import session_kind
from mlhpc.machine.sources import Sources
from mlhpc.machine.warnings import (
    core_warnings,
    gpu_warnings,
    memory_warnings,
    session_warnings,
    thread_warnings,
)


def inspect(sources: Sources | None = None) -> Machine:
    """Return what this process may use; nothing in it names a host, a user or a path.

    Args:
        sources: where to read; the running system by default.
    """
    sources = sources or Sources()
    scheduler = read_scheduler(sources)
    granted = granted_cores(sources)
    cpu = read_cpu(sources, granted)
    memory = read_memory(sources)
    gpus, faults = read_gpus(sources)
    session = session_kind(sources, scheduler)
    return Machine(
        cpu=cpu,
        memory=memory,
        gpus=gpus,
        scheduler=scheduler,
        session=session,
        operating_system=_operating_system(sources),
        warnings=(
            *session_warnings(session),
            *core_warnings(cpu, scheduler, granted),
            *thread_warnings(cpu, sources),
            *memory_warnings(memory, granted_memory(sources)),
            *gpu_warnings(gpus, sources),
            *faults,
        ),
    )


def _operating_system(sources: Sources) -> str:
    """Return kernel and distribution; the kernel's first two numbers only, since the rest may name a site."""
    release = (sources.text("/proc/sys/kernel/osrelease") or platform.release()).strip()
    kernel = f"{platform.system()} {'.'.join(release.split('.')[:2])}"
    fields: dict[str, str] = {}
    for line in (sources.text("/etc/os-release") or "").splitlines():
        key, separator, value = line.partition("=")
        if separator:
            fields[key] = value.strip().strip("\"'")
    distribution = " ".join(part for part in (fields.get("NAME"), fields.get("VERSION_ID")) if part)
    return f"{kernel}, {distribution}" if distribution else kernel
