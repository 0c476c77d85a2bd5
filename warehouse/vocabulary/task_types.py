"""Task types, with OpenML's numbers and the measures of their predictions.

A dataset, a task, a run and a model each have one task type. Differences between task types are data here, or
scorers in `ingest.running.scorer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from warehouse.vocabulary.measures import (
    ACCURACY,
    AUC,
    LOG_LOSS,
    MAE,
    QUANTILES,
    R2,
    RAE,
    RMSE,
    RMSLE,
    RRSE,
    canonical_measure,
)

TaskName = Literal["classification", "regression"]
"""Name of a task type in options (`TaskType.words`)."""


@dataclass(frozen=True)
class TaskType:
    """A kind of supervised learning."""

    name: str
    """OpenML's name in lower case with underscores, as in the warehouse's table of tasks."""
    openml_id: int
    """OpenML's number."""
    words: str
    """Name in sentences."""
    measures: tuple[str, ...]
    """Measures of predictions in every run of our own; one of them selects a model."""
    default_measure: str
    """Measure if the user names none."""
    complementary: tuple[str, ...]
    """Measures of different aspects of the same predictions; each is informative about the others."""
    learned_as: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Requested measure -> the unitless measure that learners and searches use instead: it orders the runs of
    a dataset (nearly) the same, and is comparable across datasets."""

    def learned_measure(self, measure: str) -> str:
        """The measure that learners and searches use for `measure`; often `measure` itself."""
        return self.learned_as.get(measure, measure)

    def related_measures(self, measure: str) -> tuple[str, ...]:
        """The other complementary measures; none if `measure` is not one of them."""
        if measure not in self.complementary:
            return ()
        return tuple(other for other in self.complementary if other != measure)


CLASSIFICATION = TaskType(
    name="supervised_classification",
    openml_id=1,
    words="classification",
    measures=(
        ACCURACY,
        "balanced_accuracy",
        AUC,
        LOG_LOSS,
        "brier_score",
        "f_measure",
        "f1_macro",
        "kappa",
    ),
    default_measure=ACCURACY,
    complementary=(ACCURACY, AUC, LOG_LOSS),
)
REGRESSION = TaskType(
    name="supervised_regression",
    openml_id=2,
    words="regression",
    measures=(
        RMSE,
        MAE,
        R2,
        RRSE,
        RAE,
        "median_absolute_error",
        RMSLE,
        *(f"pinball_loss_{quantile:g}" for quantile in QUANTILES),
    ),
    default_measure=RMSE,
    # Absolute errors say too little of squared ones, and the reverse: configurations fitted to one of them
    # would count as good for the other.
    complementary=(),
    learned_as={
        RMSE: RRSE,
        R2: RRSE,
        MAE: RAE,
        "median_absolute_error": RAE,
        **{f"pinball_loss_{quantile:g}": RAE for quantile in QUANTILES},
    },
)

TASK_TYPES: Mapping[str, TaskType] = {one.name: one for one in (CLASSIFICATION, REGRESSION)}
"""All known task types, by name."""


def runs_learned(task: TaskName, measure: str | None) -> tuple[TaskType, str]:
    """Task type and measure of the runs to learn from for results that are good on `measure`.

    Args:
        measure: a name or an alias of `warehouse.vocabulary.measures`; None = the task type's default.

    >>> runs_learned("regression", "rmse")[1]
    'root_relative_squared_error'

    Raises:
        BadInput: the measure is unknown.
    """
    task_type = next(one for one in TASK_TYPES.values() if one.words == task)
    return task_type, task_type.learned_measure(canonical_measure(measure or task_type.default_measure))
