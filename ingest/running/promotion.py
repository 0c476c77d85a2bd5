"""Promotion: the configurations to run on more rows of a dataset, chosen by results on fewer.

Ranks on one dataset are noisy, so ranks on datasets with similar rankings count as much.
"""

from __future__ import annotations

import pandas as pd

from warehouse.store import Warehouse
from warehouse.vocabulary.measures import larger_is_better
from warehouse.vocabulary.task_types import TaskType

NEAR = 10
"""Number of similar datasets whose ranks count; a heuristic."""


def best_setups(warehouse: Warehouse, task: str, task_type: TaskType, n: int) -> set[str]:
    """The `n` setups with the best mean of two ranks: on `task`, and averaged over the most similar tasks.

    Only setups that were run on `task` qualify. The other tasks are, for each dataset, the one with the
    fewest training rows. Ranks are by the task type's default measure.
    """
    measure = task_type.default_measure
    cells = warehouse.sql(_CELLS, {"measure": measure, "task": task, "task_type": task_type.name})
    matrix = cells.pivot(index="task", columns="setup", values="value")  # noqa: PD010
    if task not in matrix.index:
        return set()
    own = matrix.loc[task].dropna().index
    best_last = larger_is_better(measure)
    ranks = matrix[own].rank(axis=1, pct=True, ascending=best_last)  # (tasks, setups); 1 = best
    others = ranks.drop(index=task)
    nearness: pd.Series = others.T.corrwith(ranks.loc[task]).dropna()
    near = others.loc[nearness.nlargest(NEAR).index].mean()
    score = pd.Series(ranks.loc[task] + near.fillna(0.5))
    return set(score.nlargest(n).index)


_CELLS = """
WITH counted AS (
    SELECT r.task, t.dataset, r.setup, e.value, min(r.train_rows) OVER (PARTITION BY t.dataset) AS fewest,
           r.train_rows
    FROM runs r JOIN tasks t USING (task) JOIN evaluations e USING (run)
    WHERE e.measure = $measure AND t.task_type = $task_type AND r.outcome = 'success' AND e.value IS NOT NULL
)
SELECT task, setup, any_value(value) AS value FROM counted
WHERE task = $task OR train_rows = fewest
GROUP BY ALL
"""
