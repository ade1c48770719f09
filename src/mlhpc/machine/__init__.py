"""What this process may use of the machine it runs on, and who else used it during a measurement.

``inspect`` answers with cores, memory, GPUs, scheduler job and session kind; ``watch_contention`` notes load,
throttling and stolen time around a block; ``hardware`` holds the data-sheet peaks of GPUs.
"""

from mlhpc.machine.contention import ContentionWatch, watch_contention
from mlhpc.machine.inspection import inspect
from mlhpc.machine.model import Contention, Cpu, Gpu, Machine, Memory, Scheduler
from mlhpc.machine.sources import Sources

__all__ = [
    "Contention",
    "ContentionWatch",
    "Cpu",
    "Gpu",
    "Machine",
    "Memory",
    "Scheduler",
    "Sources",
    "inspect",
    "watch_contention",
]
