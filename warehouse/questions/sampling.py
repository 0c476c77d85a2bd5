"""A sample of runs to learn from, for warehouses with too many.

The joint table of all flows has a cell for each configuration and each hyperparameter of any flow: thirty
billion for a million configurations of 3,000 flows. If a warehouse is too large, learners get a sample,
always the same one: flows of algorithms that Headstart can build first, then those with the most runs; the
datasets and the configurations with the most runs; and equally many runs of each dataset, as far as it has
them, drawn by a hash of their names. All runs of searches are included: they are few, and the user's own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Ask = Callable[[str, Mapping[str, Any]], pa.Table]
"""Answers an SQL query with these parameters."""

ON_TRAINING_ROWS = "Test on Training Data"
"""OpenML's estimation procedure whose values say nothing about new rows."""
TASKS = f"""(
  SELECT t.task, t.dataset FROM (
    SELECT task, dataset, target,
      CASE WHEN regexp_full_match(task, 'openml:[0-9]+') THEN estimation_procedure END AS procedure
    FROM tasks WHERE task_type = $task_type
  ) t LEFT JOIN datasets d USING (dataset)
  WHERE t.procedure IS DISTINCT FROM '{ON_TRAINING_ROWS}'
  WINDOW first_known AS (
    PARTITION BY t.dataset
    ORDER BY t.target IS NULL, t.target IS DISTINCT FROM d.target, t.procedure IS NULL, length(t.task), t.task
  )
  QUALIFY coalesce(t.target = first_value(t.target) OVER first_known, true)
    AND coalesce(t.procedure = first_value(t.procedure) OVER first_known, true)
)"""
"""Tasks of one type, in a query, with one target and one of OpenML's estimation procedures per dataset: runs
on different targets do not compare, and values of holdouts, cross-validations and training rows differ.

The target is the dataset's own; if that is unknown, that of the dataset's first task, which at OpenML has the
lowest number; the procedure is that of the first task with this target. A task with an unknown target or
procedure counts as having these. Values on the training rows are never used.
"""
SEARCHES = ("tune", "verify")
"""Sources whose runs were chosen by their results on the dataset."""

MOST_RUNS = 1_000_000
"""Most runs of one flow without sampling; a run takes about half a kilobyte."""
MOST_CELLS = 2**27
"""Most configurations times hyperparameters without sampling: 1 GiB."""
MOST_LEARNED = 200_000
"""Most runs of all flows without sampling; a learner takes a few kilobytes for each."""
SAMPLED_RUNS = 100_000
SAMPLED_DATASETS = 1_000
SAMPLED_SETUPS = 5_000
SAMPLED_CELLS = 2**24
"""Most runs times hyperparameters of a sample: a learner has several copies of 128 MiB each."""


_FEW_SETUPS = 20_000
_HYPERPARAMETERS = 100
"""About the largest number of hyperparameters of an algorithm."""

logger = logging.getLogger(__name__)


def limits() -> list[int]:
    """Limits that determine a sample, together with the runs."""
    return [
        MOST_RUNS,
        MOST_CELLS,
        MOST_LEARNED,
        SAMPLED_RUNS,
        SAMPLED_DATASETS,
        SAMPLED_SETUPS,
        SAMPLED_CELLS,
    ]


@dataclass(frozen=True)
class RunSample:
    """Selection of a sample among the runs with a value of a measure."""

    flows: list[str] | None
    """Flows of the sample; None = all."""
    runs: list[str] | None
    """Keys of the runs; None = all runs of these flows."""


