"""The workloads' cases: which variants there are, what is refused, and one real run of each."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mlhpc.bench import workloads
from mlhpc.bench.case import Request
from mlhpc.bench.registry import all_workloads, chosen_variants, find_workload
from mlhpc.bench.runner import run
from mlhpc.errors import UsageError


def test_a_workload_is_found_by_its_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "added_later.py").write_text(
        "from mlhpc.bench.workloads.peak import Peak\n"
        "class Added(Peak):\n    name = 'added'\n"
        "WORKLOAD = Added()\n"
    )
    (tmp_path / "helper_without_workload.py").write_text("ANSWER = 42\n")
    monkeypatch.setattr(workloads, "__path__", [*workloads.__path__, str(tmp_path)])
    assert find_workload("added").name == "added"
    assert {"added", "dense", "peak", "resnet50"} <= set(all_workloads())


def test_an_unknown_workload_lists_what_there_is() -> None:
    with pytest.raises(
        UsageError, match=r"Unknown workload 'rsnet50'\. Did you mean resnet50\? There are: dense,"
    ):
        find_workload("rsnet50")
    with pytest.raises(UsageError, match=r"Unknown workload 'zzz'\. There are: "):
        find_workload("zzz")


def test_variants_keep_the_order_asked_for_and_come_once() -> None:
    request = Request("smoke", variants=("b", "a", "b"))
    assert chosen_variants(["a", "b", "c"], ["c"], request) == ("b", "a")
    assert chosen_variants(["a", "b", "c"], ["c"], Request("smoke")) == ("c",)


@pytest.mark.parametrize("name", ["dense", "peak", "resnet50"])
@pytest.mark.parametrize("tier", ["smoke", "quick"])
def test_cases_are_distinct_and_start_with_the_plain_baseline(name: str, tier: str) -> None:
    workload = find_workload(name)
    cases = workload.cases(Request(tier))  # type: ignore[arg-type]
    assert len({case.label for case in cases}) == len(cases)
    assert len({str(sorted(case.parameters.items(), key=str)) for case in cases}) == len(cases)
    assert all(case.variant in workload.variants("cpu") for case in cases)
    for case in cases:
        assert {"device", "processes", "threads", "seed", "precision"} <= set(case.parameters)
    assert cases[0].parameters["precision"] == "fp32"


@pytest.mark.parametrize(
    ("name", "variant", "message"),
    [
        ("resnet50", "tf32-nchw", "tf32 is a mode of NVIDIA GPUs"),
        ("resnet50", "bf16-nchw-strong", "add --processes 2 or more"),
        ("resnet50", "fp16-nchw", "Unknown variant 'fp16-nchw'"),
        ("dense", "batch-65", "Did you mean batch-64"),
        ("dense", "all-reduce", "Unknown variant"),
        ("peak", "convolution-tf32", "tf32 is a mode of NVIDIA GPUs"),
    ],
)
def test_what_cannot_run_is_refused_with_a_sentence(name: str, variant: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_workload(name).cases(Request("smoke", variants=(variant,)))


def test_peak_is_of_one_process() -> None:
    with pytest.raises(UsageError, match="ceiling of one process"):
        find_workload("peak").cases(Request("smoke", processes=2))


def test_strong_scaling_shares_the_batch_out() -> None:
    request = Request("smoke", processes=2, variants=("fp32-nchw", "fp32-nchw-strong", "all-reduce"))
    weak, strong, exchange = find_workload("resnet50").cases(request)
    assert (weak.parameters["batch"], strong.parameters["batch"]) == (8, 4)
    assert (weak.parameters["scaling"], strong.parameters["scaling"]) == ("weak", "strong")
    assert exchange.parameters["values"] == 25_557_032  # parameters of ResNet-50, torchvision's model card


@pytest.mark.slow
def test_resnet50_gives_gated_records_with_shares() -> None:
    request = Request("smoke", variants=("fp32-channels_last", "bf16-channels_last"))
    records = run(find_workload("resnet50"), request)
    assert [record.parameters["precision"] for record in records] == ["fp32", "bf16"]
    for record in records:
        assert [gate.passed for gate in record.gates] == [True, True]
        assert record.quantities["achieved_flops"].value > 1e9
        assert 0 < record.quantities["share_of_measured_peak"].value < 3
        assert "share_of_datasheet_peak" not in record.quantities
        assert record.fixed_seconds["first_pass"] > 0
        assert {"torch", "torchvision"} == set(record.software.packages)


def test_dense_says_what_a_step_and_a_sample_cost() -> None:
    workload = find_workload("dense")
    records = run(workload, Request("smoke", variants=("batch-64", "batch-1k")))
    notes: Sequence[str] = workload.notes(records)  # type: ignore[attr-defined]
    assert notes[0].startswith("Fixed cost of a step: ")
    assert "straight line" in notes[1]
    assert workload.notes(records[:1]) == ()  # type: ignore[attr-defined]


def test_peak_computes_and_copies() -> None:
    records = run(find_workload("peak"), Request("smoke", variants=("matrix-product-fp32", "memory-copy")))
    product, copy = records
    assert product.quantities["achieved_flops"].value > 1e9
    assert "share_of_roofline_bound" in product.quantities
    assert copy.quantities["achieved_bandwidth"].value > 1e8
    assert "achieved_flops" not in copy.quantities


@pytest.mark.gpu
def test_all_precisions_on_a_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    records = run(find_workload("resnet50"), Request("smoke", device="cuda"))
    for record in records:
        assert all(gate.passed for gate in record.gates)
        assert record.quantities["peak_memory"].value > 1e8
        assert len(record.warmup) == 10


@pytest.mark.gpu
def test_a_batch_is_found_on_a_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    (case,) = find_workload("resnet50").cases(Request("full", device="cuda", variants=("fp32-nchw",)))
    assert int(str(case.parameters["batch"])) >= 32
    assert torch.cuda.memory_allocated() < 2**30
