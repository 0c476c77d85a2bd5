"""The contract of every surrogate: inherit `SurrogateContract` and supply the fixture `new_surrogate`.

`SurrogateBasics` is its quick part, for surrogates that differ only by an argument from a fully tested one.

The worlds are those of `tests.contracts.meta_learner`: one flow with gini and entropy, or the same as two
algorithms, each with a hyperparameter that the other lacks. Twelve of twenty configurations are tried on a
dataset with few classes.
"""

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from ingest.flows import FLOWS
from metalearners.predictions import Prediction
from recommend.bo.acquisition import ACQUISITIONS, UNCERTAIN
from recommend.bo.surrogates.base import Surrogate
from recommend.space import Configurations, Space, configurations_of_table
from tests.contracts.meta_learner import toy_metafeatures, toy_runs, two_algorithms
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Rows

TRIALS = 12


@dataclass(frozen=True)
class World:
    """Possible inputs of a surrogate."""

    runs: RunTable
    """Runs on other datasets."""
    known: Configurations
    """(20) configurations."""
    metafeatures: pd.Series
    """Of the searched dataset."""
    kind: npt.NDArray[np.object_]
    """(20,) gini or entropy."""

    def values(self, good: str = "gini") -> Floats:
        """(12,) values of the first configurations; one kind is better than the other."""
        noise = np.random.default_rng(3).normal(scale=0.01, size=TRIALS)
        values: Floats = 0.6 + 0.2 * (self.kind[:TRIALS] == good) + noise
        return values


@cache
def one_flow() -> World:
    """Gini and entropy are choices of a hyperparameter."""
    return _world(toy_runs())


@cache
def joint_space() -> World:
    """Gini and entropy are algorithms."""
    return _world(two_algorithms())


def _world(runs: RunTable) -> World:
    known = configurations_of_table(runs.configurations, runs.scales)
    kind = toy_runs().configurations.parameters["criterion"].to_numpy(dtype=object)
    return World(runs, known, toy_metafeatures().iloc[0], kind)


NewSurrogate = Callable[[World], Surrogate[Any]]


def predicted(surrogate: Surrogate[Any], known: Configurations, values: Floats, seed: int = 0) -> Prediction:
    """Predictions for all configurations, of which the first were tried."""
    X = surrogate.encode(known)
    surrogate.fit(X.take(slice(len(values))), values, np.random.default_rng(seed))
    return surrogate.predict(X)


def assert_equal_predictions(one: Prediction, other: Prediction, atol: float = 0.0) -> None:
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=atol)
    assert (one.std is None) == (other.std is None)
    if one.std is not None and other.std is not None:
        np.testing.assert_allclose(one.std, other.std, rtol=0, atol=atol)


def assert_equal_rows(one: Rows, other: Rows, atol: float = 0.0) -> None:
    for part, same in zip(_arrays(astuple(one)), _arrays(astuple(other)), strict=True):
        np.testing.assert_allclose(
            np.asarray(part, dtype=np.float64), np.asarray(same, dtype=np.float64), rtol=0, atol=atol
        )


def _arrays(parts: tuple[Any, ...]) -> Iterator[Any]:
    """Arrays of rows and their subsets; None if there are none."""
    for part in parts:
        yield from _arrays(part) if isinstance(part, tuple) else (part,)


def assert_finite(prediction: Prediction, n: int) -> None:
    assert prediction.mean.shape == (n,)
    assert np.isfinite(prediction.mean).all()
    if prediction.std is not None:
        assert prediction.std.shape == (n,)
        assert np.isfinite(prediction.std).all()
        assert (prediction.std >= 0).all()


