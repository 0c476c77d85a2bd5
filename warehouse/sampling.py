"""Which runs a table of runs is made of where all of them would not fit into memory.

The table of the runs of all flows of a warehouse has a cell for each configuration and each hyperparameter of
any flow: a million configurations of 3,000 flows have thirty billion. Of a warehouse that is too large a
sample is taken, the same one at each time: so many runs of each dataset as there can be if all datasets have
equally many, drawn by a hash of their names, of the flows that were run most. What a search ran is kept:
these runs are few, and a user's own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

SEARCHES = ("tune", "verify")
"""Sources of runs that were chosen for how good they are on the dataset."""

MOST_RUNS = 1_000_000
"""Of a table that is not a sample; a run takes about half a kilobyte."""
MOST_CELLS = 2**27
"""Configurations times hyperparameters of a table that is not a sample: 1 GiB."""
SAMPLED_RUNS = 100_000
SAMPLED_CELLS = 2**25

_FEW_SETUPS = 20_000
_HYPERPARAMETERS = 100
"""Of one algorithm, about the most that there are."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sample:
    """Which runs to take of those with a value of a measure."""

    flows: list[str] | None
    """Of these flows; None: all."""
    shares: Mapping[str, float] | None
    """Dataset -> share of its runs; None: all of all."""


def choose_sample(
    ask: Callable[[str, Mapping[str, Any]], pa.Table], flows: list[str] | None, measure: str
) -> Sample:
    """All runs of `flows` (None: of all flows) if their table fits into memory, else a sample, and say so."""
    everything = Sample(flows, None)
    counted = ask(_COUNTS, {}).to_pylist()[0]
    if counted["runs"] <= MOST_RUNS and counted["setups"] <= _FEW_SETUPS:
        return everything
    amounts = ask(_AMOUNTS, {"flows": flows, "measure": measure}).to_pandas()
    if flows is None:  # each flow has columns of its own
        widths = ask(_WIDTHS, {}).to_pandas().set_index("flow")["columns"]
        columns = widths.reindex(amounts["flow"]).fillna(0).to_numpy().cumsum()
    else:
        columns = np.full(len(amounts), _HYPERPARAMETERS)
    setups, n_runs = amounts["setups"].to_numpy().cumsum(), int(amounts["runs"].sum())
    if n_runs <= MOST_RUNS and (setups * columns <= MOST_CELLS).all():
        return everything
    fits = np.minimum(setups, SAMPLED_RUNS) * columns <= SAMPLED_CELLS
    searched = ask(_SEARCHED, {"searches": SEARCHES})["flow"].to_pylist()
    chosen = amounts["flow"][fits | amounts["flow"].isin(searched) | (amounts.index == 0)].tolist()
    of_datasets = ask(_DATASETS, {"flows": chosen, "measure": measure})
    n_datasets = of_datasets.num_rows
    shares = np.minimum(1, SAMPLED_RUNS / max(1, n_datasets) / of_datasets["runs"].to_numpy())
    logger.info(
        "the warehouse has %s runs with a value of %s, too many to hold in memory: using a sample of about %s"
        " on %s datasets, of the %d flows of %d that were run most",
        f"{n_runs:,}",
        measure,
        f"{SAMPLED_RUNS:,}",
        f"{n_datasets:,}",
        len(chosen),
        len(amounts),
    )
    return Sample(chosen, dict(zip(of_datasets["dataset"].to_pylist(), shares.tolist(), strict=True)))


_COUNTS = "SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM setups) AS setups"

# What was run most comes first.
_AMOUNTS = """
WITH run_often AS (
  SELECT e.flow, count(*) AS runs FROM evaluations e
  WHERE e.measure = $measure AND ($flows IS NULL OR list_contains($flows, e.flow)) AND e.value IS NOT NULL
  GROUP BY e.flow
), set_up AS (SELECT flow, count(*) AS setups FROM setups GROUP BY flow)
SELECT flow, runs, coalesce(setups, 0) AS setups
FROM run_often LEFT JOIN set_up USING (flow) ORDER BY runs DESC, flow
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

_DATASETS = """
SELECT t.dataset, count(*) AS runs
FROM evaluations e JOIN runs r USING (run) JOIN tasks t USING (task)
WHERE e.measure = $measure AND list_contains($flows, e.flow) AND r.outcome = 'success' AND e.value IS NOT NULL
GROUP BY t.dataset ORDER BY t.dataset
"""
