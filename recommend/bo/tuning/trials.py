"""Trials of a search: configurations with their evaluations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ingest.flows import get_flow
from ingest.running.evaluation import Evaluation
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS, Origin
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration


@dataclass
class Trial:
    """One configuration evaluated by one search."""

    number: int
    """Number of the trial, from 0, in the order in which trials begin."""
    configuration: Configuration
    origin: Origin
    evaluations: list[Evaluation] = field(default_factory=list, repr=False)
    """One for each repetition of the resampling; those after the first have succeeded."""
    share: float = ALL_ROWS
    """Number of training rows, as a share of those of the search's usual trials; quick ones may have more."""
    stopped: str | None = None
    """Why the search ended it without an outcome, in words; None if it did not."""

    @property
    def evaluation(self) -> Evaluation | None:
        """The first evaluation; None until it has ended."""
        return self.evaluations[0] if self.evaluations else None

    @property
    def counts(self) -> bool:
        """Whether it is a full trial, not one on a smaller share of the rows."""
        return self.share >= ALL_ROWS

    @property
    def seconds(self) -> float:
        """Wall-clock time of all evaluations."""
        return sum(evaluation.seconds for evaluation in self.evaluations)

    @property
    def predictions(self) -> Floats | None:
        """(rows, k) mean predictions of the rows used for ensemble selection; None if there are none."""
        known = [one.predictions for one in self.evaluations if one.predictions is not None]
        return np.mean(known, axis=0) if known else None

    def value(self, measure: str) -> float | None:
        """The mean value of the measure over repetitions; None if it has none."""
        values = [evaluation.value(measure) for evaluation in self.evaluations]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None

    def score(self, measure: str) -> float | None:
        """The value, negated if smaller is better; None if it has none."""
        value = self.value(measure)
        return None if value is None else oriented(value, measure)

    def document(self, measure: str) -> dict[str, Any]:
        """The configuration and its results, as JSON values."""
        first = self.evaluation
        return {
            "flow": get_flow(self.configuration.algorithm).id,
            "hyperparameters": dict(self.configuration.values),
            "outcome": None if first is None else str(first.outcome),
            "message": None if first is None else first.message,
            "seconds": self.seconds,
            "evaluations": len(self.evaluations),
            "value": self.value(measure),
        }


def scored(trials: Iterable[Trial], measure: str) -> list[tuple[float, Trial]]:
    """Scores and trials, without failures and trials on fewer rows, whose scores are not comparable."""
    return [
        (score, trial) for trial in trials if trial.counts and (score := trial.score(measure)) is not None
    ]


def ranked(trials: Iterable[Trial], measure: str) -> list[Trial]:
    """Successful full trials, the best first; of equals, the earlier one."""
    return [trial for _, trial in sorted(scored(trials, measure), key=lambda pair: -pair[0])]
