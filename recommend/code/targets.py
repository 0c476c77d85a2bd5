"""Code about the target of a script: classes, or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ingest.reading.datasets import Dataset
from recommend.code.syntax import Call, Raw
from warehouse.support.text import counted
from warehouse.vocabulary.measures import AUC, LOG_LOSS, MAE, QUANTILES, R2, RAE, RRSE
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

if TYPE_CHECKING:
    from recommend.code.fitting import Fitting


class TargetCode(Protocol):
    """The strategy of a task type."""

    averaged: str
    """The averaged predictions, in words."""
    average: Call
    """The unfitted average of `members` with `weights`."""
    cells: str
    """Name of the column with the target in `main`."""
    strata: str
    """Source of the (n,) strata of the folds."""
    precision: str
    """Format of a score."""

    def size(self, dataset: Dataset) -> str:
        """The target in a few words, for the list of a file's facts."""

    def constants(self, dataset: Dataset) -> dict[str, object]:
        """Name -> value of the constants specific to the task type."""

    def values(self, dataset: Dataset) -> np.ndarray:
        """(n,) argument `y` of a script's `fit`, unless it takes classes as numbers."""

    def sizes(self, dataset: Dataset) -> np.ndarray:
        """Rows of each class, or of all."""

    def outcomes(self, fitting: Fitting) -> str:
        """Source of these values in `main`."""

    def predicted(self, fitting: Fitting) -> tuple[str, list[str]]:
        """The docstring of `predict`, and its lines up to the `table` that it returns."""

    def scorer(self, measure: str, fitting: Fitting, fewest: int) -> str:
        """Scikit-learn's name of the measure, or else of a similar or common one.

        Args:
            fewest: rows of the smallest class that is tested, or 0 if some fold tests no row of a class.
        """


class ClassCode:
    """The strategy of classification."""

    averaged = "probabilities"
    average = Call("VotingClassifier", [Raw("members")], {"voting": "soft", "weights": Raw("weights")})
    cells = "labels"
    strata = "y"
    precision = ".4f"
    scorers: Mapping[str, str] = {
        "balanced_accuracy": "balanced_accuracy",
        AUC: "roc_auc_ovr_weighted",
        LOG_LOSS: "neg_log_loss",
        "f_measure": "f1_weighted",
        "f1_macro": "f1_macro",
    }
    """Measure -> scorer; accuracy replaces the others."""

    def size(self, dataset: Dataset) -> str:
        return counted(dataset.n_classes, "classes")

    def constants(self, dataset: Dataset) -> dict[str, object]:
        return {"CLASSES": [str(label) for label in dataset.target.cat.categories]}

    def values(self, dataset: Dataset) -> np.ndarray:
        return dataset.target.astype(str).to_numpy(dtype=object)

    def sizes(self, dataset: Dataset) -> np.ndarray:
        return dataset.target.value_counts().to_numpy()

    def outcomes(self, fitting: Fitting) -> str:
        if fitting.labels_as_numbers:
            return "pd.Index(CLASSES).get_indexer(labels[known])"
        return "labels[known].to_numpy(dtype=object)"

    def predicted(self, fitting: Fitting) -> tuple[str, list[str]]:
        labels = "model.predict(X)"
        if fitting.labels_as_numbers:
            labels = "pd.Index(CLASSES)[model.predict(X).ravel()]"
        names = "CLASSES" if fitting.labels_as_numbers else "model.classes_"
        lines = [f'table = pd.DataFrame({{"prediction": {labels}}})']
        if not fitting.can_be_averaged:
            return "The predicted classes, by row.", lines
        lines += [
            f'names = [f"probability of {{label}}" for label in {names}]',
            "table[names] = model.predict_proba(X)",
        ]
        return "The predicted classes, and the probability of each class.", lines

    def scorer(self, measure: str, fitting: Fitting, fewest: int) -> str:
        scorer = self.scorers.get(measure, "accuracy")
        if scorer == "roc_auc_ovr_weighted" and fitting.dataset.n_classes == 2:
            return "roc_auc"
        needs_probabilities = scorer in ("roc_auc_ovr_weighted", "neg_log_loss")
        if needs_probabilities and (fewest < 2 or not fitting.can_be_averaged):
            return "accuracy"
        return scorer


class NumberCode:
    """The strategy of regression."""

    averaged = "predictions"
    average = Call("VotingRegressor", [Raw("members")], {"weights": Raw("weights")})
    cells = "target"
    strata = "strata(y)"
    precision = ".5g"
    scorers: Mapping[str, str] = {
        MAE: "neg_mean_absolute_error",
        R2: "r2",
        RRSE: "r2",
        RAE: "neg_mean_absolute_error",
        "median_absolute_error": "neg_median_absolute_error",
        **{f"pinball_loss_{quantile:g}": "neg_mean_absolute_error" for quantile in QUANTILES},
    }
    """Measure -> scorer; the root mean squared error replaces the others, including the logarithmic one,
    whose scorer refuses predictions below 0."""

    def size(self, dataset: Dataset) -> str:  # noqa: ARG002
        return "a numeric target"

    def constants(self, dataset: Dataset) -> dict[str, object]:  # noqa: ARG002
        return {}

    def values(self, dataset: Dataset) -> np.ndarray:
        return dataset.target.to_numpy(np.float64)

    def sizes(self, dataset: Dataset) -> np.ndarray:
        return np.array([len(dataset.target)])

    def outcomes(self, fitting: Fitting) -> str:  # noqa: ARG002
        return "target[known].to_numpy()"

    def predicted(self, fitting: Fitting) -> tuple[str, list[str]]:  # noqa: ARG002
        lines = ['table = pd.DataFrame({"prediction": model.predict(X).astype(float)})']
        return "The predicted numbers, by row.", lines

    def scorer(self, measure: str, fitting: Fitting, fewest: int) -> str:  # noqa: ARG002
        return self.scorers.get(measure, "neg_root_mean_squared_error")


_CODES: Mapping[TaskType, TargetCode] = {CLASSIFICATION: ClassCode(), REGRESSION: NumberCode()}


def target_code(dataset: Dataset) -> TargetCode:
    """The strategy of the dataset's task type."""
    return _CODES[dataset.task_type]
