"""The derived numbers: batch search, cost fit, shares, operation counts, checks of the arithmetic."""

import math
import time
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mlhpc.bench.batch import Trial, double_batch, try_batch
from mlhpc.bench.case import Prepared, Request
from mlhpc.bench.ceiling import Ceiling, measured_ceiling
from mlhpc.bench.fit import fit_costs, fit_records
from mlhpc.bench.flops import training_flop
from mlhpc.bench.kernels import convolution, matrix_product, memory_copy
from mlhpc.bench.numerics import (
    GRADIENT_LIMITS,
    WrongNumbers,
    finite_loss_gate,
    gradient_gate,
    gradient_of,
    require,
)
from mlhpc.bench.precision import check_precision
from mlhpc.bench.resnet50_task import make_model
from mlhpc.bench.resnet50_task import make_task as make_resnet_task
from mlhpc.bench.shares import performance
from mlhpc.bench.training import Setting, Task, prepare_training, reference_gradient
from mlhpc.bench.workloads.dense import make_task
from mlhpc.errors import UsageError
from mlhpc.records.schema import Summary


def summary(median: float, low: float, high: float) -> Summary:
    return Summary(
        count=12, median=median, low=low, high=high, confidence=0.95, interquartile_share=0.01, noisy=False
    )


# Batch sizes


def saturating(half: float, memory_of_one: float = 0.0) -> Callable[[int], Trial | None]:
    """Return a device that reaches half its throughput at batch ``half``."""

    def attempt(batch: int) -> Trial | None:
        return None if memory_of_one * batch > 1 else Trial(batch / (batch + half), memory_of_one * batch)

    return attempt


def test_doubling_stops_where_it_gains_less_than_three_percent() -> None:
    # From b to 2 b the gain is half / (2 b + half), under 3 % from b = 16.2 half on.
    assert double_batch(8, 4096, saturating(half=8)) == 256


def test_doubling_stops_before_the_memory_ends() -> None:
    assert double_batch(8, 4096, saturating(half=1e6, memory_of_one=1 / 150)) == 128


def test_doubling_survives_running_out_of_memory() -> None:
    tried: list[int] = []

    def attempt(batch: int) -> Trial | None:
        tried.append(batch)
        return None if batch > 32 else Trial(float(batch), 0.1)

    assert double_batch(8, 4096, attempt) == 32
    assert tried == [8, 16, 32, 64]


def test_a_first_batch_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(MemoryError, match="batch 8 does not fit"):
        double_batch(8, 4096, lambda batch: None)


# The cost fit


@given(st.floats(1e-6, 1e-2), st.floats(1e-9, 1e-4))
@settings(deadline=None, max_examples=30)
def test_the_fit_finds_the_costs_that_made_the_times(per_step: float, per_sample: float) -> None:
    times = {batch: [per_step + per_sample * batch] * 12 for batch in (64, 1024, 16_384, 65_536)}
    fit = fit_costs(times)
    largest = per_step + per_sample * 65_536
    assert math.isclose(fit.per_step.value, per_step, rel_tol=1e-6, abs_tol=1e-9 * largest)
    assert math.isclose(fit.per_sample.value, per_sample, rel_tol=1e-6, abs_tol=1e-9 * largest)
    assert fit.worst_error < 1e-6


def test_small_batches_count_as_much_as_large_ones() -> None:
    """10 % more time at the largest batch must not carry the fixed cost away, as absolute errors would."""
    times = {batch: [200e-6 + 2.5e-6 * batch] * 12 for batch in (64, 1024, 16_384)}
    times[65_536] = [1.1 * (200e-6 + 2.5e-6 * 65_536)] * 12
    assert fit_costs(times).per_step.value == pytest.approx(200e-6, rel=0.1)


def test_the_fit_shows_where_a_straight_line_is_wrong() -> None:
    times = {64: [1e-3] * 12, 1024: [1e-3] * 12, 16_384: [50e-3] * 12}
    fit = fit_costs(times)
    assert fit.worst_error > 0.1


def test_the_interval_of_the_fit_holds_its_value_and_widens_with_noise() -> None:
    def noisy(size: float) -> dict[int, list[float]]:
        generator = torch.Generator().manual_seed(1)
        factors = {batch: 1 + size * torch.randn(30, generator=generator) for batch in (64, 1024, 65_536)}
        return {
            batch: [float(f) * (1e-4 + 1e-6 * batch) for f in factor] for batch, factor in factors.items()
        }

    narrow, wide = fit_costs(noisy(0.01)).per_step, fit_costs(noisy(0.1)).per_step
    assert narrow.low <= narrow.value <= narrow.high
    assert wide.high - wide.low > narrow.high - narrow.low


