"""Group `relative`: performance differences between two settings on a small sample.

Relative landmarkers (Fuernkranz and Petrak, "An evaluation of landmarking variants", 2001) tell settings
apart rather than datasets: the difference of two accuracies says which side of a hyperparameter to look at
first. The pairs are the settings that matter most for the recommended flows. The models are as small as still
shows the difference (a forest has fifteen trees), because users wait for the result.

Classes and numeric targets have the same settings; fits and scores depend on the outcome (`_Classes`,
`_Numbers`).

Notation
    m, C    rows of the small sample; classes, or 1 for a numeric target
    votes   (rows, C) score of each class; or predictions of a numeric target
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ingest.metafeatures.prepared import Prepared, RowSample, Singles, available_cpus
from ingest.metafeatures.target_landmarkers import r_squared
from ingest.metafeatures.trees import grow_by_gini, grow_on_numbers
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.qualities import GROUPS, RELATIVE_PAIRS

_ROWS = 500  # set by hand, as the next two: the pairs take part of a second
_FOLDS = 3
_TREES = 15
_LEARNING_RATE = 0.2  # of gradient boosting with so few trees
_TESTS = 600  # cross-validation is repeated until about this many rows are tested, since few rows say little
_MOST_DEALS = 4  # repetitions; 150 rows reach `_TESTS` with them


def relative(prepared: Prepared) -> Values:
    """Gain in accuracy, or in R2, of the first setting of each pair over the second."""
    small = _small(prepared.sample)
    splits = list(_splits(small))
    if any(np.ptp(small.outcome.y[split.train]) == 0 for split in splits):
        return dict.fromkeys(GROUPS["relative"], f"a fold has rows of one {small.outcome.kind} only")
    # On few rows a fit is mostly preparation, which holds the lock.
    threads = available_cpus() if len(splits) == _FOLDS else 1
    with ThreadPoolExecutor(threads) as pool:
        scores = pool.map(lambda predict: small.outcome.score(predict, splits), _SETTINGS.values())
        score = dict(zip(_SETTINGS, scores, strict=True))
    return {pair: score[better] - score[worse] for pair, (better, worse) in _PAIRS.items()}


@dataclass(frozen=True)
class _Small:
    """Rows on which every setting is trained and tested, in the sample's order."""

    encoded: Singles
    standardized: Floats
    outcome: _Classes | _Numbers


@dataclass(frozen=True)
class _Split:
    """One fold: training data and test rows."""

    of: _Small
    train: Positions
    test: Positions

    @cached_property
    def nearest(self) -> Positions:
        """`by_distance` in standardized columns, which several settings need."""
        return self.by_distance(self.of.standardized)

    def by_distance(self, X: Floats) -> Positions:
        """(test rows, training rows) positions of training rows, nearest first in the columns of X."""
        test, train = X[self.test], X[self.train]
        distance = np.einsum("ij,ij->i", train, train) - 2 * test @ train.T  # minus the test row's square
        return np.argsort(distance, axis=1, kind="stable")


_Predict = Callable[[_Split], Floats]
"""Function from a fold to the votes of its test rows."""


def _small(sample: RowSample) -> _Small:
    # Rows are sorted by class and otherwise in random order: evenly spaced ones are stratified.
    rows = np.unique(np.linspace(0, len(sample.y) - 1, min(_ROWS, len(sample.y))).astype(np.intp))
    encoded = sample.encoded[rows]
    numbers = encoded.astype(np.float64)
    spread = numbers.std(axis=0)
    return _Small(
        encoded=encoded,
        standardized=(numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1),
        outcome=_Numbers(sample.t[rows]) if len(sample.t) else _Classes(sample.y[rows], sample.n_classes),
    )


