"""Boosted trees from hyperparameters and meta-features to standard scores (van Hoof's thesis, chapter 6).

Notation
    X   (m, inputs): the encoded hyperparameters of each run, then the meta-features of its dataset
    y   (m,) targets of the runs: their scores, their raw values, or grades of their ranks
    q   (m,) position of each run's dataset
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import (
    centre_and_spread,
    encode_configurations,
    encode_runs,
    learn_encoding_of,
)
from metalearners.encoding.training_data import TrainingData, training_data
from metalearners.learners.calibrated import UNCALIBRATED, CalibratedLearner, CalibratedModel
from metalearners.learners.forest import MAX_LEAVES, Forest, constant_forest
from metalearners.learners.lightgbm_trees import REPRODUCIBLE, forest_of
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption
from warehouse.vocabulary.qualities import DEFAULT, GROUPS, default_for
from warehouse.vocabulary.table import ConfigurationTable
from warehouse.vocabulary.task_types import REGRESSION

Inputs = Literal["none", "metafeatures", "hyperparameters", "both"]
Targets = Literal["standardized", "raw"]

_GRADES = 31  # of relevance, from 0; as many as LightGBM's default gains
_LARGEST_QUERY = 10_000  # rows of one dataset that LightGBM ranks


@dataclass(frozen=True)
class TreeInputs:
    """The columns of X."""

    hyperparameters: tuple[str, ...]
    """Columns of the encoded hyperparameters; empty if the trees do not use them."""
    metafeatures: tuple[str, ...]
    """Qualities of datasets."""

    @property
    def names(self) -> list[str]:
        """Names of the columns of X."""
        return [*self.hyperparameters, *self.metafeatures]

    def matrix(self, encoded: Floats, datasets: pd.DataFrame, q: Positions) -> Floats:
        """X of runs with these encoded hyperparameters, (m, J), on `datasets`, (d, any)."""
        qualities = datasets.reindex(columns=list(self.metafeatures)).to_numpy(np.float64)[q]
        return np.hstack([encoded, qualities]) if self.hyperparameters else qualities


@dataclass(frozen=True, kw_only=True)
class BoostedTrees(CalibratedModel):
    """A forest over hyperparameters and meta-features."""

    inputs: TreeInputs
    forest: Forest
    slope: float
    """Scores are the slope times the forest's output, plus the offset."""
    offset: float
    targets: Targets = "standardized"
    """Output of the forest: see `LightGBMRegressorLearner.targets`; unused for a ranker's forest."""

    def __post_init__(self) -> None:
        if self.forest.n_features != len(self.inputs.names):
            raise ValueError("the forest has other inputs than the model")

    @property
    def described_by(self) -> tuple[str, ...]:
        return self.inputs.metafeatures

    def scores_of(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        return self.slope * self.forest.predict(self.input_matrix(configurations, metafeatures)) + self.offset

    def values(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats | None:
        """(n,) estimates of the measure, larger is better; None if the forest only learned scores."""
        if self.targets == "standardized":
            return None
        return self.forest.predict(self.input_matrix(configurations, metafeatures))

    def input_matrix(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """X of `configurations` on the dataset with these meta-features, (n, inputs)."""
        encoded = encode_configurations(self.encoding, configurations, metafeatures)
        one = np.zeros(len(configurations), dtype=np.intp)
        return self.inputs.matrix(encoded, metafeatures.to_frame().T, one)


@dataclass(frozen=True, kw_only=True)
class _BoostedTreesLearner(CalibratedLearner[BoostedTrees]):
    """Base of the regressor and the ranker.

    Without hyperparameters, all configurations get the same prediction on a dataset; without meta-features,
    all datasets get the same ranking.

    Raises:
        BadInput: a number is out of range.
    """

    model: ClassVar[type[BoostedTrees]] = BoostedTrees

    trees: int = 500
    """Number of boosted trees."""
    learning_rate: float = 0.05
    """Factor of each tree's prediction."""
    leaves: int = 16
    """Most leaves of a tree, 2 to 64."""
    min_child_samples: int = 1
    """Fewest runs in a leaf."""
    inputs: Inputs = "both"
    """Inputs of the trees: hyperparameters, meta-features, or both."""
    metafeatures: tuple[str, ...] | None = DEFAULT
    """The qualities to use; None = all that the datasets have. One that no dataset has is missing everywhere
    and has no influence. For regression the default is replaced by regression's own."""
    seed: int = 0
    """Random seed of training."""

    def __post_init__(self) -> None:
        if not 2 <= self.leaves <= MAX_LEAVES:
            raise BadOption(f"leaves must be from 2 to {MAX_LEAVES}, not {self.leaves}")
        if self.trees < 1 or self.min_child_samples < 1 or self.learning_rate <= 0:
            raise BadOption("trees, min_child_samples and learning_rate must be positive")

    def inputs_of(self, encoding: HyperparameterEncoding, available: pd.DataFrame) -> TreeInputs:
        """The columns of X, given the datasets' qualities `available`."""
        chosen = tuple(available.columns) if self.metafeatures is None else self.metafeatures
        if chosen == DEFAULT and not available.columns.intersection(list(GROUPS["target"])).empty:
            chosen = default_for(REGRESSION)
        return TreeInputs(
            encoding.columns if self.inputs in ("hyperparameters", "both") else (),
            chosen if self.inputs in ("metafeatures", "both") else (),
        )

    def boost(self, X: Floats, parameters: Mapping[str, Any], **dataset: Any) -> Any:
        """LightGBM's booster, trained on X with these settings, `parameters` and the labels in `dataset`."""
        import lightgbm

        all_parameters = {
            **REPRODUCIBLE,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_child_samples,
            "seed": self.seed,
            **parameters,
        }
        return lightgbm.train(all_parameters, lightgbm.Dataset(X, **dataset), num_boost_round=self.trees)

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> BoostedTrees:
        """Learn from runs as `fit` does, but without calibration."""
        data = training_data(runs, metafeatures)
        encoding = learn_encoding_of(data)
        encoded = encode_runs(encoding, data)
        inputs = self.inputs_of(encoding, data.metafeatures)
        X = inputs.matrix(encoded, data.metafeatures, data.dataset)
        y = self._targets(data)
        forest = self._train(X, y, data) if X.shape[1] else constant_forest(float(y.mean()))
        slope, offset = self._scale(forest.predict(X), data)
        centre, width = centre_and_spread(encoded)
        return BoostedTrees(
            encoding=encoding,
            centre=centre,
            width=width,
            calibration=UNCALIBRATED,
            inputs=inputs,
            forest=forest,
            slope=slope,
            offset=offset,
        )

    def _targets(self, data: TrainingData) -> Floats:
        """(m,) y: values that the trees predict, or whose order they learn."""
        return data.scores

    @abstractmethod
    def _train(self, X: Floats, y: Floats, data: TrainingData) -> Forest: ...

    def _scale(self, output: Floats, data: TrainingData) -> tuple[float, float]:
        """Slope and offset that convert the forest's output to scores: least squares within datasets."""
        centred = output - pd.Series(output).groupby(data.dataset).transform("mean").to_numpy()
        squares = float(centred @ centred)
        slope = max(float(centred @ data.scores) / squares, 0.0) if squares > 0 else 1.0
        return slope, -slope * float(output.mean())


@dataclass(frozen=True, kw_only=True)
class LightGBMRegressorLearner(_BoostedTreesLearner):
    """Gradient-boosted trees over all runs (LightGBM): the thesis's meta-learner, with its larger trees."""

    targets: Targets = "standardized"
    """Targets: "standardized" = scores within each dataset, "raw" = values of the measure."""

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> BoostedTrees:
        return replace(super().learn(runs, metafeatures), targets=self.targets)

    def _targets(self, data: TrainingData) -> Floats:
        return data.scores if self.targets == "standardized" else data.values

    def _train(self, X: Floats, y: Floats, data: TrainingData) -> Forest:  # noqa: ARG002 (rankers need it)
        return forest_of(self.boost(X, {"objective": "regression"}, label=y))

    def _scale(self, output: Floats, data: TrainingData) -> tuple[float, float]:
        return (1.0, 0.0) if self.targets == "standardized" else super()._scale(output, data)


@dataclass(frozen=True, kw_only=True)
class LightGBMRankerLearner(_BoostedTreesLearner):
    """LightGBM's LambdaRank: trees that order the runs of each dataset, with emphasis on the best."""

    def _train(self, X: Floats, y: Floats, data: TrainingData) -> Forest:
        rank = pd.Series(y).groupby(data.dataset).rank(pct=True).to_numpy()
        grade = np.minimum((rank * _GRADES).astype(np.intp), _GRADES - 1)
        order = np.argsort(data.dataset, kind="stable")
        within = pd.Series(order).groupby(data.dataset[order]).cumcount().to_numpy()
        order = order[within < _LARGEST_QUERY]
        parameters = {"objective": "lambdarank", "label_gain": ",".join(map(str, range(_GRADES)))}
        group = np.bincount(data.dataset[order])
        return forest_of(self.boost(X[order], parameters, label=grade[order], group=group))
