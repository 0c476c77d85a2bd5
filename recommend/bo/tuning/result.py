"""Results of a search: its trials, what its model consists of, and the fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import common_failure
from ingest.running.resampling import Resampling
from recommend.bo.tuning.fitting import Model
from recommend.bo.tuning.settings import Search
from recommend.bo.tuning.trials import Trial, ranked, scored
from recommend.explaining.target_words import target_words
from warehouse.questions.run_origins import RunOrigins
from warehouse.support.console import duration
from warehouse.support.errors import TooFewRuns
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import measure_title

SHOWN = 5
"""Best trials that reports begin with."""
_SHOWN, _LONGEST = 3, 60  # members, and characters of a name, in a `repr`


@dataclass(frozen=True)
class SearchResult:
    """Result of a search."""

    dataset: Dataset
    search: Search
    resampling: Resampling
    """Resampling of the trials."""
    trials: list[Trial]
    """All trials that ended, in the order of their numbers."""
    weights: Mapping[Configuration, float]
    """Configuration -> its weight in the model, with sum 1, the largest first; empty without a model."""
    value: float | None
    """Value of the measure that the model is expected to have on new rows: estimated on rows that its
    selection has not seen; None where it is unknown, as where a member of the selection has no fit."""
    model: Model | None
    """The configurations of `weights`, fitted; None where none was fitted or wanted."""
    seconds: float
    """Wall-clock time of the search."""
    folder: Path | None
    """Folder of the history; None = it was kept in memory."""
    interrupted: bool
    remarks: Sequence[str] = ()
    """What the time did not suffice for, and what failed, in sentences."""
    origins: RunOrigins | None = None
    """The runs on other datasets that it learned from; None = none, or it is not asked."""
    unfinished: Mapping[int, str] = field(default_factory=dict)
    """Number of a trial without an outcome -> why it has none, in words."""

    def _repr_html_(self) -> str:
        """The model and the best trials as a notebook shows them."""
        from recommend.bo.tuning.page import leaderboard_fragment

        return leaderboard_fragment(self)

    def __repr__(self) -> str:
        """The model with its expected value, and what to look at next."""
        value = "unknown" if self.value is None else target_words(self.dataset).measured(self.value)
        trials = f"{counted(len(self.trials), 'trials')} in {duration(self.seconds)}"
        members = [f"  {weight:.2f} {get_flow(one.algorithm).title}" for one, weight in self.weights.items()]
        more = len(members) - _SHOWN
        return "\n".join(
            [
                f"SearchResult for {self.dataset.name[:_LONGEST]}: {trials}; "
                f"{measure_title(self.measure)} to expect on new rows: {value}",
                *members[:_SHOWN],
                *([f"  ... and {counted(more, 'members')} more"] if more > 0 else []),
                "Next: .leaderboard, .weights, .model, .remarks, .code()",
            ]
        )

    @property
    def measure(self) -> str:
        """Canonical name of the measure."""
        return self.search.measure

    @property
    def procedure(self) -> str:
        """The estimation procedure of the trials, in words."""
        folds, split = self.resampling.folds, self.dataset.split
        name = f"{folds}-fold cross-validation" if folds > 1 else "one split"
        return name if split is None else f"{name} by {split}"

    @property
    def leaderboard(self) -> list[Trial]:
        """The trials on all rows that succeeded, the best first."""
        return ranked(self.trials, self.measure)

    @property
    def leaders(self) -> list[Trial]:
        """The trials that reports begin with: the best ones, and the others of the model."""
        best = self.leaderboard
        return [*best[:SHOWN], *(trial for trial in best[SHOWN:] if trial.configuration in self.weights)]

    @property
    def best(self) -> Trial | None:
        """The best trial; None if none succeeded."""
        return next(iter(self.leaderboard), None)

    def code(self) -> str:
        """Python source that cross-validates, fits, saves and predicts with the model (`recommend.code`).

        Raises:
            BadInput: there is no model, or pandas alone can't read the dataset as it was read here.
        """
        from recommend.code import Origin, script

        if not self.weights:
            raise TooFewRuns("no configuration was fitted or tried, so there is no script to write")
        what = "It"
        if len(self.weights) > 1:
            shares = ", ".join(f"{weight:.2f}" for weight in self.weights.values())
            what = f"The average of {len(self.weights)} configurations (weights {shares})"
        value = None if self.value is None else target_words(self.dataset).measured(self.value)
        expected = "" if value is None else f"; expected {self.measure}: {value}"
        origin = Origin(
            choice=f"Found by Headstart's `tune` in {counted(len(self.trials), 'trials')}.",
            expected=f"{what} was chosen by trials on the data{expected}.",
            measure=self.measure,
        )
        return script(self.weights, self.dataset, origin, seed=self.search.seed)

    @property
    def failure(self) -> str | None:
        """Why all trials failed, the most frequent reason; None where one succeeded, or none has ended."""
        return common_failure(trial.evaluation for trial in self.trials if trial.evaluation is not None)


def incumbents(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """The trials, in order, that were better than all before them."""
    found: list[Trial] = []
    best = -np.inf
    for score, trial in scored(trials, measure):
        if score > best:
            found.append(trial)
            best = score
    return found
