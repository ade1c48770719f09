"""A seeded table for tree ensembles: 28 columns in the manner of the Higgs data set, nothing downloaded.

Each row is a made-up collision with seven objects. For object ``k`` (0 to 6)

* momentum      p_k   = exp(0.5 z),  z standard normal          (columns 0 to 6)
* rapidity      eta_k = standard normal                         (columns 7 to 13)
* angle         phi_k = uniform on [-pi, pi)                    (columns 14 to 20)
* pair mass     m_k   = sqrt(2 p_k p_j (cosh(eta_k - eta_j) - cos(phi_k - phi_j))) with j = k + 1 modulo 7,
  the invariant mass of two massless objects                    (columns 21 to 27)

and the label is 1 with probability sigmoid(score), where

    score = 2 (exp(-4 (m_0 - 1.2)^2) + exp(-4 (m_1 - 1.5)^2) - 0.6) + 0.8 (log m_2 - 0.4)
            + 0.6 tanh(eta_3 eta_4) + 0.5 cos(phi_5 - phi_6) - 0.7 log p_0

The shape follows Baldi, Sadowski, Whiteson, "Searching for exotic particles in high-energy physics with deep
learning" (Nature Communications 5:4308, 2014): 21 measured columns and 7 masses computed from them, a signal
that sits in windows of the masses, and classes that overlap. The score is known, so the best area under the
ROC curve that any model can reach is known as well.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

COLUMNS = 28
OBJECTS = 7
CHUNK_ROWS = 65_536
"""Rows that are generated at once: large tables need the memory of the table and of one chunk."""

Part = Literal["train", "test"]
_PART_KEYS: dict[Part, int] = {"train": 0, "test": 1}


@dataclass(frozen=True)
class Table:
    """Rows with labels."""

    features: NDArray[np.float32]
    """Shape (rows, 28)."""
    labels: NDArray[np.float32]
    """Shape (rows,), 0 or 1."""
    scores: NDArray[np.float32]
    """Shape (rows,): the log-odds behind each label; the best ranking that a model can find."""


def make_table(rows: int, *, seed: int, part: Part = "train", start: int = 0) -> Table:
    """Return ``rows`` rows of an endless table, from row ``start``.

    The same seed, part and row number give the same row whatever the other arguments are, so that ranks can
    each generate their own share. The parts ``train`` and ``test`` are independent of each other.

    Raises:
        ValueError: if ``rows`` is under 1, or ``start`` or ``seed`` is negative.
    """
    if rows < 1 or start < 0 or seed < 0:
        raise ValueError("a table needs at least one row, and start and seed must not be negative")
    features = np.empty((rows, COLUMNS), np.float32)
    labels = np.empty(rows, np.float32)
    scores = np.empty(rows, np.float32)
    for chunk in range(start // CHUNK_ROWS, (start + rows - 1) // CHUNK_ROWS + 1):
        first = max(start, chunk * CHUNK_ROWS)
        last = min(start + rows, (chunk + 1) * CHUNK_ROWS)
        within = slice(first - chunk * CHUNK_ROWS, last - chunk * CHUNK_ROWS)
        here = slice(first - start, last - start)
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PART_KEYS[part], chunk)))
        # Columns are drawn for a whole chunk even where few rows are wanted: the draws must not depend on it.
        columns = _draw_columns(generator)
        chunk_scores = _score(columns)
        uniform = generator.random(CHUNK_ROWS, np.float32)
        features[here] = columns[:, within].T
        scores[here] = chunk_scores[within]
        labels[here] = uniform[within] < 1 / (1 + np.exp(-chunk_scores[within]))
    return Table(features, labels, scores)


def _draw_columns(generator: np.random.Generator) -> NDArray[np.float32]:
    """Return one chunk, shape (28, CHUNK_ROWS)."""
    columns = np.empty((COLUMNS, CHUNK_ROWS), np.float32)
    momentum, rapidity, angle, mass = columns.reshape(4, OBJECTS, CHUNK_ROWS)
    generator.standard_normal(out=momentum, dtype=np.float32)
    np.exp(np.float32(0.5) * momentum, out=momentum)
    generator.standard_normal(out=rapidity, dtype=np.float32)
    generator.random(out=angle, dtype=np.float32)
    angle *= np.float32(2 * np.pi)
    angle -= np.float32(np.pi)
    partner = np.roll(np.arange(OBJECTS), -1)
    opening = np.cosh(rapidity - rapidity[partner]) - np.cos(angle - angle[partner])
    # Rounding can leave a difference of two near-equal numbers just below zero.
    np.sqrt(np.maximum(2 * momentum * momentum[partner] * opening, 1e-6), out=mass)
    return columns


def _score(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the log-odds of each row of a chunk, shape (CHUNK_ROWS,)."""
    momentum, rapidity, angle, mass = columns.reshape(4, OBJECTS, CHUNK_ROWS)
    windows = np.exp(-4 * (mass[0] - 1.2) ** 2) + np.exp(-4 * (mass[1] - 1.5) ** 2)
    score: NDArray[np.float32] = (
        2 * (windows - 0.6)
        + 0.8 * (np.log(mass[2]) - 0.4)
        + 0.6 * np.tanh(rapidity[3] * rapidity[4])
        + 0.5 * np.cos(angle[5] - angle[6])
        - 0.7 * np.log(momentum[0])
    )
    return score
