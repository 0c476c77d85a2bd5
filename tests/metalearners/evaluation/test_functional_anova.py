"""Functional analysis of variance on functions with known components."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from metalearners.evaluation.functional_anova import LEVELS, Design

# Variance of the midpoints of LEVELS equal parts of [0, 1].
OF_LEVELS = (1 - LEVELS**-2) / 12


def uniform(n: int = 512, p: int = 3) -> np.ndarray:
    return qmc.Sobol(p, seed=0).random(n)


def test_variances_of_a_sum_are_those_of_its_terms() -> None:
    design = Design.around(uniform(), [0, 0, 0])
    x = design.vectors
    shares = [effect.share for effect in design.effects(2 * x[:, 0] + x[:, 1])]
    assert shares == pytest.approx([0.8, 0.2, 0.0], abs=0.02)


def test_a_marginal_is_the_mean_over_all_other_hyperparameters() -> None:
    design = Design.around(uniform(), [0, 0, 0])
    x = design.vectors
    effect = design.effects(x[:, 0] ** 2 + x[:, 1])[0]
    assert effect.marginal == pytest.approx(design.levels[0] ** 2 - 1 / 3, abs=0.01)


def test_choices_are_equally_likely() -> None:
    Z = np.column_stack([np.arange(600) % 3, np.random.default_rng(0).random(600)])
    design = Design.around(Z, [3, 0])
    worth = np.array([0.0, 0.0, 3.0])
    effects = design.effects(worth[design.vectors[:, 0].astype(int)])
    assert effects[0].share == pytest.approx(1)
    assert effects[0].marginal == pytest.approx([-1, -1, 2])
    assert effects[1].share == pytest.approx(0)


def test_a_hyperparameter_of_half_of_the_configurations_counts_half() -> None:
    Z = uniform()
    Z[::2, 0] = np.nan
    design = Design.around(Z, [0, 0, 0])
    x = design.vectors
    effects = design.effects(np.where(np.isnan(x[:, 0]), 0.5, x[:, 0]))
    variance = np.where(np.isnan(Z[:, 0]), 0.5, Z[:, 0]).var()
    assert effects[0].share == pytest.approx(OF_LEVELS / 2 / variance)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3).filter(lambda w: np.abs(w).max() > 0.1))
def test_shares_of_a_sum_add_up_to_one(weights: list[float]) -> None:
    design = Design.around(uniform(), [0, 0, 0])
    effects = design.effects(design.vectors @ np.array(weights))
    assert sum(effect.share for effect in effects) == pytest.approx(1 - LEVELS**-2, abs=0.02)


def test_agrees_with_the_forests_of_optuna() -> None:
    optuna = pytest.importorskip("optuna")
    space = {name: optuna.distributions.FloatDistribution(0, 1) for name in "abc"}

    def f(x: np.ndarray) -> np.ndarray:
        return np.sin(3 * x[:, 0]) + 0.5 * x[:, 1] + 0.5 * x[:, 0] * x[:, 2]

    design = Design.around(uniform(), [0, 0, 0])
    ours = [effect.share for effect in design.effects(f(design.vectors))]
    study = optuna.create_study()
    X = uniform(256)
    for x, y in zip(X, f(X), strict=True):
        study.add_trial(
            optuna.create_trial(params=dict(zip("abc", x, strict=True)), distributions=space, value=y)
        )
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=16, max_depth=16, seed=0)
    theirs = optuna.importance.get_param_importances(study, evaluator=evaluator, normalize=False)
    assert ours == pytest.approx([theirs[name] for name in "abc"], abs=0.06)
