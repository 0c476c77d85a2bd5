"""Comparison of configurations on six runs that can be checked by hand."""

import pandas as pd
import pytest

from metalearners.evaluation.configurations import (
    algorithm_summary,
    best_algorithms,
    effects_by,
    setting_effects,
)
from tests.contracts.meta_learner import toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadOption
from warehouse.vocabulary.table import ConfigurationTable

ERRORS = {
    # dataset -> error of each setup
    "skewed": {"plain": 0.8, "logs": 0.4, "forest": 0.5},
    "even": {"plain": 0.2, "logs": 0.3, "forest": 0.2},
}


@pytest.fixture
def runs() -> RunTable:
    """Ridge regression with and without logarithms, and a forest, on two datasets."""
    setups = pd.Index(["plain", "logs", "forest"], name="setup")
    parameters = pd.DataFrame(
        {
            "ridge:alpha": [1.0, 1.0, float("nan")],
            "ridge:transformation": pd.Series(["none", "log", float("nan")], dtype=object),
        }
    ).set_index(setups)
    algorithms = pd.Series(["ridge", "ridge", "forest"], setups)
    rows = [
        {"dataset": dataset, "setup": setup, "algorithm": algorithms[setup], "value": value}
        for dataset, values in ERRORS.items()
        for setup, value in values.items()
    ]
    table = ConfigurationTable(algorithms, parameters, joint=True)
    return RunTable(None, "root_relative_squared_error", pd.DataFrame(rows), table)


def test_tied_algorithms_share_a_dataset(runs: RunTable) -> None:
    best = best_algorithms(runs)
    assert best.loc["skewed"].to_dict() == {"ridge": 1, "forest": 0}
    assert best.loc["even"].to_dict() == {"ridge": 0.5, "forest": 0.5}


def test_an_algorithm_is_described_by_its_default_and_its_best_configuration(runs: RunTable) -> None:
    table = algorithm_summary(runs, {"ridge": "plain", "forest": "forest", "boosting": "not run"})
    assert list(table.index) == ["ridge", "forest"]
    assert table.loc["ridge"].to_dict() == pytest.approx(
        {"configurations": 2, "datasets": 2, "is_best": 0.75, "default": 0.5, "best": 0}
    )
    assert table.loc["forest", ["default", "best"]].tolist() == pytest.approx([0.125, 0.125])


def test_a_setting_is_compared_between_otherwise_equal_configurations(runs: RunTable) -> None:
    effects = setting_effects(runs, "transformation", "none")
    assert effects.to_dict("list") == {
        "dataset": ["even", "skewed"],
        "algorithm": ["ridge", "ridge"],
        "setting": ["log", "log"],
        "ratio": pytest.approx([1.5, 0.5]),
    }
    groups = pd.Series({"skewed": "over 2", "even": "up to 2"})
    assert effects_by(effects, groups).loc["log"].to_dict() == pytest.approx({"over 2": -50, "up to 2": 50})


def test_settings_that_were_not_run_have_no_effects(runs: RunTable) -> None:
    assert setting_effects(runs, "transformation", "quantile").empty
    assert setting_effects(runs, "loss", "squared").empty


def test_ratios_of_accuracies_are_refused() -> None:
    with pytest.raises(BadOption, match="ratios of errors"):
        best_algorithms(toy_runs())
