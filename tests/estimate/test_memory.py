"""Memory of a training step, against counts made by hand and against a real process."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mlhpc.errors import UsageError
from mlhpc.estimate.memory import TrainingMemory, count_memory


def test_a_dense_network_by_hand() -> None:
    model = nn.Sequential(nn.Linear(8, 16, bias=False), nn.ReLU(), nn.Linear(16, 4, bias=False))
    found = count_memory(model, torch.rand(10, 8), optimizer="adam")
    assert found.parameters == 8 * 16 + 16 * 4
    assert found.weights == found.gradients == 4 * found.parameters
    assert found.optimizer == 2 * found.weights
    # Kept for each sample: the 8 inputs of the first layer and the 16 outputs of the ReLU.
    assert (found.per_sample, found.per_step) == (4 * (8 + 16), 0)


def test_weights_that_do_not_learn_have_no_gradient_and_no_state() -> None:
    model = nn.Sequential(nn.Linear(8, 16, bias=False), nn.Linear(16, 4, bias=False))
    model[0].requires_grad_(False)
    found = count_memory(model, torch.rand(4, 8), optimizer="adam")
    assert found.weights == 4 * (8 * 16 + 16 * 4)
    assert found.gradients == 4 * 16 * 4
    assert found.optimizer == 2 * found.gradients


def test_a_storage_that_two_layers_keep_is_counted_once() -> None:
    class Twice(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept = x.exp()
            return kept.sin() + kept.cos()

    found = count_memory(Twice(), torch.rand(6, 100, requires_grad=True))
    assert found.per_sample == 4 * 100


def test_autocast_halves_what_is_kept_and_adds_copies_of_the_weights() -> None:
    model = nn.Sequential(nn.Linear(64, 64, bias=False), nn.ReLU(), nn.Linear(64, 64, bias=False))
    plain = count_memory(model, torch.rand(8, 64))
    half = count_memory(model, torch.rand(8, 64), autocast=True)
    assert half.per_sample == plain.per_sample / 2
    assert half.per_step == 2 * 64 * 64
    assert half.weights == plain.weights


@pytest.mark.parametrize("shape", [(0, 8), (1, 8), ()])
def test_one_sample_cannot_tell_what_grows(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="at least two samples"):
        count_memory(nn.Linear(8, 8), torch.zeros(shape))


def test_an_unknown_optimizer_is_refused() -> None:
    with pytest.raises(UsageError, match="sgd-momentum"):
        count_memory(nn.Linear(8, 8), torch.rand(2, 8), optimizer="lion")  # type: ignore[arg-type]


@settings(max_examples=50)
@given(st.integers(1, 10**7), st.floats(1, 1e9), st.integers(0, 10**10))
def test_the_largest_batch_fits_and_the_next_does_not(weights: int, per_sample: float, room: int) -> None:
    memory = TrainingMemory(weights, 4 * weights, 0, 4 * weights, 0, per_sample, 0.0)
    largest = memory.largest_batch(memory.fixed + room)
    if largest:
        assert memory.total(largest) <= (memory.fixed + room) * (1 + 1e-12)
    assert memory.total(largest + 1) > (memory.fixed + room) * (1 - 1e-12)


def test_too_little_memory_fits_nothing() -> None:
    assert TrainingMemory(10, 40, 0, 40, 0, 5.0, 0.0).largest_batch(10) == 0


PROGRAM = """
import sys, torch
from torch import nn
batch = int(sys.argv[1])
model = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(2048, 2048), nn.ReLU())])
samples = torch.rand(batch, 2048)
model(samples).sum().backward()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


@pytest.mark.slow
def test_a_real_process_grows_by_what_was_counted_and_not_by_twice_as_much() -> None:
    model = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(2048, 2048), nn.ReLU())])
    counted = count_memory(model, torch.rand(4, 2048))

    def peak(batch: int) -> int:
        command = [sys.executable, "-c", PROGRAM, str(batch)]
        return 1024 * int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    measured = (peak(12288) - peak(6144)) / 6144
    assert counted.per_sample <= 1.1 * measured
    assert measured < 2 * counted.per_sample
