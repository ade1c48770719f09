"""Running a workload, alone or as several processes that work together.

The same :class:`~mlhpc.bench.session.Session` measures in both cases. With several processes, rank 0 makes
the records, and the process that started the ranks receives them one by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from mlhpc.bench import ranks
from mlhpc.bench.case import Request, Workload
from mlhpc.bench.device import check_device, threads_per_process
from mlhpc.bench.interruption import Interrupted
from mlhpc.bench.session import Progress, Session
from mlhpc.interruption import terminate_as_interrupt
from mlhpc.records.schema import Record

OnProgress = Callable[[Progress], None]
Sink = Callable[[Record], None]
OnGroup = Callable[[str, Sequence[Record]], None]


def run(
    workload: Workload,
    request: Request,
    on_progress: OnProgress = lambda progress: None,
    sink: Sink = lambda record: None,
    on_group: OnGroup = lambda group, records: None,
) -> list[Record]:
    """Measure the cases of ``workload`` that ``request`` selects.

    Args:
        workload: what to time.
        request: device, tier, processes, variants, seed.
        on_progress: called between timed steps, at most a few times a second.
        sink: called with each record as soon as it exists, for instance to append it to a file.
        on_group: called with each group's name and the records of its cases, which were timed in turns.

    Raises:
        UsageError: if the request cannot be met on this machine.
        MlhpcError: if a case fails a check of its numerics, or ``sink`` or a rank fails.
        Interrupted: after Ctrl-C or SIGTERM; ``sink`` has been given what was measured until then.
    """
    check_device(request)
    records: dict[str, Record] = {}

    def keep(record: Record) -> None:
        sink(record)
        records[record.id] = record

    def finish_group(group: str, identifiers: Sequence[str]) -> None:
        on_group(group, [records[identifier] for identifier in identifiers])

    with terminate_as_interrupt():
        try:
            if request.processes > 1:
                _run_in_ranks(workload, request, on_progress, keep, finish_group)
            else:
                Session(workload, request, ranks.current(), on_progress, keep, finish_group).run()
        except KeyboardInterrupt as interrupt:
            raise Interrupted(_sentence(len(records), str(interrupt))) from None
    return list(records.values())


def _sentence(kept: int, missing: str) -> str:
    counted = "1 record was" if kept == 1 else f"{kept} records were"
    return f"Interrupted; {counted} kept. {missing}".strip()


def _run_in_ranks(
    workload: Workload,
    request: Request,
    on_progress: OnProgress,
    sink: Sink,
    on_group: Callable[[str, Sequence[str]], None],
) -> None:
    missing = ""

    def receive(message: ranks.Message) -> None:
        nonlocal missing
        match message["kind"]:
            case "record":
                sink(Record.model_validate_json(message["record"]))
            case "progress":
                on_progress(Progress(**message["progress"]))
            case "group":
                on_group(message["group"], message["ids"])
            case "missing":
                missing = message["missing"]

    try:
        ranks.launch(
            f"{__name__}:measure_in_rank",
            {"workload": workload.name, "request": asdict(request)},
            processes=request.processes,
            threads=threads_per_process(request),
            on_message=receive,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(missing) from None


def measure_in_rank(payload: dict[str, Any]) -> None:
    """Measure as one of several ranks; the target of ``ranks.launch``."""
    from mlhpc.bench.registry import find_workload

    here = ranks.current()
    request = Request(**{**payload["request"], "variants": tuple(payload["request"]["variants"])})
    session = Session(
        find_workload(payload["workload"]),
        request,
        here,
        lambda progress: here.emit({"kind": "progress", "progress": asdict(progress)}),
        lambda record: here.emit({"kind": "record", "record": record.model_dump_json()}),
        lambda group, ids: here.emit({"kind": "group", "group": group, "ids": list(ids)}),
    )
    try:
        session.run()
    except KeyboardInterrupt as interrupt:
        here.emit({"kind": "missing", "missing": str(interrupt)})
