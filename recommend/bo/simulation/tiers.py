"""Tiers: simulated searches with known runs at several training sizes.

tiers   the runs at the largest size, as in a table; a trial on a share of the rows is answered by the run of
        the same configuration at the nearest size, by ratio. If that is the largest size, the trial has the
        result and the cost of one on all rows
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented
from recommend.bo.candidates import Candidate
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.simulation.tasks import TableTask, Task, seconds_of_runs, with_usual
from warehouse.questions.queries import RunTable
from warehouse.support.errors import TooFewRuns


class TieredTask(TableTask):
    """The runs at the largest training size of one dataset, and those of the same configurations on fewer
    rows."""

    def __init__(
        self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str, times: pd.Series | None = None
    ) -> None:
        """A task of the runs on this dataset.

        Args:
            times: run -> seconds; unknown times are replaced by the median at the same size.

        Raises:
            BadInput: all runs have the same training size.
        """
        known = every_size(runs)
        own = known.runs[(known.runs["dataset"] == dataset).to_numpy()].dropna(subset=["train_rows"])
        tiers = [table for _, table in own.groupby("train_rows")][::-1]
        if len(tiers) < 2:
            raise TooFewRuns(f"{dataset} has no tiers: all its runs have the same number of rows")
        super().__init__(replace(known, runs=tiers[0]), metafeatures, dataset, times)
        rows = np.array([table["train_rows"].iloc[0] for table in tiers], dtype=np.float64)
        setups = tiers[0]["setup"]
        matched = [table.drop_duplicates("setup").set_index("setup").reindex(setups) for table in tiers[1:]]
        self._rows = rows / rows[0]  # (tiers,)
        self._values = np.vstack(
            [self.values, *(oriented(one["value"].to_numpy(np.float64), runs.measure) for one in matched)]
        )  # (tiers, n), NaN if a configuration was not run
        on_fewer = (seconds_of_runs(one["run"], times) for one in matched)
        self._times = np.vstack([self._seconds, *(with_usual(one, self.usual_seconds) for one in on_fewer)])

    @classmethod
    def datasets(cls, runs: RunTable) -> set[str]:
        known = every_size(runs).runs
        tiers = known.groupby("dataset")["train_rows"].nunique()
        return {str(name) for name in tiers.index[tiers > 1]}

    def run(self, candidate: Candidate, share: float) -> tuple[float, float, float]:
        """The run that answers a trial on this share of the rows: value, seconds (NaN if unknown), share."""
        place = cast("int", candidate.key)
        values = self._values[:, place]
        nearest = np.argsort(np.abs(np.log(self._rows / share)), kind="stable")
        tier = next(one for one in nearest if not np.isnan(values[one]))
        return float(values[tier]), float(self._times[tier, place]), float(self._rows[tier])


def every_size(runs: RunTable) -> RunTable:
    """The same with the runs at all training sizes, as far as their configurations are known."""
    table = pd.concat([part for part in (runs.smaller, runs.runs, runs.larger) if len(part)])
    known = table["setup"].isin(runs.configurations.setups).to_numpy()
    return replace(runs, runs=table[known].reset_index(drop=True))


def came_of(asked: Sequence[Candidate], share: float, task: Task) -> tuple[float, float | None, float]:
    """Value, seconds (None = unknown) and share of the rows of a trial.

    Args:
        asked: one configuration, or several of which the best counts.
        share: of the rows; less than 1 only of a `TieredTask`.
    """
    timed = task.usual_seconds is not None
    if share == ALL_ROWS:
        return max(map(task.value, asked)), sum(map(task.seconds, asked)) if timed else None, ALL_ROWS
    (candidate,) = asked
    value, seconds, of_rows = cast("TieredTask", task).run(candidate, share)
    return value, seconds if timed else None, of_rows
