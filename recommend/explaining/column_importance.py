"""Importance of columns: how much worse held-out rows are predicted when a column's values are shuffled.

Source: Breiman (2001), Random forests, section 10, as in `sklearn.inspection.permutation_importance`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ingest.flows import get_flow
from ingest.reading.column_types.roles import NOT_LEARNED_FROM
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import TIMES
from ingest.running.limits import MEBIBYTE, Outcome, run_limited
from ingest.running.resampling import HELD_OUT_THIRD, Resampling
from ingest.running.scorer import scorer_of
from ingest.running.splitting import splits_of
from metalearners.encoding.scores import oriented
from warehouse.support.errors import UnusableDataset
from warehouse.support.interrupts import noted_interrupts
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

SHARE, MOST_SECONDS = 0.1, 5.0
"""Share of a search's time reserved for the importance of columns, and the most seconds."""
LEAST = 0.3
"""Seconds below which the computation is not begun."""
FEWEST, FITTED, TESTED = 200, 4000, 1000
"""Least and most rows to fit on, and most held-out rows."""
FITTING, SHUFFLING = 0.4, 0.7
"""Largest expected share of the time for the fit, and share of the rest for the shuffles."""
REPEATS = 5
"""Most shuffles of each column."""


@dataclass(frozen=True)
class ColumnImportance:
    """Permutation importance of a dataset's columns to one configuration."""

    configuration: Configuration
    measure: str
    fitted_rows: int = 0
    tested_rows: int = 0
    repeats: int = 0
    """Shuffles of each column, over which losses are averaged."""
    losses: Sequence[tuple[str, float]] = ()
    """Column and loss of the measure without its values, the largest loss first; empty where unknown."""
    failure: str = ""
    """Why the losses are unknown, without a full stop; empty where they are known."""

    @property
    def worse(self) -> Sequence[tuple[str, float]]:
        """The columns without which the measure worsens."""
        return [(name, loss) for name, loss in self.losses if loss > 0]


def seconds_kept(seconds: float) -> float:
    """Seconds of a search's time reserved for the importance of columns."""
    return min(SHARE * seconds, MOST_SECONDS)


def column_importance(
    configuration: Configuration,
    dataset: Dataset,
    measure: str,
    seconds: float,
    *,
    seed: int,
    memory: int,
    pace: float | None = None,
) -> ColumnImportance:
    """Fit a configuration on some rows, and shuffle the values of each column in others.

    The computation runs in its own process, which is killed after `seconds`. Each column is shuffled as
    often as the time allows.

    Args:
        measure: the measure whose loss is computed.
        memory: memory limit in MiB.
        pace: seconds of a fit per row, by which the number of rows is limited; None = unknown.
    """
    unknown = ColumnImportance(configuration, measure)
    if measure in TIMES:
        return replace(unknown, failure="the measure is a time, which says nothing about predictions")
    if seconds < LEAST:
        return replace(unknown, failure="no time was left to compute it")
    affordable = FITTING * seconds / pace if pace else math.inf
    resampling = Resampling(
        1,
        train_rows=int(np.clip(affordable, FEWEST, FITTED)),
        test_rows=min(TESTED, len(dataset.features) // HELD_OUT_THIRD),
        by=dataset.split and dataset.split.kind,
    )
    try:
        ((train, test),) = splits_of(dataset, resampling, seed)
    except UnusableDataset as error:
        return replace(unknown, failure=str(error))
    with noted_interrupts() as interrupts:  # the results of the search are not written yet
        call = run_limited(
            _losses,
            configuration,
            dataset.take(np.concatenate([train, test])),
            len(train),
            measure,
            seed,
            seconds,
            seconds=seconds,
            memory=memory * MEBIBYTE,
        )
    if call.outcome is not Outcome.success or interrupts.noted:
        late = f"it takes longer than the {seconds:.1f} s that were kept for it"
        reason = late if call.outcome is Outcome.timeout else call.message or str(call.outcome)
        return replace(unknown, failure="interrupted" if interrupts.noted else reason)
    repeats, losses = call.result
    if not all(np.isfinite(loss) for loss in losses.values()):
        return replace(unknown, failure="the measure is undefined on the held-out rows")
    order = sorted(losses.items(), key=lambda pair: -pair[1])
    return replace(unknown, fitted_rows=len(train), tested_rows=len(test), repeats=repeats, losses=order)


def _losses(
    configuration: Configuration, part: Dataset, fitted: int, measure: str, seed: int, seconds: float
) -> tuple[int, dict[str, float]]:
    """Number of shuffles, and column -> mean loss of the measure.

    Args:
        part: the rows to fit on, then the held-out ones.
        fitted: number of rows to fit on.
        seconds: time for all of it.
    """
    from sklearn.inspection import permutation_importance

    begun = time.perf_counter()
    scorer, train = scorer_of(part), np.arange(fitted)
    outcomes = scorer.outcomes(part.target)
    held_out = part.features.iloc[fitted:]

    def score(pipeline: Pipeline, rows: pd.DataFrame, actual: np.ndarray) -> float:
        predictions = scorer.predict(pipeline, rows, outcomes, train)
        return float(oriented(scorer.measures([predictions], [actual])[measure], measure))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = get_flow(configuration.algorithm).pipeline(configuration.values, part.roles, seed=seed)
        pipeline.fit(part.features.iloc[train], outcomes[train])
        fitted_at = time.perf_counter()
        score(pipeline, held_out, outcomes[fitted:])
        scored_at = time.perf_counter()
        left = SHUFFLING * (seconds - (scored_at - begun))
        affordable = left / (scored_at - fitted_at) / len(held_out.columns)
        repeats = int(np.clip(affordable, 1, REPEATS))
        found = permutation_importance(
            pipeline, held_out, outcomes[fitted:], scoring=score, n_repeats=repeats, random_state=seed
        )
    losses = zip(map(str, held_out.columns), found.importances_mean.tolist(), strict=True)
    return repeats, {name: loss for name, loss in losses if part.roles[name] not in NOT_LEARNED_FROM}
