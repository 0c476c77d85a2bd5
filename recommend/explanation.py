"""Why these configurations: what the model went by, in numbers that add up and in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ingest.flows import Flow, find_flow
from ingest.keys import setup_of
from metalearners.encoding.scores import oriented
from metalearners.learners.contributions import Parts
from recommend.evidence import Evidence
from recommend.traits import in_words, shown, title, without_target
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.table import ConfigurationTable
from warehouse.support.console import short
from warehouse.support.text import counted

if TYPE_CHECKING:
    from recommend.recommendation import RankedConfiguration, Recommendation

NAMED_DATASETS = 5
NAMED_TRAITS = 3
NAMED_VALUES = 4
SMALLEST = 0.005
"""Standard scores that a part of a sum has to have to be named: less is printed as 0."""
ALIKE = 0.05
"""Two datasets are alike in a trait that takes at most this part of what it usually takes from the kernel."""
ROUNDING = 1e-9
FAR = 0.5
"""Sum of the weights of all datasets below which a prediction is rather what is expected on any dataset."""


@dataclass(frozen=True)
class Trait:
    """A meta-feature of the dataset beside that of a known one."""

    name: str
    title: str
    here: float
    there: float
    share: float
    """Share of the distance between the two datasets."""


@dataclass(frozen=True)
class KnownDataset:
    """A dataset that counts, and what worked there."""

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
    """What is nearly the same on both, the most telling first."""
    unlike: Sequence[Trait]
    """What sets it apart from this dataset more than it does most, the most telling first."""


@dataclass(frozen=True)
class Reasons:
    """A prediction as sums, in standard scores."""

    rank: int
    predicted: float
    trials: float
    """What runs on the dataset itself add to each of the sums."""
    datasets: Parts
    """Parts by key of the dataset; the base is what is expected on any dataset."""
    traits: Parts
    """Parts by group of meta-features; the base is what is expected on a dataset with usual ones."""
    hyperparameters: Parts | None
    """Parts by hyperparameter; the base is what is expected of the algorithm's default; None: unknown."""

    def document(self) -> dict[str, Any]:
        """The sums as JSON values."""
        return {
            "rank": self.rank,
            "predicted": self.predicted,
            "trials": self.trials,
            "datasets": asdict(self.datasets),
            "traits": asdict(self.traits),
            "hyperparameters": None if self.hyperparameters is None else asdict(self.hyperparameters),
        }


@dataclass(frozen=True)
class Explanation:
    """What a recommendation rests on."""

    runs: int
    datasets: int
    trials: int
    known: Sequence[KnownDataset]
    """Datasets that count most, the heaviest first; empty where the learner has no weights."""
    configurations: Sequence[Reasons]
    names: Mapping[str, str]
    """Key -> name of the datasets that were learned from."""
    total_weight: float
    """Sum of the weights of all datasets; about 1 is usual."""
    fallbacks: Sequence[str]
    """What could not be used, and what stands for it: a sentence each, without its full stop."""

    def document(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "evidence": {"runs": self.runs, "datasets": self.datasets, "trials": self.trials},
            "total_weight": self.total_weight,
            "datasets": [asdict(known) for known in self.known],
            "configurations": [reasons.document() for reasons in self.configurations],
            "fallbacks": list(self.fallbacks),
        }


def explanation(
    result: Recommendation,
    chosen: ConfigurationTable,
    evidence: Evidence | None,
    metafeatures: pd.DataFrame,
    names: Mapping[str, str],
) -> Explanation:
    """Why `result` is as it is.

    Args:
        chosen: its configurations as the warehouse has them.
        evidence: what its model goes by; None = nobody can say.
        metafeatures: (datasets, qualities) of the known datasets.
        names: key -> name of datasets.
    """
    if evidence is None:
        fallbacks = [f"the learner {result.model.origin.learner} does not say which datasets it goes by"]
        return Explanation(
            result.model.runs, result.model.datasets, result.trials, [], [], {}, 0.0, fallbacks
        )
    descriptions = evidence.contributions.model.descriptions
    here = without_target(descriptions.features(result.metafeatures.to_frame().T)).iloc[0]
    there = without_target(descriptions.features(metafeatures.reindex(list(evidence.keys))))
    return Explanation(
        result.model.runs,
        result.model.datasets,
        result.trials,
        _known_datasets(evidence, here, there, names),
        _reasons(result.configurations, chosen, evidence, has_trials=result.trials > 0),
        {key: str(names.get(key, key)) for key in evidence.keys},
        float(evidence.weights.sum()),
        _fallbacks(result, evidence, here, there),
    )


def _known_datasets(
    evidence: Evidence, here: pd.Series, there: pd.DataFrame, names: Mapping[str, str]
) -> list[KnownDataset]:
    """The datasets that count most.

    Args:
        here: feature -> value, of the dataset.
        there: (d, features) of the datasets that were learned from.
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
                str(names.get(key, key)),
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
    """The meta-features with the most of column `by`, with `here`, `there` and `share`."""
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
        datasets = Parts(float(bases[place]), dict(zip(evidence.keys, added[place].tolist(), strict=True)))
        default = _default(item, evidence)
        of_values = None
        if default is not None:
            of_values = contributions.of_hyperparameters(chosen.take([place]), default)
        trials = item.predicted - datasets.total if has_trials else 0.0
        found.append(Reasons(item.rank, item.predicted, trials, datasets, of_traits[place], of_values))
    return found


def _default(item: RankedConfiguration, evidence: Evidence) -> ConfigurationTable | None:
    """The default of the configuration's algorithm, where it was ever run."""
    if not isinstance(item.flow, Flow):
        return None
    setup = setup_of(Configuration(item.flow.name, item.flow.default()))
    known = evidence.runs.configurations
    return known.of_setups([setup]) if setup in known.setups else None


