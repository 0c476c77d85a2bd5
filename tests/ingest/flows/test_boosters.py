"""Boosters of three libraries with one interface to categories, early stopping and class weights."""

from typing import Any

import numpy as np
import pytest

from ingest.flows.boosters import (
    PATIENCE,
    Booster,
    BoosterClassifier,
    BoosterRegressor,
    hold_out_to_stop,
    validation_share,
)
from ingest.running.resampling import hold_out
from tests.cases import each
from tests.ingest.flows.small_data import numbers, where_installed

TREES = {"lightgbm": "n_estimators", "xgboost": "n_estimators", "catboost": "iterations"}
SMALL_LEAVES = {"lightgbm": {"min_child_samples": 1}, "xgboost": {}, "catboost": {"depth": 3}}

every_library = each("library", where_installed(TREES))


def booster(library: str, trees: int = 20, *, rate: float = 0.3, **options: Any) -> BoosterClassifier:
    settings = {TREES[library]: trees, "learning_rate": rate, **SMALL_LEAVES[library]}
    return BoosterClassifier(library, settings | options.pop("settings", {}), **options)


def regressor(library: str, trees: int = 20, **options: Any) -> BoosterRegressor:
    settings = {TREES[library]: trees, "learning_rate": 0.1, **SMALL_LEAVES[library]}
    return BoosterRegressor(library, settings | options.pop("settings", {}), **options)


def skewed_numbers() -> tuple[np.ndarray, np.ndarray]:
    """(200, 3) numbers and a target that grows exponentially with the first, with noise."""
    X, _ = numbers()
    return X, np.exp(X[:, 0]) + np.random.default_rng(1).normal(0, 0.5, 200)


def log_loss(probabilities: np.ndarray, codes: np.ndarray) -> float:
    return float(-np.log(probabilities[np.arange(len(codes)), codes]).mean())


def rounds_kept(fitted: Booster) -> int:
    """Trees (of one class) used for predictions by the library."""
    model = fitted.model_
    if fitted.library == "lightgbm":
        return int(model.best_iteration_)
    return int(model.best_iteration) + 1 if fitted.library == "xgboost" else int(model.tree_count_)


def after_rounds(fitted: BoosterClassifier, rounds: int, X: np.ndarray) -> np.ndarray:
    """Predictions of the first trees of a booster."""
    if fitted.library == "lightgbm":
        return fitted.model_.predict_proba(X, num_iteration=rounds)
    if fitted.library == "xgboost":
        return fitted.model_.predict_proba(X, iteration_range=(0, rounds))
    return fitted.model_.predict_proba(X, ntree_end=rounds)


def losses_by_rounds(longer: BoosterClassifier, rounds: int, X: np.ndarray, codes: np.ndarray) -> list[float]:
    """Log loss of the first tree, the first two, and so on."""
    return [log_loss(after_rounds(longer, n, X), codes) for n in range(1, rounds + 1)]


# Classes


@every_library
def test_classes_may_be_words_in_any_order(library: str) -> None:
    X, codes = numbers(classes=3)
    words = np.array(["pear", "apple", "plum"])[codes]
    fitted = booster(library).fit(X, words)
    assert fitted.classes_.tolist() == ["apple", "pear", "plum"]
    probabilities = fitted.predict_proba(X)
    assert probabilities.shape == (200, 3)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(200), abs=1e-5)
    assert (fitted.predict(X) == fitted.classes_[probabilities.argmax(axis=1)]).all()
    assert (fitted.predict(X) == words).mean() > 0.8


@every_library
def test_class_that_the_validation_rows_lack_is_still_learned(library: str) -> None:
    """A class of four rows has none in the fifth of the rows held out for early stopping."""
    X, codes = numbers()
    codes[:4], X[:4, 1] = 2, 10.0
    assert 2 not in codes[hold_out(codes, round(1 / validation_share(200)), 0)[1]]
    fitted = booster(library, early_stopping=True).fit(X, codes)
    assert fitted.classes_.tolist() == [0, 1, 2]
    of_rare = fitted.predict_proba(X)[:, 2]
    assert of_rare[:4].min() > of_rare[4:].max()


@every_library
def test_balanced_weights_find_more_of_the_minority(library: str) -> None:
    rng = np.random.default_rng(1)
    codes = (np.arange(400) % 10 == 0).astype(int)
    X = rng.normal(size=(400, 2)) + codes[:, None]
    train, test = hold_out(codes, 2, 0)
    recalls = [
        booster(library, 30, rate=0.1, balanced=balanced)
        .fit(X[train], codes[train])
        .predict(X[test])[codes[test] == 1]
        .mean()
        for balanced in (False, True)
    ]
    assert recalls[1] > recalls[0]


# Categories and missing values


@every_library
@pytest.mark.parametrize(("categorical", "numeric"), [(0, 2), (1, 1), (1, 0), (2, 0)])
def test_any_number_of_columns_may_be_categories(library: str, categorical: int, numeric: int) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, 240)
    # Neighbouring category codes belong to different classes.
    categories = [codes + 2 * rng.integers(0, 4, 240) for _ in range(categorical)]
    X = np.column_stack([*categories, *(codes + rng.normal(0, 0.3, 240) for _ in range(numeric))])
    fitted = booster(library, n_categorical=categorical).fit(X.astype(float), codes)
    assert (fitted.predict(X.astype(float)) == codes).mean() > 0.9


