"""The processor: what it can do and how many of its cores this process may use."""

import math
import os
import platform

from mlhpc.machine.cgroups import cpu_quota
from mlhpc.machine.model import Cpu
from mlhpc.machine.sources import Sources

INSTRUCTION_SETS = (
    # x86: names as in /proc/cpuinfo
    *("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16"),
    *("amx_tile", "amx_int8", "amx_bf16", "amx_fp16"),
    # Arm
    *("asimd", "sve", "sve2", "bf16", "i8mm", "sme"),
)
"""The vector and matrix extensions that decide how fast training and inference run on a processor."""


def read_cpu(sources: Sources, granted: int | None = None) -> Cpu:
    """Return what the processor is and how much of it this process may use.

    Args:
        sources: where to read.
        granted: cores that the scheduler gave; it counts as a limit, because not every scheduler confines.
    """
    information = _first_processor(sources.text("/proc/cpuinfo") or "")
    present = _count(sources.text("/sys/devices/system/cpu/online")) or os.cpu_count() or 1
    affinity = _count(_status_field(sources, "Cpus_allowed_list")) or present
    quota = cpu_quota(sources)
    flags = set((information.get("flags") or information.get("Features") or "").split())
    return Cpu(
        model=_model_name(information),
        architecture=platform.machine(),
        cores_present=present,
        cores_in_affinity=affinity,
        cores_in_quota=quota,
        cores_usable=_usable(present, affinity, quota, granted),
        instruction_sets=tuple(name for name in INSTRUCTION_SETS if name in flags),
    )


def _usable(present: int, affinity: int, quota: float | None, granted: int | None) -> int:
    """Return the number of threads to start; part of a core is rounded down, as too many get throttled."""
    limits = [present, affinity]
    if quota is not None:
        limits.append(math.floor(quota))
    if granted is not None:
        limits.append(granted)
    return max(1, min(limits))


def _first_processor(text: str) -> dict[str, str]:
    """Return the fields of the first processor in ``/proc/cpuinfo``."""
    fields: dict[str, str] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        key, separator, value = line.partition(":")
        if separator:
            fields[key.strip()] = " ".join(value.split())
    return fields


def _model_name(fields: dict[str, str]) -> str:
    if name := fields.get("model name") or fields.get("cpu"):
        return name
    if "CPU implementer" in fields:
        return f"Arm implementer {fields['CPU implementer']} part {fields.get('CPU part', 'unknown')}"
    return platform.processor() or platform.machine() or "unknown"


def _status_field(sources: Sources, name: str) -> str | None:
    for line in (sources.text("/proc/self/status") or "").splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value
    return None


def _count(text: str | None) -> int | None:
    """Return how many processors a list such as ``0-3,8`` names; None where it is missing or malformed."""
    total = 0
    for part in (text or "").strip().split(","):
        first, separator, last = part.partition("-")
        if not first.isdigit() or (separator and not last.isdigit()):
            return None
        total += int(last) - int(first) + 1 if separator else 1
    return total if total > 0 else None
