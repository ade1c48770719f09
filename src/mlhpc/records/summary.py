"""The summary of raw samples: the median with a bootstrap interval, and how noisy the machine was."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mlhpc.records.schema import Summary

NOISY_LIMIT = 0.25
"""Interquartile range over median above which no verdict is given: the machine was too busy to tell."""

RESAMPLES = 2000
_VALUES_AT_ONCE = 2_000_000


def bootstrap_medians(samples: Sequence[float], *, seed: int = 0) -> NDArray[np.float64]:
    """Return the medians of ``RESAMPLES`` resamples with replacement (Efron 1979), shape ``(RESAMPLES,)``.

    The same samples and seed give the same medians. Resamples are drawn in blocks, so that memory stays
    small for many samples.

    Raises:
        ValueError: if there is no sample, or one is not a finite number above zero.
    """
    values = _checked(samples)
    generator = np.random.default_rng(seed)
    block = max(1, min(RESAMPLES, _VALUES_AT_ONCE // values.size))
    medians = [
        np.median(generator.choice(values, size=(min(block, RESAMPLES - start), values.size)), axis=1)
        for start in range(0, RESAMPLES, block)
    ]
    return np.concatenate(medians)


def summarise(samples: Sequence[float], *, confidence: float = 0.95, seed: int = 0) -> Summary:
    """Return the summary of ``samples`` with the bootstrap percentile interval of their median.

    Args:
        samples: one number per repetition, all in the same unit, finite and above zero.
        confidence: nominal coverage of the interval, between 0 and 1.
        seed: of the resampling; the same samples and seed give the same interval.

    Raises:
        ValueError: if there is no sample, one is not a finite number above zero, or ``confidence`` is not
            between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    values = _checked(samples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(bootstrap_medians(samples, seed=seed), (tail, 1 - tail))
    share = interquartile_share(samples)
    median = float(np.median(values))
    return Summary(
        count=values.size,
        median=median,
        # With few samples the percentiles of the resampled medians may miss the median itself.
        low=min(float(low), median),
        high=max(float(high), median),
        confidence=confidence,
        interquartile_share=share,
        noisy=share > NOISY_LIMIT,
    )


def interquartile_share(samples: Sequence[float]) -> float:
    """Return the interquartile range of ``samples`` divided by their median, without a unit.

    Raises:
        ValueError: if there is no sample, or one is not a finite number above zero.
    """
    first, median, third = np.quantile(_checked(samples), (0.25, 0.5, 0.75))
    return float((third - first) / median)


def _checked(samples: Sequence[float]) -> NDArray[np.float64]:
    """Return ``samples`` as an array, or raise ValueError where they cannot be summarised."""
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("at least one sample is needed")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("samples must be finite and above zero")
    return values
