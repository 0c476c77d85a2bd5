"""Simulated results of evaluations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.regression import number_measures
from ingest.running.resampling import tested_rows
from ingest.running.scorer import scorer_of
from recommend.bo.tuning import running
from warehouse.vocabulary.configuration import Configuration

LONG = 600.0
"""More seconds than any simulated evaluation needs."""
Said = Callable[[Configuration], float | str]


@dataclass
class Evaluations:
    """The evaluated configurations and splits."""

    configurations: list[Configuration] = field(default_factory=list)
    splits: list[Sequence[Split]] = field(default_factory=list)


def say(monkeypatch: pytest.MonkeyPatch, outcome: Said) -> Evaluations:
    """Replace evaluations by the results of `outcome`, or crashes.

    A result is an accuracy; for a numeric target, the predicted share of each row's distance to the mean.
    """
    done = Evaluations()

    def evaluate(
        configuration: Configuration,
        dataset: Dataset,
        repetitions: Sequence[Sequence[Split]],
        *_: object,
        **__: object,
    ) -> Evaluation:
        said = outcome(configuration)
        done.configurations.append(configuration)
        done.splits.append(repetitions[0])
        if isinstance(said, str):
            return Evaluation(Outcome.crash, 0.1, message=said)
        codes = scorer_of(dataset).outcomes(dataset.target)[tested_rows(repetitions[0])]
        if not dataset.n_classes:
            numbers = codes.mean() + said * (codes - codes.mean())
            measures = number_measures(codes, numbers, np.full(len(codes), codes.mean()))
            known = {name: value for name, value in measures.items() if np.isfinite(value)}
            return Evaluation(Outcome.success, 0.1, known | {"fit_seconds": 0.01}, numbers[:, None])
        random = np.random.default_rng(0)
        is_second = (random.random(len(codes)) < said) == (codes == 1)
        doubt = random.uniform(0, 0.5, len(codes))
        second = np.where(is_second, 1 - doubt, doubt)
        predictions = np.column_stack([1 - second, second])
        return Evaluation(
            Outcome.success, 0.1, {"predictive_accuracy": said, "fit_seconds": 0.01}, predictions
        )

    monkeypatch.setattr(running, "evaluate", evaluate)
    return done


def trees_lose(one: Configuration) -> float:
    """A dataset where trees lose, unlike on all known large datasets."""
    return 0.6 if one.algorithm == "decision_tree" else 0.9
