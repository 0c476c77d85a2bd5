"""Class probabilities over the folds of a sample, by scikit-learn and by Headstart, to compare."""

import numpy as np

from ingest.metafeatures.landmarkers import Fold, cross_validated
from ingest.metafeatures.prepared import RowSample


def predicted(sample: RowSample, estimator: object, X: np.ndarray) -> np.ndarray:
    """(m, C) probabilities of a scikit-learn estimator in the sample's folds."""
    probabilities = np.zeros((len(sample.y), sample.n_classes))
    for number in range(sample.fold.max() + 1):
        train, test = sample.fold != number, sample.fold == number
        probabilities[test] = estimator.fit(X[train], sample.y[train]).predict_proba(X[test])  # type: ignore[attr-defined]
    return probabilities


def pooled(sample: RowSample, learner: object) -> np.ndarray:
    """(m, C) probabilities of one of Headstart's learners."""
    found = np.zeros((len(sample.y), sample.n_classes))

    def remember(fold: Fold) -> np.ndarray:
        found[fold.test] = learner(fold)  # type: ignore[operator]
        return found[fold.test]

    cross_validated(sample, {"it": remember})
    return found
