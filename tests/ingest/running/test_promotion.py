"""Promotion to more rows, in small warehouses with an obvious answer."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from ingest.running.promotion import NEAR, best_setups
from warehouse.store import Warehouse
from warehouse.vocabulary.task_types import CLASSIFICATION

Scores = Mapping[str, float]
"""Setup -> accuracy."""
Frames = dict[str, pd.DataFrame]
Best = Callable[..., str]


def runs(
    dataset: str,
    scores: Scores,
    *,
    procedure: str = "cv3-2000",
    train_rows: int = 2000,
    outcome: str = "success",
    measure: str = "predictive_accuracy",
) -> Frames:
    """One run of each setup, all on one task."""
    task, setups = f"{dataset}/{procedure}", list(scores)
    keys = [f"{task}/{setup}" for setup in setups]
    return {
        "datasets": pd.DataFrame({"dataset": [dataset], "name": dataset}),
        "tasks": pd.DataFrame(
            {
                "task": [task],
                "dataset": dataset,
                "task_type": "supervised_classification",
                "estimation_procedure": procedure,
            }
        ),
        "flows": pd.DataFrame({"flow": ["headstart:svm"], "name": "SVM", "algorithm": "svm"}),
        "setups": pd.DataFrame({"setup": setups, "flow": "headstart:svm"}),
        "runs": pd.DataFrame(
            {"run": keys, "task": task, "setup": setups, "outcome": outcome, "train_rows": train_rows}
        ),
        "evaluations": pd.DataFrame(
            {"run": keys, "measure": measure, "value": scores.values(), "flow": "headstart:svm"}
        ),
    }


@pytest.fixture
def best(tmp_path: Path) -> Best:
    """The best setups of a task, as one word, in a warehouse with these runs."""

    def word(n: int, *known: Frames, task: str = "mine/cv3-2000") -> str:
        warehouse = Warehouse.create(tmp_path / "warehouse")
        if known:
            tables = {
                name: pd.concat([frames[name] for frames in known]).drop_duplicates() for name in known[0]
            }
            warehouse.write(tables, source="test")
        return "".join(sorted(best_setups(warehouse, task, CLASSIFICATION, n)))

    return word


SCORES = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5}


REVERSED = {setup: 1 - score for setup, score in SCORES.items()}


@pytest.mark.parametrize(("n", "setups"), [(0, ""), (1, "a"), (2, "ab"), (9, "abcde")])
def test_one_dataset_alone_promotes_its_best(best: Best, n: int, setups: str) -> None:
    assert best(n, runs("mine", SCORES)) == setups


def test_datasets_with_similar_ranks_break_ties(best: Best) -> None:
    """`a` and `b` are tied on the dataset itself; on the datasets with similar ranks, `b` wins."""
    alike = [runs(f"alike {other}", SCORES | {"b": 0.95}) for other in range(3)]
    assert best(1, runs("mine", SCORES | {"b": 0.9}), *alike) == "b"


def test_ranks_on_near_datasets_correct_a_lucky_score(best: Best) -> None:
    """`c` is second here and last on near datasets; `b`, third here, is second there."""
    alike = [runs(f"alike {other}", SCORES | {"c": 0.1}) for other in range(3)]
    assert best(2, runs("mine", SCORES | {"c": 0.85}), *alike) == "ab"


def test_only_the_nearest_datasets_count(best: Best) -> None:
    """More datasets have the opposite ranking than there are places for near ones."""
    alike = [runs(f"alike {other}", SCORES | {"b": 0.95}) for other in range(NEAR)]
    contrary = [runs(f"contrary {other}", REVERSED | {"b": 0.0}) for other in range(NEAR + 2)]
    assert best(1, runs("mine", SCORES | {"b": 0.9}), *alike, *contrary) == "b"


def test_only_setups_run_on_the_dataset_are_promoted(best: Best) -> None:
    assert best(5, runs("mine", {"a": 0.9, "b": 0.8}), runs("other", SCORES | {"z": 1.0})) == "ab"


def test_setup_without_runs_on_other_datasets_is_promoted_by_its_own_rank(best: Best) -> None:
    assert best(2, runs("mine", SCORES | {"z": 0.99}), runs("other", SCORES)) == "az"


def test_runs_of_others_on_more_rows_do_not_count(best: Best) -> None:
    known = [
        runs("mine", SCORES | {"b": 0.9}),
        runs("other", SCORES | {"b": 0.95}),
        runs("other", REVERSED | {"a": 1.0, "b": 0.0}, procedure="cv3-8000", train_rows=8000),
    ]
    assert best(1, *known) == "b"


def test_ranks_of_the_task_count_whatever_its_training_size(best: Best) -> None:
    known = [
        runs("mine", SCORES | {"b": 0.85, "c": 0.1}),
        runs("mine", {"a": 0.7, "b": 0.8, "c": 0.1}, procedure="cv3-8000", train_rows=8000),
        runs("other", SCORES | {"b": 0.95}),
    ]
    assert best(9, *known, task="mine/cv3-8000") == "abc"
    assert best(1, *known, task="mine/cv3-8000") == "b"


def test_failed_runs_and_other_measures_do_not_count(best: Best) -> None:
    known = [
        runs("mine", SCORES),
        runs("mine", {"y": 0.99}, outcome="timeout"),
        runs("mine", {"z": 0.99}, measure="log_loss"),
    ]
    assert best(9, *known) == "abcde"


def test_dataset_without_runs_promotes_nothing(best: Best) -> None:
    assert best(3) == best(3, runs("other", SCORES)) == ""
