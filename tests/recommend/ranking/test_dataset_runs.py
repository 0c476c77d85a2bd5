"""Runs on the dataset itself as trials: aligning the levels of several tasks."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalearners.values_for_use import SMALLER, SWITCH
from recommend.ranking.dataset_runs import COLUMNS, SIMILAR, Measured, comparable, own_trials
from warehouse.vocabulary.table import ConfigurationTable

SETUPS = ["a", "b", "c", "d"]
CONFIGURATIONS = ConfigurationTable(
    pd.Series("forest", index=SETUPS), pd.DataFrame({"n": range(4)}, index=SETUPS), joint=False
)


def values(**by_setup: float) -> pd.Series:
    return pd.Series(by_setup)


def runs(*rows: tuple[str, str, int | None, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


ON_FEW_AND_MANY = runs(("few", "a", 500, 0.6), ("few", "b", 500, 0.5), ("many", "a", 2000, 0.8))


def test_shared_configurations_determine_the_offset_between_tasks() -> None:
    """On more rows a and b are .1 and .2 better, so c is assumed to be .15 better."""
    on_all, on_few = values(a=0.8, b=0.9), values(a=0.7, b=0.7, c=0.5)
    assert comparable([on_all, on_few]).to_dict() == pytest.approx({"a": 0.8, "b": 0.9, "c": 0.65})


def test_the_most_similar_shared_configurations_determine_the_offset() -> None:
    """Five good configurations are .1 better on more rows, a bad one 3 better: x is as good as the former."""
    on_few = values(a=0.9, b=0.9, c=0.8, d=0.8, e=0.7, bad=-5.0, x=0.85)
    on_all = on_few.drop("x") + values(**dict.fromkeys("abcde", 0.1), bad=3.0)
    assert len("abcde") == SIMILAR
    assert comparable([on_all, on_few])["x"] == pytest.approx(0.95)


def test_offsets_are_chained_from_task_to_task() -> None:
    found = comparable([values(a=0.9), values(a=0.8, b=0.7), values(b=0.5, c=0.4)])
    assert found.to_dict() == pytest.approx({"a": 0.9, "b": 0.8, "c": 0.7})


def test_a_task_without_shared_configurations_is_ignored() -> None:
    assert comparable([values(a=0.9, b=0.8), values(c=0.7)]).to_dict() == {"a": 0.9, "b": 0.8}


@given(
    st.dictionaries(st.sampled_from(SETUPS), st.floats(0, 1), min_size=1),
    st.floats(-1, 1),
)
def test_a_constant_offset_of_a_task_changes_nothing(truth: dict[str, float], shift: float) -> None:
    known = pd.Series(truth)
    found = comparable([known.iloc[:1], known + shift])
    assert found[known.index].to_list() == pytest.approx(known.to_list(), abs=1e-9)


def test_runs_on_the_most_rows_set_the_level() -> None:
    found = own_trials(ON_FEW_AND_MANY, CONFIGURATIONS, "predictive_accuracy", {})
    assert found is not None
    odds = {name: value / (1 - value) for name, value in zip("ab", found.observations.values, strict=True)}
    assert odds == pytest.approx({"a": 4.0, "b": 4.0 / 1.5})  # on few rows the odds of b are a's over 1.5


def test_values_are_stated_as_measured_on_the_most_rows() -> None:
    found = own_trials(ON_FEW_AND_MANY, CONFIGURATIONS, "predictive_accuracy", {})
    assert found is not None
    assert found.measured == {"a": Measured(0.8, 2000), "b": Measured(0.5, 500)}


def test_costs_stay_costs_and_are_compared_with_larger_as_better() -> None:
    found = own_trials(runs(("t", "a", None, 0.3), ("t", "b", None, 0.5)), CONFIGURATIONS, "log_loss", {})
    assert found is not None
    assert found.measured == {"a": Measured(0.3, None), "b": Measured(0.5, None)}
    assert found.observations.values.tolist() == pytest.approx([-0.3, -0.5])


def test_values_for_use_are_observed_and_measured_ones_stated() -> None:
    """Here setup a is a booster that stops early."""
    boosters = ConfigurationTable(
        pd.Series("catboost", index=["a", "b"]),
        pd.DataFrame({SWITCH: [True, False]}, ["a", "b"]),
        joint=False,
    )
    found = own_trials(runs(("t", "a", 900, 0.5), ("t", "b", 900, 0.5)), boosters, "log_loss", {})
    assert found is not None
    assert found.measured == {"a": Measured(0.5, 900), "b": Measured(0.5, 900)}
    assert found.observations.values.tolist() == pytest.approx([-0.5 * (1 - SMALLER["log_loss"]), -0.5])


def test_several_runs_of_a_configuration_on_a_task_count_as_their_mean() -> None:
    found = own_trials(
        runs(("t", "a", None, 0.6), ("t", "a", None, 0.8)), CONFIGURATIONS, "predictive_accuracy", {}
    )
    assert found is not None
    assert found.measured["a"].value == pytest.approx(0.7)
