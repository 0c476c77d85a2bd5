"""Trials of a search: configurations with their evaluations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ingest.running.evaluation import Evaluation
from recommend.bo.optimizer import ALL_ROWS, Origin
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import larger_is_better


@dataclass
class Trial:
    """One configuration judged by one search."""

    number: int
    """From 0, in the order in which trials begin."""
    configuration: Configuration
    origin: Origin
    evaluation: Evaluation | None = None
    """None until it has ended."""
    share: float = ALL_ROWS
    """Share of the training rows of each split that it is fitted on."""
    stopped: str | None = None
    """Why the search ended it without an outcome, in words; None where it did not."""

    def value(self, measure: str) -> float | None:
        """The value of the measure; None if it has none."""
        return None if self.evaluation is None else self.evaluation.value(measure)

    def score(self, measure: str) -> float | None:
        """The value, negated where smaller is better; None where it has none."""
        value = self.value(measure)
        return value if value is None or larger_is_better(measure) else -value


def scored(trials: Iterable[Trial], measure: str) -> list[tuple[float, Trial]]:
    """Scores and trials on all rows, without failures; scores on fewer rows do not compare with these."""
    return [
        (score, trial)
        for trial in trials
        if trial.share == ALL_ROWS and (score := trial.score(measure)) is not None
    ]
