"""The evaluation of Hyperboost, on a table of a hundred rows and results that are ranked by hand."""

from pathlib import Path

import numpy as np
import pytest

from ingest.reading.datasets import load_dataset
from tests.benchmarks.hyperboost_figures import draw_all, results_of
from tests.benchmarks.hyperboost_protocol import curves, known_runs
from tests.benchmarks.hyperboost_searches import MOST_RUNS, new_search
from tests.benchmarks.hyperboost_targets import TARGETS, Objective, Unit

SUBSCRIBERS = load_dataset("recommend/examples/subscribers.csv").take(np.arange(120))
TREE = Unit("tree", "subscribers", 0, 0)


def record(method: str, dataset: str, train: list[float], **more: int) -> dict[str, object]:
    where = {"target": "tree", "dataset": dataset, "repeat": 0, "outer": 0}
    return {**where, "method": method, "train": train, "test": train, **more}


@pytest.mark.parametrize(
    ("target", "defaults"),
    [
        (
            "forest",
            {
                "colsample_bytree": 0.7,
                "subsample": 0.66,
                "num_leaves": 32,
                "min_child_samples": 20,
                "max_depth": 12,
            },
        ),
        ("tree", {"criterion": "gini", "max_depth": 20, "min_samples_split": 2, "min_samples_leaf": 1}),
        ("svm", {"tol": 1e-4, "C": 1.0}),
    ],
)
def test_defaults_are_those_of_tables_1_to_3(target: str, defaults: dict[str, object]) -> None:
    objective = Objective(SUBSCRIBERS, Unit(target, "subscribers", 0, 0))
    assert objective.values(objective.default) == defaults
    assert 0 < objective.run(objective.default, seed=0) <= 1
    assert 0 < objective.held_out(objective.default) <= 1


def test_ranks_are_means_over_datasets_of_means_over_outer_folds() -> None:
    """On d1 a has 0.5 against 0.6, and then 0.7 against 0.6; on d2 they tie, and then a is behind."""
    records = [
        record("a", "d1", [0.4, 0.8]),
        record("a", "d1", [0.6, 0.6], outer=1),
        record("b", "d1", [0.6, 0.6]),
        record("b", "d1", [0.6], outer=1),
        record("a", "d2", [0.5, 0.5]),
        record("a", "d2", [0.5, 0.5], outer=1),
        record("b", "d2", [0.5, 0.7]),
        record("b", "d2", [0.5, 0.7], outer=1),
        record("a", "not finished", [0.1, 0.1]),
    ]
    results = results_of(records, ["a", "b"])
    assert results is not None
    assert results.datasets == ("d1", "d2")
    assert results.rank("train") == pytest.approx(np.array([[[1.75, 1.5], [1.25, 1.5]]]))
    assert results.loss("test") == pytest.approx(np.array([[0.5, 0.4], [0.45, 0.35]]))


def test_nothing_is_shown_before_a_dataset_is_finished() -> None:
    assert results_of([record("a", "d", [0.5])], ["a", "b"]) is None


@pytest.mark.parametrize(
    ("method", "runs"), [("random-2x", 8), ("roar-2x", 8), ("hyperboost", 4), ("smac", 4)]
)
def test_a_step_is_a_run_or_two_of_methods_that_have_twice_the_time(method: str, runs: int) -> None:
    objective = Objective(SUBSCRIBERS, TREE)
    found = curves(objective, new_search(method, objective, None, 4, TREE.seed))
    assert len(found["train"]) == len(found["test"]) == 4
    assert len(objective.made) == runs
    assert method != "random-2x" or found["train"][-1] == max(value for _, value in objective.made)


def test_no_configuration_races_more_often_than_five_times() -> None:
    objective = Objective(SUBSCRIBERS, TREE)
    list(new_search("roar-2x", objective, None, 15, TREE.seed))
    of_each = [sum(values == other for other, _ in objective.made) for values, _ in objective.made]
    assert max(of_each) == MOST_RUNS


def test_the_prior_of_blend_is_learned_from_runs_of_other_datasets() -> None:
    objective = Objective(SUBSCRIBERS, TREE)
    list(new_search("random-2x", objective, None, 2, TREE.seed))
    sizes = objective.metafeatures.to_dict()
    runs, metafeatures = known_runs([record("random-2x", "d1", [], runs=objective.made, sizes=sizes)])
    assert runs.runs["value"].tolist() == [value for _, value in objective.made]
    assert len(runs.configurations) == 4
    assert metafeatures.loc["d1", "NumberOfInstances"] == 80
    assert runs.scales == TARGETS["tree"].flow.scales


def test_pictures_are_drawn_of_all_targets(tmp_path: Path) -> None:
    results = results_of(
        [record(method, "d", [0.5, 0.6]) for method in ("hyperboost", "hyperboost-pca")],
        [
            "hyperboost",
            "hyperboost-pca",
        ],
    )
    assert results is not None
    draw_all({"tree": results}, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "figure-2-tree.png",
        "figure-a1-tree.png",
        "figure-5a.png",
    }
