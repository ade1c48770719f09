"""What was measured on this machine before, so that it need not be measured again."""

from collections.abc import Sequence
from pathlib import Path

from mlhpc.bench.case import Request, Workload
from mlhpc.machine import inspect
from mlhpc.records.query import machine_identity
from mlhpc.records.schema import Record
from mlhpc.records.store import read_records


def measured_before(workloads: Sequence[Workload], request: Request, folder: Path) -> dict[str, Record]:
    """Return by workload's name the newest record in ``folder`` that makes measuring it again unnecessary.

    It has the same tier, device and number of processes, comes from a machine with the same processor, cores
    and GPUs, and was not cut short by an interruption.
    """
    here = machine_identity(inspect())
    names = {workload.name for workload in workloads}
    newest: dict[str, Record] = {}
    for record in sorted(read_records(folder).records, key=lambda record: record.measured_at):
        same_run = (record.tier, record.parameters.get("device"), record.parameters.get("processes")) == (
            request.tier,
            request.device,
            request.processes,
        )
        if record.workload in names and same_run and machine_identity(record.machine) == here:
            newest[record.workload] = record
    return {name: record for name, record in newest.items() if record.stopped != "interrupted"}
