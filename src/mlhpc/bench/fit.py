"""Fixed cost per step and cost per sample, fitted to step times at several batch sizes.

A step on a batch of b samples takes a + b t: ``a`` for everything that happens once (the interpreter,
launching kernels, thread wake-up, the optimiser's update of the weights), ``t`` for each sample. Which of the
two dominates decides whether a faster device helps at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlhpc.errors import UsageError
from mlhpc.records.schema import Record
from mlhpc.records.summary import bootstrap_medians


@dataclass(frozen=True)
class Estimate:
    """A fitted value with its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CostFit:
    """The two costs in seconds, and how well a straight line describes the measurement."""

    per_step: Estimate
    per_sample: Estimate
    worst_error: float
    """Largest |fitted - measured| / measured over the batch sizes: how far to trust the two numbers."""
    worst_batch: int
    """The batch size at which it occurs."""

    @property
    def break_even_batch(self) -> float:
        """Batch size at which the samples cost as much as the step; infinite where they cost nothing."""
        return self.per_step.value / self.per_sample.value if self.per_sample.value > 0 else float("inf")


def fit_costs(step_seconds: Mapping[int, Sequence[float]], *, seed: int = 0) -> CostFit:
    """Fit a + b t to the median step times by least squares of the relative errors.

    Relative, because absolute errors would let the largest batch alone decide, and the small ones tell the
    fixed cost. The 95 % intervals come from resampling each batch's samples; they cover the noise of the
    measurement and not the error of the straight line, which ``worst_error`` shows.

    Args:
        step_seconds: raw samples (seconds) by batch size.
        seed: of the resampling.

    Raises:
        UsageError: with fewer than two batch sizes, which leave one of the two costs open.
    """
    if len(step_seconds) < 2:
        raise UsageError("A fixed cost and a cost per sample need step times at two batch sizes or more.")
    batches = np.array(sorted(step_seconds), dtype=float)
    samples = [step_seconds[int(batch)] for batch in batches]
    medians = np.array([np.median(values) for values in samples])
    resampled = np.column_stack(
        [bootstrap_medians(values, seed=seed + i) for i, values in enumerate(samples)]
    )
    fitted = _relative_least_squares(batches, medians[np.newaxis])[0]
    spread = _relative_least_squares(batches, resampled)
    errors = np.abs(fitted[0] + fitted[1] * batches - medians) / medians
    worst = int(np.argmax(errors))
    return CostFit(
        _estimate(fitted[0], spread[:, 0]),
        _estimate(fitted[1], spread[:, 1]),
        float(errors[worst]),
        int(batches[worst]),
    )


def fit_records(records: Sequence[Record]) -> CostFit:
    """Fit the costs to records of one workload that differ in their ``batch``.

    Raises:
        UsageError: if they differ in anything else, which would mix two lines, or have fewer than two sizes.
    """
    rest = [{key: value for key, value in record.parameters.items() if key != "batch"} for record in records]
    for record, parameters in zip(records, rest, strict=True):
        if parameters != rest[0] or (record.workload, record.tier) != (records[0].workload, records[0].tier):
            raise UsageError(
                f"Record {record.id} differs from {records[0].id} in more than its batch: select one setting."
            )
    return fit_costs({int(str(record.parameters["batch"])): record.samples for record in records})


def _relative_least_squares(batches: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (a, t) that minimise the sum of ((a + b t) / time - 1)**2 for each row of ``times``.

    Args:
        batches: shape (n,).
        times: seconds, shape (rows, n).

    Returns:
        Shape (rows, 2). Solved by the normal equations of the weighted line, weights 1 / time**2.
    """
    weights = times**-2.0
    total, first, second = weights.sum(1), (weights * batches).sum(1), (weights * batches**2).sum(1)
    value, moment = (weights * times).sum(1), (weights * batches * times).sum(1)
    determinant = total * second - first**2
    per_step = (second * value - first * moment) / determinant
    per_sample = (total * moment - first * value) / determinant
    return np.column_stack([per_step, per_sample])


def _estimate(value: float, spread: NDArray[np.float64]) -> Estimate:
    low, high = np.quantile(spread, (0.025, 0.975))
    return Estimate(float(value), float(low), float(high))
