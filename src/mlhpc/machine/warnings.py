"""Where the facts about a machine disagree, and what to do about it: one sentence each."""

from collections.abc import Iterator

from mlhpc.machine.contention import load_average
from mlhpc.machine.model import Cpu, Gpu, Memory, Scheduler, SessionKind
from mlhpc.machine.sources import Sources

GIBIBYTE = 2**30


def core_warnings(cpu: Cpu, scheduler: Scheduler | None, granted: int | None) -> Iterator[str]:
    """Yield what a library would get wrong about the number of cores."""
    if cpu.cores_present > cpu.cores_usable:
        yield (
            f"os.cpu_count() says {cpu.cores_present}, but {_count(cpu.cores_usable, 'core')} may be used "
            f"here: set thread and worker counts to {cpu.cores_usable} yourself."
        )
    if scheduler is None or granted is None:
        return
    name = {"slurm": "Slurm", "htcondor": "HTCondor"}[scheduler.kind]
    allowed = min(cpu.cores_in_affinity, cpu.cores_in_quota or cpu.cores_in_affinity)
    if granted > allowed:
        way_out = (
            "start the program with srun --cpus-per-task (srun does not take it over from sbatch)"
            if scheduler.kind == "slurm"
            else "ask the pool's operators how its slots are confined"
        )
        yield f"{name} granted {_count(granted, 'core')}, but this process may use {allowed:g}: {way_out}."
    elif granted < allowed:
        yield (
            f"{name} granted {_count(granted, 'core')} and does not hold the job to it ({allowed:g} can be "
            f"used): start no more than {_count(granted, 'thread')}, or you take the neighbours' time."
        )


def thread_warnings(cpu: Cpu, sources: Sources) -> Iterator[str]:
    """Yield what the OpenMP settings would get wrong."""
    setting = sources.environment.get("OMP_NUM_THREADS")
    if setting:
        first = setting.split(",")[0].strip()
        if not first.isdigit() or int(first) == 0:
            yield f"OMP_NUM_THREADS is '{setting}', no number of threads: set it to {cpu.cores_usable}."
        elif int(first) > cpu.cores_usable:
            yield (
                f"OMP_NUM_THREADS is {first}, but {_count(cpu.cores_usable, 'core')} may be used here: "
                f"set it to {cpu.cores_usable}, or threads wait for each other."
            )
    policy = sources.environment.get("OMP_WAIT_POLICY", "")
    load = load_average(sources)
    if policy.lower() != "passive" and load > cpu.cores_present:
        state = f"is {policy}" if policy else "is not set"
        yield (
            f"The cores are shared (load average {load:.1f} on {cpu.cores_present}) and OMP_WAIT_POLICY "
            f"{state}, so waiting threads spin and slow everyone: set it to PASSIVE before Python starts."
        )


def memory_warnings(memory: Memory, granted: int | None) -> Iterator[str]:
    """Yield what a library would get wrong about memory."""
    if memory.limit_bytes is not None:
        yield (
            f"The machine shows {memory.total_bytes / GIBIBYTE:.1f} GiB of memory, but this process is "
            f"killed above {memory.limit_bytes / GIBIBYTE:.1f} GiB: size caches and batches by the limit."
        )
    if granted is not None and granted < memory.usable_bytes:
        yield (
            f"The scheduler granted {granted / GIBIBYTE:.1f} GiB of memory, but nothing stops this process "
            f"at less than {memory.usable_bytes / GIBIBYTE:.1f} GiB: stay below the grant yourself."
        )


def gpu_warnings(gpus: tuple[Gpu, ...], sources: Sources) -> Iterator[str]:
    """Yield what may be mistaken about which GPU is which."""
    order = sources.environment.get("CUDA_DEVICE_ORDER", "FASTEST_FIRST")
    if len({gpu.name for gpu in gpus}) > 1 and order != "PCI_BUS_ID":
        yield (
            "The GPUs differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID, so the numbers here and in CUDA may "
            "differ: set it to PCI_BUS_ID before Python starts."
        )


def session_warnings(session: SessionKind) -> Iterator[str]:
    """Yield what not to do in this kind of session."""
    if session == "login":
        yield (
            "This looks like a login node (submit commands, but no job): measure inside a job, where nobody "
            "shares the cores."
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
