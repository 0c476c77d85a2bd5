"""Runs from OpenML, or from another server with its API.

`job` puts the parts together: a `selection` says which runs, a `sweep` decides what to ask for, `api` asks
the server and reads its documents, `answers` keeps what came until it is in the warehouse, `tables` makes
rows of it, `store` commits them with their parents, and `records` notes the progress.
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
