"""``mlhpc machine``: what this process may use."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlhpc.machine import Machine
    from mlhpc.machine.storage import StorageTier

GIBIBYTE = 2**30


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("machine")
    def machine(
        json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
        storage: Annotated[
            bool, typer.Option("--storage", help="Show the places for files instead, with what is free.")
        ] = False,
    ) -> None:
        """Show the cores, memory, GPUs and job that this process may use, and what to watch out for."""
        if storage:
            _show_storage(json=json)
            return
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


QUOTA_NOTE = (
    "Free is what the file system has left; your own quota may end earlier, in bytes or in files. Ask for it "
    "with the command of the site (quota -s, lfs quota, mmlsquota, beegfs-ctl --getquota)."
)


def _show_storage(*, json: bool) -> None:
    from pydantic import TypeAdapter

    from mlhpc.machine.storage import StorageTier, find_storage

    tiers = find_storage()
    if json:
        typer.echo(TypeAdapter(tuple[StorageTier, ...]).dump_json(tiers, indent=2))
        return
    typer.echo(describe_storage(tiers))


def describe_storage(tiers: "Sequence[StorageTier]") -> str:
    """Return the listing of storage tiers: a line for each place, then what the numbers do not say."""
    from mlhpc.text_table import format_table

    header = ("place", "path", "kind", "file system", "free", "of", "free inodes", "write", "inside")
    rows = [
        (
            tier.name,
            tier.path,
            *_filled(tier),
            "yes" if tier.writable else "no",
            ", ".join(tier.inside) or "-",
        )
        for tier in tiers
        if tier.fault is None
    ]
    lines = [format_table(header, rows)]
    lines += [f"{tier.name} ({tier.path}): {tier.fault}" for tier in tiers if tier.fault is not None]
    shared = len(rows) > len({tier.number for tier in tiers if tier.fault is None})
    if shared:
        lines.append(
            "Places whose file system has the same number in brackets share its space and its speed."
        )
    return "\n".join([*lines, QUOTA_NOTE])


def _filled(tier: "StorageTier") -> tuple[str, str, str, str, str]:
    """Return kind, file system, free and total bytes and free inodes as text."""
    sizes = [
        "?" if size is None else f"{size / GIBIBYTE:,.1f} GiB" for size in (tier.free_bytes, tier.total_bytes)
    ]
    inodes = "not counted" if tier.free_inodes is None else f"{tier.free_inodes:,}"
    return tier.kind, f"{tier.file_system} ({tier.number})", sizes[0], sizes[1], inodes


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
