"""``mlhpc script``: a job script for a site."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mlhpc.scripts import JobRequest, Script


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("script", context_settings={"ignore_unknown_options": False})(script)


def script(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND ARGUMENTS]", help="The command, after --.")
    ] = None,
    site: Annotated[
        str, typer.Option(help="Profile to follow: a name from `mlhpc site list`, or a file.")
    ] = "generic",
    cluster: Annotated[str | None, typer.Option(help="Cluster of the site, if it has several.")] = None,
    gpu: Annotated[str | None, typer.Option(help="Kind of GPU, or `any`. [default: none]")] = None,
    gpus: Annotated[int, typer.Option(help="How many GPUs.")] = 1,
    time: Annotated[
        str | None, typer.Option(help="Longest run time: '4 h', '90 min', '2 days', 1-12:00:00.")
    ] = None,
    cores: Annotated[int, typer.Option(help="Cores (processors) of the job.")] = 1,
    memory: Annotated[str | None, typer.Option(help="Main memory with its unit: '32 GB'.")] = None,
    command: Annotated[
        str | None, typer.Option(help="The command as one line: 'python train.py --epochs 3'.")
    ] = None,
    partition: Annotated[
        str | None, typer.Option(help="Slurm partition. [default: the first that fits]")
    ] = None,
    category: Annotated[
        str | None, typer.Option(help="HTCondor: class of jobs. [default: the site's]")
    ] = None,
    account: Annotated[str | None, typer.Option(help="Account or project to charge.")] = None,
    reservation: Annotated[str | None, typer.Option(help="Reservation, for instance of a class.")] = None,
    name: Annotated[str, typer.Option(help="Name of the job and of the script.")] = "job",
    output: Annotated[str, typer.Option(help="Folder for the log.")] = "logs",
    environment: Annotated[
        str | None, typer.Option(help="Folder of the Python environment to activate.")
    ] = None,
    stage_in: Annotated[
        list[str] | None, typer.Option(help="Copy this to node-local storage first; repeat.")
    ] = None,
    stage_out: Annotated[list[str] | None, typer.Option(help="Copy this back at the end; repeat.")] = None,
    signal: Annotated[
        str | None, typer.Option(help="Signal for the command before the time is up: USR1, USR2, TERM, INT.")
    ] = None,
    signal_seconds: Annotated[int, typer.Option(help="How many seconds before.")] = 120,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write the script to. [default: print it]", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    json_: Annotated[
        bool, typer.Option("--json", help="Print script, companions and remarks as JSON.")
    ] = False,
) -> None:
    """Write a batch script (Slurm) or a submit description (HTCondor) that follows a site's rules.

    What the site does not allow is refused, with the nearest thing that works. What the profile does not know
    is left out, and said on standard error.
    """
    from mlhpc.scripts import JobRequest, write_script
    from mlhpc.scripts.units import read_memory, read_time
    from mlhpc.sites.load import load_site

    request = JobRequest(
        command=_command(command, words),
        cluster=cluster,
        gpu=gpu,
        gpus=gpus,
        time=read_time(time),
        cores=cores,
        memory=read_memory(memory),
        partition=partition,
        category=category,
        account=account,
        reservation=reservation,
        name=name,
        output=output,
        stage_in=tuple(stage_in or ()),
        stage_out=tuple(stage_out or ()),
        signal=signal,
        signal_seconds=signal_seconds,
        environment=environment,
    )
    written = write_script(load_site(site), request)
    if json_:
        _print_json(written)
    elif out is not None:
        _save(written, request, out, force=force)
    else:
        _print(written)
    for remark in written.remarks:
        typer.echo(f"note: {remark}", err=True)


def _command(line: str | None, words: list[str] | None) -> tuple[str, ...]:
    from mlhpc.errors import UsageError

    if line is not None and words:
        raise UsageError("Give the command once: with --command, or after --.")
    if line is None:
        return tuple(words or ())
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"--command {line!r} cannot be read as a line of a shell: {error}.") from error


def _print(written: "Script") -> None:
    typer.echo(written.text, nl=False)
    for name, text in written.companions.items():
        typer.echo(f"\n# ----- {name}\n{text}", nl=False)
    typer.echo(f"note: to submit it: {' && '.join(written.submit)}", err=True)


def _print_json(written: "Script") -> None:
    import json

    fields = {
        "kind": written.kind,
        "file_name": written.file_name,
        "text": written.text,
        "companions": dict(written.companions),
        "submit": list(written.submit),
        "remarks": list(written.remarks),
    }
    typer.echo(json.dumps(fields, indent=2))


def _save(written: "Script", request: "JobRequest", folder: Path, *, force: bool) -> None:
    """Write the script, its companions and the log's folder; nothing if one of the files is there already."""
    from mlhpc.errors import MlhpcError, UsageError
    from mlhpc.files import write_atomically

    files = {written.file_name: written.text, **written.companions}
    present = [name for name in files if (folder / name).exists()]
    if present and not force:
        raise UsageError(
            f"{folder / present[0]} exists already: choose another --name, or replace it with --force."
        )
    for name, text in files.items():
        write_atomically(folder / name, text)
        if text.startswith("#!"):
            (folder / name).chmod(0o755)
    try:
        (folder / request.output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MlhpcError(
            f"Cannot make the log's folder {folder / request.output}: {error.strerror}."
        ) from error
    typer.echo(f"{folder / written.file_name}: written. In that folder: {written.submit[-1]}", err=True)
