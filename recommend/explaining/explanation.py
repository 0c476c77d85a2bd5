"""Explanation of predictions as sums over datasets, meta-features and hyperparameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import Flow
from metalearners.encoding.scores import oriented
from metalearners.learners.contributions import ContributionParts
from recommend.explaining.metafeature_names import shown, title, without_target
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.similar_datasets import Evidence
from recommend.ranking.knowledge import Knowledge
from recommend.ranking.performance_forecast import default_of
from warehouse.support.text import counted
from warehouse.vocabulary.table import ConfigurationTable

NAMED_DATASETS = 5
NAMED_TRAITS = 3
ALIKE = 0.05
"""Two datasets are alike in a meta-feature if its distance is at most this share of the usual distance."""
ROUNDING = 1e-9
FAR = 0.5
"""Sum of all datasets' weights below which a prediction is mostly that for any dataset."""


@dataclass(frozen=True)
class Trait:
    """A meta-feature of the dataset and of a known one."""

    name: str
    title: str
    here: float
    there: float
    share: float
    """Share of the distance between the two datasets."""


@dataclass(frozen=True)
class KnownDataset:
    """A known dataset with a large weight, and its best run."""

    dataset: str
    key: str
    openml: int | None
    weight: float
    runs: int
    flow: str
    """Algorithm of its best run."""
    hyperparameters: Mapping[str, Any]
    value: float
    """Value of the measure."""
    alike: Sequence[Trait]
    """Meta-features that are nearly equal on both, the most telling first."""
    unlike: Sequence[Trait]
    """Meta-features that differ more than usual, the most telling first."""


@dataclass(frozen=True)
class Reasons:
    """A prediction as sums, in standard scores."""

    rank: int
    predicted: float
    trials: float
    """Contribution of runs on the dataset itself to each sum."""
    datasets: ContributionParts
    """Parts by key of the dataset; the base is the prediction for any dataset."""
    traits: ContributionParts
    """Parts by group of meta-features; the base is the prediction for a typical dataset."""
    hyperparameters: ContributionParts | None
    """Parts by hyperparameter; the base is the prediction for the algorithm's default; None = unknown."""


@dataclass(frozen=True)
class Explanation:
    """Explanation of a recommendation in numbers."""

    runs: int
    datasets: int
    trials: int
    known: Sequence[KnownDataset]
    """The most similar datasets, the largest weight first; empty if the learner has no weights."""
    configurations: Sequence[Reasons]
    names: Mapping[str, str]
    """Key -> name of the model's training datasets."""
    total_weight: float
    """Sum of the weights of all datasets; about 1 is usual."""
    fallbacks: Sequence[str]
    """Unavailable inputs and their substitutes: a sentence each, without its full stop."""

    def __repr__(self) -> str:
        nearest = ", ".join(f"{one.dataset[:40]} ({one.weight:.2f})" for one in self.known[:3]) or "unknown"
        return (
            f"Explanation by {counted(self.runs, 'runs')} on {counted(self.datasets, 'datasets')}; largest "
            f"weights: {nearest}\nNext: .known, .configurations, .document()"
        )

    def document(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "evidence": {"runs": self.runs, "datasets": self.datasets, "trials": self.trials},
            "total_weight": self.total_weight,
            "datasets": [asdict(known) for known in self.known],
            "configurations": [asdict(reasons) for reasons in self.configurations],
            "fallbacks": list(self.fallbacks),
        }


def explain(
    known: Knowledge,
    ranked: Sequence[RankedConfiguration],
    chosen: ConfigurationTable,
    evidence: Evidence | None,
) -> Explanation:
    """Explain the ranked configurations.

    Args:
        chosen: the same configurations in the warehouse's form.
        evidence: the datasets behind the predictions; None if the model does not weight datasets.
    """
    model, trials = known.model, 0 if known.trials is None else len(known.trials)
    if evidence is None:
        fallbacks = [f"the learner {model.origin.learner} does not weight datasets"]
        return Explanation(model.runs, model.datasets, trials, [], [], {}, 0.0, fallbacks)
    descriptions = evidence.contributions.model.descriptions
    here = without_target(descriptions.features(known.metafeatures.to_frame().T)).iloc[0]
    there = without_target(descriptions.features(known.qualities.reindex(list(evidence.keys))))
    return Explanation(
        model.runs,
        model.datasets,
        trials,
        _known_datasets(evidence, here, there),
        _reasons(ranked, chosen, evidence, has_trials=trials > 0),
        {key: evidence.name(key) for key in evidence.keys},
        float(evidence.weights.sum()),
        _fallbacks(ranked, evidence, here, there),
    )


