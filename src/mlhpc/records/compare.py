"""Comparing two records: which is faster, by how much, and whether that can be told at all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mlhpc.errors import UsageError
from mlhpc.records.query import machine_identity, measured
from mlhpc.records.schema import Quantity, Record
from mlhpc.records.summary import NOISY_LIMIT, bootstrap_medians

FEWEST_SAMPLES = 6
"""Samples below which no verdict is given.

The range from the smallest to the largest of n samples holds the median with probability 1 - 2 / 2**n
(order statistics): six is the first n for which that reaches 95 %.
"""

SIGNIFICANCE = 0.05
"""Largest p-value of the Mann-Whitney test with which two records are told apart."""

CONFIDENCE = 0.95
NOT_INTERLEAVED = (
    "Records do not say whether they were measured in turns; if they were not, a change of the machine's "
    "load in between counts as a difference."
)


@dataclass(frozen=True)
class Comparison:
    """What a second record is, relative to a first one."""

    ratio: float
    """How many times as fast the second is as the first: quotient of the medians, first over second."""
    low: float
    high: float
    """Ends of the 95 % bootstrap interval of ``ratio``."""
    p_value: float
    """Two-sided Mann-Whitney test of the samples."""
    verdict: Literal["faster", "slower", "cannot tell"]
    """Of the second record."""
    reason: str
    per_item: bool
    """True where times per item were compared, because the two process different amounts per sample."""
    quantities: dict[str, Quantity]
    """For each derived quantity of both: second divided by first, with interval."""
    cautions: tuple[str, ...]


def compare(first: Record, second: Record) -> Comparison:
    """Return how many times as fast ``second`` is as ``first``.

    Where the two process different amounts per sample (another batch, say), times per item are compared; the
    amount is the record's throughput times its median.

    Raises:
        UsageError: if the two differ in workload, tier, metric or unit.
    """
    _refuse_unlike(first, second)
    amounts = _items_per_sample(first), _items_per_sample(second)
    per_item = None not in amounts and not math.isclose(*amounts, rel_tol=1e-6)  # type: ignore[arg-type]
    scale_first, scale_second = amounts if per_item else (1.0, 1.0)
    before = np.asarray(first.samples) / scale_first
    after = np.asarray(second.samples) / scale_second
    low, high = ratio_interval(before.tolist(), after.tolist())
    p_value = _mann_whitney(before.tolist(), after.tolist())
    verdict, reason = _judge(first, second, low, high, p_value)
    return Comparison(
        ratio=float(np.median(before) / np.median(after)),
        low=low,
        high=high,
        p_value=p_value,
        verdict=verdict,
        reason=reason,
        per_item=per_item,
        quantities=_quantity_ratios(first, second),
        cautions=_cautions(first, second),
    )


def why_no_verdict(record: Record) -> str | None:
    """Return in a few words why ``record`` is too weak for any verdict, or None where it is not."""
    if record.summary.noisy:
        return (
            f"the machine was too busy during {record.id}: its samples spread over "
            f"{record.summary.interquartile_share:.0%} of their median, more than {NOISY_LIMIT:.0%}"
        )
    if len(record.samples) < FEWEST_SAMPLES:
        return f"{record.id} has {len(record.samples)} samples, fewer than {FEWEST_SAMPLES}"
    failed = [gate.name for gate in record.gates if not gate.passed]
    if failed:
        return f"{record.id} computed wrong numbers ({', '.join(failed)})"
    return None


def ratio_interval(numerator: Sequence[float], denominator: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap percentile interval of the ratio of two medians.

    Both sides are resampled on their own, as for samples that were not taken in pairs. The interval always
    holds the ratio of the two medians.
    """
    resampled = bootstrap_medians(numerator, seed=0) / bootstrap_medians(denominator, seed=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail))
    ratio = float(np.median(numerator) / np.median(denominator))
    return min(float(low), ratio), max(float(high), ratio)


def quotient(numerator: Quantity, denominator: Quantity) -> Quantity:
    """Return the quotient of two quantities with an interval made from both intervals.

    The interval is that of Zou and Donner, "Construction of confidence limits about effect measures: a
    general approach" (Statistics in Medicine 27:1693, 2008), on the logarithms. A side without an interval
    counts as exact; where both have none, neither has the quotient.

    Raises:
        ValueError: if a side, or an end of its interval, is not above zero.
    """
    top, bottom = _ends(numerator), _ends(denominator)
    if min(*top, *bottom) <= 0:
        raise ValueError("a quotient needs two quantities above zero")
    value = numerator.value / denominator.value
    if numerator.low is None and denominator.low is None:
        return Quantity(value=value, unit="x")
    down = math.hypot(math.log(numerator.value / top[0]), math.log(bottom[1] / denominator.value))
    up = math.hypot(math.log(top[1] / numerator.value), math.log(denominator.value / bottom[0]))
    return Quantity(value=value, unit="x", low=value * math.exp(-down), high=value * math.exp(up))


def _ends(quantity: Quantity) -> tuple[float, float]:
    low = quantity.value if quantity.low is None else quantity.low
    return low, quantity.value if quantity.high is None else quantity.high


def _refuse_unlike(first: Record, second: Record) -> None:
    for name in ("workload", "tier", "metric", "unit"):
        one, other = getattr(first, name), getattr(second, name)
        if one != other:
            raise UsageError(
                f"{first.id} and {second.id} cannot be compared: "
                f"the {name} of one is {one}, of the other {other}."
            )


def _items_per_sample(record: Record) -> float | None:
    """Return how many items one sample processed; None without a positive throughput."""
    throughput = record.quantities.get("throughput")
    return (
        throughput.value * record.summary.median if throughput is not None and throughput.value > 0 else None
    )


def _mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(first, second, alternative="two-sided").pvalue)


def _judge(
    first: Record, second: Record, low: float, high: float, p_value: float
) -> tuple[Literal["faster", "slower", "cannot tell"], str]:
    """Return the verdict on ``second`` and the reason for it."""
    weak = [reason for record in (first, second) if (reason := why_no_verdict(record))]
    if weak:
        return "cannot tell", "; ".join(weak)
    if low <= 1 <= high:
        return "cannot tell", "the interval of the ratio holds 1"
    if p_value >= SIGNIFICANCE:
        return "cannot tell", f"the Mann-Whitney test gives p = {p_value:.2g}, not under {SIGNIFICANCE}"
    reason = f"the interval of the ratio leaves out 1, and the Mann-Whitney test gives p = {p_value:.2g}"
    return ("faster" if low > 1 else "slower"), reason


def _quantity_ratios(first: Record, second: Record) -> dict[str, Quantity]:
    """Return second over first for each quantity that both have in the same unit and above zero."""
    ratios: dict[str, Quantity] = {}
    for name in first.quantities.keys() & second.quantities.keys():
        one, other = measured(first, name), measured(second, name)
        if one.unit == other.unit and min(*_ends(one), *_ends(other)) > 0:
            ratios[name] = quotient(other, one)
    return dict(sorted(ratios.items()))


def _cautions(first: Record, second: Record) -> tuple[str, ...]:
    cautions = [NOT_INTERLEAVED]
    if machine_identity(first.machine) != machine_identity(second.machine):
        cautions.append("The two come from different machines.")
    policies = {record.contention.omp_wait_policy for record in (first, second)}
    if len(policies) > 1:
        cautions.append("OMP_WAIT_POLICY differs between the two, which alone can change times several-fold.")
    return tuple(cautions)
