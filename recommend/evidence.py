"""Evidence of a recommendation: the datasets that count, what was good there, and what is not known.

Notation
    d         datasets that the model has learned from
    weights   (d,) how much each counts for the new one (`Contributions.weights`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented
from metalearners.learners.base import Model
from warehouse.configurations.table import ConfigurationTable
from warehouse.queries import RunTable
from warehouse.support.arrays import Flags

if TYPE_CHECKING:
    from metalearners.learners.contributions import Contributions

SUPPORTERS = 2
"""How many datasets that speak for a configuration a recommendation names."""
GOOD = 0.25
"""Best share of the runs on a dataset that a configuration has to be among for the dataset to be named: where
it came in the middle is no reason that convinces, even if it does better there than elsewhere."""
_LOOKED_AT = 10  # datasets that speak for a configuration most, among which those are looked for
NAMED = 3
"""How many of the datasets that count most a recommendation names."""


@dataclass(frozen=True)
class Place:
    """Where a configuration came on a dataset, among all that ran there."""

    dataset: str
    """Key."""
    place: int
    """1 = nothing was better."""
    of: int
    value: float
    """Value of the measure."""


@dataclass(frozen=True)
class Evidence:
    """What the default learner goes by: a weight for each dataset that it has learned from."""

    contributions: Contributions
    keys: Sequence[str]
    """(d,) the datasets, in the order of the model."""
    runs: RunTable
    """What the model has learned from."""

    @cached_property
    def weights(self) -> pd.Series:
        """Key -> weight, the heaviest first."""
        return pd.Series(self.contributions.weights, index=list(self.keys)).sort_values(
            ascending=False, kind="stable"
        )

    @cached_property
    def distances(self) -> pd.Series:
        """Key -> what all meta-features together take from the logarithm of the kernel."""
        return pd.Series(self.contributions.trait_distances().sum(axis=1), index=list(self.keys))

    def supporters(self, configurations: ConfigurationTable, complements: Flags) -> list[list[Place]]:
        """Places where each configuration was good, of the datasets that speak for it most.

        Args:
            configurations: n of them.
            complements: (n,) which of them complement the first: of these only datasets count that speak
                for it rather than for the first, and where it was better than that.
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
        """Setup -> dataset -> value of the measure that it had there."""
        table = self.runs.runs
        found = {}
        for setup in setups:
            own = table[(table["setup"] == setup).to_numpy()].drop_duplicates("dataset")
            found[setup] = own.set_index("dataset")["value"].astype(float)
        return found

    def _place(self, dataset: str, value: float) -> Place:
        there = self.runs.runs["value"].to_numpy()[(self.runs.runs["dataset"] == dataset).to_numpy()]
        better = oriented(there, self.runs.measure) > oriented(np.array([value]), self.runs.measure)
        return Place(dataset, 1 + int(better.sum()), len(there), float(value))


def evidence_for(model: Model, runs: RunTable, metafeatures: pd.Series) -> Evidence | None:
    """What `model`, which has learned from `runs`, goes by; None where it is no `FunctionalPCA`."""
    from metalearners.learners.contributions import Contributions
    from metalearners.learners.functional_pca import FunctionalPCA

    if not isinstance(model, FunctionalPCA):
        return None
    keys = pd.unique(runs.runs["dataset"])
    if len(keys) > len(model.coefficients):  # it learns nothing where all runs are equal
        values = runs.runs.groupby("dataset", sort=False)["value"]
        keys = (values.max() > values.min()).loc[lambda varies: varies].index.to_numpy()
    if len(keys) != len(model.coefficients) or not len(keys):
        return None
    return Evidence(Contributions(model, metafeatures), [str(key) for key in keys], runs)


SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")


@dataclass(frozen=True)
class Outside:
    """A size of a dataset that no dataset which was learned from has, nor any beyond it."""

    quality: str
    """Name of the size, one of `SIZES`; the target counts as a feature."""
    value: float
    least: float
    """Smallest among the datasets that were learned from."""
    most: float


def outside_of_known(known: pd.DataFrame, metafeatures: pd.Series) -> list[Outside]:
    """The sizes of a dataset that lie outside of the range of those that were learned from.

    Args:
        known: (datasets, qualities)
        metafeatures: quality -> value of the new dataset.
    """
    found = []
    for name in SIZES:
        if name in known and name in metafeatures:
            value, least, most = (
                float(of) for of in (metafeatures[name], known[name].min(), known[name].max())
            )
            if value < least or value > most:
                found.append(Outside(name, value, least, most))
    return found


def scores_on(runs: pd.DataFrame, scores: np.ndarray, datasets: pd.Index) -> pd.Series:
    """Setup -> mean standard score of its runs on `datasets`, for the setups that ran there.

    Args:
        runs: (m,) rows of a run table.
        scores: (m,) standard score of each.
    """
    there = runs["dataset"].isin(datasets).to_numpy()
    return pd.Series(scores[there]).groupby(runs.loc[there, "setup"].to_numpy()).mean()
