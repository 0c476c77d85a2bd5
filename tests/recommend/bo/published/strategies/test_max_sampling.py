"""Posterior sampling of each algorithm's maximum."""

from typing import Any

import numpy as np
import pytest

from recommend.bo.published.strategies.max_sampling import MaxSampling
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import get_strategy
from recommend.bo.surrogates.base import Matrix
from recommend.space import Configurations
from tests.recommend.bo.published.strategies.test_arms import (
    EACH,
    algorithm,
    inputs,
    svm_is_best,
    three_algorithms,
)
from tests.recommend.bo.toys import Recorder
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput


class Levels(Recorder):
    """A surrogate that draws each algorithm's level for the rows of `three_algorithms`."""

    def __init__(self, **levels: float) -> None:
        super().__init__("ei")
        self.levels = levels

    def encode(self, configurations: Configurations) -> Matrix:
        names = configurations.table.algorithms.tolist()
        return Matrix(np.array([[self.levels[name]] for name in names]))

    def draw(self, X: Matrix, random: np.random.Generator) -> Floats:  # noqa: ARG002
        return X.numbers[:, 0]


def search(surrogate: Any, **others: object) -> MaxSampling:
    made = get_strategy("max-sampling").new(inputs(new_scorer=lambda: CandidateScorer(surrogate), **others))
    assert isinstance(made, MaxSampling)
    return made


def algorithms(of: MaxSampling, trials: int, seconds: dict[str, float] | None = None) -> list[str]:
    found = []
    for _ in range(trials):
        proposal = of.ask()
        assert proposal is not None
        found.append(algorithm(proposal.candidate))
        of.tell(proposal.number, svm_is_best(proposal.candidate), seconds and seconds[found[-1]])
    return found


def starts() -> list[Any]:
    return [three_algorithms().row(place) for place in (0, EACH, 2 * EACH)]


def test_the_algorithm_with_the_highest_drawn_maximum_is_next_until_exhausted() -> None:
    of = search(Levels(knn=0.1, mlp=0.7, svm=0.4), starts=starts())
    assert algorithms(of, 24)[3:] == ["mlp"] * 7 + ["svm"] * 7 + ["knn"] * 7
    assert of.ask() is None


class Gains(Levels):
    """Draws 0 for tried rows, the level for others."""

    def draw(self, X: Matrix, random: np.random.Generator) -> Floats:  # noqa: ARG002
        return np.where(np.arange(len(X)) < len(self.told[-1][1]), 0.0, X.numbers[:, 0])


def test_gains_count_per_second() -> None:
    """A gain of 0.6 in 10 s is worth less than one of 0.2 in 0.1 s; without times it is worth more."""
    levels = {"knn": 0.2, "mlp": 0.6, "svm": 0.1}
    assert algorithms(search(Gains(**levels), starts=starts()), 5)[3:] == ["mlp"] * 2
    of = search(Gains(**levels), starts=starts())
    assert algorithms(of, 5, {"knn": 0.1, "mlp": 10.0, "svm": 1.0})[3:] == ["knn"] * 2


def test_a_surrogate_without_uncertainty_is_refused_before_the_first_trial() -> None:
    with pytest.raises(BadInput, match="max-sampling needs a surrogate with uncertainty"):
        search(Recorder())
