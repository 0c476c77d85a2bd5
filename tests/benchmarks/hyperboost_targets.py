"""The models that Hyperboost was evaluated on, and how their runs are made (van Hoof and Vanschoren 2021,
sections 6.2 and 6.3, Tables 1 to 3 and Figure 1).

An outer fold has two thirds of the rows to search on, and one third to test on what the search names. A run
trains on three random parts of nine tenths of the former, and tests on their rest: the inner folds, which
stay the same. Runs of one configuration differ by the model's seed.

The text of the paper does not say what is done with gaps and categories (here: medians, indicators), that
numbers are scaled (here: for the support vector machine only), nor how many trees the forest has (here:
LightGBM's 100).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows.preprocessing import preprocessor
from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import class_codes
from ingest.running.resampling import Resampling
from recommend.bo.candidates import Candidate, SpaceCandidates
from recommend.space import Space
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.parameters import Choice, Number, Value
from warehouse.configurations.searched_flow import SearchedFlow
from warehouse.support.arrays import Floats, Positions

OUTER = 3
INNER, INNER_TEST = 3, 0.1
"""Inner folds, and the share of the rows that each is tested on."""
RETRAINED = 3
"""Seeds that a configuration is trained with before it is tested on the outer fold."""


@dataclass(frozen=True)
class Target:
    """A model that is tuned."""

    flow: SearchedFlow
    classifier: Callable[..., Any]
    scaling: str = "none"


def _forest(**settings: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(boosting_type="rf", subsample_freq=1, n_jobs=1, verbosity=-1, **settings)


def _tree(**settings: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(**settings)


def _svm(**settings: Any) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(**settings)


TARGETS = {
    "forest": Target(
        SearchedFlow(
            "hyperboost-forest",
            "Random forest",
            (  # Table 1
                Number("colsample_bytree", 0.20, 0.80, default=0.70),
                Number("subsample", 0.20, 0.80, default=0.66),
                Number("num_leaves", 4, 64, default=32),
                Number("min_child_samples", 1, 100, default=20),
                Number("max_depth", 4, 12, default=12),
            ),
        ),
        _forest,
    ),
    "tree": Target(
        SearchedFlow(
            "hyperboost-tree",
            "Decision tree",
            (  # Table 2
                Choice("criterion", ("gini", "entropy"), default="gini"),
                Number("max_depth", 1, 20, default=20),
                Number("min_samples_split", 2, 20, default=2),
                Number("min_samples_leaf", 1, 20, default=1),
            ),
        ),
        _tree,
    ),
    "svm": Target(
        SearchedFlow(
            "hyperboost-svm",
            "Support vector machine",
            (  # Table 3
                Number("tol", 1e-5, 1e-1, default=1e-4, log=True),
                Number("C", 0.03125, 32768.0, default=1.0, log=True),
            ),
        ),
        _svm,
        scaling="standard",
    ),
}


@dataclass(frozen=True)
class Unit:
    """What one search is of."""

    target: str
    dataset: str
    repeat: int
    outer: int

    @property
    def seed(self) -> int:
        """Another one for each."""
        return zlib.crc32(f"{self.target} {self.dataset} {self.repeat} {self.outer}".encode()) % 2**31


@dataclass(frozen=True)
class Fold:
    """Rows to train and to test on, as matrices."""

    X: Floats
    y: Positions
    X_test: Floats
    y_test: Positions

    @classmethod
    def of(cls, dataset: Dataset, train: Positions, test: Positions, scaling: str) -> Fold:
        """The fold of these rows; gaps and scales are learned from those to train on."""
        codes = class_codes(dataset)
        columns = preprocessor(dataset.roles, encoding="indicators", imputation="median", scaling=scaling)
        X = columns.fit_transform(dataset.features.iloc[train], codes[train])
        return cls(X, codes[train], columns.transform(dataset.features.iloc[test]), codes[test])

    def accuracy(self, classifier: Any) -> float:
        """Share of the rows to test on that the classifier, trained on the others, is right about."""
        return float((classifier.fit(self.X, self.y).predict(self.X_test) == self.y_test).mean())


class Objective:
    """Runs of configurations of one model on one outer fold (Figure 1)."""

    def __init__(self, dataset: Dataset, unit: Unit) -> None:
        from sklearn.model_selection import ShuffleSplit

        self.target = TARGETS[unit.target]
        self.candidates = SpaceCandidates(Space([self.target.flow], joint=False), seed=unit.seed)
        codes = class_codes(dataset)
        train, test = next(Resampling(OUTER).splits(codes, unit.repeat))[unit.outer]
        parts = ShuffleSplit(INNER, test_size=INNER_TEST, random_state=unit.seed).split(train)
        scaling = self.target.scaling
        self._inner = [Fold.of(dataset, train[fit], train[left], scaling) for fit, left in parts]
        self._outer = Fold.of(dataset, train, test, scaling)
        self.made: list[tuple[dict[str, Value], float]] = []
        """Hyperparameters and value of each run."""
        # OpenML counts the target as a feature.
        self.metafeatures = pd.Series(
            {
                "NumberOfInstances": float(len(train)),
                "NumberOfFeatures": dataset.features.shape[1] + 1.0,
                "NumberOfClasses": float(dataset.n_classes),
            }
        )

    def run(self, candidate: Candidate, seed: int) -> float:
        """Mean accuracy on the inner folds."""
        accuracies = [fold.accuracy(self._classifier(candidate, seed)) for fold in self._inner]
        self.made.append((dict(self.values(candidate)), float(np.mean(accuracies))))
        return self.made[-1][1]

    def held_out(self, candidate: Candidate) -> float:
        """Accuracy on the rows that the search does not see, mean over seeds."""
        seeds = range(RETRAINED)
        return float(np.mean([self._outer.accuracy(self._classifier(candidate, seed)) for seed in seeds]))

    @property
    def default(self) -> Candidate:
        """The default configuration."""
        flow = self.target.flow
        return self.candidates.of(Configuration(flow.name, flow.default()))

    def values(self, candidate: Candidate) -> Mapping[str, Value]:
        """Hyperparameters of a configuration."""
        return self.candidates.configuration_of(candidate).values

    def _classifier(self, candidate: Candidate, seed: int) -> Any:
        return self.target.classifier(random_state=seed, **self.values(candidate))
