import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.bench.boosting import Assessment, Settings, Trainer
from mlhpc.bench.boosting_ranks import share_of_rows
from mlhpc.bench.case import CaseUnavailable, Request
from mlhpc.bench.ranks import Ranks
from mlhpc.bench.runner import run
from mlhpc.bench.tables import Table, make_table
from mlhpc.bench.workloads.xgboost_ import WORKLOAD, gates, require_memory
from mlhpc.errors import UsageError

ROWS = 5_000
SETTINGS = Settings(trees=10)


def _assess(table: Table, settings: Settings = SETTINGS) -> Assessment:
    trainer = Trainer(settings, table)
    trainer.construct()
    trainer.train()
    return trainer.assess()


def test_a_model_trained_well_passes_and_repeats() -> None:
    first, again = (_assess(make_table(ROWS, seed=0)) for _ in range(2))
    assert all(gate.passed for gate in gates(first, ROWS))
    assert first == again
    assert first.auc < first.best_auc


@pytest.mark.parametrize("attempt", range(2))
def test_ctrl_c_while_the_matrix_is_built_is_an_interruption_and_no_crash(attempt: int) -> None:
    """In a process of its own: unshielded, XGBoost aborts the process in some of the attempts."""
    code = (
        "import os, signal, threading\n"
        "from mlhpc.bench.boosting import Settings, Trainer\n"
        "from mlhpc.bench.tables import make_table\n"
        "trainer = Trainer(Settings(threads=2), make_table(200_000, seed=0))\n"
        "trainer.construct()\n"
        f"threading.Timer({0.05 + 0.02 * attempt}, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True: trainer.construct()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted\n", "")


def test_both_kinds_of_matrix_train_equally_good_models() -> None:
    table = make_table(ROWS, seed=0)
    quantile, plain = (_assess(table, replace(SETTINGS, matrix=kind)) for kind in ("quantile", "plain"))
    assert quantile.auc == pytest.approx(plain.auc, abs=0.01)


def test_a_model_trained_on_shuffled_labels_fails_the_gate() -> None:
    table = make_table(ROWS, seed=0)
    shuffled = np.random.default_rng(0).permutation(table.labels)
    finite, auc = gates(_assess(replace(table, labels=shuffled)), ROWS)
    assert finite.passed
    assert not auc.passed


def test_a_model_that_lost_half_of_the_columns_fails_the_gate() -> None:
    table = make_table(ROWS, seed=0)
    table.features[:, 21:] = 0
    table.features[:, 0] = 0
    assert not gates(_assess(table), ROWS)[-1].passed


def test_a_model_that_always_says_the_same_fails_the_gate() -> None:
    assert not gates(_assess(make_table(ROWS, seed=0), replace(SETTINGS, trees=0)), ROWS)[-1].passed


def test_predictions_that_are_not_numbers_fail_the_gate() -> None:
    found = gates(Assessment(finite_share=0.999, auc=math.nan, best_auc=0.8), ROWS)
    assert [gate.passed for gate in found] == [False]


def test_the_cases_time_construction_and_training_apart_by_rows() -> None:
    cases = WORKLOAD.cases(Request(tier="smoke"))
    assert [(case.parameters["phase"], case.parameters["rows"]) for case in cases] == [
        ("construct", 5_000),
        ("train", 5_000),
        ("construct", 20_000),
        ("train", 20_000),
    ]
    assert len({case.label for case in cases}) == len(cases)
    assert all(case.group == case.parameters["phase"] for case in cases)


@pytest.mark.parametrize("variant", WORKLOAD.variants("cpu"))
def test_each_variant_runs_and_passes_its_gates(variant: str) -> None:
    case = WORKLOAD.cases(Request(tier="smoke", variants=(variant,), seed=3))[0]
    prepared = case.prepare()
    prepared.step()
    assert all(gate.passed for gate in prepared.final_gates())
    assert (
        0.7
        < prepared.final_quantities()["auc"].value
        < prepared.final_quantities()["best_possible_auc"].value
    )
    assert prepared.items_per_step == case.parameters["rows"]
    prepared.close()


def test_one_thread_is_a_parameter_of_the_record() -> None:
    case = WORKLOAD.cases(Request(tier="smoke", variants=("train-one-thread",), threads=2))[0]
    assert case.parameters["threads"] == 1


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(UsageError, match="construct"):
        WORKLOAD.cases(Request(tier="smoke", variants=("constuct",)))


def test_cuda_is_refused_where_xgboost_was_built_without() -> None:
    import xgboost

    if xgboost.build_info().get("USE_CUDA"):
        pytest.skip("this XGBoost can use CUDA")
    with pytest.raises(UsageError, match=r"xgboost-cpu.*built without CUDA.*environment\.yml"):
        WORKLOAD.cases(Request(tier="smoke", device="cuda"))


def test_a_table_that_does_not_fit_into_memory_is_left_out_with_a_reason() -> None:
    with pytest.raises(CaseUnavailable, match=r"needs about 256000\.0 GB"):
        require_memory(10**12, "quantile")


@given(rows=st.integers(1, 10**8), size=st.integers(1, 64))
def test_shares_cover_the_table_once_and_evenly(rows: int, size: int) -> None:
    shares = [share_of_rows(rows, Ranks(rank, size)) for rank in range(size)]
    assert sum(count for _, count in shares) == rows
    assert [start for start, _ in shares] == [sum(count for _, count in shares[:i]) for i in range(size)]
    assert max(count for _, count in shares) - min(count for _, count in shares) <= 1


@pytest.mark.slow
def test_two_processes_train_as_good_a_model_as_one() -> None:
    """Their bins come from merged sketches, so the models differ; 0.01 is three standard errors of an AUC."""
    records = run(WORKLOAD, Request(tier="smoke", variants=("train",), processes=2))
    assert [record.parameters["rows"] for record in records] == [5_000, 20_000]
    for record in records:
        assert record.parameters["processes"] == 2
        alone = _assess(make_table(int(str(record.parameters["rows"])), seed=0))
        assert record.quantities["auc"].value == pytest.approx(alone.auc, abs=0.01)
