"""Evaluations of configurations and their measures."""

import numpy as np
import pandas as pd
import pytest

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.blocks import Split
from ingest.running.classification import ClassScorer, area_under_roc_curve, class_measures
from ingest.running.evaluation import TIMES, Evaluation, Limits, cross_validate, evaluate
from ingest.running.limits import Outcome
from ingest.running.resampling import Resampling, hold_out
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.task_types import CLASSIFICATION

MEASURES = (*CLASSIFICATION.measures, *TIMES)
AMPLE = Limits(60.0, 4096)


def class_codes(dataset: Dataset) -> np.ndarray:
    return ClassScorer().outcomes(dataset.target)


def measures_of(
    flow: str, values: dict[str, Value], dataset: Dataset, splits: list[Split], *, seed: int = 0
) -> dict[str, float]:
    """Measures of a configuration fitted and tested on each split, in this process."""
    return cross_validate(lambda: get_flow(flow).pipeline(values, dataset.roles, seed=seed), dataset, splits)[
        0
    ]


def cross_validated(
    flow: str, values: dict[str, Value], dataset: Dataset, *, folds: int, seed: int = 0
) -> dict[str, float]:
    """Measures of one cross-validation on all rows."""
    (splits,) = Resampling(folds).splits(class_codes(dataset), seed)
    return measures_of(flow, values, dataset, splits, seed=seed)


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


def test_class_without_rows_has_no_weight() -> None:
    codes = np.array([0, 0, 1, 1])
    scores = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.1, 0.9, 0.0]])
    assert area_under_roc_curve(codes, scores) == 1.0
    assert np.isnan(area_under_roc_curve(np.zeros(3, dtype=int), np.ones((3, 2))))


def test_every_measure_is_there_and_an_easy_dataset_is_learned() -> None:
    measured = cross_validated("decision_tree", {}, load_dataset(frame()), folds=3)
    assert tuple(measured) == MEASURES
    assert measured["predictive_accuracy"] > 0.95
    assert measured["kappa"] > 0.9
    assert measured["wall_clock_time_millis"] > 0