def _known_datasets(evidence: Evidence, here: pd.Series, there: pd.DataFrame) -> list[KnownDataset]:
    """The datasets with the largest weights.

    Args:
        here: feature -> value, of the dataset.
        there: (d, features) of the model's training datasets.
    """
    distances = evidence.contributions.trait_distances()
    usual = 2 * evidence.contributions.trait_weights  # between two datasets taken at random: u has variance 1
    runs = evidence.runs
    found = []
    heaviest = evidence.weights.iloc[:NAMED_DATASETS]
    for key, weight in zip(map(str, heaviest.index), heaviest.tolist(), strict=True):
        place = evidence.keys.index(key)
        own = runs.runs[(runs.runs["dataset"] == key).to_numpy()]
        best = own.iloc[int(oriented(own["value"].to_numpy(np.float64), runs.measure).argmax())]
        configuration = runs.configurations.of_setups([best["setup"]]).configurations()[0]
        pairs = pd.DataFrame(
            {"here": here, "there": there.iloc[place], "distance": distances[place], "usual": usual}
        ).dropna()
        pairs["share"] = pairs["distance"] / max(float(pairs["distance"].sum()), 1e-300)
        found.append(
            KnownDataset(
                evidence.name(key),
                key,
                int(key[7:]) if key.startswith("openml:") and key[7:].isdecimal() else None,
                weight,
                len(own),
                configuration.algorithm,
                dict(configuration.values),
                float(best["value"]),
                _traits(pairs[pairs["distance"] <= ALIKE * pairs["usual"]], "usual"),
                _traits(pairs[pairs["distance"] > pairs["usual"]], "distance"),
            )
        )
    return found


def _traits(pairs: pd.DataFrame, by: str) -> list[Trait]:
    """The meta-features with the largest values of column `by`, from `here`, `there` and `share`."""
    pairs = pairs.sort_values(by, ascending=False, kind="stable")
    return [
        Trait(name, title(name), float(here), float(there), float(share))
        for name, here, there, share in zip(
            map(str, pairs.index), pairs["here"], pairs["there"], pairs["share"], strict=True
        )
    ][:NAMED_TRAITS]


def _reasons(
    items: Sequence[RankedConfiguration], chosen: ConfigurationTable, evidence: Evidence, *, has_trials: bool
) -> list[Reasons]:
    contributions = evidence.contributions
    bases, added = contributions.of_datasets(chosen)
    of_traits = contributions.of_groups(chosen)
    found = []
    for place, item in enumerate(items):
        datasets = ContributionParts(
            float(bases[place]), dict(zip(evidence.keys, added[place].tolist(), strict=True))
        )
        of_values = None
        if isinstance(item.flow, Flow):
            default = default_of(evidence.runs.configurations, item.flow.name)
            if default is not None:
                of_values = contributions.of_hyperparameters(chosen.take([place]), default)
        trials = item.predicted - datasets.total if has_trials else 0.0
        found.append(Reasons(item.rank, item.predicted, trials, datasets, of_traits[place], of_values))
    return found


def _fallbacks(
    ranked: Sequence[RankedConfiguration], evidence: Evidence, here: pd.Series, there: pd.DataFrame
) -> list[str]:
    found = []
    missing = [title(str(name)) for name in here.index[here.isna()]]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        found.append(f"unknown here, so usual values are used: {'; '.join(missing[:3])}{more}")
    near = float(evidence.weights.sum())
    if near < FAR:
        found.append(
            f"no known dataset is similar to this one (weights sum to {near:.2f}, 1 is usual): the "
            f"recommendation mostly reflects the average over all datasets"
        )
    if all(item.expectation is None for item in ranked):
        found.append("too few datasets are known to predict values in the measure's unit")
    for name, value in here.items():
        least, most = float(there[name].min()), float(there[name].max())
        if value < least - ROUNDING or value > most + ROUNDING:
            found.append(
                f"{title(str(name))}: {shown(str(name), float(value))}, outside of the known range "
                f"({shown(str(name), least)} to {shown(str(name), most)})"
            )
    return found
