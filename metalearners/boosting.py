"""Boosted trees from hyperparameters and meta-features to standard scores (van Hoof's thesis, chapter 6).

Notation
    X   (m, inputs): the encoded hyperparameters of each run, then the meta-features of its dataset
    y   (m,) targets of the runs: their scores, their raw values, or grades of their ranks
    q   (m,) position of each run's dataset
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd

from metalearners.base import (
    SIZES,
    TrainingData,
    training_data,
)
from metalearners.calibrated import CalibratedLearner
from metalearners.encoded import centre_and_spread, encode, encode_runs, learn_encoding_of
from metalearners.forest import MAX_LEAVES, Forest, constant_forest
from metalearners.hyperparameters import HyperparameterEncoding
from metalearners.lightgbm_trees import REPRODUCIBLE, read_forest
from warehouse.configurations.table import ConfigurationTable
from warehouse.qualities import DEFAULT
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, DamagedModel, UnknownName

Inputs = Literal["none", "metafeatures", "hyperparameters", "both"]
Targets = Literal["standardized", "raw"]

_GRADES = 31  # of relevance, from 0; LightGBM's default gains end there
_LARGEST_QUERY = 10_000  # rows of one dataset that LightGBM ranks


class _BoostedTrees(CalibratedLearner):
    """What the regressor and the ranker have in common: inputs, one forest, and its scale."""

    def __init__(
        self,
        *,
        trees: int = 500,
        learning_rate: float = 0.05,
        leaves: int = 16,
        min_child_samples: int = 1,
        inputs: Inputs = "both",
        metafeatures: Sequence[str] | None = DEFAULT,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        """Settings of the training.

        Args:
            inputs: what the trees may look at. Without hyperparameters all configurations of a dataset are
                predicted the same, without meta-features all datasets get one ranking.
            metafeatures: the qualities to use; None = all that `fit` is given. One that no dataset has is
                missing everywhere, and then of no influence.
            threads: number of threads; the result does not depend on it, so it is no setting.

        Raises:
            BadInput: a number is out of range, or `inputs` is unknown.
        """
        if inputs not in get_args(Inputs):
            raise UnknownName(f"unknown inputs {inputs!r}; known are {', '.join(get_args(Inputs))}")
        if not 2 <= leaves <= MAX_LEAVES:
            raise BadOption(f"leaves must be from 2 to {MAX_LEAVES}, not {leaves}")
        if trees < 1 or min_child_samples < 1 or learning_rate <= 0:
            raise BadOption("trees, min_child_samples and learning_rate must be positive")
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_child_samples = min_child_samples
        self.inputs: Inputs = inputs
        self.metafeatures = None if metafeatures is None else tuple(metafeatures)
        self.seed = seed
        self.threads = threads

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "trees": self.trees,
            "learning_rate": self.learning_rate,
            "leaves": self.leaves,
            "min_child_samples": self.min_child_samples,
            "inputs": self.inputs,
            "metafeatures": None if self.metafeatures is None else list(self.metafeatures),
            "seed": self.seed,
        }

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> None:
        data = training_data(runs, metafeatures)
        X = self.prepare(data, metafeatures)
        self.forest_ = self._train(X, data) if X.shape[1] else constant_forest(float(data.scores.mean()), 0)
        self.slope_, self.offset_ = self._scale(X, data)

    def prepare(self, data: TrainingData, available: pd.DataFrame) -> Floats:
        """Decide on encoding and meta-features; X of the runs, (m, inputs)."""
        self.encoding_ = learn_encoding_of(data)
        self.metafeatures_ = self._chosen_metafeatures(available)
        encoded = encode_runs(self.encoding_, data)
        self.centre_, self.width_ = centre_and_spread(encoded)
        return self._inputs(encoded, data.metafeatures, data.dataset)

    def expect(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        output = self.forest_.predict(self.input_matrix(configurations, metafeatures))
        return self.slope_ * output + self.offset_

    @property
    def qualities(self) -> tuple[str, ...]:
        """As `MetaLearner.qualities`."""
        return tuple(dict.fromkeys([*SIZES, *self.metafeatures_]))

    @property
    def input_names(self) -> list[str]:
        """Names of the columns of X."""
        return [*(self.encoding_.columns if self._sees_hyperparameters else ()), *self.metafeatures_]

    def input_matrix(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """X of `configurations` on the dataset with these meta-features, (n, inputs)."""
        encoded = encode(self.encoding_, configurations, metafeatures)
        one = np.zeros(len(configurations), dtype=np.intp)
        return self._inputs(encoded, metafeatures.to_frame().T, one)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """As `MetaLearner.state`."""
        facts = {
            "encoding": json.loads(self.encoding_.to_json()),
            "metafeatures": list(self.metafeatures_),
            "slope": self.slope_,
            "offset": self.offset_,
            "spread": self.spread_,
        }
        return facts, {**self.forest_.arrays(), "centre": self.centre_, "width": self.width_}

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """As `MetaLearner.restore`."""
        try:
            self.encoding_ = HyperparameterEncoding.from_json(json.dumps(facts["encoding"]))
            self.metafeatures_ = tuple(str(name) for name in facts["metafeatures"])
            self.slope_, self.offset_ = float(facts["slope"]), float(facts["offset"])
            self.forest_ = Forest.from_arrays(arrays)
            self.centre_, self.width_ = arrays["centre"], arrays["width"]
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        self._restore_spread(facts)
        if self.forest_.n_features != len(self.input_names):
            raise DamagedModel("the stored learner is damaged: its forest has other inputs than its encoding")
        if self.centre_.shape != (len(self.encoding_.columns),) or self.width_.shape != self.centre_.shape:
            raise DamagedModel(
                "the stored learner is damaged: its scales have other columns than its encoding"
            )
        return self

    @abstractmethod
    def _train(self, X: Floats, data: TrainingData) -> Forest: ...

    def _scale(self, X: Floats, data: TrainingData) -> tuple[float, float]:
        """Slope and offset that turn the forest's output into scores: by least squares within datasets."""
        output = self.forest_.predict(X)
        centred = output - pd.Series(output).groupby(data.dataset).transform("mean").to_numpy()
        squares = float(centred @ centred)
        slope = max(float(centred @ data.scores) / squares, 0.0) if squares > 0 else 1.0
        return slope, -slope * float(output.mean())

    @property
    def _sees_hyperparameters(self) -> bool:
        return self.inputs in ("hyperparameters", "both")

    def _chosen_metafeatures(self, available: pd.DataFrame) -> tuple[str, ...]:
        if self.inputs not in ("metafeatures", "both"):
            return ()
        return tuple(available.columns) if self.metafeatures is None else self.metafeatures

    def _inputs(self, encoded: Floats, datasets: pd.DataFrame, q: np.ndarray) -> Floats:
        qualities = datasets.reindex(columns=list(self.metafeatures_)).to_numpy(np.float64)[q]
        return np.hstack([encoded, qualities]) if self._sees_hyperparameters else qualities

    def boost(self, X: Floats, parameters: Mapping[str, Any], **dataset: Any) -> Any:
        """LightGBM's booster, trained with these settings and `parameters` on X; `dataset` are its labels."""
        import lightgbm

        all_parameters = {
            **REPRODUCIBLE,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_child_samples,
            "seed": self.seed,
            "num_threads": self.threads,
            **parameters,
        }
        return lightgbm.train(all_parameters, lightgbm.Dataset(X, **dataset), num_boost_round=self.trees)

    def _boosted(self, X: Floats, parameters: Mapping[str, Any], **dataset: Any) -> Forest:
        return read_forest(self.boost(X, parameters, **dataset).model_to_string())


