"""Records for tests: made through the same functions as real ones, with numbers that a test chooses."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mlhpc.machine.model import Contention, Cpu, Gpu, Machine, Memory
from mlhpc.records.build import make_record
from mlhpc.records.schema import Gate, Quantity, Record, Scalar, Tier, record_id

QUIET = Contention(
    load_average_before=0.0,
    load_average_after=1.0,
    throttled_seconds=None,
    stolen_share=None,
    omp_wait_policy=None,
    omp_num_threads=None,
)
STEADY = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99)


def machine(*, cpu: str = "Example CPU 9000", cores: int = 2, gpus: Sequence[str] = ()) -> Machine:
    """Return a machine with these names."""
    return Machine(
        cpu=Cpu(
            model=cpu,
            architecture="x86_64",
            cores_present=cores,
            cores_in_affinity=cores,
            cores_in_quota=None,
            cores_usable=cores,
            instruction_sets=("avx2",),
        ),
        memory=Memory(total_bytes=2**34, limit_bytes=None, usable_bytes=2**34),
        gpus=tuple(
            Gpu(
                index=index,
                name=name,
                memory_bytes=2**36,
                compute_capability="8.0",
                driver="1.0",
                multi_instance=False,
            )
            for index, name in enumerate(gpus)
        ),
        scheduler=None,
        session="laptop",
        operating_system="Linux 6.1, Example",
        warnings=(),
    )


def record(
    samples: Sequence[float] = STEADY,
    *,
    workload: str = "resnet50",
    tier: Tier = "quick",
    metric: str = "step_time",
    unit: str = "s",
    items: float | None = 8.0,
    where: Machine | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    gates: Sequence[Gate] = (),
    command: Sequence[str] = ("mlhpc", "bench", "resnet50"),
    contention: Contention = QUIET,
    **parameters: Scalar,
) -> Record:
    """Return a record; ``items`` per sample give it a throughput in images per second."""
    derived: dict[str, Quantity] = dict(quantities or {})
    made = make_record(
        workload=workload,
        tier=tier,
        metric=metric,
        unit=unit,
        parameters={"device": "cpu", **parameters},
        samples=samples,
        warmup=[2.0],
        stopped="converged",
        fixed_seconds={"compile": 1.5},
        quantities=derived,
        gates=gates,
        machine=where or machine(),
        contention=contention,
        packages=(),
        command=command,
    )
    if items is None:
        return made
    summary = made.summary
    derived["throughput"] = Quantity(
        value=items / summary.median, unit="images/s", low=items / summary.high, high=items / summary.low
    )
    return changed(made, quantities={**derived})


def changed(original: Record, **updates: Any) -> Record:
    """Return a copy with other fields and the id that belongs to them."""
    copy = original.model_copy(update=updates)
    return copy.model_copy(update={"id": record_id(copy.model_dump(mode="json"))})


def at(day: int) -> datetime:
    """Return a time on a day of January 2026."""
    return datetime(2026, 1, day, tzinfo=UTC)