@every_library
@pytest.mark.parametrize("early_stopping", [False, True])
def test_missing_numbers_and_unknown_categories_are_predicted(library: str, early_stopping: bool) -> None:
    """Some categories have one row: with early stopping, some of them are in the validation rows only."""
    X, codes = numbers(100)
    X[:, 0] = [*range(20), *[20, 21] * 40]
    X[::7, 1] = np.nan
    fitted = booster(library, n_categorical=1, early_stopping=early_stopping).fit(X, codes)
    unknown = np.array([[np.nan, 0.0, 0.0], [20.0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    probabilities = fitted.predict_proba(unknown)
    assert np.isfinite(probabilities).all()
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


# Early stopping


@every_library
@pytest.mark.parametrize("classes", [2, 3])
def test_early_stopping_keeps_the_round_that_is_best_on_the_validation_rows(
    library: str, classes: int
) -> None:
    X, codes = numbers(200, classes)
    train, valid = hold_out(codes, round(1 / validation_share(200)), 0)
    stopped = booster(library, 200, rate=0.1, early_stopping=True).fit(X, codes)
    longer = booster(library, 200, rate=0.1).fit(X[train], codes[train])
    losses = losses_by_rounds(longer, 200, X[valid], codes[valid])
    best = 1 + int(np.argmin(losses[: rounds_kept(stopped) + PATIENCE[False]]))
    assert 1 < rounds_kept(stopped) == best < 100
    assert (stopped.predict_proba(X) == after_rounds(longer, best, X)).all()


@every_library
@pytest.mark.parametrize("classes", [2, 3])
def test_for_use_few_rows_are_fitted_again_with_the_settings_that_were_found(
    library: str, classes: int
) -> None:
    X, codes = numbers(200, classes)
    # CatBoost's default for few rounds would be another one.
    settings = {"leaf_estimation_iterations": 10 if classes == 2 else 1} if library == "catboost" else {}
    train, valid = hold_out_to_stop(codes, 0)
    longer = booster(library, 250, rate=0.1, settings=settings).fit(X[train], codes[train])
    losses = losses_by_rounds(longer, 250, X[valid], codes[valid])
    found = 1 + int(np.argmin(losses))
    assert found + PATIENCE[True] < 250
    expected = booster(library, found, rate=0.1, settings=settings).fit(X, codes)
    again = booster(library, 400, rate=0.1, early_stopping=True, for_use=True).fit(X, codes)
    assert (again.predict_proba(X) == expected.predict_proba(X)).all()


@every_library
def test_for_use_many_rows_are_not_fitted_again(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.flows.boosters.FITTED_AGAIN_BELOW", 200)
    X, codes = numbers(200)
    train, _ = hold_out_to_stop(codes, 0)
    longer = booster(library, 400, rate=0.1).fit(X[train], codes[train])
    fitted = booster(library, 400, rate=0.1, early_stopping=True, for_use=True).fit(X, codes)
    expected = after_rounds(longer, rounds_kept(fitted), X)
    assert (fitted.predict_proba(X) == expected).all()


@each(("rows", "share"), [(100, 0.2), (2500, 0.2), (5000, 0.1), (10_000, 0.05), (10**6, 0.05)])
def test_early_stopping_holds_out_500_rows_between_5_and_20_percent(rows: int, share: float) -> None:
    assert validation_share(rows) == pytest.approx(share)


@every_library
def test_two_rows_of_each_class_are_enough(library: str) -> None:
    X = np.arange(4.0)[:, None]
    fitted = booster(library, early_stopping=True).fit(X, [0, 0, 1, 1])
    assert fitted.predict_proba(X).shape == (4, 2)


# Numbers


@every_library
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_regressor_stops_early_by_the_loss_of_its_fit(library: str, loss: str) -> None:
    X, y = skewed_numbers()
    train, valid = hold_out_to_stop(np.zeros(200, dtype=np.intp), 0)
    options = {"loss": loss, "seed": 0}
    stopped = regressor(library, 200, early_stopping=True, **options).fit(X, y)
    kept = rounds_kept(stopped)
    errors = {}
    for rounds in {kept, *range(1, min(kept + PATIENCE[False], 200) + 1, 4)}:
        fitted = regressor(library, rounds, **options).fit(X[train], y[train])
        difference = fitted.predict(X[valid]) - y[valid]
        errors[rounds] = np.mean(difference**2 if loss == "squared" else np.abs(difference))
    assert 1 < kept < 200
    assert errors[kept] == pytest.approx(min(errors.values()), rel=1e-3)


@each("library", [name for name in where_installed(TREES) if name != "catboost"])
def test_absolute_penalty_is_in_standard_deviations_of_the_target(library: str) -> None:
    X, y = skewed_numbers()
    settings = {"reg_alpha": 5.0}
    first, plain, scaled = (
        regressor(library, settings=own).fit(X, target).predict(X)
        for own, target in ((settings, y), ({}, y), (settings, 1000 * y))
    )
    assert np.abs(first - plain).max() > 0.1 * y.std()
    assert np.median(np.abs(scaled / 1000 - first)) < 1e-3 * y.std()


@every_library
@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_target_that_is_constant_but_for_one_row_is_predicted(library: str, early_stopping: bool) -> None:
    X, _ = numbers(60)
    for row in range(0, 60, 20):
        y = np.where(np.arange(60) == row, 1.0, 0.0)
        fitted = regressor(library, early_stopping=early_stopping).fit(X, y)
        assert np.isfinite(fitted.predict(X)).all()


# Seeds


@every_library
@pytest.mark.parametrize("early_stopping", [False, True])
def test_seed_decides_the_predictions(library: str, early_stopping: bool) -> None:
    X, codes = numbers()
    sampling = {"lightgbm": {"subsample": 0.5, "subsample_freq": 1}, "xgboost": {"subsample": 0.5}}
    first, again, other = (
        booster(library, settings=sampling.get(library, {}), early_stopping=early_stopping, seed=seed)
        .fit(X, codes)
        .predict_proba(X)
        for seed in (3, 3, 4)
    )
    assert (first == again).all()
    assert not np.allclose(first, other)
