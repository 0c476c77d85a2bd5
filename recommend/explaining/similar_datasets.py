"""The most similar known datasets, and the configurations that were good there.

Notation
    d         training datasets of the model
    weights   (d,) weight of each for the new dataset (`Contributions.weights`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented
from metalearners.learners.contributions import Contributions
from metalearners.learners.functional_pca import FunctionalPCA
from recommend.ranking.knowledge import Knowledge
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Flags
from warehouse.vocabulary.table import ConfigurationTable

SUPPORTERS = 2
"""Number of datasets named as supporting a configuration."""
GOOD = 0.25
"""A dataset supports a configuration only if it is in this best share of the runs there; a middle rank is not
convincing, even if it is better than on other datasets."""
_LOOKED_AT = 10  # datasets contributing most to a configuration, among which supporters are sought
NAMED = 3
"""Number of most similar datasets named by a recommendation."""


@dataclass(frozen=True)
class PastRank:
    """Rank of a configuration among the runs on a known dataset."""

    dataset: str
    """Name."""
    place: int
    """1 = nothing was better."""
    of: int
    value: float
    """Value of the measure."""


@dataclass(frozen=True)
class Evidence:
    """A weight for each training dataset of the model, and the runs there."""

    contributions: Contributions
    keys: Sequence[str]
    """(d,) the datasets, in the order of the model."""
    runs: RunTable
    """The model's training runs."""
    names: Mapping[str, str]
    """Key -> name of datasets."""

    def name(self, key: str) -> str:
        """The name of a dataset; its key if it has none."""
        return self.names.get(key, key)

    @cached_property
    def weights(self) -> pd.Series:
        """Key -> weight, the heaviest first."""
        return pd.Series(self.contributions.weights, index=list(self.keys)).sort_values(
            ascending=False, kind="stable"
        )

    @cached_property
    def distances(self) -> pd.Series:
        """Key -> distance to the new dataset, of which the kernel is a function."""
        return pd.Series(self.contributions.trait_distances().sum(axis=1), index=list(self.keys))

    def nearest(self, n: int) -> list[tuple[str, float]]:
        """Name and distance of the `n` datasets with the largest weights."""
        return [(self.name(key), float(self.distances[key])) for key in self.weights.index[:n]]

    def supporters(self, configurations: ConfigurationTable, complements: Flags) -> list[list[PastRank]]:
        """Ranks of each configuration on the datasets that support it most.

        Args:
            configurations: n of them.
            complements: (n,) True for those that complement the first: a dataset supports these only if it
                contributes more to them than to the first, and they were better than the first there.
        """
        added = self.contributions.of_datasets(configurations)[1]
        setups = [str(setup) for setup in configurations.setups]
        values_of = self._values(setups)
        first = values_of[setups[0]]
        found = []
        for setup, own, is_complement in zip(setups, added, complements, strict=True):
            values = values_of[setup]
            if is_complement:
                own = own - added[0]
                ahead = values.reindex(first.index) - first
                values = values[ahead.index[oriented(ahead.to_numpy(), self.runs.measure) > 0]]
            order = np.argsort(-own, kind="stable")
            keys = [self.keys[place] for place in order if own[place] > 0]
            ran = [key for key in keys if key in values.index][:_LOOKED_AT]
            places = (self._place(key, values[key]) for key in ran)
            good = (place for place in places if place.place <= max(GOOD * place.of, 1))
            found.append([*islice(good, SUPPORTERS)])
        return found

    def _values(self, setups: Sequence[str]) -> dict[str, pd.Series]:
        """Setup -> dataset -> its value of the measure there."""
        table = self.runs.runs
        found = {}
        for setup in setups:
            own = table[(table["setup"] == setup).to_numpy()].drop_duplicates("dataset")
            found[setup] = own.set_index("dataset")["value"].astype(float)
        return found

    def _place(self, dataset: str, value: float) -> PastRank:
        there = self.runs.runs["value"].to_numpy()[(self.runs.runs["dataset"] == dataset).to_numpy()]
        better = oriented(there, self.runs.measure) > oriented(np.array([value]), self.runs.measure)
        return PastRank(self.name(dataset), 1 + int(better.sum()), len(there), float(value))


def evidence_for(known: Knowledge) -> Evidence | None:
    """The similar datasets of the model; None if it has no weights of datasets."""
    model = known.model.fitted
    if not isinstance(model, FunctionalPCA) or not model.datasets:
        return None
    return Evidence(Contributions(model, known.metafeatures), model.datasets, known.other_runs, known.names)


def scores_on(runs: pd.DataFrame, scores: np.ndarray, datasets: pd.Index) -> pd.Series:
    """Setup -> mean standard score of its runs on `datasets`; setups that did not run there are left out.

    Args:
        runs: (m,) rows of a run table.
        scores: (m,) standard score of each.
    """
    there = runs["dataset"].isin(datasets).to_numpy()
    return pd.Series(scores[there]).groupby(runs.loc[there, "setup"].to_numpy()).mean()
