"""The warehouse's runs on the dataset itself, as trials with comparable values.

Runs of different tasks, on other rows or fewer rows, have values on different levels. How much higher a
configuration would be on another level is estimated from similarly good ones that were run on both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metalearners.encoding.links import LINKS
from metalearners.encoding.scores import oriented
from metalearners.predictions import Observations
from metalearners.values_for_use import for_use
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.table import ConfigurationTable

MOST_TRIALS = 500
"""Most runs on the dataset itself that are used, since the covariance matrix grows with their square."""

SIMILAR = 5
"""Number of similarly good configurations from which a difference of levels is estimated.

On the bundled datasets with runs on different numbers of rows (50 with classes, 43 with numbers, reporting
half), this predicts the values of the best third on more rows with .19 (accuracy), .35 (area), .03 (log
loss), .78 (RMSE) and .68 (MAE) times the mean absolute error that the mean difference of values has on the
scale of the measure's link.
"""

COLUMNS = ["task", "setup", "train_rows", "value"]


class Measured(NamedTuple):
    """A measured value of a configuration on the dataset."""

    value: float
    train_rows: int | None
    """Number of training rows; None = unknown."""


@dataclass(frozen=True)
class OwnTrials:
    """Trials on the dataset: a value for each configuration."""

    observations: Observations
    """Values for use, larger is better; all on the level of the task with the largest training size."""
    measured: Mapping[str, Measured]
    """Setup -> its value as measured, in the measure's own direction, on the task with the largest training
    size that it was run on."""

    def __len__(self) -> int:
        return len(self.observations.values)


def runs_on(runs: RunTable, datasets: Collection[str]) -> pd.DataFrame:
    """The runs on these datasets, on any number of rows: a table with `COLUMNS`."""
    parts = [part[part["dataset"].isin(list(datasets))] for part in (runs.runs, runs.larger, runs.smaller)]
    return pd.concat([part[COLUMNS] for part in parts if len(part)] or [runs.runs.iloc[:0][COLUMNS]])


def own_trials(
    runs: pd.DataFrame,
    configurations: ConfigurationTable,
    measure: str,
    test_rows: Mapping[str, int],
) -> OwnTrials | None:
    """One value for each configuration that was run; None if there are none.

    Args:
        runs: a table with `COLUMNS`.
        configurations: runs of other setups are ignored.
        test_rows: task -> number of test rows of its runs, if not all.
    """
    known = runs[runs["setup"].isin(configurations.setups)]
    known = known.assign(train_rows=pd.to_numeric(known["train_rows"]).astype(np.float64))
    tasks = sorted(known.groupby("task"), key=lambda task: _weight(task[1]), reverse=True)
    if not tasks:
        return None
    link = LINKS[MEASURES[measure].link]
    means = [of_task.groupby("setup", sort=False)[["value", "train_rows"]].mean() for _, of_task in tasks]
    z = comparable([_z(of_task["value"], measure) for of_task in means])
    if len(z) > MOST_TRIALS:  # from the worst to the best
        z = z.sort_values()
        z = z.iloc[np.linspace(0, len(z) - 1, MOST_TRIALS).astype(np.intp)]
    on_level = pd.DataFrame(
        {
            "setup": z.index,
            "train_rows": tasks[0][1]["train_rows"].iloc[0],
            "value": link.to_values(z.to_numpy()),
        }
    )
    observations = Observations(
        configurations.of_setups(z.index),
        for_use(on_level, configurations, measure),
        MEASURES[measure].link,
        test_rows.get(str(tasks[0][0])),  # all values are on its level
    )
    measured = {
        setup: Measured(value, None if np.isnan(rows) else round(rows))
        for of_task in reversed(means)
        for setup, value, rows in of_task.itertuples()
    }
    return OwnTrials(observations, {setup: measured[setup] for setup in z.index})


def comparable(by_task: list[pd.Series]) -> pd.Series:
    """Value by configuration on the level of the first task.

    Each further task adds its new configurations. Each is shifted by the mean difference of the `SIMILAR`
    configurations with the nearest values of those that the task shares with earlier ones; a task that shares
    none adds nothing.

    Args:
        by_task: values by configuration on an unbounded scale, for each task.
    """
    values = by_task[0]
    for of_task in by_task[1:]:
        shared = of_task.index.intersection(values.index)
        new = of_task.drop(shared)
        if len(shared) and len(new):
            known = of_task[shared].to_numpy()
            distances = np.abs(new.to_numpy()[:, None] - known)
            similar = np.argsort(distances, axis=1, kind="stable")[:, :SIMILAR]
            gaps = values[shared].to_numpy() - known
            values = pd.concat([values, new + gaps[similar].mean(axis=1)])
    return values


def test_rows_on(warehouse: Warehouse, datasets: Collection[str]) -> dict[str, int]:
    """Task -> smallest number of test rows of its runs on these datasets, if known."""
    found = warehouse.arrow(_TEST_ROWS, {"datasets": list(datasets)}).to_pydict()
    return dict(zip(found["task"], found["test_rows"], strict=True))


_TEST_ROWS = """
SELECT task, min(r.test_rows) AS test_rows FROM runs r JOIN tasks t USING (task)
WHERE list_contains($datasets, t.dataset) AND r.test_rows IS NOT NULL
GROUP BY task
"""


def failures_on(warehouse: Warehouse, datasets: Collection[str]) -> dict[str, str]:
    """Setup -> outcome of the configurations whose runs on these datasets all failed."""
    found = warehouse.arrow(_FAILURES, {"datasets": list(datasets)}).to_pydict()
    return dict(zip(found["setup"], found["outcome"], strict=True))


_FAILURES = """
SELECT r.setup, max(r.outcome) AS outcome  -- any of them
FROM runs r JOIN tasks t USING (task)
WHERE list_contains($datasets, t.dataset)
GROUP BY r.setup
HAVING count(*) FILTER (r.outcome = 'success') = 0
ORDER BY r.setup
"""


def _z(values: pd.Series, measure: str) -> pd.Series:
    """Values on the scale of the measure's link."""
    to_z = LINKS[MEASURES[measure].link].to_z
    return pd.Series(to_z(oriented(values.to_numpy(np.float64), measure)), values.index)


def _weight(runs: pd.DataFrame) -> tuple[float, int]:
    """Largest number of training rows of a task, and its number of configurations."""
    return float(runs["train_rows"].fillna(np.inf).max()), runs["setup"].nunique()
