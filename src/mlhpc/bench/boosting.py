"""Building an XGBoost matrix and training on it, apart, on one process or as one rank of several."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mlhpc.bench.tables import Table, make_table
from mlhpc.interruption import shielded

MatrixKind = Literal["quantile", "plain"]

HELD_OUT_ROWS = 20_000
"""Rows that a model is judged on: the standard error of an AUC near 0.8 is then about 0.003."""


@dataclass(frozen=True)
class Settings:
    """What is trained, and with what."""

    device: str = "cpu"
    """``cpu``, or ``cuda`` with a device number (``cuda:0``)."""
    threads: int = 1
    trees: int = 100
    depth: int = 6
    matrix: MatrixKind = "quantile"
    """``quantile``: ``QuantileDMatrix``, which sorts values into bins while it is built; ``plain``:
    ``DMatrix``, which keeps the values and leaves the bins to the first training."""
    seed: int = 0


@dataclass(frozen=True)
class Assessment:
    """How good a model is on rows that it has not seen."""

    finite_share: float
    """Share of the predictions that are finite, 0 to 1."""
    auc: float
    """Area under the ROC curve; not a number where a prediction is not finite."""
    best_auc: float
    """The area that the table's own scores reach: no model can do better but by luck."""


class Trainer:
    """A share of a table, the matrix built from it, and the model trained last."""

    def __init__(self, settings: Settings, table: Table) -> None:
        self.settings = settings
        self._table: Table | None = table
        self._matrix: Any = None
        self.model: Any = None

    def construct(self) -> None:
        """Build the matrix from the table in main memory; on a GPU this includes the copy to it."""
        import xgboost

        if self._table is None:
            raise RuntimeError("the table was released")
        kind = xgboost.QuantileDMatrix if self.settings.matrix == "quantile" else xgboost.DMatrix
        # The old matrix goes first: two at once would need twice the memory.
        self._matrix = None
        # QuantileDMatrix calls back into Python. A Ctrl-C that lands there is swallowed, and the library goes
        # on with no rows: it fails a check or corrupts memory (seen with 3.2.0: "free(): invalid size").
        with shielded():
            self._matrix = kind(
                on_device(self._table.features, self.settings.device),
                label=self._table.labels,
                nthread=self.settings.threads,
            )

    def release_table(self) -> None:
        """Free the raw rows: training needs the matrix only."""
        self._table = None

    def release(self) -> None:
        """Free everything."""
        self._table = self._matrix = self.model = None

    def train(self) -> None:
        """Train a model from nothing on the matrix."""
        self.model = self._fit(self.settings.trees)

    def assess(self) -> Assessment:
        """Judge the model trained last on held-out rows of the same seed."""
        return assess(self.model, self.settings)

    def assess_matrix(self) -> Assessment:
        """Judge the matrix: train ten trees on it, and judge those."""
        return assess(self._fit(trees=10), self.settings)

    def _fit(self, trees: int) -> Any:
        import xgboost

        return xgboost.train(training_parameters(self.settings), self._matrix, num_boost_round=trees)


def training_parameters(settings: Settings) -> dict[str, Any]:
    """Return XGBoost's parameters for the settings; what is not named here is the library's default."""
    return {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": settings.depth,
        "device": settings.device,
        "nthread": settings.threads,
        "seed": settings.seed,
    }


def on_device(features: np.ndarray[Any, Any], device: str) -> Any:
    """Return ``features`` where XGBoost is to build from: as they are, or as a tensor on the GPU."""
    if device == "cpu":
        return features
    import torch

    return torch.from_numpy(features).to(device)


def assess(model: Any, settings: Settings) -> Assessment:
    """Judge a model on held-out rows. All ranks must call it together: making a matrix is collective."""
    import xgboost
    from sklearn.metrics import roc_auc_score

    held_out = make_table(HELD_OUT_ROWS, seed=settings.seed, part="test")
    predictions = model.predict(xgboost.DMatrix(held_out.features, nthread=settings.threads))
    finite_share = float(np.isfinite(predictions).mean())
    return Assessment(
        finite_share=finite_share,
        auc=float(roc_auc_score(held_out.labels, predictions)) if finite_share == 1 else math.nan,
        best_auc=float(roc_auc_score(held_out.labels, held_out.scores)),
    )
