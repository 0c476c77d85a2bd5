"""Values of boosters that stop early, as models for use have them.

In runs, such a booster holds out rows in order to stop, and keeps the model. A model for use waits longer,
and is fitted again on all rows (`ingest.flows.boosters`): its errors are smaller, by nearly the same share
for all configurations and sizes of datasets. Learners get the values with these smaller errors; otherwise
they would recommend such boosters too seldom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS, MAE, R2, RAE, RMSE, RRSE, larger_is_better
from warehouse.vocabulary.table import ConfigurationTable, joint_name

STOP_EARLY = frozenset(
    f"{library}{kind}" for library in ("catboost", "lightgbm", "xgboost") for kind in ("", "_regressor")
)
"""Algorithms whose models for use are fitted again if `SWITCH` is true."""
SWITCH = "early_stopping"
FITTED_AGAIN_BELOW = 10_000
"""Models for use are fitted again if they have fewer training rows."""
SMALLER: Mapping[str, float] = {
    ACCURACY: 0.013,
    "balanced_accuracy": 0.015,
    AUC: 0.025,
    "f_measure": 0.018,
    "f1_macro": 0.02,
    "kappa": 0.015,
    LOG_LOSS: 0.012,
    "brier_score": 0.012,
    RMSE: 0.019,
    RRSE: 0.019,
    MAE: 0.022,
    RAE: 0.022,
    R2: 0.037,
    "median_absolute_error": 0.037,
}
"""Measure -> share by which a model for use has a smaller error, which is the distance to the best value.

Means over 140 models on 35 tables with classes and 156 on 39 tables with numbers, all of the choosing half
and with up to 2,000 training rows (`tests.benchmarks.early_stopping`), without the smallest and largest 5 %.
"""


def values_for_use(runs: RunTable) -> RunTable:
    """The runs with the values, also of related measures, that models for use are expected to have."""
    table, measured = runs.configurations, runs.runs.set_index("run")
    related = {
        str(name): for_use(measured.assign(value=values).reindex(values.index), table, str(name))
        for name, values in runs.related.items()
    }
    return replace(
        runs,
        runs=runs.runs.assign(value=for_use(runs.runs, table, runs.measure)),
        larger=runs.larger.assign(value=for_use(runs.larger, table, runs.measure)),
        smaller=runs.smaller.assign(value=for_use(runs.smaller, table, runs.measure)),
        related=runs.related.assign(**related),
    )


def for_use(runs: pd.DataFrame, configurations: ConfigurationTable, measure: str) -> Floats:
    """(m,) values of a measure, in its own direction or negated, that models for use are expected to have.

    Args:
        runs: m rows with setup, train_rows (missing: all rows) and value.
        configurations: of these setups, and possibly others.
    """
    values = runs["value"].to_numpy(np.float64)
    rows = pd.to_numeric(runs["train_rows"]).to_numpy(np.float64, na_value=np.nan)
    again = runs["setup"].isin(_that_stop_early(configurations)).to_numpy() & ~(rows >= FITTED_AGAIN_BELOW)
    best = 1.0 if larger_is_better(measure) else 0.0
    return np.where(again, best + (1 - SMALLER.get(measure, 0.0)) * (values - best), values)


def _that_stop_early(table: ConfigurationTable) -> pd.Index:
    """The setups of boosters that stop early."""
    stop = np.zeros(len(table), dtype=bool)
    for algorithm in STOP_EARLY & {*table.algorithms}:
        name = joint_name(algorithm, SWITCH) if table.joint else SWITCH
        if name in table.parameters:
            own = (table.algorithms == algorithm).to_numpy()
            stop |= own & (table.parameters[name] == True).to_numpy()  # noqa: E712
    return table.setups[stop]