class LightGBMRegressorLearner(_BoostedTrees):
    """Gradient-boosted trees over all runs (LightGBM): the thesis's meta-learner, with its larger trees."""

    def __init__(self, *, targets: Targets = "standardized", **settings: Any) -> None:
        """Settings of the training: those of `_BoostedTrees`, and what to learn.

        Args:
            targets: "standardized" = scores within each dataset, "raw" = the measure as it is.

        Raises:
            BadInput: `targets` is unknown, or another setting is wrong.
        """
        if targets not in get_args(Targets):
            raise UnknownName(f"unknown targets {targets!r}; known are {', '.join(get_args(Targets))}")
        super().__init__(**settings)
        self.targets: Targets = targets

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "targets": self.targets}

    def _train(self, X: Floats, data: TrainingData) -> Forest:
        y = data.scores if self.targets == "standardized" else data.values
        return self._boosted(X, {"objective": "regression"}, label=y)

    def _scale(self, X: Floats, data: TrainingData) -> tuple[float, float]:
        return (1.0, 0.0) if self.targets == "standardized" else super()._scale(X, data)


class LightGBMRankerLearner(_BoostedTrees):
    """LightGBM's LambdaRank: trees that order the runs of each dataset, the best ones above all."""

    def _train(self, X: Floats, data: TrainingData) -> Forest:
        rank = pd.Series(data.scores).groupby(data.dataset).rank(pct=True).to_numpy()
        grade = np.minimum((rank * _GRADES).astype(np.intp), _GRADES - 1)
        order = np.argsort(data.dataset, kind="stable")
        within = pd.Series(order).groupby(data.dataset[order]).cumcount().to_numpy()
        order = order[within < _LARGEST_QUERY]
        parameters = {"objective": "lambdarank", "label_gain": ",".join(map(str, range(_GRADES)))}
        group = np.bincount(data.dataset[order])
        return self._boosted(X[order], parameters, label=grade[order], group=group)