class SurrogateBasics:
    """The first promises of `recommend.bo.surrogates.base.Surrogate`."""

    @pytest.fixture
    def new_surrogate(self) -> NewSurrogate:
        raise NotImplementedError

    @pytest.fixture(params=[one_flow, joint_space], ids=["one-flow", "joint-space"])
    def world(self, request: pytest.FixtureRequest) -> World:
        world: World = request.param()
        return world

    @pytest.fixture
    def surrogate(self, new_surrogate: NewSurrogate, world: World) -> Surrogate[Any]:
        return new_surrogate(world)

    def test_predicts_one_finite_number_per_candidate(self, surrogate: Surrogate[Any], world: World) -> None:
        assert_finite(predicted(surrogate, world.known, world.values()), len(world.known))

    def test_states_its_uncertainty_if_its_own_criterion_needs_it(
        self, surrogate: Surrogate[Any], world: World
    ) -> None:
        assert surrogate.acquisition in ACQUISITIONS
        std = predicted(surrogate, world.known, world.values()).std
        assert (std is not None) == (surrogate.acquisition in UNCERTAIN)

    @pytest.mark.parametrize("good", ["gini", "entropy"])
    def test_good_trials_are_predicted_above_bad_trials(
        self, surrogate: Surrogate[Any], world: World, good: str
    ) -> None:
        mean = predicted(surrogate, world.known, world.values(good)).mean[:TRIALS]
        is_good = world.kind[:TRIALS] == good
        assert mean[is_good].min() > mean[~is_good].max()

    def test_the_same_seed_gives_the_same_prediction(self, new_surrogate: NewSurrogate, world: World) -> None:
        first, second = (
            predicted(new_surrogate(world), world.known, world.values(), seed=7) for _ in range(2)
        )
        assert_equal_predictions(first, second)


