"""The warehouse's runs on the dataset itself, as trials with comparable values.

Runs of different tasks, on other rows or fewer rows, have values on different levels. The difference between
the levels of two tasks is estimated from the configurations run in both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented
from metalearners.predictions import Observations
from metalearners.values_for_use import for_use
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.table import ConfigurationTable

MOST_TRIALS = 500
"""Most runs on the dataset itself that are used, since the covariance matrix grows with their square."""

COLUMNS = ["task", "setup", "train_rows", "value"]


@dataclass(frozen=True)
class OwnTrials:
    """Trials on the dataset: a value for each configuration."""

    observations: Observations
    """Values for use, larger is better; all on the level of the task with the largest training size."""
    measured: pd.Series
    """Setup -> its value on that level, as measured, in the measure's own direction."""

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
    known = known.assign(value=oriented(known["value"].to_numpy(np.float64), measure))
    tasks = sorted(known.groupby("task"), key=lambda task: _weight(task[1]), reverse=True)
    if not tasks:
        return None
    values = comparable([of_task.groupby("setup", sort=False)["value"].mean() for _, of_task in tasks])
    if len(values) > MOST_TRIALS:  # from the worst to the best
        values = values.sort_values()
        values = values.iloc[np.linspace(0, len(values) - 1, MOST_TRIALS).astype(np.intp)]
    level = tasks[0][1]["train_rows"].iloc[0]
    on_level = pd.DataFrame({"setup": values.index, "train_rows": level, "value": values.to_numpy()})
    observations = Observations(
        configurations.of_setups(values.index),
        for_use(on_level, configurations, measure),
        MEASURES[measure].link,
        test_rows.get(str(tasks[0][0])),  # all values are on its level
    )
    measured = pd.Series(oriented(values.to_numpy(), measure), index=values.index)
    return OwnTrials(observations, measured)


def comparable(by_task: list[pd.Series]) -> pd.Series:
    """Value by configuration on the level of the first task.

    Each further task adds its new configurations, shifted by the mean difference over the configurations it
    shares with earlier tasks; a task that shares none adds nothing. If only configurations that were good on
    few rows were run on more, these were lucky there, and the others become slightly too low.

    Args:
        by_task: values by configuration, for each task.
    """
    values = by_task[0]
    for of_task in by_task[1:]:
        level = (values - of_task).mean()  # over the shared configurations
        if not np.isnan(level):
            values = pd.concat([values, of_task[~of_task.index.isin(values.index)] + level])
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


def _weight(runs: pd.DataFrame) -> tuple[float, int]:
    """Largest number of training rows of a task, and its number of configurations."""
    rows = pd.to_numeric(runs["train_rows"]).astype(np.float64).fillna(np.inf).max()
    return float(rows), runs["setup"].nunique()
