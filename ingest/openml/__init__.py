"""Runs from OpenML, or from another server with its API.

`job` puts the parts together: a `selection` says which runs, a `sweep` decides what to ask for, `answers`
keeps what came until it is in the warehouse, `documents` reads it, `tables` makes rows of it, `store` commits
them with their parents, and `records` notes the progress.
"""

DEFAULT_SERVER = "https://www.openml.org/api/v1"
MEASURES = ("predictive_accuracy", "area_under_roc_curve", "f_measure", "kappa", "usercpu_time_millis")
"""Measures requested by default."""
