"""Runs from OpenML, or from another server with its API.

`job` puts the parts together: `selection` describes the runs, `sweep` decides what to request, `api` asks the
server and reads its documents, `answers` caches them until they are in the warehouse, `tables` converts them
to rows, `store` commits these with their parents, and `records` notes the progress.
"""

from collections.abc import Mapping

from warehouse.vocabulary.task_types import TaskName

MEASURES: Mapping[TaskName, tuple[str, ...]] = {
    "classification": (
        "predictive_accuracy",
        "area_under_roc_curve",
        "f_measure",
        "kappa",
        "usercpu_time_millis",
    ),
    "regression": (
        "root_mean_squared_error",
        "mean_absolute_error",
        "root_relative_squared_error",
        "relative_absolute_error",
        "usercpu_time_millis",
    ),
}
"""Measures requested by default."""