def test_one_batch_size_leaves_the_costs_open() -> None:
    with pytest.raises(UsageError, match="two batch sizes"):
        fit_costs({64: [1.0] * 12})


def test_records_of_no_workload_cannot_be_fitted() -> None:
    with pytest.raises(UsageError, match="two batch sizes"):
        fit_records([])


# Shares


def test_rates_turn_the_interval_around() -> None:
    prepared = Prepared(lambda: None, 8.0, "images", flop_per_step=100.0)
    found = performance(
        prepared,
        summary(2.0, 1.6, 2.5),
        ceiling=Ceiling(flops=200.0, bandwidth=10.0),
        datasheet_flops=400.0,
        processes=2,
    )
    throughput = found["throughput"]
    assert (throughput.value, throughput.low, throughput.high) == (4.0, 3.2, 5.0)
    assert found["achieved_flops"].value == 50.0
    assert found["share_of_measured_peak"].value == pytest.approx(50 / 400)
    assert found["share_of_datasheet_peak"].value == pytest.approx(50 / 800)
    assert "roofline_bound_flops" not in found


def test_what_is_not_known_is_absent() -> None:
    found = performance(
        Prepared(lambda: None, 8.0, "rows"),
        summary(2.0, 2.0, 2.0),
        ceiling=None,
        datasheet_flops=None,
        processes=1,
    )
    assert list(found) == ["throughput"]


@pytest.mark.parametrize(("moved", "bound"), [(1.0, 200.0), (100.0, 10.0)])
def test_the_roofline_is_the_lower_of_peak_and_bandwidth(moved: float, bound: float) -> None:
    prepared = Prepared(lambda: None, 1.0, "calls", flop_per_step=100.0, bytes_per_step=moved)
    found = performance(
        prepared, summary(1.0, 1.0, 1.0), ceiling=Ceiling(200.0, 10.0), datasheet_flops=None, processes=1
    )
    assert found["roofline_bound_flops"].value == pytest.approx(bound)
    assert found["achieved_bandwidth"].value == moved


# Counting operations


def test_a_linear_layer_has_the_operations_of_its_products() -> None:
    """Forward 2 b i o, gradient of the weights the same; the input needs no gradient."""
    flop = training_flop(lambda: torch.nn.Linear(28, 256), (64, 28), lambda out: out.sum())
    assert flop == 2 * 2 * 64 * 28 * 256


def test_resnet50_has_the_published_operations_per_image() -> None:
    """4.09 GMAC forward (torchvision's model card); backward costs twice that, less the first layer."""
    flop = training_flop(lambda: make_model(0), (2, 3, 224, 224), lambda out: out.sum()) / 2
    assert flop == pytest.approx(24.3e9, rel=0.01)


def test_kernels_count_what_torch_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    for kernel in (matrix_product("cpu", "fp32", "smoke"), convolution("cpu", "fp32", "smoke")):
        with FlopCounterMode(display=False) as counter:
            kernel.run()
        assert counter.get_total_flops() == kernel.flop


@pytest.mark.parametrize(("precision", "limit"), [("fp32", 1e-5), ("bf16", 1e-2)])
def test_kernels_compute_what_they_say(precision: str, limit: float) -> None:
    for make in (matrix_product, convolution):
        error = make("cpu", precision, "smoke").error()
        assert 0 < error < limit


def test_a_memory_copy_copies() -> None:
    kernel = memory_copy("cpu", "smoke")
    assert kernel.error() == 0
    assert kernel.bytes == 2 * kernel.size


def test_the_ceiling_is_measured_once() -> None:
    first = measured_ceiling("cpu", "fp32", "smoke")
    assert first.flops > 0
    assert first.bandwidth > 0
    assert measured_ceiling("cpu", "fp32", "smoke") is first


# Checks of the arithmetic

PIXELS, BATCH = 64, 4
SMOKE = Request("smoke")


@pytest.fixture(scope="module")
def resnet_reference() -> torch.Tensor:
    return reference_gradient(make_resnet_task(PIXELS, 0), BATCH, SMOKE)


def gradient_error(task: Task, setting: Setting, reference: torch.Tensor) -> float:
    """Return the relative error that the gate of a prepared case holds."""
    prepared = prepare_training(task, setting, SMOKE, flop_per_item=1.0, reference=lambda: reference)
    return prepared.gates[0].value


