"""Base classes of meta-learners and of their trained models.

A learner holds settings, a model what it learned; both are frozen dataclasses (`metalearners.codec`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import pandas as pd

from metalearners.codec import encode
from metalearners.gp.posterior import HasPrior
from warehouse.questions.queries import RunTable


class Model(HasPrior, Protocol):
    """A trained model: a frozen dataclass of arrays and settings."""

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features of a new dataset used by predictions."""


class MetaLearner(Protocol):
    """Learns from runs on many datasets which configurations work on which kind of dataset.

    Deterministic: equal settings and runs give equal models.
    """

    model: ClassVar[type[Any]]
    """Class of the trained models."""

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that construct an equal learner; JSON values."""
        return encode(self)[0]

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Model:
        """Learn from `runs`; qualities of datasets not in `metafeatures` are missing.

        Raises:
            BadInput: there are no runs to learn from.
        """


M = TypeVar("M")


@dataclass(frozen=True)
class Round:
    """Progress of a long training."""

    done: int
    of: int
    loss: float
    """Training loss; its scale has no meaning."""


@dataclass(frozen=True)
class Watch:
    """Progress report and checkpoint of a long training."""

    checkpoint: Path | None = None
    """File for the state of the training. A training with equal settings and runs resumes from it, with the
    same result as without interruption, and removes it at the end."""
    report: Callable[[Round], None] | None = None
    """Called with the progress."""


UNWATCHED = Watch()


@runtime_checkable
class LongTraining(Protocol[M]):
    """A learner with a long training, which reports progress and can resume after an interruption."""

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED) -> M:
        """Learn from runs, as `MetaLearner.fit` does."""

    def update(self, model: M, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED) -> M:
        """Continue training `model` on all current `runs`."""
