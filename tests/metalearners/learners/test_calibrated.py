"""Models that predict a mean: how far off they are on new datasets, and what trials change."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import centre_and_spread, encode_runs, learn_encoding_of
from metalearners.encoding.scores import Z80
from metalearners.encoding.training_data import training_data
from metalearners.gp.kernels import matern
from metalearners.learners.calibrated import CalibratedModel, calibrated, random_features
from tests.cases import each
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable

DATASET = toy_metafeatures().iloc[0]


@dataclass(frozen=True, kw_only=True)
class GiniIsBetter(CalibratedModel):
    """Expects this score of gini, and its opposite of entropy."""

    score: float

    def expect(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        return np.where(configurations.parameters["criterion"] == "gini", self.score, -self.score)


def model(score: float, runs: RunTable | None = None, spread: float = 1.0) -> GiniIsBetter:
    data = training_data(toy_runs() if runs is None else runs, toy_metafeatures())
    encoding: HyperparameterEncoding = learn_encoding_of(data)
    centre, width = centre_and_spread(encode_runs(encoding, data))
    return GiniIsBetter(encoding=encoding, centre=centre, width=width, spread=spread, score=score)


def learning(score: float) -> Callable[[RunTable, pd.DataFrame], GiniIsBetter]:
    return lambda runs, _: model(score, runs)


def gini_always_wins(n_datasets: int = 12) -> RunTable:
    """Ten runs of 1 and ten of 0 on every dataset: standard scores are 1 and -1."""
    runs = toy_runs(n_datasets)
    criterion = runs.configurations.parameters["criterion"].loc[runs.runs["setup"]].to_numpy()
    return replace(runs, runs=runs.runs.assign(value=(criterion == "gini").astype(float)))


@each(("score", "missed"), [(1.0, 0.0), (0.0, 1.0), (0.75, 0.25), (-1.0, 2.0)])
def test_the_spread_is_that_of_a_normal_distribution_in_which_80_percent_miss_by_no_more(
    score: float, missed: float
) -> None:
    """Scores are 1 and -1, so each run is missed by |1 - score|: the half width of the 80 % interval."""
    found = calibrated(learning(score), gini_always_wins(), toy_metafeatures())
    assert found.spread == pytest.approx(missed / Z80)
    predicted = found.predict(toy_runs().configurations, DATASET)
    assert predicted.std is not None
    assert predicted.std == pytest.approx(np.full(20, missed / Z80))


def test_the_spread_is_measured_on_datasets_that_a_second_model_has_not_seen() -> None:
    """Every third of the twelve is left out of its runs and of its meta-features."""
    seen: list[tuple[set[str], set[str]]] = []

    def learn(runs: RunTable, metafeatures: pd.DataFrame) -> GiniIsBetter:
        seen.append((set(runs.runs["dataset"]), set(metafeatures.index)))
        return model(1.0, runs)

    calibrated(learn, gini_always_wins(), toy_metafeatures())
    everything = {f"toy:{number}" for number in range(12)}
    some = everything - {"toy:2", "toy:5", "toy:8", "toy:11"}
    assert seen == [(everything, everything), (some, some)]


@each("datasets", [1, 2])
def test_with_too_few_datasets_to_leave_any_out_the_spread_is_that_of_the_scores(datasets: int) -> None:
    runs = gini_always_wins(datasets)
    assert calibrated(learning(1.0), runs, toy_metafeatures(datasets)).spread == 1


@each(("spread", "doubt"), [(0.0, 0.5), (0.4, 0.5), (2.0, np.sqrt(2))])
def test_however_sure_a_model_is_it_doubts_what_it_says_of_a_new_dataset(spread: float, doubt: float) -> None:
    """Half of the variance is in common to similar configurations, and half a standard deviation at least."""
    prior = model(0.5, spread=spread).prior(toy_runs().configurations, DATASET)
    assert np.sqrt(prior.variance) == pytest.approx(np.full(20, doubt), rel=0.2)  # features are random
    assert prior.mean.tolist() == [0.5, -0.5] * 10


@each("columns", [1, 5])
def test_inner_products_of_random_features_are_about_the_kernel(columns: int) -> None:
    """Each is a mean over 200 frequencies, whose standard error is below 1 / sqrt(200) = 0.07."""
    x = np.random.default_rng(0).normal(size=(30, columns))
    scaled = x / np.sqrt(columns)
    phi = random_features(x)
    assert np.abs(phi @ phi.T - matern(scaled, scaled)).max() < 4 * 0.07
    np.testing.assert_array_equal(random_features(x[:3]), phi[:3])
