"""``mlhpc machine``: what this process may use."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mlhpc.machine import Machine

GIBIBYTE = 2**30


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("machine")
    def machine(
        json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    ) -> None:
        """Show the cores, memory, GPUs and job that this process may use, and what to watch out for."""
        from mlhpc.machine import inspect

        found = inspect()
        typer.echo(found.model_dump_json(indent=2) if json else describe(found))


def describe(machine: "Machine") -> str:
    """Return the listing: a name and a value on each line, then the warnings."""
    rows = [
        ("processor", f"{machine.cpu.model} ({machine.cpu.architecture})"),
        ("instruction sets", ", ".join(machine.cpu.instruction_sets) or "none of those that matter here"),
        ("cores to use", _cores(machine)),
        ("memory to use", _memory(machine)),
        *[(f"GPU {gpu.index}", f"{gpu.name}, {gpu.memory_bytes / GIBIBYTE:.1f} GiB") for gpu in machine.gpus],
        *([] if machine.gpus else [("GPU", "none that this process can see")]),
        ("job", _job(machine)),
        ("session", machine.session.replace("ondemand", "Open OnDemand").replace("-", " ")),
        ("operating system", machine.operating_system),
    ]
    lines = [f"{name:<18}{value}" for name, value in rows]
    lines += [f"{'warning':<18}{warning}" for warning in machine.warnings]
    return "\n".join(lines)


def _cores(machine: "Machine") -> str:
    cpu = machine.cpu
    quota = "no quota" if cpu.cores_in_quota is None else f"quota {cpu.cores_in_quota:g}"
    granted = machine.scheduler.cores if machine.scheduler is not None else None
    job = "" if granted is None else f", job {granted}"
    return f"{cpu.cores_usable} (present {cpu.cores_present}, affinity {cpu.cores_in_affinity}, {quota}{job})"


def _memory(machine: "Machine") -> str:
    memory = machine.memory
    limit = "no limit" if memory.limit_bytes is None else f"limit {memory.limit_bytes / GIBIBYTE:.1f} GiB"
    total = memory.total_bytes / GIBIBYTE
    return f"{memory.usable_bytes / GIBIBYTE:.1f} GiB (total {total:.1f} GiB, {limit})"


def _job(machine: "Machine") -> str:
    job = machine.scheduler
    if job is None:
        return "none"
    name = {"slurm": "Slurm", "htcondor": "HTCondor"}[job.kind]
    place = [f"on {job.cluster}"] if job.cluster else []
    place += [f"in partition {job.partition}"] if job.partition else []
    return " ".join((name, job.job_id, *place))