@pytest.mark.parametrize(("precision", "channels_last"), [("fp32", False), ("bf16", True)])
def test_right_variants_pass_with_a_margin(
    precision: str, channels_last: bool, resnet_reference: torch.Tensor
) -> None:
    setting = Setting(precision, BATCH, BATCH, channels_last)
    error = gradient_error(make_resnet_task(PIXELS, 0), setting, resnet_reference)
    assert error < GRADIENT_LIMITS[precision] * (0.1 if precision == "fp32" else 0.7)


@pytest.mark.slow
def test_a_compiled_network_is_checked_and_its_compilation_kept_apart() -> None:
    prepared = prepare_training(
        make_task(0),
        Setting("fp32", 64, 64, compiled=True),
        SMOKE,
        flop_per_item=1.0,
        reference=lambda: reference_gradient(make_task(0), 64, SMOKE),
    )
    start = time.perf_counter()
    prepared.step()
    assert prepared.fixed_seconds["compile"] > time.perf_counter() - start
    assert prepared.gates[0].passed


def test_images_left_unnormalised_fail_even_the_widest_gate(resnet_reference: torch.Tensor) -> None:
    true = make_resnet_task(PIXELS, 0)
    wrong = Task(true.build, true.batch, lambda images, dtype: images.to(dtype) / 255, true.loss, "images")
    error = gradient_error(wrong, Setting("bf16", BATCH, BATCH), resnet_reference)
    assert error > 1.5 * GRADIENT_LIMITS["bf16"]


@pytest.mark.parametrize("factor", [0.5, 2.0, 0.0])
def test_a_loss_scaled_wrongly_fails_even_the_widest_gate(factor: float) -> None:
    true = make_task(0)
    wrong = Task(true.build, true.batch, true.ready, lambda out, y: factor * true.loss(out, y), "samples")
    error = gradient_error(wrong, Setting("bf16", 64, 64), reference_gradient(true, 64, SMOKE))
    assert error > 1.5 * GRADIENT_LIMITS["bf16"]


def test_a_failed_gate_names_case_value_and_limit() -> None:
    gradient = torch.tensor([1.0, 1.0], dtype=torch.float64)
    gate = gradient_gate(gradient, torch.tensor([2.0, 2.0], dtype=torch.float64), "fp32")
    with pytest.raises(WrongNumbers, match=r"bf16 nchw .* against float64 is 0\.5, the limit is 0\.01"):
        require("bf16 nchw", [gate])


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_a_loss_that_is_not_finite_fails(loss: float) -> None:
    assert not finite_loss_gate(loss).passed
    assert finite_loss_gate(0.7).passed


def test_gradients_come_as_one_vector() -> None:
    model = torch.nn.Linear(3, 2)
    model(torch.ones(1, 3)).sum().backward()
    assert gradient_of(model).tolist() == [1.0] * 8


def test_a_loss_that_turns_infinite_is_caught_at_the_end() -> None:
    true = make_task(0)
    factor = 1.0
    task = Task(true.build, true.batch, true.ready, lambda out, y: factor * true.loss(out, y), "samples")
    prepared = prepare_training(
        task,
        Setting("fp32", 64, 64),
        SMOKE,
        flop_per_item=1.0,
        reference=lambda: reference_gradient(true, 64, SMOKE),
    )
    assert prepared.final_gates()[0].passed
    factor = float("inf")
    prepared.step()
    assert not prepared.final_gates()[0].passed


def test_tf32_on_a_cpu_is_refused() -> None:
    with pytest.raises(UsageError, match="tf32 is a mode of NVIDIA GPUs"):
        check_precision("tf32", "cpu")


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_an_old_gpu_is_refused_what_it_lacks(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    with pytest.raises(UsageError, match=r"needs compute capability 8\.0.*Tesla V100 has 7\.0"):
        check_precision(precision, "cuda")
    check_precision("fp32", "cuda")


def test_a_batch_is_tried_with_real_steps() -> None:
    setting = Setting("fp32", 64, 64, alone=True)
    trial = try_batch(
        lambda: prepare_training(
            make_task(0),
            setting,
            SMOKE,
            flop_per_item=1.0,
            reference=lambda: reference_gradient(make_task(0), 64, SMOKE),
        ),
        "cpu",
    )
    assert trial is not None
    assert trial.throughput > 0
    assert 0 < trial.memory_share < 1


def test_a_batch_that_exhausts_the_gpu_is_no_trial() -> None:
    def prepare() -> Prepared:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    assert try_batch(prepare, "cpu") is None