def _splits(small: _Small) -> Iterator[_Split]:
    """The folds of each repetition; any `_FOLDS` consecutive rows are in different folds."""
    random = np.random.default_rng(0)
    rows = len(small.encoded)
    for _ in range(min(max(_TESTS // rows, 1), _MOST_DEALS)):
        hands = np.tile(np.arange(_FOLDS), (-(-rows // _FOLDS), 1))
        fold = random.permuted(hands, axis=1).ravel()[:rows]
        for number in range(_FOLDS):
            yield _Split(small, np.flatnonzero(fold != number), np.flatnonzero(fold == number))


# ---- outcomes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Classes:
    """Class outcomes; `y` is (m,) codes."""

    kind: ClassVar = "class"
    y: Positions
    n_classes: int

    @cached_property
    def votes(self) -> Floats:
        """(m, C) one-hot classes."""
        votes: Floats = np.eye(self.n_classes)[self.y]
        return votes

    def score(self, predict: _Predict, splits: Sequence[_Split]) -> float:
        """Accuracy."""
        right = sum(int((predict(split).argmax(axis=1) == self.y[split.test]).sum()) for split in splits)
        return right / sum(len(split.test) for split in splits)

    def tree(self, X: Singles, train: Positions, test: Positions, **settings: Any) -> Floats:
        """Class shares in the leaves of the test rows."""
        tree = grow_by_gini(X[train], self.y[train], self.n_classes, **settings)
        counts = tree.counts[tree.leaves_of(X[test])]
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def averaged(self, total: Floats, learners: int) -> Floats:  # noqa: ARG002
        """Votes of several learners from their sum; only their order matters."""
        return total

    def boosting(self, split: _Split, depth: int) -> Floats:
        """AdaBoost for several classes, SAMME (Zhu et al. 2009)."""
        X, y, n_classes = split.of.encoded, self.y[split.train], self.n_classes
        weight = np.full(len(y), 1 / len(y))
        votes = np.zeros((len(split.test), n_classes))
        random = np.random.RandomState(0)
        for _ in range(_TREES):
            tree = grow_by_gini(X[split.train], y, n_classes, weight=weight, random=random, max_depth=depth)
            label = tree.counts.argmax(axis=1)
            wrong = label[tree.leaves_of(X[split.train])] != y
            error = float(weight[wrong].sum())
            if error >= 1 - 1 / n_classes:
                break
            say = np.log((1 - error) / max(error, 1e-10)) + np.log(n_classes - 1)
            votes[np.arange(len(votes)), label[tree.leaves_of(X[split.test])]] += say
            if error <= 0:
                break
            weight *= np.exp(say * wrong)
            weight /= weight.sum()
        return votes

    def svm(self, split: _Split, **settings: Any) -> Floats:
        """A support vector machine."""
        from sklearn.svm import SVC

        X = split.of.standardized
        svm = SVC(**settings)
        votes: Floats = np.eye(self.n_classes)[
            svm.fit(X[split.train], self.y[split.train]).predict(X[split.test])
        ]
        return votes


@dataclass(frozen=True)
class _Numbers:
    """A numeric target; `y` is (m,) values."""

    kind: ClassVar = "value"
    y: Floats

    @property
    def votes(self) -> Floats:
        """(m, 1) the values."""
        return self.y[:, None]

    def score(self, predict: _Predict, splits: Sequence[_Split]) -> float:
        """R2, at least `LOWEST_R2`."""
        t = np.concatenate([self.y[split.test] for split in splits])
        prior = np.concatenate([np.full(len(split.test), self.y[split.train].mean()) for split in splits])
        return r_squared(t, np.concatenate([predict(split)[:, 0] for split in splits]), prior)

    def tree(self, X: Singles, train: Positions, test: Positions, **settings: Any) -> Floats:
        """Mean targets in the leaves of the test rows."""
        tree, means = grow_on_numbers(X[train], self.y[train], **settings)
        return means[tree.leaves_of(X[test])][:, None]

    def averaged(self, total: Floats, learners: int) -> Floats:
        """Prediction of several learners from their sum."""
        return total / learners

    def boosting(self, split: _Split, depth: int) -> Floats:
        """Gradient boosting of squared errors (Friedman 2001)."""
        X = split.of.encoded
        predicted = np.full(len(self.y), self.y[split.train].mean())
        random = np.random.RandomState(0)
        for _ in range(_TREES):
            left = self.y[split.train] - predicted[split.train]
            tree, means = grow_on_numbers(X[split.train], left, random=random, max_depth=depth)
            predicted += _LEARNING_RATE * means[tree.leaves_of(X)]
        return predicted[split.test][:, None]

    def svm(self, split: _Split, **settings: Any) -> Floats:
        """A support vector machine on the standardized target."""
        from sklearn.svm import SVR

        X, y = split.of.standardized, self.y[split.train]
        svm = SVR(**settings).fit(X[split.train], (y - y.mean()) / y.std())
        predicted: Floats = y.mean() + y.std() * svm.predict(X[split.test])
        return predicted[:, None]


# ---- learners ------------------------------------------------------------------------------------


def _tree(split: _Split) -> Floats:
    return split.of.outcome.tree(split.of.encoded, split.train, split.test)


def _forest(**settings: Any) -> _Predict:
    def predict(split: _Split) -> Floats:
        random = np.random.RandomState(0)
        votes = np.zeros((len(split.test), split.of.outcome.votes.shape[1]))
        for _ in range(_TREES):
            drawn = split.train[random.randint(0, len(split.train), len(split.train))]
            votes += split.of.outcome.tree(split.of.encoded, drawn, split.test, random=random, **settings)
        return split.of.outcome.averaged(votes, _TREES)

    return predict


def _boosting(depth: int) -> _Predict:
    return lambda split: split.of.outcome.boosting(split, depth)


def _svm(kernel: str, gamma_times: float = 1.0) -> _Predict:
    def predict(split: _Split) -> Floats:
        from sklearn import config_context

        gamma = gamma_times / split.of.standardized.shape[1]
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return split.of.outcome.svm(split, kernel=kernel, gamma=gamma, max_iter=10_000)

    return predict


def _neighbours(k: int, *, is_scaled: bool = True) -> _Predict:
    def predict(split: _Split) -> Floats:
        nearest = split.nearest if is_scaled else split.by_distance(split.of.encoded.astype(np.float64))
        votes: Floats = split.of.outcome.votes[split.train[nearest[:, :k]]].mean(axis=1)
        return votes

    return predict


_SETTINGS: dict[str, _Predict] = {
    "forest": _forest(max_features="sqrt"),
    "forest, leaves of 20": _forest(max_features="sqrt", min_samples_leaf=20),
    "forest, few features": _forest(max_features=0.1),
    "forest, many features": _forest(max_features=0.9),
    "tree": _tree,
    "boosting, depth 1": _boosting(1),
    "boosting, depth 6": _boosting(6),
    "SVM": _svm("rbf"),
    "SVM, low gamma": _svm("rbf", 0.1),
    "SVM, high gamma": _svm("rbf", 10),
    "SVM, linear": _svm("linear"),
    "1-NN": _neighbours(1),
    "5-NN": _neighbours(5),
    "15-NN": _neighbours(15),
    "5-NN, unscaled": _neighbours(5, is_scaled=False),
}
_PAIRS = {
    "ForestLeaf1Against20": ("forest", "forest, leaves of 20"),
    "ForestFewAgainstManyFeatures": ("forest, few features", "forest, many features"),
    "ForestAgainstTree": ("forest", "tree"),
    "BoostingDepth1Against6": ("boosting, depth 1", "boosting, depth 6"),
    "SVMGammaLowAgainstHigh": ("SVM, low gamma", "SVM, high gamma"),
    "SVMLinearAgainstRBF": ("SVM, linear", "SVM"),
    "KNNScaledAgainstUnscaled": ("5-NN", "5-NN, unscaled"),
    "KNN1Against15": ("1-NN", "15-NN"),
}
assert _PAIRS.keys() == RELATIVE_PAIRS.keys()
