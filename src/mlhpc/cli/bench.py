"""``mlhpc bench``: measure this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlhpc.bench.case import Request, Workload
    from mlhpc.bench.display import Display
    from mlhpc.records.schema import Record

ALL = "all"
WATCHED_SECONDS = 0.5
BUSY = 0.2
"""Share of all processors' time in use before a measurement from which on a warning is due."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("bench")
    def bench(
        name: Annotated[
            str, typer.Argument(help="A workload, or all: dense, loading, peak, resnet50, storage, xgboost.")
        ],
        device: Annotated[Literal["cpu", "cuda"], typer.Option(help="Where to compute.")] = "cpu",
        gpus: Annotated[int | None, typer.Option(min=1, help="GPUs that work together (cuda).")] = None,
        processes: Annotated[
            int | None, typer.Option(min=1, help="Processes that work together (cpu).")
        ] = None,
        variant: Annotated[
            list[str] | None, typer.Option(help="Measure this variant; may be repeated.")
        ] = None,
        tier: Annotated[
            Literal["smoke", "quick", "full"],
            typer.Option(envvar="MLHPC_TIER", help="smoke: seconds; quick: minutes; full: a GPU node."),
        ] = "quick",
        threads: Annotated[int | None, typer.Option(min=1, help="Threads of each process.")] = None,
        seed: Annotated[
            int, typer.Option(min=0, help="Of all generated data and of the order of turns.")
        ] = 0,
        if_missing: Annotated[
            bool, typer.Option("--if-missing", help="Leave out workloads measured on this machine before.")
        ] = False,
        json: Annotated[bool, typer.Option("--json", help="Print the records, one JSON line each.")] = False,
        records: Annotated[
            Path | None, typer.Option(metavar="DIR", help="Folder for the records, instead of yours.")
        ] = None,
    ) -> None:
        """Measure how fast this machine trains and loads, and keep each measurement as a record."""
        from mlhpc.bench.case import Request
        from mlhpc.bench.registry import all_workloads, find_workload
        from mlhpc.errors import UsageError
        from mlhpc.paths import local_records_folder

        count = _process_count(device, gpus, processes)
        if name == ALL and variant:
            raise UsageError("--variant belongs to one workload: name it instead of all.")
        chosen = list(all_workloads().values()) if name == ALL else [find_workload(name)]
        request = Request(tier, device, count, tuple(variant or ()), seed, threads)
        folder = records or local_records_folder()
        if if_missing:
            chosen = _without_measured(chosen, request, folder)
        measure(chosen, request, folder, json=json)


def _process_count(device: str, gpus: int | None, processes: int | None) -> int:
    """Return how many ranks to start.

    Raises:
        UsageError: for the option of the other device.
    """
    from mlhpc.errors import UsageError

    if device == "cpu" and gpus is not None:
        raise UsageError("--gpus needs --device cuda; on a CPU, --processes says how many work together.")
    if device == "cuda" and processes is not None:
        raise UsageError("--processes is for --device cpu; with cuda, --gpus says how many work together.")
    return gpus or processes or 1


def _without_measured(workloads: "Sequence[Workload]", request: "Request", folder: Path) -> "list[Workload]":
    """Return the workloads that this machine has no record of yet, and tell which are left out."""
    from mlhpc.bench.coverage import measured_before

    before = measured_before(workloads, request, folder)
    for name, record in before.items():
        typer.echo(f"{name}: measured here on {record.measured_at:%Y-%m-%d} at {record.tier} tier.", err=True)
    return [workload for workload in workloads if workload.name not in before]


def measure(workloads: "Sequence[Workload]", request: "Request", folder: Path, *, json: bool) -> None:
    """Run the workloads one after the other; records go to ``folder`` and results to standard output.

    A workload that fails does not keep the others from running.

    Raises:
        MlhpcError: at the end, with the sentences of all that failed.
    """
    from mlhpc.bench.display import Display
    from mlhpc.bench.interruption import Interrupted
    from mlhpc.errors import MlhpcError

    _check_folder(folder)
    _warn_of_others()
    faults: list[MlhpcError] = []
    kept = 0
    with Display(len(workloads)) as display:
        for workload in workloads:
            try:
                kept += _measure_one(workload, request, folder, display, json=json)
            except Interrupted:
                raise
            except MlhpcError as error:
                faults.append(error)
                display.skip()
    if kept:
        typer.echo(f"{kept} {'record' if kept == 1 else 'records'} appended in {folder}.", err=True)
    if faults:
        fault = MlhpcError(" ".join(str(error) for error in faults))
        fault.exit_status = max(error.exit_status for error in faults)
        raise fault


def _measure_one(
    workload: "Workload", request: "Request", folder: Path, display: "Display", *, json: bool
) -> int:
    """Run one workload, print its tables as they come, and return how many records it gave."""
    from mlhpc.bench.case import DEFAULT_GROUP, Annotating
    from mlhpc.bench.report import group_table
    from mlhpc.bench.runner import run
    from mlhpc.records.store import append_record

    def keep(record: "Record") -> None:
        append_record(folder, record)
        if json:
            display.print(record.model_dump_json())

    def show_group(group: str, records: "Sequence[Record]") -> None:
        if records and not json:
            title = workload.title if group == DEFAULT_GROUP else f"{workload.title}: {group}"
            display.print(f"{title}\n{group_table(records)}\n")

    records = run(workload, request, display.show, keep, show_group)
    if isinstance(workload, Annotating) and not json:
        for note in workload.notes(records):
            display.print(note)
    return len(records)


def _warn_of_others() -> None:
    """Say so before the first measurement if other programs are using the cores."""
    import psutil

    busy = psutil.cpu_percent(interval=WATCHED_SECONDS) / 100
    if busy < BUSY:
        return
    patience = "" if os.environ.get("OMP_WAIT_POLICY") else " Set OMP_WAIT_POLICY=PASSIVE if you cannot wait."
    typer.echo(
        f"Other programs use {busy:.0%} of this machine: times will be too long, some of them many times. "
        f"Measure again when it is idle.{patience}",
        err=True,
    )


def _check_folder(folder: Path) -> None:
    """Refuse a folder or a file that cannot be written before minutes are spent on measuring.

    Raises:
        MlhpcError: naming the folder or the file.
    """
    from mlhpc.errors import MlhpcError
    from mlhpc.records.store import FILE_NAME

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MlhpcError(f"Cannot make the folder for records {folder}: {error.strerror}.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise MlhpcError(f"Cannot write into the folder for records {folder}: choose another with --records.")
    file = folder / FILE_NAME
    if file.exists() and not (file.is_file() and os.access(file, os.W_OK)):
        raise MlhpcError(
            f"{file} is no file that you may write to: change that, or choose another folder with --records."
        )
