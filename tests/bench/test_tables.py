import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from mlhpc.bench.tables import CHUNK_ROWS, COLUMNS, make_table


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    first, again, other = (make_table(1000, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.features, other.features)


@settings(max_examples=12, deadline=None)
@given(start=st.integers(0, 2 * CHUNK_ROWS), rows=st.integers(1, CHUNK_ROWS))
def test_a_share_is_the_same_as_the_rows_of_the_whole(start: int, rows: int) -> None:
    whole = make_table(start + rows, seed=1)
    share = make_table(rows, seed=1, start=start)
    assert np.array_equal(share.features, whole.features[start:])
    assert np.array_equal(share.labels, whole.labels[start:])
    assert np.array_equal(share.scores, whole.scores[start:])


def test_the_parts_for_training_and_testing_share_no_row() -> None:
    train, test = make_table(5000, seed=0), make_table(5000, seed=0, part="test")
    assert np.intersect1d(train.features[:, 0], test.features[:, 0]).size < 5


def test_shapes_types_and_finite_values() -> None:
    table = make_table(CHUNK_ROWS + 17, seed=0)
    assert table.features.shape == (CHUNK_ROWS + 17, COLUMNS)
    assert table.features.dtype == table.labels.dtype == table.scores.dtype == np.float32
    assert np.isfinite(table.features).all()
    assert set(np.unique(table.labels)) == {0.0, 1.0}


def test_columns_follow_the_documented_formula() -> None:
    table = make_table(2000, seed=5)
    momentum, rapidity, angle, mass = table.features.astype(float).T.reshape(4, 7, -1)
    for k in range(7):
        j = (k + 1) % 7
        opening = np.cosh(rapidity[k] - rapidity[j]) - np.cos(angle[k] - angle[j])
        assert mass[k] == pytest.approx(np.sqrt(2 * momentum[k] * momentum[j] * opening), rel=1e-3, abs=2e-3)
    score = (
        2 * (np.exp(-4 * (mass[0] - 1.2) ** 2) + np.exp(-4 * (mass[1] - 1.5) ** 2) - 0.6)
        + 0.8 * (np.log(mass[2]) - 0.4)
        + 0.6 * np.tanh(rapidity[3] * rapidity[4])
        + 0.5 * np.cos(angle[5] - angle[6])
        - 0.7 * np.log(momentum[0])
    )
    assert table.scores == pytest.approx(score, rel=1e-3, abs=1e-3)


def test_labels_are_drawn_with_the_probability_that_the_score_gives() -> None:
    table = make_table(200_000, seed=0)
    probability = 1 / (1 + np.exp(-table.scores.astype(float)))
    for low in np.arange(0.1, 0.9, 0.2):
        chosen = (probability >= low) & (probability < low + 0.2)
        # Five standard errors of a share of that many rows.
        tolerance = 5 * 0.5 / np.sqrt(chosen.sum())
        assert table.labels[chosen].mean() == pytest.approx(probability[chosen].mean(), abs=tolerance)


def test_the_classes_can_be_told_apart_but_not_fully() -> None:
    table = make_table(100_000, seed=0)
    assert 0.75 < roc_auc_score(table.labels, table.scores) < 0.85
    assert 0.45 < table.labels.mean() < 0.60


@pytest.mark.parametrize(("rows", "start", "seed"), [(0, 0, 0), (1, -1, 0), (1, 0, -1)])
def test_impossible_sizes_are_refused(rows: int, start: int, seed: int) -> None:
    with pytest.raises(ValueError, match="at least one row"):
        make_table(rows, seed=seed, start=start)
