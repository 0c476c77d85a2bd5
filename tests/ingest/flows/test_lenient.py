"""Flows can be fitted on classes and columns that scikit-learn's classifiers refuse."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier

from ingest.flows.lenient import LenientClassifier
from tests.cases import each


@each(("sizes", "stops"), [([30, 30], True), ([59, 1], False), ([2] * 30, False)])
def test_training_stops_early_where_validation_rows_can_have_each_class(
    sizes: list[int], stops: bool
) -> None:
    network = MLPClassifier(early_stopping=True)
    assert LenientClassifier(network).adapted(np.repeat(np.arange(len(sizes)), sizes)).early_stopping is stops
    assert network.early_stopping


def test_an_empty_column_has_no_influence() -> None:
    """Its later values change no prediction, and missing values of other columns stay missing."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[:, 1] += np.where(rng.random(60) < 0.3, np.nan, y)
    boosted = HistGradientBoostingClassifier(random_state=0, max_iter=5, early_stopping=False)
    empty = np.full((60, 1), np.nan)
    fitted = LenientClassifier(boosted).fit(np.hstack([X, empty]), y)
    expected = boosted.fit(X, y).predict_proba(X)
    for values in (empty, empty * 0 + 7.0):
        np.testing.assert_array_equal(fitted.predict_proba(np.hstack([X, values])), expected)
    assert (fitted.predict(np.hstack([X, empty])) == boosted.predict(X)).all()
