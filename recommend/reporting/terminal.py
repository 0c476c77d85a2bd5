"""A recommendation as text for a terminal, wrapped to its width."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.flows import get_flow
from ingest.reading.column_types.roles import roles_in_words
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.similar_datasets import PastRank
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.ranking.target_kinds import target_kind
from recommend.recommendation import Recommendation
from warehouse.support import console
from warehouse.support.text import counted

if TYPE_CHECKING:
    from recommend.verification import Verification

_LONGEST_TITLE = 30
_INDENT = " " * 5


def in_words(result: Recommendation, *, is_default_measure: bool, details: bool) -> str:
    """The whole recommendation as text.

    Args:
        is_default_measure: whether the user named no measure.
        details: whether to include standard scores.
    """
    worth = _columns(result, details=details)
    lines = [
        *_facts(result, is_default_measure=is_default_measure),
        *([] if result.verification is None else ["", *_verification(result.verification)]),
        "",
        *_table(result, worth, details=details),
        "",
        *_legend(result, worth, details=details),
    ]
    if result.explanation is not None:
        from recommend.reporting.sentences import sentences

        lines += ["", *_wrapped(sentences(result), "  ")]
    return "\n".join(lines)


def _facts(result: Recommendation, *, is_default_measure: bool) -> list[str]:
    """Lines about the dataset, the runs learned from, and what to check."""
    dataset, target = result.dataset, target_kind(result.dataset)
    lines = [
        f"{dataset.name}: {counted(len(dataset.features), 'rows')}, {target.summary()}; "
        f"{dataset.target_choice}",
        f"{counted(dataset.features.shape[1], 'features')}: {roles_in_words(dataset.roles)}",
    ]
    lines += [f"Note: {dataset.note}."] if dataset.note else []
    about_measure = target.measure_remark(result.measure) if is_default_measure else None
    lines += [about_measure] if about_measure else []
    lines.append(
        f"Learned from {counted(result.model.runs, 'runs')} on {counted(result.model.datasets, 'datasets')}"
        f" of {result.warehouse.origins.in_words()}; {counted(result.candidates, 'configurations')} ranked."
    )
    lines += _known_already(result)
    lines += _not_installed(result)
    if result.not_built:
        titles = ", ".join(result.not_built.values())
        lines.append(f"Not built by Headstart, so recommended only with --flow: {titles}.")
    if result.of_others:
        titles = ", ".join(flow.title for flow in result.of_others)
        lines.append(f"Headstart does not build {titles}: use the values in your own program.")
    if result.nearest:
        lines.append("Most similar known datasets: " + ", ".join(name for name, _ in result.nearest) + ".")
    lines += [
        f"Check: {caution.text}."
        for caution in result.cautions
        if not (caution.kind == "imbalance" and about_measure)
    ]
    return lines


def _not_installed(result: Recommendation) -> list[str]:
    """At most one line about packages that are missing: what they would bring, where that is known."""
    if result.worth_installing is not None:
        return [result.worth_installing.in_words(target_kind(result.dataset).number)]
    if not result.not_installed or result.configurations[0].expectation is not None:
        return []
    missing = ", ".join(f"{flow.title} ({flow.installation})" for flow in result.not_installed)
    return [f"Not installed, so not recommended: {missing}."]


def _known_already(result: Recommendation) -> list[str]:
    """Lines about the warehouse's runs on the dataset and its near copies."""
    lines = []
    if result.trials:
        is_verified = result.verification is not None
        ignoring = "those below are among them" if is_verified else "--leave-out ignores them"
        count = "counts" if result.trials == 1 else "count"
        lines.append(f"{counted(result.trials, 'runs')} on this dataset {count} most; {ignoring}.")
    elif len(result.left_out) > len(result.near_copies):
        lines.append("This dataset is in the warehouse; its runs were left out of the model.")
    if result.failed:
        reasons = ", ".join(f"{count:,} {outcome}" for outcome, count in result.failed.items())
        lines.append(f"Left out, because they failed on this dataset: {reasons}.")
    if result.near_copies:
        copies = ", ".join(result.near_copies)
        lines.append(f"Near copies of it in the warehouse were left out of the model: {copies}.")
    return lines


def _columns(result: Recommendation, *, details: bool) -> dict[str, str]:
    """Titles of the columns about expected values -> what they mean.

    Gains over further references are left out where the lines would be longer than the terminal is wide.
    """
    promises = [item.expectation for item in result.configurations if item.expectation is not None]
    if not promises:
        return {}
    target = target_kind(result.dataset)
    columns = target.columns(result.measure)
    others = {
        title: f"gain over {title} with its default settings"
        for title in target.other_gains(result.measure, promises[0])
    }
    fits = max(map(len, _rows(result, columns | others, details=details))) <= _width()
    return columns | others if fits else columns


