"""Results of a search: its trials, the members of its model, and the fitted model."""

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
"""Number of best trials at the head of reports."""
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
    """Expected value of the measure on new rows, estimated on rows not used by the selection; None if
    unknown, for example if a selected member is not fitted."""
    model: Model | None
    """The fitted configurations of `weights`; None if none was fitted or requested."""
    seconds: float
    """Wall-clock time of the search."""
    folder: Path | None
    """Folder of the history; None = in memory."""
    interrupted: bool
    remarks: Sequence[str] = ()
    """Sentences about anything skipped for lack of time, and about failures."""
    origins: RunOrigins | None = None
    """The training runs on other datasets; None = none, or not determined."""
    unfinished: Mapping[int, str] = field(default_factory=dict)
    """Number of a trial without an outcome -> the reason, in words."""

    def _repr_html_(self) -> str:
        """The model and the best trials as HTML for notebooks."""
        from recommend.bo.tuning.page import leaderboard_fragment

        return leaderboard_fragment(self)

    def __repr__(self) -> str:
        """The model with its expected value, and attributes to look at next."""
        value = "unknown" if self.value is None else target_words(self.dataset).measured(self.value)
        trials = f"{counted(len(self.trials), 'trials')} in {duration(self.seconds)}"
        members = [f"  {weight:.2f} {get_flow(one.algorithm).title}" for one, weight in self.weights.items()]
        more = len(members) - _SHOWN
        return "\n".join(
            [
                f"SearchResult for {self.dataset.name[:_LONGEST]}: {trials}; "
                f"expected {measure_title(self.measure)} on new rows: {value}",
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
        """The successful trials on all rows, the best first."""
        return ranked(self.trials, self.measure)

    @property
    def leaders(self) -> list[Trial]:
        """The trials at the head of reports: the best ones, and other members of the model."""
        best = self.leaderboard
        return [*best[:SHOWN], *(trial for trial in best[SHOWN:] if trial.configuration in self.weights)]

    @property
    def best(self) -> Trial | None:
        """The best trial; None if none succeeded."""
        return next(iter(self.leaderboard), None)

    def code(self) -> str:
        """Python source that cross-validates, fits, saves and predicts with the model (`recommend.code`).

        Raises:
            BadInput: there is no model, or pandas alone can't reproduce the dataset.
        """
        from recommend.code import Origin, script

        if not self.weights:
            raise TooFewRuns("no configuration was fitted or tried, so there is no script to write")
        what = "It"
        if len(self.weights) > 1:
            shares = ", ".join(f"{weight:.2f}" for weight in self.weights.values())
            what = f"The average of {len(self.weights)} configurations (weights {shares})"
        value = None if self.value is None else target_words(self.dataset).measured(self.value)
        expected = "" if value is None else f"; expected {measure_title(self.measure)}: {value}"
        tried = any(trial.configuration in self.weights for trial in self.trials)
        how = "was chosen by trials on the data" if tried else "was chosen without trials on the data"
        origin = Origin(
            choice=f"Found by Headstart's `tune` in {counted(len(self.trials), 'trials')}.",
            expected=f"{what} {how}{expected}.",
            measure=self.measure,
        )
        return script(self.weights, self.dataset, origin, seed=self.search.seed)

    @property
    def failure(self) -> str | None:
        """The most frequent reason if all trials failed; None if one succeeded or none has ended."""
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
