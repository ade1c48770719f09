"""Gradient-boosted trees on a Higgs-like table, by number of rows: matrix construction and training apart.

The module's name ends in an underscore because ``xgboost`` is the library.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version

from mlhpc.bench import ranks as launched
from mlhpc.bench.boosting import Assessment, MatrixKind, Settings, Trainer
from mlhpc.bench.boosting_ranks import connect, disconnect, share_of_rows
from mlhpc.bench.case import Case, CaseUnavailable, Prepared, Request
from mlhpc.bench.device import common_parameters, threads_per_process
from mlhpc.bench.registry import chosen_variants
from mlhpc.bench.tables import COLUMNS, make_table
from mlhpc.errors import UsageError
from mlhpc.records.schema import Gate, Quantity, Record, Scalar, Tier

DISTRIBUTIONS = ("xgboost", "xgboost-cpu", "xgboost-cu13", "xgboost-cu12")
"""Names under which the library is published; each installs the package ``xgboost``."""

BYTES_PER_ROW: dict[MatrixKind, int] = {"quantile": 256, "plain": 512}
"""Memory that a row needs at the most: itself (112 bytes), its copies, bins and gradients.
Peak resident memory at 2M rows was 238 and 470 bytes a row."""


@dataclass(frozen=True)
class _Size:
    rows: tuple[int, ...]
    trees: int


SIZES: dict[Tier, _Size] = {
    "smoke": _Size(rows=(5_000, 20_000), trees=10),
    "quick": _Size(rows=(20_000, 60_000, 200_000), trees=50),
    "full": _Size(rows=(100_000, 1_000_000, 10_000_000), trees=100),
}


@dataclass(frozen=True)
class _Variant:
    phase: str
    matrix: MatrixKind = "quantile"
    one_thread: bool = False


VARIANTS = {
    "construct": _Variant("construct"),
    "train": _Variant("train"),
    "construct-plain": _Variant("construct", matrix="plain"),
    "train-one-thread": _Variant("train", one_thread=True),
}
USUAL = ("construct", "train")


class XgboostWorkload:
    """The cases of ``mlhpc bench xgboost``."""

    name = "xgboost"
    title = "Gradient-boosted trees"
    summary = (
        "XGBoost on a table of 28 columns, by number of rows: building the matrix and training, timed apart."
    )

    def variants(self, device: str) -> Sequence[str]:
        """Return the variants; on a GPU those with one CPU thread say nothing and are left out."""
        return [name for name, variant in VARIANTS.items() if device == "cpu" or not variant.one_thread]

    def cases(self, request: Request) -> Sequence[Case]:
        """Return two cases for each number of rows, or those that the request names.

        Raises:
            UsageError: for a variant that does not exist on the device, or ``cuda`` where XGBoost lacks it.
        """
        names = chosen_variants(self.variants(request.device), USUAL, request)
        if request.device != "cpu":
            require_cuda()
        size = SIZES[request.tier]
        return [_case(request, rows, size.trees, name) for rows in size.rows for name in names]

    def notes(self, records: Sequence[Record]) -> Sequence[str]:
        """Return the fixed cost and the cost of a row for each phase, where three numbers of rows or more can
        also show how far the cost is a straight line."""
        lines: dict[tuple[Scalar, ...], dict[int, Sequence[float]]] = {}
        for record in records:
            key = (record.metric, *(record.parameters[name] for name in ("matrix", "threads", "processes")))
            lines.setdefault(key, {})[int(str(record.parameters["rows"]))] = record.samples
        return [_note(key, by_rows) for key, by_rows in lines.items() if len(by_rows) > 2]


WORKLOAD = XgboostWorkload()


def _note(key: tuple[Scalar, ...], seconds_by_rows: dict[int, Sequence[float]]) -> str:
    from mlhpc.bench.fit import fit_costs

    metric, matrix, threads, processes = key
    fit = fit_costs(seconds_by_rows)
    once, row = fit.per_step, fit.per_sample
    return (
        f"{metric} ({matrix} matrix, {processes} x {threads} threads): "
        f"{once.value:.3g} s [{once.low:.3g}, {once.high:.3g}] once "
        f"and {row.value * 1e6:.3g} µs [{row.low * 1e6:.3g}, {row.high * 1e6:.3g}] for each row; "
        f"a straight line misses the measured times by at most {fit.worst_error:.0%}."
    )


def installed_distribution() -> str | None:
    """Return the name under which XGBoost is installed, for instance ``xgboost-cpu``."""
    for name in DISTRIBUTIONS:
        try:
            version(name)
        except PackageNotFoundError:
            continue
        return name
    return None


def require_cuda() -> None:
    """Refuse an XGBoost that was built without CUDA.

    Raises:
        UsageError: naming what is installed and what to install.
    """
    import xgboost

    if not xgboost.build_info().get("USE_CUDA", False):
        installed = installed_distribution() or "of unknown origin"
        raise UsageError(
            f"The installed XGBoost ({installed}) was built without CUDA: create the GPU environment from "
            "environment.yml, or replace the package by xgboost (3.4 or newer) beside a torch for CUDA 13, "
            "or by xgboost-cu12 beside a torch for CUDA 12."
        )


def _case(request: Request, rows: int, trees: int, name: str) -> Case:
    variant = VARIANTS[name]
    settings = Settings(
        device=request.device,
        threads=1 if variant.one_thread else threads_per_process(request),
        trees=trees,
        matrix=variant.matrix,
        seed=request.seed,
    )
    return Case(
        label=f"{name} {rows:,} rows",
        variant=name,
        parameters={
            **common_parameters(request),
            "threads": settings.threads,
            "phase": variant.phase,
            "rows": rows,
            "columns": COLUMNS,
            "trees": trees,
            "depth": settings.depth,
            "matrix": settings.matrix,
        },
        prepare=partial(_prepare, settings, rows, variant.phase),
        metric=f"{variant.phase}_time",
        group=variant.phase,
        packages=(installed_distribution() or "xgboost", "numpy", "scikit-learn"),
    )


def _prepare(settings: Settings, rows: int, phase: str) -> Prepared:
    require_memory(rows, settings.matrix)
    ranks = launched.current()
    if settings.device != "cpu":
        settings = replace(settings, device=f"cuda:{ranks.local_rank}")
    start, count = share_of_rows(rows, ranks)
    trainer = Trainer(settings, make_table(count, seed=settings.seed, start=start))
    connect(ranks)
    fixed: dict[str, float] = {}
    if phase == "construct":
        step, assess = trainer.construct, cache(trainer.assess_matrix)
    else:
        began = time.perf_counter()
        trainer.construct()
        fixed["construct"] = time.perf_counter() - began
        trainer.release_table()
        step, assess = trainer.train, cache(trainer.assess)
    return Prepared(
        step=step,
        items_per_step=rows,
        item="rows",
        fixed_seconds=fixed,
        # The matrix must at least be read once from the raw rows; training has no such simple bound.
        bytes_per_step=float(rows * COLUMNS * 4) if phase == "construct" else None,
        final_gates=lambda: gates(assess(), rows),
        final_quantities=lambda: quantities(assess()),
        close=partial(_close, trainer, ranks),
    )


def _close(trainer: Trainer, ranks: launched.Ranks) -> None:
    trainer.release()
    disconnect(ranks)


def require_memory(rows: int, matrix: MatrixKind) -> None:
    """Refuse a table that does not fit into the memory of this process.

    Raises:
        CaseUnavailable: naming what is needed and what there is.
    """
    from mlhpc.machine import inspect

    usable = inspect().memory.usable_bytes
    needed = rows * BYTES_PER_ROW[matrix]
    if needed > usable:
        raise CaseUnavailable(
            f"A table of {rows:,} rows needs about {needed / 1e9:.1f} GB of memory, "
            f"and this process may use {usable / 1e9:.1f} GB: ask for a job with more memory."
        )


def least_share(rows: int) -> float:
    """Return how much of the attainable AUC, above the 0.5 of guessing, a correct model must reach.

    Measured least over seeds 0 to 2 and 10 to 100 trees: 0.82 at 5,000 rows, 0.87 at 20,000, 0.93 at 200,000.
    Trained on shuffled labels it is between -0.1 and 0.1.
    """
    if rows < 20_000:
        return 0.75
    return 0.82 if rows < 100_000 else 0.9


def gates(assessment: Assessment, rows: int) -> Sequence[Gate]:
    """Return the checks of a model trained on ``rows`` rows."""
    finite = Gate(
        name="share of finite predictions",
        value=assessment.finite_share,
        limit=1.0,
        passed=assessment.finite_share == 1.0,
    )
    if not finite.passed:
        return [finite]
    limit = 0.5 + least_share(rows) * (assessment.best_auc - 0.5)
    auc = Gate(name="AUC on held-out rows", value=assessment.auc, limit=limit, passed=assessment.auc >= limit)
    return [finite, auc]


def quantities(assessment: Assessment) -> dict[str, Quantity]:
    """Return the AUC and the best that the table allows."""
    return {
        "auc": Quantity(value=assessment.auc, unit="1"),
        "best_possible_auc": Quantity(value=assessment.best_auc, unit="1"),
    }
