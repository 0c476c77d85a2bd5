"""Models that predict a mean: their errors on new datasets, and the effect of trials."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import centre_and_spread, encode_runs, learn_encoding_of
from metalearners.encoding.scores import Z80
from metalearners.encoding.training_data import runs_on, training_data
from metalearners.gp.kernels import matern
from metalearners.learners.calibrated import (
    UNCALIBRATED,
    CalibratedLearner,
    CalibratedModel,
    random_features,
)
from tests.cases import each
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable

DATASET = toy_metafeatures().iloc[0]


@dataclass(frozen=True, kw_only=True)
class GiniIsBetter(CalibratedModel):
    """Predicts this score for gini, and its opposite for entropy."""

    score: float
    described_by = ()

    def scores_of(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        return np.where(configurations.parameters["criterion"] == "gini", self.score, -self.score)


def model(score: float, runs: RunTable | None = None, spread: float = 1.0) -> GiniIsBetter:
    data = training_data(toy_runs() if runs is None else runs, toy_metafeatures())
    encoding: HyperparameterEncoding = learn_encoding_of(data)
    centre, width = centre_and_spread(encode_runs(encoding, data))
    calibration = replace(UNCALIBRATED, spread=spread)
    return GiniIsBetter(encoding=encoding, centre=centre, width=width, calibration=calibration, score=score)


@dataclass(frozen=True, kw_only=True)
class Learner(CalibratedLearner[GiniIsBetter]):
    """Learns models with this score, and records from which datasets."""

    score: float = 1.0
    seen: list[tuple[set[str], set[str]]] = field(default_factory=list)

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> GiniIsBetter:
        self.seen.append((set(runs.runs["dataset"]), set(metafeatures.index)))
        return model(self.score, runs)


def gini_always_wins(n_datasets: int = 12) -> RunTable:
    """Ten runs of 1 and ten of 0 on every dataset, with standard scores 1 and -1."""
    runs = toy_runs(n_datasets)
    criterion = runs.configurations.parameters["criterion"].loc[runs.runs["setup"]].to_numpy()
    return replace(runs, runs=runs.runs.assign(value=(criterion == "gini").astype(float)))


@each(("score", "missed"), [(1.0, 0.0), (0.0, 1.0), (0.75, 0.25), (-1.0, 2.0)])
def test_the_spread_is_that_of_a_normal_distribution_with_the_same_80_percent_interval(
    score: float, missed: float
) -> None:
    """Scores are 1 and -1, so each error is |1 - score|: the half width of the 80 % interval."""
    found = Learner(score=score).fit(gini_always_wins(), toy_metafeatures())
    assert found.calibration.spread == pytest.approx(missed / Z80)
    predicted = found.predict(toy_runs().configurations, DATASET)
    assert predicted.std is not None
    assert predicted.std == pytest.approx(np.full(20, missed / Z80))


def test_errors_are_measured_on_left_out_families() -> None:
    """Twelve datasets, two of them of one family, are each left out once, in five folds of families."""
    runs = gini_always_wins()
    runs = replace(runs, runs=runs.runs.assign(family=runs.runs["family"].replace("toy:11", "toy:3")))
    learner = Learner()
    learner.fit(runs, toy_metafeatures())
    everything = {f"toy:{number}" for number in range(12)}
    left_out = [everything - known for known, _ in learner.seen]
    assert left_out == [
        {"toy:0", "toy:5", "toy:10"},
        {"toy:1", "toy:6"},
        {"toy:2", "toy:7"},
        {"toy:3", "toy:8", "toy:11"},
        {"toy:4", "toy:9"},
        set(),
    ]
    assert all(known == described for known, described in learner.seen)


def test_a_model_of_one_family_is_not_calibrated() -> None:
    runs = gini_always_wins(1)
    assert Learner().fit(runs, toy_metafeatures(1)).calibration == UNCALIBRATED


def levels(datasets: int = 60) -> tuple[RunTable, pd.DataFrame]:
    """Gini is 5 points above a tree, whose accuracy is a landmarker, and entropy 10 points below."""
    runs, metafeatures = toy_runs(datasets), toy_metafeatures(datasets)
    tree = np.random.default_rng(0).uniform(0.6, 0.9, datasets)
    metafeatures = metafeatures.assign(**{"J48.0001.ErrRate": 1 - tree, "MajorityClassPercentage": 50.0})
    criterion = runs.configurations.parameters["criterion"].loc[runs.runs["setup"]].to_numpy()
    depth = runs.configurations.parameters["depth"].loc[runs.runs["setup"]].to_numpy(np.float64)
    level = pd.Series(tree, metafeatures.index).loc[runs.runs["dataset"]].to_numpy()
    value = level + np.where(criterion == "gini", 0.05, -0.1) + 0.001 * depth
    return replace(runs, runs=runs.runs.assign(value=value)), metafeatures


def test_values_are_predicted_in_the_unit_of_the_measure_and_within_their_intervals() -> None:
    runs, metafeatures = levels()
    found = Learner().fit(runs, metafeatures)
    assert "J48.0001.ErrRate" in found.qualities
    kept = []
    for dataset in metafeatures.index:
        table, values = runs_on(runs, dataset)
        first = found.choose(table, metafeatures.loc[dataset], 1)
        expected = found.expect(table.take(first), metafeatures.loc[dataset])
        assert expected is not None
        assert expected.value[0] == pytest.approx(values[first][0], abs=0.03)
        kept.append(expected.low[0] <= values[first][0] <= expected.high[0])
    assert np.mean(kept) > 0.7


def test_a_gain_that_always_occurred_is_nearly_sure_and_one_that_never_did_is_not() -> None:
    runs, metafeatures = levels()
    table = runs.configurations
    criterion = table.parameters["criterion"].to_numpy()
    gini, entropy = (table.take(np.flatnonzero(criterion == name)[:1]) for name in ("gini", "entropy"))
    for score, least, most in ((1.0, 0.95, 1.0), (-1.0, 0.0, 0.5)):
        found = Learner(score=score).fit(runs, metafeatures)
        expected_best, other = (gini, entropy) if score > 0 else (entropy, gini)
        (chance,) = found.beats(expected_best, other, metafeatures.iloc[0])
        assert least <= chance <= most + 0.05


@each(("spread", "doubt"), [(0.0, 0.5), (0.4, 0.5), (2.0, np.sqrt(2))])
def test_predictions_for_a_new_dataset_have_a_least_uncertainty(spread: float, doubt: float) -> None:
    """Similar configurations share half of the variance; it is at least half a standard deviation."""
    prior = model(0.5, spread=spread).prior(toy_runs().configurations, DATASET)
    assert np.sqrt(prior.variance) == pytest.approx(np.full(20, doubt), rel=0.2)  # features are random
    assert prior.mean.tolist() == [0.5, -0.5] * 10


@each("columns", [1, 5])
def test_inner_products_of_random_features_approximate_the_kernel(columns: int) -> None:
    """Each is a mean over 200 frequencies, with a standard error below 1 / sqrt(200) = 0.07."""
    x = np.random.default_rng(0).normal(size=(30, columns))
    scaled = x / np.sqrt(columns)
    phi = random_features(x)
    assert np.abs(phi @ phi.T - matern(scaled, scaled)).max() < 4 * 0.07
    np.testing.assert_array_equal(random_features(x[:3]), phi[:3])
