"""Short names of machines for tables and figures."""

from mlhpc.machine.model import Machine


def machine_name(machine: Machine, device: object = "cpu") -> str:
    """Return a short name of what did the work: ``NVIDIA H200`` or ``AMD EPYC 9654, 2 cores``."""
    if device == "cuda" and machine.gpus:
        names = sorted({gpu.name for gpu in machine.gpus})
        return " and ".join(names)
    cores = machine.cpu.cores_usable
    return f"{machine.cpu.model}, {cores} core{'s' if cores != 1 else ''}"
