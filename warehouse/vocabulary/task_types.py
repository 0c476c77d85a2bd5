"""Task types, with OpenML's numbers and the measures of their predictions.

A dataset, a task, a run and a model each have one task type. What differs between task types is data here, or
one of the scorers of `ingest.running.scorer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS


@dataclass(frozen=True)
class TaskType:
    """A kind of supervised learning."""

    name: str
    """OpenML's, in lower case with underscores, as in the warehouse's table of tasks."""
    openml_id: int
    """OpenML's number of it."""
    words: str
    """Name in sentences."""
    measures: tuple[str, ...]
    """Measures of predictions that every run of our own has; one of them selects a model."""
    default_measure: str
    """Measure for users who name none."""
    complementary: tuple[str, ...]
    """Measures of different sides of the same predictions, each of which tells something about the others."""

    def related_measures(self, measure: str) -> tuple[str, ...]:
        """The complementary measures beside `measure`; none where it is not one of them."""
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
    measures=("root_mean_squared_error", "mean_absolute_error"),
    default_measure="root_mean_squared_error",
    complementary=("root_mean_squared_error", "mean_absolute_error"),
)

TASK_TYPES: Mapping[str, TaskType] = {one.name: one for one in (CLASSIFICATION, REGRESSION)}
"""All known task types, by name."""
