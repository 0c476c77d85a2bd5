"""Surrogates by name, and the contract for each of them."""

import pytest

from recommend.bo.surrogates import (
    LEARNERS_OF,
    SURROGATES,
    TRANSFERRING,
    Ingredients,
    Surrogate,
    new_surrogate,
)
from tests.contracts.surrogate import NewSurrogate, SurrogateContract, World, one_flow
from tests.recommend.bo.surrogates.worlds import METAFEATURES, learner_of, tasks_of
from warehouse.support.errors import BadInput


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
            tasks = tasks_of(world.runs.configurations.joint) if name in TRANSFERRING else None
            return new_surrogate(name, Ingredients(world.known, world.metafeatures, learner, tasks))

        return new


def test_an_unknown_surrogate_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown surrogate 'oracle'; known are blend, learned, pmf, gbqr"):
        new_surrogate("oracle", Ingredients(one_flow().known, METAFEATURES))


@pytest.mark.parametrize("name", LEARNERS_OF)
def test_a_surrogate_that_rests_on_a_prior_is_refused_without_one(name: str) -> None:
    with pytest.raises(BadInput, match="needs a meta-learner that states a prior"):
        new_surrogate(name, Ingredients(one_flow().known, METAFEATURES, tasks=tasks_of(joint=False)))


@pytest.mark.parametrize("name", sorted(TRANSFERRING))
def test_a_surrogate_that_transfers_is_refused_without_other_datasets(name: str) -> None:
    with pytest.raises(BadInput, match="needs runs on other datasets"):
        new_surrogate(name, Ingredients(one_flow().known, METAFEATURES))