def choose_sample(ask: Ask, flows: list[str] | None, measure: str, *, joint: bool) -> RunSample:
    """All runs of `flows` (None: of all) if their table fits into memory, else a sample, which is logged.

    Args:
        joint: whether each algorithm has columns of its own in the table.
    """
    everything = RunSample(flows, None)
    most = MOST_LEARNED if joint else MOST_RUNS
    counted = ask(_COUNTS, {}).to_pylist()[0]
    if counted["runs"] <= most and counted["setups"] <= _FEW_SETUPS:
        return everything
    amounts = ask(_AMOUNTS, {"flows": flows, "measure": measure}).to_pandas()
    if joint:
        widths = ask(_WIDTHS, {}).to_pandas().set_index("flow")["columns"]
        columns = widths.reindex(amounts["flow"]).fillna(0).to_numpy().cumsum()
    else:
        columns = np.full(len(amounts), _HYPERPARAMETERS)
    setups, n_runs = amounts["setups"].to_numpy().cumsum(), int(amounts["runs"].sum())
    if n_runs <= most and (setups * columns <= MOST_CELLS).all():
        return everything
    fits = np.minimum(amounts["runs"].to_numpy().cumsum(), SAMPLED_RUNS) * columns <= SAMPLED_CELLS
    searched = ask(_SEARCHED, {"searches": SEARCHES})["flow"].to_pylist()
    chosen = amounts["flow"][fits | amounts["flow"].isin(searched) | (amounts.index == 0)].tolist()
    limits = {"datasets": SAMPLED_DATASETS, "setups": SAMPLED_SETUPS, "runs": SAMPLED_RUNS}
    drawn = ask(_DRAWN, {"flows": chosen, "measure": measure, "searches": SEARCHES, **limits})
    logger.info(
        "the warehouse has %s runs with a value of %s, too many to learn from all of them: using a sample of"
        " %s on %s datasets, of the %s configurations with the most runs, of %d of %d flows",
        f"{n_runs:,}",
        measure,
        f"{drawn.num_rows:,}",
        f"{pc.count_distinct(drawn['dataset']).as_py():,}",
        f"{pc.count_distinct(drawn['setup']).as_py():,}",
        len(chosen),
        len(amounts),
    )
    return RunSample(chosen, drawn["run"].to_pylist())


_COUNTS = "SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM setups) AS setups"

# Flows that can be recommended come first, then those with the most runs.
_AMOUNTS = """
WITH run_often AS (
  SELECT e.flow, count(*) AS runs FROM evaluations e
  WHERE e.measure = $measure AND ($flows IS NULL OR list_contains($flows, e.flow)) AND isfinite(e.value)
  GROUP BY e.flow
), set_up AS (SELECT flow, count(*) AS setups FROM setups GROUP BY flow)
SELECT flow, runs, coalesce(setups, 0) AS setups
FROM run_often LEFT JOIN set_up USING (flow) LEFT JOIN flows f USING (flow)
ORDER BY f.algorithm IS NULL, runs DESC, flow
"""

_WIDTHS = """
WITH examples AS (SELECT flow, min(setup) AS setup FROM setups GROUP BY flow)
SELECT flow, count(*) AS columns
FROM hyperparameters JOIN examples USING (setup) WHERE tunable IS DISTINCT FROM false GROUP BY flow
"""

_SEARCHED = """
SELECT DISTINCT s.flow FROM ingests i JOIN runs r USING (ingest) JOIN setups s USING (setup)
WHERE list_contains($searches, i.source)
"""

# A hash breaks ties between datasets and between setups, and selects the runs of a dataset.
_DRAWN = f"""
WITH known AS MATERIALIZED (
  SELECT r.run, r.setup, t.dataset, list_contains($searches, i.source) AS searched
  FROM evaluations e JOIN runs r USING (run) JOIN {TASKS} t USING (task) JOIN ingests i ON i.ingest = r.ingest
  WHERE e.measure = $measure AND list_contains($flows, e.flow) AND r.outcome = 'success'
    AND isfinite(e.value)
), of_datasets AS (
  SELECT * FROM known WHERE dataset IN (
    SELECT dataset FROM known GROUP BY dataset
    ORDER BY bool_or(searched) DESC, count(*) DESC, md5(dataset) LIMIT $datasets
  )
), of_setups AS (
  SELECT * FROM of_datasets WHERE searched OR setup IN (
    SELECT setup FROM of_datasets GROUP BY setup ORDER BY count(*) DESC, md5(setup) LIMIT $setups
  )
)
SELECT run, setup, dataset FROM of_setups
QUALIFY searched OR row_number() OVER (PARTITION BY dataset, searched ORDER BY md5(run))
  <= $runs / (SELECT count(DISTINCT dataset) FROM of_setups)
ORDER BY run
"""