def _fallbacks(result: Recommendation, evidence: Evidence, here: pd.Series, there: pd.DataFrame) -> list[str]:
    found = []
    missing = [title(str(name)) for name in here.index[here.isna()]]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        found.append(f"unknown here, and taken to be as usual: {'; '.join(missing[:3])}{more}")
    near = float(evidence.weights.sum())
    if near < FAR:
        found.append(
            f"no known dataset is much like this one (weights sum to {near:.2f}, 1 is usual): what is "
            "recommended is rather what is good on any dataset"
        )
    if all(item.expectation is None for item in result.configurations):
        found.append("too few datasets are known to say what to expect in the measure's own unit")
    for name, value in here.items():
        least, most = float(there[name].min()), float(there[name].max())
        if value < least - ROUNDING or value > most + ROUNDING:
            found.append(
                f"{title(str(name))}: {shown(str(name), float(value))}, outside of what is known "
                f"({shown(str(name), least)} to {shown(str(name), most)})"
            )
    return found


def sentences(result: Recommendation) -> list[str]:
    """The explanation of `result` as a person reads it: paragraphs."""
    why = result.explanation
    if why is None:
        return []
    lines = [f"This rests on {counted(why.runs, 'runs')} on {counted(why.datasets, 'other datasets')}."]
    if why.trials:
        lines[0] = lines[0][:-1] + f", and on {counted(why.trials, 'runs')} on this one."
    lines += [_capital(text) + "." for text in why.fallbacks]
    if why.known:
        lines.append(
            "A prediction is a weighted sum over them. Those that count most for this dataset, with the best "
            f"{result.measure} of their runs (all weights sum to {why.total_weight:.2f}):"
        )
    for known in why.known:
        openml = "" if known.openml is None else f" (OpenML {known.openml})"
        lines.append(
            f"- {known.dataset}{openml}, weight {known.weight:.3f}: {counted(known.runs, 'runs')}, the best "
            f"with {flow_title(known.flow)} ({known.value:.3f})."
            + "".join(
                f" {title}: {', '.join(_compared(trait) for trait in traits)}."
                for title, traits in (("Alike", known.alike), ("Unlike", known.unlike))
                if traits
            )
        )
    if why.known:
        lines.append(
            "Errors are in per cent of those of always saying the largest class; a gain is the difference of "
            "two accuracies. Both are of quick models, fitted to describe a dataset."
        )
    for item, reasons in zip(result.configurations, why.configurations, strict=bool(why.configurations)):
        lines.append(_of_configuration(item, reasons, why.names))
    if why.configurations:
        lines.append(
            "Scores are in standard deviations of a dataset's own runs; 0 is an average configuration. The "
            "parts of each sum are exact; --format json has all of them."
        )
    return lines


def _compared(trait: Trait) -> str:
    here, there = (shown(trait.name, value) for value in (trait.here, trait.there))
    return f"{trait.title} ({here} here, {there} there)" if here != there else f"{trait.title} ({here})"


def flow_title(algorithm: str) -> str:
    """The title of an algorithm: its own name where Headstart does not build it."""
    flow = find_flow(algorithm)
    return algorithm if flow is None else flow.title


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _of_configuration(item: RankedConfiguration, reasons: Reasons, names: Mapping[str, str]) -> str:
    base, like_it = reasons.datasets.base, sum(reasons.datasets.parts.values())
    text = (
        f"{item.rank}. {item.flow.title}: score {reasons.predicted:+.2f} = {base:+.2f} on any dataset "
        f"{like_it:+.2f} for the datasets that count here"
    )
    text += f" {reasons.trials:+.2f} for the runs on this dataset. " if abs(reasons.trials) > 1e-6 else ". "
    ordered = sorted(reasons.datasets.parts.items(), key=lambda part: -part[1])
    text += "For it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:3])
    text += "; against it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:-3:-1]) + ". "
    traits = sorted(reasons.traits.parts.items(), key=lambda part: -abs(part[1]))
    told = [f"{in_words(group)} {part:+.2f}" for group, part in traits if abs(part) >= SMALLEST]
    text += f"By traits, from {reasons.traits.base:+.2f} on a dataset with usual ones: "
    text += (", ".join(told) or "hardly any difference") + ". "
    if reasons.hyperparameters is not None:
        if not reasons.hyperparameters.parts:
            return text + "It is the algorithm as it comes."
        largest = sorted(reasons.hyperparameters.parts.items(), key=lambda part: -abs(part[1]))
        named = [part for part in largest[:NAMED_VALUES] if abs(part[1]) >= SMALLEST]
        rest = sum(part for _, part in largest[len(named) :])
        values = item.configuration.values
        told = [
            f"{name}={short(values[name])} {part:+.2f}" if name in values else f"{name} {part:+.2f}"
            for name, part in named
        ]
        told += [f"the others {rest:+.2f}"] if abs(rest) >= SMALLEST and named else []
        text += f"By hyperparameters, from {reasons.hyperparameters.base:+.2f} as the algorithm comes: "
        text += (", ".join(told) or "hardly any difference") + "."
    return text
