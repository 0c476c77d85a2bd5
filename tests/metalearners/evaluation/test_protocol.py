"""Leave one dataset out: the measures against hand-computed values, and the protocol's promises."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.evaluation.protocol import evaluate, interval, kendall_tau, normalized_regret, usual_folds
from tests.cases import each
from tests.contracts.meta_learner import Spy, toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable

FAST = {"trees": 20, "leaves": 4}


@each(
    ("predicted", "actual", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1),
        ([3, 2, 1], [10, 20, 30], -1),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),  # 5 pairs agree, 1 does not
        ([1, 1, 2], [1, 2, 3], 2 / np.sqrt(2 * 3)),  # tau-b: a tie on one side
        ([1, 1, 1], [1, 2, 3], 0),  # undefined
        ([1, 2, 3], [5, 5, 5], 0),  # undefined
        ([1], [1], 0),  # undefined
    ],
)
def test_tau_of_hand_computed_rankings(predicted: list[float], actual: list[float], expected: float) -> None:
    assert kendall_tau(np.array(predicted, float), np.array(actual, float)) == pytest.approx(expected)


@each(
    ("picked", "actual", "expected"),
    [
        ([0], [0.5, 0.9, 0.4], 0.8),
        ([0, 1], [0.5, 0.9, 0.4], 0.0),
        ([2], [0.1, 0.2, 0.3], 0.0),
        ([0], [0.1, 0.2, 0.3], 1.0),
        ([0], [0.2, 0.2, 0.2], 0.0),
        ([1, 0], [0.1, 0.2], 0.0),
    ],
)
def test_regret_of_hand_computed_picks(picked: list[int], actual: list[float], expected: float) -> None:
    assert normalized_regret(np.array(picked), np.array(actual)) == pytest.approx(expected)


def test_the_interval_is_students_t() -> None:
    mean, low, high = interval([1.0, 2.0, 3.0])
    assert (mean, high - mean, mean - low) == pytest.approx(
        (2.0, 4.302653 / np.sqrt(3), 4.302653 / np.sqrt(3))
    )


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[str], set[str]]]:
    """What the learners of evaluations are trained on."""
    found: list[tuple[set[str], set[str]]] = []
    monkeypatch.setattr("metalearners.evaluation.protocol.new_learner", lambda *_: Spy(found))
    return found


def test_a_learner_sees_neither_runs_nor_metafeatures_of_the_left_out_dataset(
    seen: list[tuple[set[str], set[str]]],
) -> None:
    evaluate(toy_runs(), toy_metafeatures(), "spy")
    everything = set(toy_metafeatures().index)
    assert [everything - runs for runs, _ in seen] == [{f"toy:{number}"} for number in range(12)]
    assert all(runs == known for runs, known in seen)


def test_a_fold_of_families_is_left_out_by_one_training(seen: list[tuple[set[str], set[str]]]) -> None:
    """Twelve families in five folds: the first and the sixth share one, and so on."""
    found = evaluate(toy_runs(), toy_metafeatures(), "spy", folds=5)
    everything = set(toy_metafeatures().index)
    left_out = [everything - runs for runs, _ in seen]
    assert left_out[0] == {"toy:0", "toy:5", "toy:10"}
    assert len(left_out) == 5
    assert [result.dataset for result in found.per_dataset] == [f"toy:{number}" for number in range(12)]


def test_datasets_are_left_out_one_at_a_time_unless_there_are_very_many() -> None:
    assert [usual_folds(["dataset"] * count) for count in (2, 150, 151)] == [0, 0, 10]


def with_a_copy(family: str) -> tuple[RunTable, pd.DataFrame]:
    """The toy world with a copy of toy:0, on which entropy is better, unlike on similar datasets.

    Args:
        family: of the copy.
    """
    runs, metafeatures = toy_runs(), toy_metafeatures()
    table = runs.runs
    own = table["dataset"] == "toy:0"
    table = table.assign(value=table["value"].mask(own, -table["value"]))
    copy = table[own].assign(
        dataset="copy", family=family, task="copy/cv3", run=[f"copy {run}" for run in table.loc[own, "run"]]
    )
    of_copy = metafeatures.loc[["toy:0"]].set_axis(pd.Index(["copy"], name="dataset"))
    both = replace(runs, runs=pd.concat([table, copy], ignore_index=True))
    return both, pd.concat([metafeatures, of_copy])


def test_a_near_copy_does_not_leak_the_answer() -> None:
    """A nearest-dataset learner would know the runs of toy:0 from its copy."""
    (told,), (untold,) = (
        evaluate(*with_a_copy(family), "knn", {"datasets": 1}, datasets=["toy:0"]).per_dataset
        for family in ("copy", "toy:0")
    )
    assert told.tau > 0.7
    assert untold.tau < 0
    assert told.regret[1] < 0.2 < 0.5 < untold.regret[1]


def test_the_first_choices_are_reported_with_the_regret_of_the_best_of_them() -> None:
    runs = toy_runs()
    result = evaluate(runs, toy_metafeatures(), "lightgbm", FAST, datasets=["toy:0"]).per_dataset[0]
    values = runs.runs[runs.runs["dataset"] == "toy:0"].set_index("setup")["value"]
    best_of = {top: values[result.choices[:top]].max() for top in (1, 3, 5)}
    assert len(result.choices) == len(set(result.choices)) == 5
    assert result.regret == pytest.approx(
        {top: (values.max() - best) / (values.max() - values.min()) for top, best in best_of.items()}
    )


def test_the_number_of_processes_does_not_matter() -> None:
    runs, metafeatures = toy_runs(n_datasets=4), toy_metafeatures(4)
    alone = evaluate(runs, metafeatures, "lightgbm", FAST)
    assert evaluate(runs, metafeatures, "lightgbm", FAST, jobs=2) == alone
