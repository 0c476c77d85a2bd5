"""Configurations of the warehouse that can be recommended."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import load_dataset
from recommend.ranking.candidates import find_buildable
from recommend.ranking.task import describe_task
from tests.recommend.conftest import numbers
from tests.tables import table_of
from tests.warehouse.worlds import Templates
from tests.warehouse.worlds import runs as runs_of
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput, TooFewRuns
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value

ANY: set[str] = set()


def tree(**values: Value) -> Configuration:
    return Configuration("decision_tree", values)


def neighbours(number: int) -> Configuration:
    return Configuration("k_nearest_neighbors", {"n_neighbors": number})


def run_once(*configurations: Configuration) -> RunTable:
    """A run of each on one dataset; setups are named by position."""
    table = table_of(configurations, joint=True)
    runs = pd.DataFrame({"setup": table.setups, "dataset": "d", "value": 0.5})
    return RunTable(None, "predictive_accuracy", runs, table)


def found(
    runs: RunTable, scores: list[float] | None = None, wanted: set[str] = ANY, rows: int = 1000
) -> list[int]:
    """Setups of the candidates."""
    given = np.zeros(len(runs.runs)) if scores is None else np.array(scores)
    return [int(setup) for setup in find_buildable(runs, given, wanted, rows).here]


def test_configurations_are_completed_with_todays_defaults() -> None:
    (candidate,) = find_buildable(run_once(tree(min_samples_leaf=3)), np.zeros(1), ANY, 1000).here.values()
    values = FLOWS["decision_tree"].default() | {"min_samples_leaf": 3}
    assert candidate == Configuration("decision_tree", values)


def test_configurations_that_can_no_longer_be_built_are_left_out() -> None:
    strangers = [tree(unheard=1), Configuration("perceptron", {"alpha": 0.1})]
    assert found(run_once(*strangers, tree(min_samples_leaf=3))) == [2]


def test_the_best_anywhere_comes_first_and_equivalent_configurations_count_once() -> None:
    """An explicit default equals the default: of the two setups the one with the higher score stays."""
    default = FLOWS["decision_tree"].default()
    runs = run_once(tree(min_samples_leaf=7), tree(), tree(**default))
    assert found(runs, [0.5, 0.1, 0.9]) == [2, 0]
    twice = replace(runs, runs=pd.concat([runs.runs, runs.runs]))
    assert found(twice, [0.5, 0.1, 0.2, 0.1, 0.9, 0.1]) == [1, 0]


def test_half_of_the_rows_must_be_enough_to_fit_it() -> None:
    """It has as many neighbours as training rows: 40 of 80, for two folds."""
    flow = FLOWS["k_nearest_neighbors"]
    needed = flow.rows_needed(flow.current({"n_neighbors": 40}))
    runs = run_once(neighbours(1), neighbours(40))
    assert found(runs, rows=2 * needed) == [0, 1]
    assert found(runs, rows=2 * needed - 1) == [0]


def test_only_wanted_flows_are_candidates() -> None:
    runs = run_once(tree(), neighbours(3))
    assert found(runs, wanted={"k_nearest_neighbors"}) == [1]
    with pytest.raises(TooFewRuns, match="no configuration of random_forest, svm that Headstart can build"):
        found(runs, wanted={"svm", "random_forest"})


def test_flows_not_built_here_are_candidates_only_without_others() -> None:
    foreign = Configuration("perceptron", {"alpha": 0.1})
    assert found(run_once(foreign)) == [0]
    assert found(run_once(foreign, tree(min_samples_leaf=3))) == [1]


def perceptron(**values: Value) -> Configuration:
    return Configuration("perceptron", values)


def test_equal_values_of_flows_not_built_here_count_once_whatever_their_notation() -> None:
    runs = run_once(perceptron(a=1, b=True), perceptron(a=1.0, b=True), perceptron(a=1, b=1), perceptron(a=2))
    assert found(runs, [0.1, 0.9, 0.5, 0.2]) == [1, 2, 3]


def test_a_setup_without_values_is_a_candidate_only_if_its_flow_has_none() -> None:
    assert found(run_once(perceptron(), perceptron(a=1)), [0.9, 0.1]) == [1]
    assert found(run_once(perceptron())) == [0]


def test_slow_flows_are_candidates_only_without_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOWS, "decision_tree", replace(FLOWS["decision_tree"], most_rows=500))
    runs = run_once(tree(), neighbours(3))
    assert found(runs, rows=500) == [0, 1]
    assert found(runs, rows=501) == [1]
    assert found(run_once(tree()), rows=501) == [0]


def test_configurations_whose_package_is_missing_are_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOWS, "decision_tree", replace(FLOWS["decision_tree"], requires="no_such_package"))
    buildable = find_buildable(run_once(tree(), neighbours(3)), np.zeros(2), ANY, 1000)
    assert [int(setup) for setup in buildable.here] == [1]
    assert [int(setup) for setup in buildable.to_install] == [0]
    wanted = find_buildable(run_once(tree(), neighbours(3)), np.zeros(2), {"k_nearest_neighbors"}, 1000)
    assert not wanted.to_install


def test_a_flow_without_runs_on_this_task_type_is_refused(templates: Templates, tmp_path: Path) -> None:
    tables = runs_of(flow="openml:26", algorithm="mlr.regr.rpart")
    tables["tasks"]["task_type"] = "supervised_regression"
    warehouse = templates.copy(tmp_path / "warehouse", tables, runs_of(accuracies={"openml:2": 0.9}))
    for name in ("openml:26", "26", "mlr.regr.rpart"):
        with pytest.raises(BadInput, match=rf"{name} \(mlr.regr.rpart\) are on tasks of regression"):
            describe_task(load_dataset(numbers(50)), warehouse=warehouse, flows=[name])
