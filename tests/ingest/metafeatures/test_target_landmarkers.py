"""Landmarkers of a numeric target equal scikit-learn's, and find the better learner if it is known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from ingest.metafeatures.prepared import Prepared, RowSample
from ingest.metafeatures.target_landmarkers import LEARNERS, Fold, pooled, r_squared
from tests.cases import each
from tests.ingest.metafeatures.small_tables import computed, numeric_dataset

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 4))
FEATURES = pd.DataFrame(X).add_prefix("x")
PREPARED = Prepared(numeric_dataset(FEATURES, X[:, 0] + X[:, 1] * X[:, 2] + RANDOM.normal(size=150)))
SAMPLE = PREPARED.sample
FOLDS = [Fold(SAMPLE, number, PREPARED.log_unit) for number in range(5)]


def _predicted(sample: RowSample, estimator: object, inputs: np.ndarray) -> np.ndarray:
    """(m,) predictions of a scikit-learn estimator in the sample's folds."""
    predicted = np.zeros(len(sample.t))
    for number in range(5):
        train, test = sample.fold != number, sample.fold == number
        predicted[test] = estimator.fit(inputs[train], sample.t[train]).predict(inputs[test])  # type: ignore[attr-defined]
    return predicted


@each(
    "name, estimator, inputs",
    [
        ("Ridge", make_pipeline(StandardScaler(), Ridge(1.0)), SAMPLE.encoded.astype(float)),
        ("Stump", DecisionTreeRegressor(max_depth=1, min_samples_leaf=5), SAMPLE.tree_columns),
        ("TreeDepth3", DecisionTreeRegressor(max_depth=3, min_samples_leaf=5), SAMPLE.tree_columns),
        ("Tree", DecisionTreeRegressor(min_samples_leaf=5), SAMPLE.tree_columns),
        ("NearestNeighbour", KNeighborsRegressor(1), SAMPLE.scaled),
    ],
)
def test_learners_equal_scikit_learns(name: str, estimator: object, inputs: np.ndarray) -> None:
    assert pooled(FOLDS, LEARNERS[name]) == pytest.approx(_predicted(SAMPLE, estimator, inputs), abs=1e-6)


def test_ridge_with_more_columns_than_rows_equals_scikit_learns() -> None:
    wide = pd.DataFrame(RANDOM.normal(size=(30, 80))).add_prefix("x")
    prepared = Prepared(numeric_dataset(wide, RANDOM.normal(size=30)))
    folds = [Fold(prepared.sample, number, prepared.log_unit) for number in range(5)]
    expected = _predicted(
        prepared.sample, make_pipeline(StandardScaler(), Ridge(1.0)), prepared.sample.encoded.astype(float)
    )
    assert pooled(folds, Fold.ridge) == pytest.approx(expected, abs=1e-6)


def test_r2_compares_with_the_training_mean_and_is_no_less_than_minus_1() -> None:
    t = np.array([0.0, 1.0, 1.0, 2.0])
    mean = np.full(4, t.mean())
    assert r_squared(t, t, mean) == 1
    assert r_squared(t, mean, mean) == 0
    assert r_squared(t, np.array([0, 1, 1, 1.0]), mean) == pytest.approx(r2_score(t, [0, 1, 1, 1]))
    assert r_squared(t, 1e9 * t, mean) == -1


def test_equally_near_neighbours_are_averaged() -> None:
    """Each row's nearest neighbours are all other rows with its value, half of them 0 and half 1."""
    features = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20)})
    prepared = Prepared(numeric_dataset(features, np.tile([0.0, 1.0], 20)))
    folds = [Fold(prepared.sample, number, prepared.log_unit) for number in range(5)]
    assert pooled(folds, Fold.nearest_neighbour) == pytest.approx(0.5, abs=0.1)


# ---- which is better -----------------------------------------------------------------------------


def test_ridge_fits_a_line_and_a_stump_a_step() -> None:
    x, noise = RANDOM.uniform(-1, 1, (2, 400))
    features = pd.DataFrame({"x": x, "noise": noise})
    line = computed(numeric_dataset(features, 3 * x), "target_landmarkers").values
    step = computed(numeric_dataset(features, np.where(x > 0.3, 5.0, 0.0)), "target_landmarkers").values
    assert line["RidgeR2"] > 0.999
    assert line["RidgeAgainstTree"] > 0
    assert line["TreeDepth3AgainstStump"] == line["TreeDepth3R2"] - line["StumpR2"] > 0.1
    assert step["StumpR2"] > 0.95
    assert step["RidgeAgainstTree"] < -0.1


def test_a_logarithm_helps_ridge_where_the_target_is_exponential() -> None:
    x, noise = RANDOM.normal(size=(2, 400))
    features = pd.DataFrame({"x": x, "noise": noise})
    names = ("LogRidgeGain", "LogRidgeGainOfAbsoluteError")
    exponential = computed(numeric_dataset(features, np.exp(1.5 * x)), "target_landmarkers").values
    linear = computed(numeric_dataset(features, x), "target_landmarkers").values
    assert min(exponential[name] for name in names) > 0.1
    assert max(linear[name] for name in names) < 0


def test_relative_landmarkers_point_at_the_better_setting() -> None:
    """A product of two attributes is neither a line nor a sum of single splits; scale hides it."""
    x, y = RANDOM.uniform(-1, 1, (2, 400))
    features = pd.DataFrame({"x": x, "y": y, "noise": 1000 * RANDOM.normal(size=400)})
    values = computed(numeric_dataset(features, x * y), "relative").values
    assert values["SVMLinearAgainstRBF"] < -0.1
    assert values["BoostingDepth1Against6"] < -0.1
    assert values["KNNScaledAgainstUnscaled"] > 0.1
    assert values["ForestLeaf1Against20"] > 0