def _table(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[str]:
    """A line of numbers for each configuration, with the reason and the hyperparameters below it."""
    head, *numbers = _rows(result, worth, details=details)
    lines = [head]
    for line, item in zip(numbers, result.configurations, strict=False):
        values = [f"{name}={console.short(value)}" for name, value in item.configuration.values.items()]
        lines.append(line)
        lines += textwrap.wrap(
            f"why: {why(item, result)}", _width(), initial_indent=_INDENT, subsequent_indent=_INDENT
        )
        lines += textwrap.wrap(
            ", ".join(values),
            _width(),
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_on_hyphens=False,
        )
    return lines if result.average is None else [*lines, numbers[-1]]


def _rows(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[str]:
    """The table's aligned lines of numbers: the titles, each configuration, and the average."""
    scores = ("score", "similar") if details or not worth else ()
    header = ("#", "try", *worth, *scores, "fit")
    rows = [
        (
            str(item.rank),
            _shortened(item.flow.title),
            *_worth(result, item.expectation, worth),
            *(_scores(item) if scores else ()),
            _duration(item.fit_seconds),
        )
        for item in result.configurations
    ]
    average = result.average
    if average is not None:
        rows.append(
            (
                "",
                average_title(len(average.members)),
                *_worth(result, average.expectation, worth),
                *("" for _ in scores),
                _duration(average.fit_seconds),
            )
        )
    align = "><" + ">" * (len(header) - 2)
    return [line.rstrip() for line in console.aligned([header, *rows], align)]


def average_title(members: int) -> str:
    """What the average of the first configurations is called."""
    return f"average of 1 {'and' if members == 2 else 'to'} {members}"


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else console.duration(max(seconds, 0.1))


def _shortened(title: str) -> str:
    """A flow's title; a long one is cut in the middle, since OpenML's titles differ at their ends."""
    if len(title) <= _LONGEST_TITLE:
        return title
    head, tail = _LONGEST_TITLE // 3, _LONGEST_TITLE - _LONGEST_TITLE // 3 - 3
    return f"{title[:head]}...{title[-tail:]}"


def why(item: RankedConfiguration, result: Recommendation) -> str:
    """The reason for a configuration's rank, in a few words."""
    if item.on_dataset is not None:
        number = target_kind(result.dataset).measured
        return f"reached {number(item.on_dataset)} on this dataset"
    if item.beats_first is not None:
        places = " and ".join(f"{place.dataset} ({_place(place)})" for place in item.places)
        like = f"; was better than 1 on {places}" if places else ""
        return f"complements 1 ({item.beats_first:.0%} likely to beat it){like}"
    if item.delta:
        reason = f"spread over the predicted ranking (delta {item.delta:g})"
    elif item.rank == 1:
        reason = f"the best expected value of {counted(result.candidates, 'configurations')}"
    else:
        reason = "the next best expected value"
    places = " and ".join(f"{_place(place)} on {place.dataset}" for place in item.places)
    return f"{reason}; was {places}" if places else reason


def _place(place: PastRank) -> str:
    teens = place.place % 100 in (11, 12, 13)
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(place.place % 10, "th")
    return f"{place.place}{ending} of {place.of}"


def _worth(
    result: Recommendation, promise: PerformanceForecast | None, worth: Mapping[str, str]
) -> tuple[str, ...]:
    """The cells of the expected value in these columns; empty ones where it is unknown."""
    if promise is None or not worth:
        return ("",) * len(worth)
    target = target_kind(result.dataset)
    others = target.other_gains(result.measure, promise)
    cells = target.cells(result.measure, promise)
    return (*cells, *(others.get(title, "") for title in [*worth][len(cells) :]))


def _scores(item: RankedConfiguration) -> tuple[str, ...]:
    return (
        f"{item.predicted:+.2f}" + ("" if item.std is None else f" ± {item.std:.2f}"),
        "" if item.on_nearest is None else f"{item.on_nearest:+.2f}",
    )


def _verification(found: Verification) -> list[str]:
    """A line for each configuration that was tried, the best first."""
    measure, measured = found.search.measure, target_kind(found.search.dataset).measured
    rows = []
    for one in found.configurations:
        trial, value = one.trial, one.trial.value(measure)
        failure = trial.evaluation and (trial.evaluation.message or str(trial.evaluation.outcome))
        title = get_flow(trial.configuration.algorithm).title
        rows.append(
            (
                title + (" (default)" if one.is_default else ""),
                "" if one.recommended is None else str(one.recommended),
                str(failure) if value is None else measured(value),
                str(len(trial.evaluations)),
                console.duration(trial.seconds),
            )
        )
    header = ("tried", "recommended", measure, "times", "took")
    ending = ", then interrupted" if found.search.interrupted else ""
    return [
        *console.wrapped_table(header, rows, "<>>>"),
        "",
        f"Tried for {console.duration(found.search.seconds)}{ending}: {measure} by {found.search.procedure}, "
        "the mean where there are several.",
        *found.search.remarks,
    ]


def _legend(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[str]:
    """The meaning of the table's columns, a line each."""
    measured = "measured value, then by " if result.trials else ""
    meanings = {"#": f"order to try them in: by {measured}{'expected value' if worth else 'score'}"} | dict(
        worth
    )
    if details or not worth:
        meanings |= {
            "score": "predicted standard score: 0 is an average configuration of the dataset, 1 is one "
            "standard deviation better",
            "similar": "its mean standard score on the most similar datasets",
        }
    if any(item.fit_seconds is not None for item in result.configurations):
        meanings["fit"] = "processor time of one fit on all rows, on this machine"
        if result.fit_factor is not None:
            meanings["fit"] += f"; 80 % take within a factor of {result.fit_factor:.1f}"
    if any(item.beats_first is not None for item in result.configurations):
        meanings["complements 1"] = "not the next best by itself, but likely to do well where 1 does not"
    if result.average is not None:
        better = ", usually better than 1 alone" if result.average.usually_better else ""
        meanings[average_title(len(result.average.members))] = (
            f"mean of {target_kind(result.dataset).predicted}{better}; its script: --code FILE --average"
        )
    width = max(map(len, meanings))
    return [
        line
        for column, meaning in meanings.items()
        for line in textwrap.wrap(
            f"{column:{width}}  {meaning}", _width(), subsequent_indent=" " * (width + 2)
        )
    ]


def _wrapped(lines: Sequence[str], indent: str = "") -> list[str]:
    """Lines, wrapped to the terminal's width."""
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, _width(), subsequent_indent=indent, break_on_hyphens=False)
    ]


def _width() -> int:
    return max(shutil.get_terminal_size((80, 24)).columns, 60)
