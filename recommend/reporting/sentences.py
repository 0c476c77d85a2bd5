"""An explanation in sentences: a brief one, and one with all sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.flows import find_flow
from recommend.explaining.explanation import Explanation, Reasons, Trait
from recommend.explaining.metafeature_names import in_words, shown
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.target_words import target_words
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from warehouse.support.console import short
from warehouse.support.text import counted
from warehouse.vocabulary.measures import measure_title

NAMED_VALUES = 4
SMALLEST = 0.005
"""Standard scores below which a part of a sum is omitted, since it would be printed as 0."""


def sentences(result: Recommendation) -> list[str]:
    """The explanation of `result`, one paragraph per entry; empty if there is none."""
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
    words = target_words(result.dataset)
    told_in, _ = words.elsewhere(result.measure, 0.0)
    if why.known:
        lines.append(
            "A prediction is a weighted sum over these datasets. The most similar ones, with the best "
            f"{told_in} of their runs (all weights sum to {why.total_weight:.2f}):"
        )
    for known in why.known:
        openml = "" if known.openml is None else f" (OpenML {known.openml})"
        lines.append(
            f"- {known.dataset}{openml}, weight {known.weight:.3f}: {counted(known.runs, 'runs')}, the best "
            f"with {flow_title(known.flow)} ({words.elsewhere(result.measure, known.value)[1]:.3f})."
            + "".join(
                f" {title}: {', '.join(_compared(trait) for trait in traits)}."
                for title, traits in (("Alike", known.alike), ("Unlike", known.unlike))
                if traits
            )
        )
    if why.known:
        lines.append(words.units)
    for item, reasons in zip(result.configurations, why.configurations, strict=bool(why.configurations)):
        lines.append(_of_configuration(item, reasons, why.names, words.balance))
    if why.configurations:
        lines.append(
            "Scores are in standard deviations of a dataset's own runs; 0 is an average configuration. The "
            "parts of each sum are exact; --format json has all of them."
        )
    return lines


def brief(result: Recommendation) -> list[str]:
    """The explanation of `result` in about ten sentences; empty if there is none."""
    explained = result.explanation
    if explained is None:
        return []
    lines = [_capital(text) + "." for text in explained.fallbacks]
    first = result.configurations[0]
    lines += _expected(result, first.flow.title, first.expectation)
    lines += _alike(explained, result)
    for item, reasons in zip(result.configurations, explained.configurations, strict=False):
        lines += _for_and_against(item, reasons, explained, target_words(result.dataset).balance)
    average = result.average
    if average is not None and average.expectation is not None:
        lines += _expected(result, f"The average of the first {len(average.members)}", average.expectation)
    return [*lines, "The sums behind these sentences: --explain --details."]


def _expected(result: Recommendation, name: str, promise: PerformanceForecast | None) -> list[str]:
    """A sentence about an expected value and its range, and one about the gain over a default."""
    if promise is None:
        return []
    words, measure = target_words(result.dataset), measure_title(result.measure)
    number = words.number
    told = (
        f"{name} is expected to reach {'an' if measure[0] in 'aeiouAFMR' else 'a'} {measure} of"
        f" {number(promise.value)} on unseen rows; in four of five cases it lies between"
        f" {number(promise.low)} and {number(promise.high)}."
    )
    gain = words.gain(result.measure, promise)
    if not gain or promise.beats_default is None:
        return [told]
    chance = f"{promise.beats_default:.0%}"
    return [told, f"Its gain over LightGBM's defaults is {gain}; the chance of any gain is {chance}."]


def _alike(explained: Explanation, result: Recommendation) -> list[str]:
    """Sentences about the most similar known datasets."""
    words, known = target_words(result.dataset), explained.known[:3]
    if not known:
        return []
    measure, _ = words.elsewhere(result.measure, 0.0)
    told = ", ".join(
        f"{one.dataset} (best there: {flow_title(one.flow)},"
        f" {words.elsewhere(result.measure, one.value)[1]:.3f})"
        for one in known
    )
    title = measure_title(measure)
    lines = [f"The most similar of {explained.datasets:,} known datasets, with their best {title}: {told}."]
    if known[0].alike:
        traits = [_compared(trait) for trait in known[0].alike[:2]]
        lines.append(f"{known[0].dataset} is alike in {_enumerated(traits)}.")
    return lines


def _for_and_against(
    item: RankedConfiguration, reasons: Reasons, explained: Explanation, balance: str
) -> list[str]:
    """Sentences for and against a configuration: in general, on similar datasets, by traits, and by
    settings."""
    title = f"{item.rank}. {item.flow.title}"
    similar = sum(reasons.datasets.parts.values())
    parts = [f"similar datasets {_moves(similar)}"]
    if abs(reasons.trials) >= SMALLEST:
        parts.append(f"the runs on this one {_moves(reasons.trials)}")
    lines = [
        f"{title}: on any dataset {abs(reasons.datasets.base):.1f} standard deviations"
        f" {'better' if reasons.datasets.base >= 0 else 'worse'} than an average configuration;"
        f" {_enumerated(parts)}."
    ]
    ordered = reasons.datasets.best_first
    good = [explained.names[key] for key, part in ordered[:2] if part >= SMALLEST]
    bad = [explained.names[key] for key, part in ordered[:-3:-1] if part <= -SMALLEST]
    trait = next((part for part in reasons.traits.largest_first if abs(part[1]) >= SMALLEST), None)
    told = [f"did well on {_enumerated(good)}"] if good else []
    told += [f"badly on {_enumerated(bad)}" if good else f"did badly on {_enumerated(bad)}"] if bad else []
    if trait is not None:
        group = in_words(trait[0], balance)
        told.append(f"the main factor {'for' if trait[1] > 0 else 'against'} it here is {group}")
    settings = reasons.hyperparameters
    if settings is not None and settings.parts:
        name, part = settings.largest_first[0]
        if abs(part) >= SMALLEST:
            values = item.configuration.values
            setting = f"{name}={short(values[name])}" if name in values else name
            told.append(f"its most important setting is {setting} ({part:+.2f})")
    return [*lines, f"   It {'; '.join(told)}."] if told else lines


def _moves(part: float) -> str:
    return f"{'add' if part >= 0 else 'take away'} {abs(part):.1f}"


def _enumerated(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _compared(trait: Trait) -> str:
    here, there = (shown(trait.name, value) for value in (trait.here, trait.there))
    return f"{trait.title} ({here} here, {there} there)" if here != there else f"{trait.title} ({here})"


def flow_title(algorithm: str) -> str:
    """The title of an algorithm, or its name if Headstart does not build it."""
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
    ordered = reasons.datasets.best_first
    text += "For it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:3])
    text += "; against it: " + ", ".join(f"{names[key]} {part:+.3f}" for key, part in ordered[:-3:-1]) + ". "
    told = [
        f"{in_words(group, balance)} {part:+.2f}"
        for group, part in reasons.traits.largest_first
        if abs(part) >= SMALLEST
    ]
    text += f"By meta-features, from {reasons.traits.base:+.2f} on a usual dataset: "
    text += (", ".join(told) or "hardly any difference") + ". "
    if reasons.hyperparameters is not None:
        if not reasons.hyperparameters.parts:
            return text + "It is the algorithm with its default settings."
        largest = reasons.hyperparameters.largest_first
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
