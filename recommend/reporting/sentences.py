"""An explanation in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from ingest.flows import find_flow
from recommend.explaining.explanation import Reasons, Trait
from recommend.explaining.metafeature_names import in_words, shown
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.ranking.target_kinds import target_kind
from recommend.recommendation import Recommendation
from warehouse.support.console import short
from warehouse.support.text import counted

NAMED_VALUES = 4
SMALLEST = 0.005
"""Standard scores below which a part of a sum is not named: it would be printed as 0."""


def sentences(result: Recommendation) -> list[str]:
    """The explanation of `result`, a paragraph an entry; empty where there is none."""
    why = result.explanation
    if why is None:
        return []
    lines = [
        f"The ranking is learned from {counted(why.runs, 'runs')} on "
        f"{counted(why.datasets, 'other datasets')}."
    ]
    if why.trials:
        lines[0] = lines[0][:-1] + f", and on {counted(why.trials, 'runs')} on this one."
    lines += [_capital(text) + "." for text in why.fallbacks]
    target = target_kind(result.dataset)
    told_in, _ = target.elsewhere(result.measure, 0.0)
    if why.known:
        lines.append(
            "A prediction is a weighted sum over these datasets. The most similar ones, with the best "
            f"{told_in} of their runs (all weights sum to {why.total_weight:.2f}):"
        )
    for known in why.known:
        openml = "" if known.openml is None else f" (OpenML {known.openml})"
        lines.append(
            f"- {known.dataset}{openml}, weight {known.weight:.3f}: {counted(known.runs, 'runs')}, the best "
            f"with {flow_title(known.flow)} ({target.elsewhere(result.measure, known.value)[1]:.3f})."
            + "".join(
                f" {title}: {', '.join(_compared(trait) for trait in traits)}."
                for title, traits in (("Alike", known.alike), ("Unlike", known.unlike))
                if traits
            )
        )
    if why.known:
        lines.append(target.units)
    for item, reasons in zip(result.configurations, why.configurations, strict=bool(why.configurations)):
        lines.append(_of_configuration(item, reasons, why.names, target.balance))
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


def _of_configuration(
    item: RankedConfiguration, reasons: Reasons, names: Mapping[str, str], balance: str
) -> str:
    base, like_it = reasons.datasets.base, sum(reasons.datasets.parts.values())
    text = (
        f"{item.rank}. {item.flow.title}: score {reasons.predicted:+.2f} = {base:+.2f} on any dataset "
        f"{like_it:+.2f} for the similar datasets"
    )
    text += f" {reasons.trials:+.2f} for the runs on this dataset. " if abs(reasons.trials) > 1e-6 else ". "
    ordered = sorted(reasons.datasets.parts.items(), key=lambda part: -part[1])
    text += "For it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:3])
    text += "; against it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:-3:-1]) + ". "
    traits = sorted(reasons.traits.parts.items(), key=lambda part: -abs(part[1]))
    told = [f"{in_words(group, balance)} {part:+.2f}" for group, part in traits if abs(part) >= SMALLEST]
    text += f"By meta-features, from {reasons.traits.base:+.2f} on a usual dataset: "
    text += (", ".join(told) or "hardly any difference") + ". "
    if reasons.hyperparameters is not None:
        if not reasons.hyperparameters.parts:
            return text + "It is the algorithm with its default settings."
        largest = sorted(reasons.hyperparameters.parts.items(), key=lambda part: -abs(part[1]))
        named = [part for part in largest[:NAMED_VALUES] if abs(part[1]) >= SMALLEST]
        rest = sum(part for _, part in largest[len(named) :])
        values = item.configuration.values
        told = [
            f"{name}={short(values[name])} {part:+.2f}" if name in values else f"{name} {part:+.2f}"
            for name, part in named
        ]
        told += [f"the others {rest:+.2f}"] if abs(rest) >= SMALLEST and named else []
        text += f"By hyperparameters, from {reasons.hyperparameters.base:+.2f} with its default settings: "
        text += (", ".join(told) or "hardly any difference") + "."
    return text
