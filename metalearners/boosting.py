"""Boosted trees from hyperparameters and meta-features to standard scores (van Hoof's thesis, chapter 6).

Notation
    X   (m, inputs): the encoded hyperparameters of each run, then the meta-features of its dataset
    y   (m,) the scores of the runs
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd

from metalearners.base import (
    SIZES,
    Observations,
    Prediction,
    TrainingData,
    facts_of,
    hyperparameters_of,
    training_data,
)
from metalearners.forest import MAX_LEAVES, Forest, constant_forest
from metalearners.hyperparameters import HyperparameterEncoding, learn_encoding
from warehouse.errors import BadInput
from warehouse.qualities import DEFAULT
from warehouse.queries import RunTable

Inputs = Literal["hyperparameters", "both"]


class LightGBMRegressorLearner:
    """Gradient-boosted trees over all runs (LightGBM): the thesis's meta-learner, with its larger trees.

    It works for one flow and for all flows together. It states no uncertainty, and trials on the new
    dataset do not change it.
    """

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
            inputs: "hyperparameters" leaves the meta-features out, so that all datasets get one ranking.
            metafeatures: the qualities to use; None = all that `fit` is given. One that no dataset has is
                missing everywhere, and then of no influence.
            threads: number of threads; the result does not depend on it, so it is no setting.

        Raises:
            BadInput: a number is out of range, or `inputs` is unknown.
        """
        if inputs not in get_args(Inputs):
            raise BadInput(f"unknown inputs {inputs!r}; known are {', '.join(get_args(Inputs))}")
        if not 2 <= leaves <= MAX_LEAVES:
            raise BadInput(f"leaves must be from 2 to {MAX_LEAVES}, not {leaves}")
        if trees < 1 or min_child_samples < 1 or learning_rate <= 0:
            raise BadInput("trees, min_child_samples and learning_rate must be positive")
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

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        data = training_data(runs, metafeatures)
        self.encoding_ = learn_encoding(
            data.configurations, data.facts, one_hot=True, rows=data.configuration
        )
        self.metafeatures_ = self._chosen_metafeatures(metafeatures)
        self.forest_ = self._train(self._inputs_of_runs(data), data.scores)
        return self

    def predict(self, configurations: pd.DataFrame, metafeatures: pd.Series) -> Prediction:
        return Prediction(mean=self.forest_.predict(self.input_matrix(configurations, metafeatures)))

    def condition(self, observations: Observations) -> Self:  # noqa: ARG002 (the forest is fixed)
        return self

    @property
    def qualities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*SIZES, *self.metafeatures_]))

    @property
    def input_names(self) -> list[str]:
        """Names of the columns of X."""
        return [*self.encoding_.columns, *self.metafeatures_]

    def input_matrix(self, configurations: pd.DataFrame, metafeatures: pd.Series) -> np.ndarray:
        """X of `configurations` on the dataset with these meta-features, (n, inputs)."""
        dataset = metafeatures.to_frame().T
        hyperparameters = self.encoding_.transform(hyperparameters_of(configurations), facts_of(dataset))
        qualities = dataset.reindex(columns=list(self.metafeatures_)).to_numpy(np.float64)
        return np.hstack([hyperparameters.to_numpy(), np.repeat(qualities, len(configurations), axis=0)])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts = {"encoding": json.loads(self.encoding_.to_json()), "metafeatures": list(self.metafeatures_)}
        return facts, self.forest_.arrays()

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        try:
            self.encoding_ = HyperparameterEncoding.from_json(json.dumps(facts["encoding"]))
            self.metafeatures_ = tuple(str(name) for name in facts["metafeatures"])
        except (KeyError, TypeError) as error:
            raise BadInput(f"the stored learner is damaged ({error}): train it again") from error
        self.forest_ = Forest.from_arrays(arrays)
        if self.forest_.n_features != len(self.input_names):
            raise BadInput("the stored learner is damaged: its forest has other inputs than its encoding")
        return self

    def _chosen_metafeatures(self, available: pd.DataFrame) -> tuple[str, ...]:
        if self.inputs == "hyperparameters":
            return ()
        return tuple(available.columns) if self.metafeatures is None else self.metafeatures

    def _inputs_of_runs(self, data: TrainingData) -> np.ndarray:
        hyperparameters = self.encoding_.transform(data.configurations, data.facts, data.configuration)
        qualities = data.metafeatures.reindex(columns=list(self.metafeatures_)).to_numpy(np.float64)
        return np.hstack([hyperparameters.to_numpy(), qualities[data.dataset]])

    def _train(self, X: np.ndarray, y: np.ndarray) -> Forest:
        if not X.shape[1]:
            # Nothing varies, so nothing can be told apart; LightGBM refuses such data.
            return constant_forest(float(y.mean()), 0)
        import lightgbm

        from metalearners.lightgbm_trees import read_forest

        parameters = {
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_child_samples,
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": self.threads,
            "verbosity": -1,
        }
        booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), num_boost_round=self.trees)
        return read_forest(booster.model_to_string())