def test_same_seed_gives_the_same_scores() -> None:
    dataset = load_dataset(frame().assign(signal=0.0))
    scores = [
        cross_validated("random_forest", {"max_features": 0.5}, dataset, folds=3, seed=seed)["kappa"]
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_a_class_missing_from_a_training_fold_does_not_crash() -> None:
    rare = frame().replace({"class": {"c": "b"}})
    rare.loc[[0, 1], "class"] = "rare"
    measured = cross_validated("svm", {}, load_dataset(rare), folds=3)
    assert 0 <= measured["area_under_roc_curve"] <= 1


def test_a_subset_of_rows_keeps_classes_and_columns() -> None:
    dataset = load_dataset(frame())
    some = dataset.take(np.arange(0, 90, 3))  # one class only
    assert len(some.features) == len(some.target) == 30
    assert some.n_classes == dataset.n_classes == 3
    assert (class_codes(some) == class_codes(dataset)[::3]).all()
    assert some.roles == dataset.roles


# The measures are scikit-learn's


def hard(classes: int, rows: int = 150) -> Dataset:
    """Classes of different sizes, mostly separable by two numbers."""
    rng = np.random.default_rng(classes)
    code = np.minimum(rng.geometric(0.45, rows) - 1, classes - 1)
    table = pd.DataFrame({"x": code + rng.normal(0, 0.8, rows), "z": rng.normal(size=rows)})
    return load_dataset(table.assign(**{"class": np.array(list("abcdef"))[code]}))


def of_predictions(codes: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    from sklearn import metrics

    return {
        "predictive_accuracy": metrics.accuracy_score(codes, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(codes, predicted),
        "f_measure": metrics.f1_score(codes, predicted, average="weighted"),
        "f1_macro": metrics.f1_score(codes, predicted, average="macro"),
        "kappa": metrics.cohen_kappa_score(codes, predicted),
    }


def by_scikit_learn(codes: np.ndarray, predicted: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    from sklearn import metrics

    binary = probabilities.shape[1] == 2
    return of_predictions(codes, predicted) | {
        "log_loss": metrics.log_loss(codes, probabilities),
        "brier_score": metrics.brier_score_loss(
            codes, probabilities, labels=np.arange(probabilities.shape[1]), scale_by_half=False
        ),
        "area_under_roc_curve": metrics.roc_auc_score(
            codes, probabilities[:, 1] if binary else probabilities, multi_class="ovr", average="weighted"
        ),
    }


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("flow", ["naive_bayes", "logistic_regression"])
def test_measures_of_one_split_equal_scikit_learns(flow: str, classes: int) -> None:
    dataset = hard(classes)
    codes = class_codes(dataset)
    split = train, test = hold_out(codes, 3, 0)
    measured = measures_of(flow, {}, dataset, [split])
    fitted = get_flow(flow).pipeline({}, dataset.roles).fit(dataset.features.iloc[train], codes[train])
    rows = dataset.features.iloc[test]
    expected = by_scikit_learn(codes[test], fitted.predict(rows), fitted.predict_proba(rows))
    assert {*expected, *TIMES} == set(MEASURES)
    assert {name: measured[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_measures_pool_the_predictions_of_folds_and_the_area_is_a_mean(classes: int) -> None:
    dataset = hard(classes)
    codes = class_codes(dataset)
    (splits,) = Resampling(3).splits(codes, 0)
    predicted, probabilities = np.empty(len(codes), dtype=int), np.empty((len(codes), classes))
    areas = []
    for train, test in splits:
        fitted = get_flow("naive_bayes").pipeline({}, dataset.roles)
        fitted.fit(dataset.features.iloc[train], codes[train])
        rows = dataset.features.iloc[test]
        predicted[test], probabilities[test] = fitted.predict(rows), fitted.predict_proba(rows)
        of_fold = by_scikit_learn(codes[test], predicted[test], probabilities[test])
        areas.append(of_fold["area_under_roc_curve"])
    expected = by_scikit_learn(codes, predicted, probabilities)
    expected["area_under_roc_curve"] = float(np.mean(areas))
    measured = measures_of("naive_bayes", {}, dataset, splits)
    assert {name: measured[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    "confusion",
    [
        [[8, 2], [3, 7]],
        [[5, 1, 0], [2, 4, 1], [0, 0, 9]],
        [[5, 1, 0], [2, 4, 0], [0, 3, 0]],  # never predicted
        [[5, 1, 2], [2, 4, 0], [0, 0, 0]],  # does not occur
        [[5, 1, 0], [2, 4, 0], [0, 0, 0]],  # neither
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_measures_of_a_confusion_matrix_equal_scikit_learns(confusion: list[list[int]]) -> None:
    counts = np.array(confusion)
    pairs = [pair for pair, count in np.ndenumerate(counts) for _ in range(count)]
    actual, predicted = np.array(pairs).T
    assert class_measures(counts.astype(float)) == pytest.approx(of_predictions(actual, predicted))


def test_kappa_of_a_single_class_is_zero() -> None:
    measured = class_measures(np.array([[7.0, 0.0], [0.0, 0.0]]))
    assert (measured["predictive_accuracy"], measured["f1_macro"], measured["kappa"]) == (1.0, 1.0, 0.0)


def test_a_class_missing_from_training_counts_as_predicted_impossible() -> None:
    """Its rows cost as much as the least probability, not infinitely much; their Brier score is above 1."""
    dataset = hard(3)
    codes = class_codes(dataset)
    train, test = np.flatnonzero(codes < 2), np.flatnonzero(codes == 2)
    measured = measures_of("naive_bayes", {}, dataset, [(train, test)])
    assert measured["log_loss"] == pytest.approx(-np.log(1e-15))
    assert 1.5 <= measured["brier_score"] <= 2
    assert measured["predictive_accuracy"] == measured["balanced_accuracy"] == measured["f_measure"] == 0
    assert np.isnan(measured["area_under_roc_curve"])


def test_a_support_vector_machine_has_no_probability_measures() -> None:
    measured = cross_validated("svm", {}, hard(3), folds=2)
    assert {name for name, value in measured.items() if np.isnan(value)} == {"log_loss", "brier_score"}


def test_repeated_cross_validation_is_the_mean_of_its_repetitions() -> None:
    dataset = hard(2, rows=60)
    first, second = Resampling(3, 2).splits(class_codes(dataset), 0)
    both, one, other = (
        evaluate(Configuration("naive_bayes", {}), dataset, repetitions, AMPLE).measures
        for repetitions in ([first, second], [first], [second])
    )
    assert tuple(both) == MEASURES
    for measure in set(MEASURES) - set(TIMES):
        assert both[measure] == pytest.approx((one[measure] + other[measure]) / 2)
    assert one["log_loss"] != other["log_loss"]


@pytest.mark.parametrize("flow", ["decision_tree", "svm"])
def test_times_are_positive_and_add_up(flow: str) -> None:
    measured = cross_validated(flow, {}, hard(2), folds=3)
    assert min(measured[name] for name in TIMES) > 0
    in_parts = 3 * measured["fit_seconds"] + 0.15 * measured["predict_seconds_per_1000_rows"]
    assert in_parts <= measured["wall_clock_time_millis"] / 1000


def test_evaluation_has_the_predictions_of_all_tested_rows_split_after_split() -> None:
    dataset = hard(3)
    (splits,) = Resampling(3).splits(class_codes(dataset), 0)
    evaluation = evaluate(Configuration("naive_bayes", {}), dataset, [splits], AMPLE)
    assert evaluation.outcome is Outcome.success
    assert evaluation.predictions is not None
    actual = np.concatenate([class_codes(dataset)[test] for _, test in splits])
    right = (evaluation.predictions.argmax(axis=1) == actual).mean()
    assert evaluation.value("predictive_accuracy") == pytest.approx(right)


def test_a_failed_configuration_has_a_reason_and_no_values() -> None:
    dataset = hard(2)
    (splits,) = Resampling(2).splits(class_codes(dataset), 0)
    evaluation = evaluate(
        Configuration("k_nearest_neighbors", {"n_neighbors": 1000}), dataset, [splits], AMPLE
    )
    assert evaluation.outcome is Outcome.crash
    assert "n_neighbors" in (evaluation.message or "")
    assert evaluation.value("predictive_accuracy") is evaluation.predictions is None


def test_record_of_an_evaluation_is_read_back() -> None:
    for evaluation in (
        Evaluation(Outcome.success, 1.5, {"predictive_accuracy": 0.5}),
        Evaluation(Outcome.timeout, 60.0, message="stopped after 60 s"),
    ):
        assert Evaluation.from_record(evaluation.record()) == evaluation


def test_average_of_probabilities_is_measured_as_an_ensemble() -> None:
    scorer, codes = ClassScorer(), np.array([0, 1])
    one, other = np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    together = scorer.average([one, other], [0.5, 0.5])
    assert together.answers.tolist() == [0, 1]
    assert scorer.measures([together], [codes])["predictive_accuracy"] == 1.0
