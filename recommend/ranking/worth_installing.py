"""The gain that a missing package would bring to a recommendation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingest.flows import Flow, get_flow
from metalearners.encoding.scores import oriented
from recommend.ranking.candidates import Candidates
from recommend.ranking.choice import Chosen, Forecast, expected_values
from recommend.ranking.fit_cost import fit_seconds, worthwhile
from recommend.ranking.knowledge import Knowledge
from warehouse.vocabulary.configuration import Configuration

LEAST = 0.0005
"""Least improvement worth mentioning, as a share of the asked measure where the learned one is 1."""


@dataclass(frozen=True)
class WorthInstalling:
    """A configuration that would come first if the package of its flow were installed."""

    flow: Flow
    configuration: Configuration
    expected: float
    """Its expected value of the measure."""
    improvement: float
    """Its difference from the expected value of the first recommended configuration; positive is better, also
    for measures to minimize."""

    def in_words(self, number: Callable[[float], str]) -> str:
        """A sentence about how to install the package, and the gain.

        Args:
            number: a value of the measure as text.
        """
        sign = "-" if self.improvement < 0 else "+"
        return (
            f"With {self.flow.title} installed ({self.flow.installation}) the first would be"
            f" {self.flow.title}: expected {number(self.expected)}, {sign}{number(abs(self.improvement))}."
        )

    def document(self) -> dict[str, Any]:
        """JSON values, as `seeds.schema.json` describes them."""
        return {
            "package": self.flow.requires,
            "install": self.flow.installation,
            "flow": self.flow.id,
            "algorithm": self.flow.name,
            "hyperparameters": dict(self.configuration.values),
            "expected": self.expected,
            "improvement": self.improvement,
        }


def worth_installing(
    known: Knowledge, candidates: Candidates, expected: Forecast, chosen: Chosen, budget: float | None
) -> WorthInstalling | None:
    """The best of the configurations whose package is missing, if it is expected to be better than `chosen`.

    None if it is not, nothing is missing, or only standard scores are known.

    Args:
        expected: forecast of the candidates that can be fitted here.
        chosen: the recommended ones among these.
        budget: seconds, as for `recommend.ranking.choice.choose`.
    """
    if not candidates.to_install or chosen.expectations is None:
        return None
    table = known.runs.configurations.of_setups(candidates.to_install)
    mean = known.predictor.predict(table, known.metafeatures).mean
    seconds = fit_seconds(known.fit_times, table).seconds
    if budget is None:
        n = len(candidates)
        both = worthwhile(
            np.concatenate([expected.fits.seconds, seconds]), np.concatenate([expected.scores.mean, mean])
        )
        allowed = both[both >= n] - n
    else:
        allowed = np.flatnonzero(seconds <= budget)
    if not len(allowed) or mean[allowed].max() <= expected.scores.mean[chosen.positions].max():
        return None
    best = int(allowed[mean[allowed].argmax()])
    promised = expected_values(known, table.take([best]))
    if promised is None:
        return None
    task = known.task
    value, first = task.shown(promised[0].value), task.shown(chosen.expectations[0].value)
    improvement = oriented(value, task.asked) - oriented(first, task.asked)
    if not improvement >= LEAST * task.shown(1.0):
        return None
    configuration = [*candidates.to_install.values()][best]
    flow = get_flow(configuration.algorithm)
    return WorthInstalling(flow, configuration, value, improvement)
