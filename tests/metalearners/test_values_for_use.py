"""Boosters that stop early are learned from with the smaller errors of their models for use."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ingest.flows import FLOWS, boosting
from metalearners.values_for_use import FITTED_AGAIN_BELOW, SMALLER, STOP_EARLY, SWITCH, values_for_use
from tests.warehouse.worlds import BOOSTING, Templates, runs
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.vocabulary.measures import ACCURACY, LOG_LOSS


@pytest.fixture
def boosters(templates: Templates, tmp_path: Path) -> Warehouse:
    """LightGBM with and without early stopping, and a forest; all have an accuracy of 0.9."""
    return templates.copy(
        tmp_path / "boosters",
        runs(BOOSTING, "lightgbm", values={"early_stopping": True, "num_leaves": 31}, name="stops"),
        runs(BOOSTING, "lightgbm", values={"early_stopping": False, "num_leaves": 31}, name="all-rounds"),
        runs(name="forest"),
    )


def values(table: RunTable) -> dict[str, float]:
    by_setup = table.runs.set_index("setup")["value"]
    return {str(setup).rpartition("/")[2]: value for setup, value in by_setup.items()}


@pytest.mark.parametrize("flow", [None, "lightgbm"])
def test_only_boosters_that_stop_early_have_smaller_errors(boosters: Warehouse, flow: str | None) -> None:
    found = values(values_for_use(boosters.run_table(flow, ACCURACY)))
    assert found["stops"] == pytest.approx(1 - 0.1 * (1 - SMALLER[ACCURACY]))
    assert {value for name, value in found.items() if name != "stops"} == {0.9}


def test_costs_shrink_towards_0(boosters: Warehouse) -> None:
    found = values(values_for_use(replace(boosters.run_table(None, ACCURACY), measure=LOG_LOSS)))
    assert found == {"stops": pytest.approx(0.9 * (1 - SMALLER[LOG_LOSS])), "all-rounds": 0.9, "forest": 0.9}


def test_other_measures_stay(boosters: Warehouse) -> None:
    table = replace(boosters.run_table(None, ACCURACY), measure="usercpu_time_millis_training")
    assert set(values(values_for_use(table)).values()) == {0.9}


def test_related_measures_and_other_training_sizes_change_likewise(boosters: Warehouse) -> None:
    table = boosters.run_table(None, ACCURACY)
    of_stops = table.runs["setup"].str.endswith("stops")
    related = pd.DataFrame({LOG_LOSS: 0.5}, index=pd.Index(table.runs["run"], name="run"))
    found = values_for_use(replace(table, larger=table.runs, smaller=table.runs, related=related))
    pd.testing.assert_frame_equal(found.larger, found.runs)
    pd.testing.assert_frame_equal(found.smaller, found.runs)
    assert found.related[LOG_LOSS][of_stops.to_numpy()].tolist() == pytest.approx(
        [0.5 * (1 - SMALLER[LOG_LOSS])]
    )
    assert set(found.related[LOG_LOSS][~of_stops.to_numpy()]) == {0.5}


def test_runs_on_many_rows_stay(boosters: Warehouse) -> None:
    """Models for use are not fitted again there."""
    table = boosters.run_table(None, ACCURACY)
    many = replace(table, runs=table.runs.assign(train_rows=FITTED_AGAIN_BELOW))
    few = replace(table, runs=table.runs.assign(train_rows=FITTED_AGAIN_BELOW - 1))
    assert set(values(values_for_use(many)).values()) == {0.9}
    assert values(values_for_use(few))["stops"] > 0.9


def test_it_is_known_which_models_are_fitted_again() -> None:
    fitted_again = {name: flow for name, flow in FLOWS.items() if flow.longer_for_use}
    assert fitted_again.keys() == STOP_EARLY
    assert all(SWITCH in flow.default() for flow in fitted_again.values())
    assert FITTED_AGAIN_BELOW == boosting.FITTED_AGAIN_BELOW
