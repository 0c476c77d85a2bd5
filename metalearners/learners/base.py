"""Base classes of meta-learners and of their trained models.

A learner is its settings, a model is what it learned; both are frozen dataclasses (`metalearners.codec`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import pandas as pd

from metalearners.codec import encode
from metalearners.gp.posterior import HasPrior
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable

if TYPE_CHECKING:
    from metalearners.learners.contributions import Contributions


class Model(HasPrior, Protocol):
    """What a learner made of runs: a frozen dataclass of arrays and settings."""

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features of a new dataset that the predictions depend on."""


@runtime_checkable
class EstimatesValues(Protocol):
    """A model that may know the level of a measure on a new dataset, not only scores within it."""

    def values(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats | None:
        """Estimate the measure, larger is better, (n,); None if only scores were learned."""


@runtime_checkable
class ExplainsItself(Protocol):
    """A model whose predictions are sums over the datasets that it learned from."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """Keys of these datasets."""

    def contributions(self, metafeatures: pd.Series) -> Contributions:
        """The parts of predictions for the dataset with these meta-features, in the order of `datasets`."""


class MetaLearner(Protocol):
    """Learns from runs on many datasets which configurations work on which kind of dataset.

    The same settings and runs give the same model.
    """

    model: ClassVar[type[Any]]
    """Class of the models that it makes."""

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that make an equal learner; JSON values."""

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Model:
        """Learn from `runs`; qualities of a dataset that `metafeatures` lacks are missing.

        Raises:
            BadInput: there is nothing to learn from.
        """


@runtime_checkable
class LeavesOut(Protocol):
    """A model that can do without some of the datasets that it was learned from, without a training."""

    def without(self, datasets: Collection[str]) -> Self | None:
        """The model that has not seen the runs on these datasets; None where that takes a training.

        Hyperparameters, which all datasets decide together, may stay; no number of a dataset left out does.
        """


M = TypeVar("M")


class WithSettings:
    """Base of learners, which are frozen dataclasses of settings."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings by name; see `MetaLearner.settings`."""
        return encode(self)[0]


@dataclass(frozen=True)
class Round:
    """Progress of a long training."""

    done: int
    of: int
    loss: float
    """What training makes small; its scale means nothing."""


@dataclass(frozen=True)
class Watch:
    """How a long training is watched, and how it survives an interruption."""

    checkpoint: Path | None = None
    """A file for its state. A training that finds the state of an equal one resumes from it, with the same
    result as without an interruption; at the end the file is removed."""
    report: Callable[[Round], None] | None = None
    """Called with the progress."""


UNWATCHED = Watch()


@runtime_checkable
class LongTraining(Protocol[M]):
    """A learner whose training takes long enough to be watched, and to be interrupted."""

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED) -> M:
        """Learn from runs, as `MetaLearner.fit` does."""

    def update(self, model: M, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED) -> M:
        """Learn from `runs`, all current runs, continuing from `model`."""
