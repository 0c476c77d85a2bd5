"""Simulated searches with training on fewer rows: their runs and costs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.evaluation.folds import families_of
from recommend.bo.simulation.runner import SimulatedSearch, SimulationPlan, datasets_of, simulate
from recommend.bo.simulation.tiers import TieredTask
from recommend.bo.simulation.times import seconds_of
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput

METAFEATURES = toy_metafeatures()


def runs_on_tiers(order: int = 1) -> RunTable:
    """The toy runs, on 100 rows; ten configurations of toy:3 also on 270 and 900, and one only on 900.

    Configuration k has the value k / 100 on 900 rows, (order k) / 1000 on 270 and on 100; the one without a
    run on 270 rows looks worst on 100.
    """
    runs = toy_runs()
    table = runs.runs.assign(train_rows=100.0)
    own = (table["dataset"] == "toy:3").to_numpy()
    table.loc[own, "value"] = np.where(np.arange(20) == 10, -1.0, order * np.arange(20) / 1000)
    middle = table[own].iloc[:10].assign(train_rows=270.0, value=order * np.arange(10) / 1000)
    most = table[own].iloc[:11].assign(train_rows=900.0, value=np.arange(11) / 100)
    larger = pd.concat([middle.assign(run="270 " + middle["run"]), most.assign(run="900 " + most["run"])])
    return replace(runs, runs=table, larger=larger)


def times_on_tiers() -> RunTable:
    """A second on 100 rows, three on 270, nine on 900."""
    runs = runs_on_tiers()
    seconds = {100.0: 1000.0, 270.0: 3000.0, 900.0: 9000.0}
    return replace(
        runs,
        measure="wall_clock_time_millis",
        runs=runs.runs.assign(value=1000.0),
        larger=runs.larger.assign(value=runs.larger["train_rows"].map(seconds)),
    )


def task(runs: RunTable | None = None) -> TieredTask:
    return TieredTask(runs or runs_on_tiers(), METAFEATURES, "toy:3", seconds_of(times_on_tiers()))


def test_candidates_are_the_configurations_run_on_the_most_rows() -> None:
    of = task()
    assert [of.value(of.start(row)) for row in range(11)] == (np.arange(11) / 100).tolist()
    assert (of.best, of.worst, of.usual_seconds, of.train_rows) == (0.1, 0.0, 9.0, 900.0)


@pytest.mark.parametrize(
    ("share", "rows"), [(1 / 9, 100), (0.01, 100), (0.17, 100), (0.19, 270), (1 / 3, 270), (0.6, 900)]
)
def test_the_runs_on_the_nearest_number_of_rows_by_ratio_are_used(share: float, rows: int) -> None:
    """The boundary between 100 and 270 is 164, 0.18 of 900; between 270 and 900 it is 493, 0.55 of 900."""
    of = task()
    values = {100: 0.009, 270: 0.009, 900: 0.09}
    seconds = {100: 1.0, 270: 3.0, 900: 9.0}
    assert of.run(of.start(9), share) == (values[rows], seconds[rows], rows / 900)


def test_a_dataset_on_one_number_of_rows_has_no_tiers() -> None:
    assert datasets_of("tiers", runs_on_tiers()) == {"toy:3"}
    assert datasets_of("tiers", toy_runs()) == set()
    assert datasets_of("table", toy_runs()) == set(families_of(toy_runs()).index)
    with pytest.raises(BadInput, match="toy:4 has no tiers: all its runs have the same number of rows"):
        TieredTask(runs_on_tiers(), METAFEATURES, "toy:4")


def searched(method: str, trials: int, by: str = "trials", **options: object) -> SimulatedSearch:
    plan = SimulationPlan((method,), trials=trials, kind="tiers", by=by)  # type: ignore[arg-type]
    runs = options.pop("runs", runs_on_tiers())
    (one,) = simulate(runs, METAFEATURES, plan, times=times_on_tiers(), **options)  # type: ignore[arg-type]
    return one


def test_trials_on_fewer_rows_do_not_count_and_cost_less() -> None:
    """Nine on 100 rows, three on 270, one on all: of ten that look good, it is the best of eight or nine."""
    one = searched("successive-halving", 3)
    assert one.shares is not None
    assert one.trial_seconds is not None
    assert one.shares[:13] == [100 / 900] * 9 + [270 / 900] * 3 + [1]
    assert one.trial_seconds[:13] == [1.0] * 9 + [3.0] * 3 + [9.0]
    assert one.best_so_far[:12] == [0.0] * 12
    assert one.best_so_far[12] >= 0.07
    assert sum(one.shares) >= 3 > sum(one.shares[:-1])