class SurrogateContract(SurrogateBasics):
    """All promises of `recommend.bo.surrogates.base.Surrogate`."""

    @pytest.mark.parametrize("good", ["gini", "entropy"])
    def test_untried_configurations_like_good_trials_are_above_those_like_bad_ones(
        self, surrogate: Surrogate[Any], world: World, good: str
    ) -> None:
        mean = predicted(surrogate, world.known, world.values(good)).mean[TRIALS:]
        is_good = world.kind[TRIALS:] == good
        assert mean[is_good].mean() > mean[~is_good].mean()

    def test_encodes_each_configuration_alone(self, surrogate: Surrogate[Any], world: World) -> None:
        together = surrogate.encode(world.known)
        alone = [surrogate.encode(world.known.take([row])) for row in range(len(world.known))]
        order = np.arange(len(world.known))[::-1]
        backwards = surrogate.encode(world.known.take(order))
        # Matrices of another shape are multiplied in another order.
        assert_equal_rows(type(together).concatenated(alone), together, atol=1e-9)
        assert_equal_rows(backwards, together.take(order), atol=1e-9)

    def test_the_prediction_of_a_candidate_does_not_depend_on_the_others(
        self, surrogate: Surrogate[Any], world: World
    ) -> None:
        """Local search compares neighbours with their origin in separate calls."""
        X = surrogate.encode(world.known)
        surrogate.fit(X.take(slice(TRIALS)), world.values(), np.random.default_rng(0))
        last = surrogate.predict(X.take([-1]))
        together = surrogate.predict(X)
        alone = [surrogate.predict(X.take([row])).mean[0] for row in range(len(X))]
        unseen = 1e-3 * together.mean.std()  # tolerance for single precision
        np.testing.assert_allclose(alone, together.mean, rtol=0, atol=unseen)
        assert last.mean[0] == pytest.approx(together.mean[-1], abs=unseen)

    def test_learns_from_one_trial(self, surrogate: Surrogate[Any], world: World) -> None:
        assert_finite(predicted(surrogate, world.known, np.array([0.7])), len(world.known))

    @pytest.mark.parametrize("value", [0.1, 1e6])
    def test_equal_values_give_the_same_prediction_whatever_they_are(
        self, new_surrogate: NewSurrogate, value: float
    ) -> None:
        """The rounding of their mean must not count as a difference."""
        world = one_flow()
        zeros = predicted(new_surrogate(world), world.known, np.zeros(3))
        others = predicted(new_surrogate(world), world.known, np.full(3, value))
        assert_finite(others, len(world.known))
        np.testing.assert_allclose(
            others.mean - others.mean[0], zeros.mean - zeros.mean[0], rtol=0, atol=1e-9 * abs(value)
        )
        if others.std is not None and zeros.std is not None:
            np.testing.assert_allclose(others.std, zeros.std, rtol=1e-9)

    def test_a_configuration_may_be_tried_twice(self, surrogate: Surrogate[Any], world: World) -> None:
        twice = world.known.take([0, 0, 1, *range(len(world.known))])
        prediction = predicted(surrogate, twice, np.array([0.9, 0.5, 0.2]))
        assert_finite(prediction, len(twice))
        assert prediction.mean[0] == pytest.approx(prediction.mean[1], abs=1e-4)

    @pytest.mark.parametrize(("scale", "level"), [(1e6, 0.0), (1e-6, 0.0), (3.7, -5.0)])
    def test_the_unit_of_the_values_does_not_matter(
        self, new_surrogate: NewSurrogate, scale: float, level: float
    ) -> None:
        """A positive affine transformation of the values does not change relative predictions: each surrogate
        here promises that (see `Surrogate`)."""
        world = one_flow()
        plain = predicted(new_surrogate(world), world.known, world.values())
        other = predicted(new_surrogate(world), world.known, scale * world.values() + level)
        spread, of_other = plain.mean.std(), other.mean.std()
        # LightGBM stores its training targets with 24 bits.
        np.testing.assert_allclose(
            (other.mean - other.mean.mean()) / of_other, (plain.mean - plain.mean.mean()) / spread, atol=1e-4
        )
        if other.std is not None and plain.std is not None:
            np.testing.assert_allclose(other.std / of_other, plain.std / spread, atol=1e-4)

    def test_fitting_forgets_the_trials_before(self, new_surrogate: NewSurrogate, world: World) -> None:
        used = new_surrogate(world)
        predicted(used, world.known, world.values("entropy"))
        predicted(used, world.known, np.array([0.7]))
        again = predicted(used, world.known, world.values())
        assert_equal_predictions(again, predicted(new_surrogate(world), world.known, world.values()))

    def test_does_not_change_its_inputs(self, surrogate: Surrogate[Any], world: World) -> None:
        untouched = _world(toy_runs() if world is one_flow() else two_algorithms())
        global_generator = np.random.get_state(legacy=False)  # noqa: NPY002
        X = surrogate.encode(world.known)
        of_trials, values = X.take(np.arange(TRIALS)), world.values()
        surrogate.fit(of_trials, values, np.random.default_rng(0))
        surrogate.predict(X)
        assert_equal_rows(of_trials, X.take(slice(TRIALS)))
        assert_equal_rows(X, surrogate.encode(world.known))
        np.testing.assert_array_equal(values, world.values())
        np.testing.assert_array_equal(world.known.vectors, untouched.known.vectors)
        pd.testing.assert_frame_equal(world.known.table.parameters, untouched.known.table.parameters)
        np.testing.assert_equal(np.random.get_state(legacy=False), global_generator)  # noqa: NPY002

    def test_predicts_for_configurations_that_lack_hyperparameters(self, new_surrogate: NewSurrogate) -> None:
        world = joint_space()
        assert np.isnan(world.known.vectors).any()
        surrogate = new_surrogate(world)
        prediction = predicted(surrogate, world.known, world.values())
        assert_finite(prediction, len(world.known))
        assert np.ptp(prediction.mean) > 0

    def test_takes_the_typed_columns_of_a_space_without_runs(self, new_surrogate: NewSurrogate) -> None:
        space = Space([FLOWS["svm"], FLOWS["decision_tree"]])
        known = space.configurations(space.sample(40, np.random.default_rng(0)))
        surrogate = new_surrogate(replace(one_flow(), known=known))
        assert_finite(predicted(surrogate, known, np.linspace(0, 1, 9)), len(known))
