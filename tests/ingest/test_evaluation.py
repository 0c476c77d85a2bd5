"""Cross-validation and its measures."""

import numpy as np
import pandas as pd
import pytest

from ingest.datasets import load_dataset
from ingest.evaluation import MEASURES, area_under_roc_curve, class_codes, cross_validate
from ingest.resampling import hold_out


def frame(rows: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    code = np.arange(rows) % 3
    return pd.DataFrame(
        {"signal": code + rng.normal(0, 0.1, rows), "noise": rng.normal(size=rows), "class": code}
    ).assign(**{"class": lambda table: table["class"].map({0: "a", 1: "b", 2: "c"})})


@pytest.mark.parametrize(
    ("scores", "area"),
    [
        ([0.1, 0.2, 0.8, 0.9], 1.0),
        ([0.9, 0.8, 0.2, 0.1], 0.0),
        ([0.5, 0.5, 0.5, 0.5], 0.5),
        ([0.1, 0.8, 0.2, 0.9], 0.75),  # of 2 x 2 pairs, one is in the wrong order
    ],
)
def test_area_under_the_curve_of_two_classes_counts_ordered_pairs(scores: list[float], area: float) -> None:
    positive = np.array(scores)
    assert area_under_roc_curve(
        np.array([0, 0, 1, 1]), np.column_stack([1 - positive, positive])
    ) == pytest.approx(area)


def test_area_under_the_curve_is_the_one_of_scikit_learn_for_many_classes() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, 200)
    scores = rng.dirichlet(np.ones(4), 200)
    expected = roc_auc_score(codes, scores, multi_class="ovr", average="weighted")
    assert area_under_roc_curve(codes, scores) == pytest.approx(expected)


def test_class_without_rows_has_no_weight() -> None:
    codes = np.array([0, 0, 1, 1])
    scores = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.1, 0.9, 0.0]])
    assert area_under_roc_curve(codes, scores) == 1.0
    assert np.isnan(area_under_roc_curve(np.zeros(3, dtype=int), np.ones((3, 2))))


def test_every_measure_is_there_and_an_easy_dataset_is_learned() -> None:
    measured = cross_validate("decision_tree", {}, load_dataset(frame()), folds=3)
    assert tuple(measured) == MEASURES
    assert measured["predictive_accuracy"] > 0.95
    assert measured["kappa"] > 0.9
    assert measured["wall_clock_time_millis"] > 0


def test_same_seed_gives_the_same_scores() -> None:
    dataset = load_dataset(frame().assign(signal=0.0))
    scores = [
        cross_validate("random_forest", {"max_features": 0.5}, dataset, folds=3, seed=seed)["kappa"]
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_class_that_a_training_fold_lacks_is_no_crash() -> None:
    rare = frame().replace({"class": {"c": "b"}})
    rare.loc[[0, 1], "class"] = "rare"
    measured = cross_validate("svm", {}, load_dataset(rare), folds=3)
    assert 0 <= measured["area_under_roc_curve"] <= 1


def test_one_row_in_four_of_each_class_is_held_out() -> None:
    codes = np.repeat([0, 1, 2], [40, 20, 3])
    train, test = hold_out(codes, 4, seed=0)
    assert sorted([*train, *test]) == list(range(63))
    assert np.bincount(codes[test], minlength=3).tolist() == [10, 5, 0]
    assert not np.array_equal(hold_out(codes, 4, seed=1)[1], test)


def test_one_split_scores_the_rows_that_it_holds_out() -> None:
    """Of 90 rows a third is held out, so accuracies are multiples of 1/30."""
    dataset = load_dataset(frame())
    measured = cross_validate("decision_tree", {"max_depth": 1}, dataset, folds=1)
    assert measured["predictive_accuracy"] * 30 == pytest.approx(round(measured["predictive_accuracy"] * 30))


def test_some_rows_of_a_dataset_keep_its_classes_and_columns() -> None:
    dataset = load_dataset(frame())
    some = dataset.take(np.arange(0, 90, 3))  # one class only
    assert len(some.features) == len(some.target) == 30
    assert some.n_classes == dataset.n_classes == 3
    assert (class_codes(some) == class_codes(dataset)[::3]).all()
    assert some.roles == dataset.roles
