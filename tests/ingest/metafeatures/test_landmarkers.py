"""Landmarkers: scores and nearest neighbours equal scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from ingest.metafeatures.landmarkers import Fold, cross_validated
from ingest.metafeatures.prepared import RowSample
from tests.ingest.metafeatures.predictions import pooled, predicted
from tests.ingest.metafeatures.small_tables import sample_of

# ---- scores --------------------------------------------------------------------------------------


def test_scores_equal_scikit_learns(blobs: RowSample) -> None:
    probabilities = predicted(blobs, GaussianNB(), blobs.numbers)
    scores = cross_validated(blobs, {"it": lambda fold: probabilities[fold.test]})["it"]
    label = probabilities.argmax(axis=1)
    assert scores["ErrRate"] == pytest.approx((label != blobs.y).mean())
    assert scores["Kappa"] == pytest.approx(cohen_kappa_score(blobs.y, label))
    expected = roc_auc_score(blobs.y, probabilities, multi_class="ovr", average="weighted")
    assert scores["AUC"] == pytest.approx(expected)


def test_a_constant_prediction_scores_like_chance(blobs: RowSample) -> None:
    scores = cross_validated(blobs, {"it": lambda fold: np.tile([1.0, 0, 0], (len(fold.test), 1))})["it"]
    assert scores == pytest.approx({"AUC": 0.5, "ErrRate": 2 / 3, "Kappa": 0})


# ---- nearest neighbours --------------------------------------------------------------------------


def test_nearest_neighbour_equals_scikit_learns(blobs: RowSample) -> None:
    expected = predicted(blobs, KNeighborsClassifier(1), blobs.scaled)
    assert pooled(blobs, Fold.nearest_neighbour) == pytest.approx(expected)


def test_equally_near_neighbours_vote() -> None:
    """Each row's nearest neighbours are the other rows with its value, with classes in the ratio 3 : 1."""
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20), "class": (["a"] * 15 + ["b"] * 5) * 2})
    probabilities = pooled(sample_of(frame), Fold.nearest_neighbour)
    assert probabilities[:, 0] == pytest.approx(0.75, abs=0.05)
