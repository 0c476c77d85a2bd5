"""Reference trials (anchors): configurations tried regardless of their predictions.

The trials of a search are chosen because they look good, so they hardly show how good others are on the
dataset, and the next recommendation learns less from them than from random ones. Two configurations common to
all datasets, and a random one, help (study `biased_trials`, commit 0dda0a8).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from recommend.bo.candidates import Candidate, SpaceCandidates
from recommend.ranking.candidates import Candidates
from recommend.ranking.knowledge import Knowledge
from recommend.ranking.target_kinds import REFERENCES
from warehouse.vocabulary.configuration import Configuration

_STREAM = 2**31
"""A stream of random numbers separate from those of trials."""


def anchors(best: Configuration | None, candidates: SpaceCandidates, seed: int) -> Iterator[Candidate]:
    """A default, `best`, and a random configuration.

    Args:
        best: the configuration that is best on average; None = do not learn from other datasets.
    """
    flows = candidates.space.flows
    default = next((flows[name] for name in REFERENCES if name in flows), next(iter(flows.values())))
    yield candidates.of(Configuration(default.name, default.default()))
    if best is not None:
        yield candidates.of(best)
    drawn = candidates.any((), np.random.default_rng([seed, _STREAM]))
    if drawn is not None:
        yield drawn


def best_on_average(known: Knowledge, candidates: Candidates) -> Configuration:
    """The candidate with the highest mean score, among those run on at least half of the largest number of
    datasets."""
    scores = pd.Series(known.scores).groupby(known.runs.runs["setup"].to_numpy()).agg(["mean", "size"])
    of_candidates = scores.loc[list(candidates.table.setups)]
    usual = of_candidates[2 * of_candidates["size"] >= of_candidates["size"].max()]
    best = usual["mean"].idxmax()
    return candidates.configurations[candidates.table.setups.tolist().index(best)]
