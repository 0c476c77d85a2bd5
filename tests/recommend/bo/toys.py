"""Small worlds to search, with a known best configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import Flow
from metalearners.predictions import Prediction
from recommend.bo.candidates import Candidate
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.surrogates.base import Matrix
from recommend.space import Configurations, configurations_of_table
from tests.tables import flow_table
from warehouse.support.arrays import Floats
from warehouse.vocabulary.parameters import Choice, Number


def grid(n: int = 12) -> Configurations:
    """n * n configurations with the hyperparameters x and y, from 0 to 1 in vectors."""
    x, y = np.divmod(np.arange(n * n), n)
    return configurations_of_table(flow_table(pd.DataFrame({"x": x, "y": y})), {})


def hill(vector: Floats) -> float:
    """Highest, 0, at 0.3 for the first hyperparameter and 0.7 for the second; others have no effect."""
    return -float((vector[0] - 0.3) ** 2 + (vector[1] - 0.7) ** 2)


def _nothing(*_: object) -> Any:
    """Estimator of flows that are searched but never built."""
    raise NotImplementedError


SIX = Flow(
    "six",
    "Six configurations",
    (Choice("c", ("a", "b", "c"), default="a"), Number("k", 1, 2, default=1)),
    _nothing,
)
ONE_AXIS = Flow("axis", "One number", (Number("u", 0.0, 1.0, default=0.5),), _nothing)
PLANE = Flow(
    "plane",
    "Two numbers",
    (Number("u", 0.0, 1.0, default=0.5), Number("v", 0.0, 1.0, default=0.5)),
    _nothing,
)


class Recorder:
    """A surrogate that records its training data, and prefers large values of the first hyperparameter."""

    def __init__(self, acquisition: str = "value") -> None:
        self.acquisition = acquisition
        self.told: list[tuple[Floats, Floats]] = []
        """X and y of each fit."""

    def encode(self, configurations: Configurations) -> Matrix:
        return Matrix(np.nan_to_num(configurations.vectors, nan=-1.0))

    def fit(self, X: Matrix, y: Floats, random: np.random.Generator) -> None:  # noqa: ARG002
        self.told.append((X.numbers.copy(), y.copy()))

    def predict(self, X: Matrix) -> Prediction:
        return Prediction(X.numbers[:, 0], None if self.acquisition == "value" else np.ones(len(X)))


def of(configuration: Configurations) -> Floats:
    """The vector of a single configuration."""
    vector: Floats = configuration.vectors[0]
    return vector


def run(
    optimizer: Optimizer, trials: int, value: Callable[[Floats], float] = hill, seconds: float | None = None
) -> list[Proposal]:
    """This many trials, one after the other; fewer if the candidates are exhausted."""
    proposals = []
    for _ in range(trials):
        proposal = optimizer.ask()
        if proposal is None:
            break
        optimizer.tell(proposal.number, value(of(proposal.candidate.configuration)), seconds)
        proposals.append(proposal)
    return proposals


def keys(proposals: list[Proposal]) -> list[object]:
    return [proposal.candidate.key for proposal in proposals]


def best_value(proposals: list[Proposal]) -> float:
    return max(hill(of(proposal.candidate.configuration)) for proposal in proposals)


def vector_of(candidate: Candidate | None) -> Floats:
    """The vector of an existing candidate."""
    assert candidate is not None
    return of(candidate.configuration)
