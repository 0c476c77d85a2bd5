"""Surrogates: the contract for each of them, and what is special to each."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners import new_learner
from metalearners.base import MetaLearner, Prediction
from metalearners.trials import Prior
from recommend.bo.surrogates import LEARNERS_OF, SURROGATES, Ingredients, Surrogate, new_surrogate
from recommend.bo.surrogates.base import one_hot
from recommend.bo.surrogates.blend import BlendSurrogate
from recommend.bo.surrogates.boosting import (
    HIGH,
    SLACK,
    HyperboostSurrogate,
    QuantileSurrogate,
    QuantileTripleSurrogate,
)
from recommend.bo.surrogates.forest import FLOOR, TREES, ForestSurrogate
from recommend.bo.surrogates.gaussian_process import GaussianProcessSurrogate
from recommend.space import Configurations, configurations_of_table
from tests.contracts.meta_learner import toy_metafeatures, toy_runs, two_algorithms
from tests.contracts.surrogate import NewSurrogate, SurrogateContract, World, one_flow, predicted
from tests.tables import flow_table
from warehouse.configurations.table import ConfigurationTable
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput

QUICK: Mapping[str, Mapping[str, Any]] = {"pmf": {"steps": 20, "epochs": 20}}
"""Settings of learners that take long to train."""
METAFEATURES = pd.Series({"NumberOfInstances": 300.0, "NumberOfFeatures": 10.0})


@cache
def learner_of(name: str, joint: bool) -> MetaLearner:
    """Trained on the toy runs; each once."""
    if name == "pmf":
        pytest.importorskip("torch", reason="training needs the extra `pmf`")
    runs = two_algorithms() if joint else toy_runs()
    return new_learner(name, QUICK.get(name)).fit(runs, toy_metafeatures())


def table(**columns: list[Any]) -> Configurations:
    """Configurations with these hyperparameters."""
    return configurations_of_table(flow_table(pd.DataFrame(columns, dtype=object)))


class TestSurrogates(SurrogateContract):
    @pytest.fixture(autouse=True)
    def _quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("recommend.bo.surrogates.gaussian_process.RESTARTS", 0)

    @pytest.fixture(params=SURROGATES)
    def new_surrogate(self, request: pytest.FixtureRequest) -> NewSurrogate:
        name: str = request.param

        def new(world: World) -> Surrogate:
            learner = None
            if name in LEARNERS_OF:
                learner = learner_of(LEARNERS_OF[name], world.runs.configurations.joint)
            return new_surrogate(name, Ingredients(world.known, world.metafeatures, learner))

        return new


def test_an_unknown_surrogate_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown surrogate 'oracle'; known are blend, learned, pmf, gbqr"):
        new_surrogate("oracle", Ingredients(one_flow().known, METAFEATURES))


@pytest.mark.parametrize("name", LEARNERS_OF)
def test_a_surrogate_that_rests_on_a_prior_is_refused_without_one(name: str) -> None:
    with pytest.raises(BadInput, match="needs a meta-learner that states a prior"):
        new_surrogate(name, Ingredients(one_flow().known, METAFEATURES))


def test_choices_get_a_column_each_and_a_number_that_is_not_there_is_outside() -> None:
    vectors = np.array([[0.25, 1.0], [np.nan, 0.0], [1.0, np.nan]])
    assert one_hot(vectors, np.array([0, 2])).tolist() == [[0.25, 0, 1], [-1, 1, 0], [1, 0, 0]]
    assert one_hot(np.zeros((3, 0)), np.array([], dtype=np.intp)).shape == (3, 0)


# ---- random forest ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_forests_variance_is_the_law_of_total_variance(seed: int) -> None:
    """Two trials with the values 0.2 and 0.8, scores -1 and 1, are too few to split.

    A tree's sample of two is one of (-1, -1), (1, 1) and a mixed one. The leaf of the first two has the
    variance 0, for which the floor 0.01 stands, and v + m^2 = 1.01; that of the mixed one has m = 0, v = 1.
    With p trees of (1, 1), q of (-1, -1) and 10 - p - q mixed ones, equations 3.1 and 3.2 are

        mean = (p - q) / 10        variance + mean^2 = (1.01 (p + q) + 10 - p - q) / 10 = 1 + (p + q) / 1000
    """
    prediction = predicted(ForestSurrogate(), table(x=[0, 1, 2]), np.array([0.2, 0.8]), seed)
    assert prediction.std is not None
    mean, variance = (prediction.mean - 0.5) / 0.3, (prediction.std / 0.3) ** 2
    difference, total = mean * TREES, (variance + mean**2 - 1) * 1000
    for count in (difference, total):
        assert count == pytest.approx(np.round(count), abs=1e-6)
    assert (np.abs(difference) <= total + 1e-6).all()
    assert (total <= TREES + 1e-6).all()
    assert (total - difference) / 2 == pytest.approx(np.round((total - difference) / 2), abs=1e-6)  # q


def test_the_forests_variance_is_the_floor_where_trees_agree_on_leaves_without_spread() -> None:
    """Twenty trials in two groups, values 0 and 1, scores -1 and 1: the spread is 0.5."""
    groups = table(x=[0, 1] * 10)
    prediction = predicted(ForestSurrogate(), groups, np.array([0.0, 1.0] * 10))
    assert prediction.mean == pytest.approx(np.array([0.0, 1.0] * 10))
    assert prediction.std == pytest.approx(np.full(20, 0.5 * np.sqrt(FLOOR)))


# ---- Gaussian process ---------------------------------------------------------------------------


def test_the_process_goes_through_values_without_noise() -> None:
    line = table(x=list(range(21)))
    truth = np.sin(np.linspace(0, 3, 21))
    X, process = GaussianProcessSurrogate().encode(line), GaussianProcessSurrogate()
    tried = np.arange(0, 21, 4)
    process.fit(X.take(tried), truth[tried], np.random.default_rng(0))
    assert process.predict(X.take(tried)).mean == pytest.approx(truth[tried], abs=0.01)
    assert process.predict(X).mean == pytest.approx(truth, abs=0.05)


def test_the_process_is_the_less_certain_the_farther_from_trials() -> None:
    line = table(x=list(range(41)))
    process = GaussianProcessSurrogate()
    X = process.encode(line)
    process.fit(X.take(slice(10)), np.sin(np.linspace(0, 3, 10)), np.random.default_rng(0))
    std = process.predict(X).std
    assert std is not None
    assert (np.diff(std[9:]) > -1e-9).all()
    assert std[-1] > 10 * std[:10].max()


# ---- quantiles ----------------------------------------------------------------------------------


def noisy_groups() -> tuple[Configurations, Floats, Floats]:
    """Four configurations, each tried 200 times: level 0, 1, 2, 3 and normal noise of 0.5."""
    known = table(criterion=["gini", "entropy"] * 2 * 200, depth=[1, 1, 9, 9] * 200)
    level = np.tile(np.arange(4.0), 200)
    return known, level, level + np.random.default_rng(5).normal(scale=0.5, size=800)


def test_nine_of_ten_values_are_below_the_high_quantile() -> None:
    known, level, values = noisy_groups()
    mean = predicted(QuantileSurrogate(known, METAFEATURES), known, values).mean
    new = level + np.random.default_rng(6).normal(scale=0.5, size=800)
    below = [(new[group::4] < mean[group]).mean() for group in range(4)]
    assert below == pytest.approx([HIGH] * 4, abs=0.06)
    assert np.mean(below) == pytest.approx(HIGH, abs=0.03)
    assert mean[:4] == pytest.approx(np.arange(4) + 1.2816 * 0.5, abs=0.12)


def test_half_of_the_way_between_the_outer_quantiles_is_the_noise() -> None:
    known, level, values = noisy_groups()
    prediction = predicted(QuantileTripleSurrogate(known, METAFEATURES), known, values)
    assert prediction.std == pytest.approx(np.full(800, 0.5), rel=0.2)
    assert prediction.mean == pytest.approx(level, abs=0.12)


# ---- Hyperboost ---------------------------------------------------------------------------------


def test_distance_adds_to_the_quantile_by_hand() -> None:
    """x is 0, 25 and 100: U = 0, 0.25 and 1. Only the first was tried, twice, with the values 0.4 and 0.6.

    d = 0, 0.25 and 1, so D = 1, and s = 0.1: 0, 0.025 and 0.1 are added to q, which is equal for all.
    """
    known = table(x=[0, 25, 100])
    surrogate = HyperboostSurrogate(known, METAFEATURES)
    X = surrogate.encode(known)
    surrogate.fit(X.take([0, 0]), np.array([0.4, 0.6]), np.random.default_rng(0))
    mean = surrogate.predict(X).mean
    assert mean - mean[0] == pytest.approx([0.0, 0.025, 0.1])
    assert surrogate.predict(X.take([1])).mean == pytest.approx(mean[[1]])  # D is that of all that are known


def test_another_choice_is_twice_as_far_as_the_other_end_of_a_range() -> None:
    """Manhattan distance of one-hot columns: 2. So d = 0, 1, 2 and 3, and D = 3; s = 0.3."""
    known = table(x=[0, 1, 0, 1], c=["a", "a", "b", "b"])
    surrogate = HyperboostSurrogate(known, METAFEATURES)
    X = surrogate.encode(known)
    surrogate.fit(X.take([0, 0]), np.array([0.0, 0.6]), np.random.default_rng(0))
    mean = surrogate.predict(X).mean
    assert mean - mean[0] == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_where_everything_was_tried_only_the_quantile_is_left() -> None:
    known = table(x=[0, 1])
    values = np.array([0.2, 0.4])
    assert predicted(HyperboostSurrogate(known, METAFEATURES), known, values).mean == pytest.approx(
        predicted(QuantileSurrogate(known, METAFEATURES), known, values).mean
    )


def test_in_many_columns_distances_are_those_between_two_principal_components() -> None:
    """At most a tenth too long, each; so d / D is within a tenth either way."""
    random = np.random.default_rng(8)
    known = table(**{f"x{column}": random.random(60).tolist() for column in range(25)})
    surrogate = HyperboostSurrogate(known, METAFEATURES)
    values = random.random(15)
    added = (
        predicted(surrogate, known, values).mean
        - predicted(QuantileSurrogate(known, METAFEATURES), known, values).mean
    ) / values.std()
    U = known.vectors
    components = np.linalg.svd(U[:15] - U[:15].mean(axis=0), full_matrices=False)[2][:2]
    projected = U @ components.T
    d = np.abs(projected[:, None] - projected[None, :15]).sum(axis=2).min(axis=1)
    assert added[:15] == pytest.approx(np.zeros(15))
    np.testing.assert_allclose(added[15:], (d / d.max())[15:], rtol=SLACK)
    assert added.max() <= 1 + 1e-9


# ---- blend --------------------------------------------------------------------------------------


def blend() -> BlendSurrogate:
    surrogate = new_surrogate(
        "blend", Ingredients(one_flow().known, one_flow().metafeatures, learner_of("bank", False))
    )
    assert isinstance(surrogate, BlendSurrogate)
    return surrogate


@pytest.mark.parametrize("values", [[0.7], [0.7, 0.7, 0.7]])
def test_before_values_differ_the_prior_decides(values: list[float]) -> None:
    world = one_flow()
    mean = predicted(blend(), world.known, np.array(values)).mean
    expected = learner_of("bank", False).predict(world.known.table, world.metafeatures).mean
    assert mean == pytest.approx(expected)
    assert world.kind[mean.argmax()] == "gini"  # few classes


def test_trials_that_agree_leave_what_the_prior_expects() -> None:
    world = one_flow()
    before = predicted(blend(), world.known, np.array([0.7]))
    after = predicted(blend(), world.known, world.values("gini"))
    assert np.corrcoef(before.mean, after.mean)[0, 1] > 0.99


def test_evidence_overrules_a_prior_that_is_wrong() -> None:
    """The bank is sure that depth does not matter, and gini does; here it is the other way around."""
    world = one_flow()
    depth = world.known.table.parameters["depth"].to_numpy(dtype=np.float64)
    truth = depth / 10
    mean = predicted(blend(), world.known, truth[:14]).mean
    expected = learner_of("bank", False).predict(world.known.table, world.metafeatures).mean
    assert abs(np.corrcoef(expected[14:], truth[14:])[0, 1]) < 0.5
    assert np.corrcoef(mean[14:], truth[14:])[0, 1] > 0.9


class _WithoutPoints:
    """A prior that says nothing, and does not say how far configurations are from one another."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:  # noqa: ARG002
        return Prediction(np.zeros(len(configurations)))

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:  # noqa: ARG002
        return Prior(np.zeros(len(configurations)), np.ones((len(configurations), 1)))

    def targets_of(self, values: Floats) -> Floats:
        return values


def test_without_a_learned_distance_the_one_on_the_unit_cube_is_taken() -> None:
    line = table(x=list(range(21)))
    truth = np.linspace(0, 1, 21)
    surrogate = BlendSurrogate(_WithoutPoints(), METAFEATURES)
    X = surrogate.encode(line)
    surrogate.fit(X.take(slice(None, None, 4)), truth[::4], np.random.default_rng(0))
    assert np.corrcoef(surrogate.predict(X).mean, truth)[0, 1] > 0.99
