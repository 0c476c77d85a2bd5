"""A recommendation as text for a terminal, wrapped to its width."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.flows import Flow, get_flow
from ingest.reading.column_types.roles import roles_in_words
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.similar_datasets import PastRank
from recommend.explaining.target_words import target_words
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from warehouse.support import console
from warehouse.support.text import counted
from warehouse.vocabulary.measures import measure_title
from warehouse.vocabulary.parameters import Choice, Value
from warehouse.vocabulary.searched_flow import SearchedFlow

if TYPE_CHECKING:
    from recommend.verification import Verification

_INDENT = " " * 3
_LEAST_NAME = 18
"""Least width of names if a table is too wide."""


def in_words(
    result: Recommendation,
    *,
    is_default_measure: bool,
    why: bool = False,
    details: bool = False,
    legend: bool = False,
) -> str:
    """The recommendation as text: the dataset, a line for each configuration, and the reasons.

    Args:
        is_default_measure: whether the user named no measure.
        why: whether to write all hyperparameters and the known datasets that support a configuration.
        details: whether to write standard scores, and the sums of an explanation.
        legend: whether to explain the table's columns.
    """
    worth = _columns(result, details=details)
    lines = [
        *_wrapped(_facts(result, is_default_measure=is_default_measure)),
        *([] if result.verification is None else ["", *_verification(result.verification)]),
        "",
        *_table(result, worth, details=details),
        *(["", *_legend(result, worth, details=details)] if legend else []),
        "",
        *_reasons(result, is_full=why),
    ]
    if result.explanation is not None:
        from recommend.reporting.sentences import brief, sentences

        lines += ["", *_wrapped(sentences(result) if details else brief(result), "  ")]
    return "\n".join(lines)


def _facts(result: Recommendation, *, is_default_measure: bool) -> list[str]:
    """Sentences about the dataset, the training runs, and cautions."""
    dataset, words = result.dataset, target_words(result.dataset)
    lines = [
        f"{dataset.name}: {counted(len(dataset.features), 'rows')},"
        f" {counted(dataset.features.shape[1], 'features')} ({roles_in_words(dataset.roles)})",
        f"{dataset.target_choice}: {words.summary()}",
    ]
    lines += [f"Note: {dataset.note}."] if dataset.note else []
    about_measure = words.measure_remark(result.measure) if is_default_measure else None
    lines += [about_measure] if about_measure else []
    lines += [_learned_from(result), *_left_out(result), *_not_installed(result)]
    if result.not_built:
        titles = ", ".join(result.not_built.values())
        lines.append(f"Not built by Headstart, so recommended only with --flow: {titles}.")
    if result.of_others:
        titles = ", ".join(flow.title for flow in result.of_others)
        lines.append(f"Headstart does not build {titles}: run them in your own program.")
    lines += [
        f"Check: {caution.text}."
        for caution in result.cautions
        if not (caution.kind == "imbalance" and about_measure)
    ]
    return lines


def _learned_from(result: Recommendation) -> str:
    """A sentence about the training runs, including those on the dataset itself."""
    text = (
        f"Learned from {counted(result.model.runs, 'runs')} on {counted(result.model.datasets, 'datasets')}"
        f" of {result.warehouse.origins.in_words()}"
    )
    if result.trials:
        which = "--leave-out ignores them"
        if result.verification is not None:
            below = len(result.verification.measured)
            which = "below" if below == result.trials else f"{below} of them below"
        text += f" and {counted(result.trials, 'runs')} on this dataset ({which})"
    return f"{text}."


def _not_installed(result: Recommendation) -> list[str]:
    """At most one line about missing packages, with their gain if known."""
    if result.worth_installing is not None:
        return [result.worth_installing.in_words(target_words(result.dataset).number)]
    if not result.not_installed or result.configurations[0].expectation is not None:
        return []
    missing = ", ".join(f"{flow.title} ({flow.installation})" for flow in result.not_installed)
    return [f"Not installed, so not recommended: {missing}."]


def _left_out(result: Recommendation) -> list[str]:
    """Sentences about runs and datasets of the warehouse that are not used for training."""
    lines = []
    if not result.trials and len(result.left_out) > len(result.near_copies):
        lines.append("This dataset is in the warehouse; its runs were left out of the model.")
    if result.failed:
        reasons = ", ".join(f"{count:,} {outcome}" for outcome, count in result.failed.items())
        lines.append(f"Left out, because they failed on this dataset: {reasons}.")
    if result.near_copies:
        copies = ", ".join(dict.fromkeys(result.near_copies))
        lines.append(f"Near copies of it in the warehouse were left out of the model: {copies}.")
    return lines


def _columns(result: Recommendation, *, details: bool) -> dict[str, str]:
    """Titles of the columns about expected values -> their meaning.

    Gains over further references are left out if the table would be wider than the terminal.
    """
    promises = [item.expectation for item in result.configurations if item.expectation is not None]
    if not promises:
        return {}
    words = target_words(result.dataset)
    columns = words.columns(result.measure)
    others = {
        f"vs {title}": f"the same against {title}" for title in words.other_gains(result.measure, promises[0])
    }
    lines = _aligned(_rows(result, columns | others, details=details))
    return columns | others if max(map(len, lines)) <= _width() else columns


def _table(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[str]:
    """A line of numbers for each configuration, and for their average.

    If the terminal is too narrow for the table, long names are wrapped, or the numbers follow each name in a
    sentence.
    """
    header, *rows = _rows(result, worth, details=details)
    excess = max(map(len, _aligned([header, *rows]))) - _width()
    longest = max(len(name) for _, name, *_ in rows) - max(excess, 0)
    if excess <= 0 or longest >= _LEAST_NAME:
        wrapped = []
        for rank, name, *cells in rows:
            first, *others = _lines_of_name(name, longest)
            wrapped += [(rank, first, *cells), *(("", other, *("" for _ in cells)) for other in others)]
        head, *lines = _aligned([header, *wrapped])
        return [console.bold(head), *lines]
    found = []
    for rank, name, *cells in rows:
        told = ", ".join(f"{title} {cell}" for title, cell in zip(header[2:], cells, strict=True) if cell)
        found += [f"{rank or ' '}  {name}", *_indented(told)]
    return found


def _rows(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[tuple[str, ...]]:
    """The table's cells: the titles, each configuration, and the average."""
    scores = ("score", "similar") if details or not worth else ()
    rows = [
        (
            str(item.rank),
            item.flow.title,
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
    return [("#", "try", *worth, *scores, "fit"), *rows]


def _lines_of_name(name: str, longest: int) -> list[str]:
    """Lines of a name; longer words are cut in the middle, since OpenML's titles differ at their ends."""
    head = (longest - 3) // 2
    return [
        part if len(part) <= longest else f"{part[:head]}...{part[len(part) - (longest - 3 - head) :]}"
        for part in textwrap.wrap(name, longest, break_long_words=False, break_on_hyphens=False)
    ]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [line.rstrip() for line in console.aligned(rows, "><" + ">" * (len(rows[0]) - 2))]


def _reasons(result: Recommendation, *, is_full: bool) -> list[str]:
    """The reason for each configuration, and its hyperparameters: all, or a line of non-default ones."""
    lines = []
    for item in result.configurations:
        lines += textwrap.wrap(
            f"{item.rank}  {why(item, result, None if is_full else 1)}",
            _width(),
            subsequent_indent=_INDENT,
        )
        values = item.configuration.values
        if is_full:
            lines += _indented(console.settings(values))
        elif item.flow.hyperparameters:
            lines.append(_INDENT + _set_values(values, item.flow))
    if is_full and result.nearest:
        lines += _wrapped(
            ["Most similar known datasets: " + ", ".join(name for name, _ in result.nearest) + "."]
        )
    return lines


def _set_values(values: Mapping[str, Value], flow: SearchedFlow) -> str:
    """The non-default hyperparameters, as many as fit on a line.

    Defaults are unknown for flows that Headstart does not build: all that may differ are shown.
    """
    is_ours = isinstance(flow, Flow)
    usual = flow.default() if is_ours else _only_values(flow)
    different = [
        console.settings({name: value})
        for name, value in values.items()
        if name not in usual or usual[name] != value
    ]
    if not different:
        return "with its default settings" if is_ours else "with the only values that were run"
    texts = [", ".join(different)]
    texts += [
        ", ".join([*different[:count], f"{len(different) - count} more"])
        for count in range(len(different) - 1, 0, -1)
    ]
    return next((text for text in texts if len(_INDENT + text) <= _width()), texts[-1])


def _only_values(flow: SearchedFlow) -> dict[str, Value]:
    """The hyperparameters for which there is one value only."""
    choices = (own for own in flow.hyperparameters if isinstance(own, Choice))
    return {own.name: own.choices[0] for own in choices if len(own.choices) == 1}


def average_title(members: int) -> str:
    """The title of the average of the first configurations."""
    return f"average of 1 {'and' if members == 2 else 'to'} {members}"


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else console.duration(max(seconds, 0.1))


def why(item: RankedConfiguration, result: Recommendation, named: int | None = None) -> str:
    """The reason for a configuration's rank, with at most `named` known datasets that support it."""
    title, places = measure_title(result.measure), item.places[:named]
    if item.on_dataset is not None:
        value, rows = item.on_dataset
        with_rows = "" if rows is None else f" with {counted(rows, 'training rows')}"
        measured = target_words(result.dataset).measured(value)
        return f"{title} of {measured} measured on this dataset{with_rows}"
    if item.beats_first is not None:
        reason = f"may be good where 1 is not ({item.beats_first:.0%} likely to beat it)"
        better = " and ".join(place.dataset for place in places)
        return f"{reason}; did better than 1 on {better}" if better else reason
    if item.delta:
        reason = f"spread over the predicted ranking (delta {item.delta:g})"
    elif item.rank == 1:
        reason = f"the best expected {title} of {counted(result.candidates, 'configurations')}"
    else:
        reason = f"the next best expected {title}"
    return "; ".join([reason, *map(_place, places)])


def _place(place: PastRank) -> str:
    """The result of a configuration on a known dataset: the share of the configurations there that it
    beat."""
    if place.place == 1:
        return f"the best of {place.of} on {place.dataset}"
    return f"better than {(place.of - place.place) / place.of:.0%} of those tried on {place.dataset}"


def _worth(
    result: Recommendation, promise: PerformanceForecast | None, worth: Mapping[str, str]
) -> tuple[str, ...]:
    """The cells of the expected value in these columns; empty if it is unknown."""
    if promise is None or not worth:
        return ("",) * len(worth)
    words = target_words(result.dataset)
    others = words.other_gains(result.measure, promise)
    cells = words.cells(result.measure, promise)
    return (*cells, *(others.get(title.removeprefix("vs "), "") for title in [*worth][len(cells) :]))


def _scores(item: RankedConfiguration) -> tuple[str, ...]:
    return (
        f"{item.predicted:+.2f}" + ("" if item.std is None else f" ± {item.std:.2f}"),
        "" if item.on_nearest is None else f"{item.on_nearest:+.2f}",
    )


def _verification(found: Verification) -> list[str]:
    """A line for each tried configuration, the best first, and remarks."""
    measure, measured = found.search.measure, target_words(found.search.dataset).measured
    rows, title = [], measure_title(measure)
    for one in found.configurations:
        trial, value = one.trial, one.trial.value(measure)
        failure = trial.evaluation and (trial.evaluation.message or str(trial.evaluation.outcome))
        flow = get_flow(trial.configuration.algorithm)
        rows.append(
            (
                flow.title + (" (default)" if one.is_default else ""),
                "" if one.recommended is None else str(one.recommended),
                str(failure) if value is None else measured(value),
                str(len(trial.evaluations)),
                console.duration(trial.seconds),
            )
        )
    header = ("tried", "recommended", title, "times", "took")
    ending = ", then interrupted" if found.search.interrupted else ""
    how = (
        f"Tried for {console.duration(found.search.seconds)}{ending}: {title} by {found.search.procedure}, "
        "averaged over repetitions."
    )
    tried = [*console.wrapped_table(header, rows, "<>>>"), "", how] if rows else []
    return [*tried, *found.search.remarks]


def _legend(result: Recommendation, worth: Mapping[str, str], *, details: bool) -> list[str]:
    """The meaning of the table's columns, one line each."""
    meanings = {"#": f"order to try them in: by {'expected value' if worth else 'score'}"} | dict(worth)
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
    if result.average is not None:
        better = ", usually better than 1 alone" if result.average.usually_better else ""
        meanings[average_title(len(result.average.members))] = (
            f"mean of {target_words(result.dataset).predicted}{better}; its script: --code FILE --average"
        )
    width = max(map(len, meanings))
    return [
        line
        for column, meaning in meanings.items()
        for line in textwrap.wrap(
            f"{column:{width}}  {meaning}", _width(), subsequent_indent=" " * (width + 2)
        )
    ]


def next_steps(result: Recommendation) -> list[str]:
    """Lines suggesting next steps."""
    built = "or --seeds FILE.json." if result.of_others else "--code FILE.py (script), or `tune`."
    return _wrapped([f"Next: --why (all settings), --legend, {built}"])


def _wrapped(lines: Sequence[str], indent: str = "") -> list[str]:
    """Lines, wrapped to the terminal's width."""
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, _width(), subsequent_indent=indent, break_on_hyphens=False)
    ]


def _indented(text: str) -> list[str]:
    return textwrap.wrap(
        text, _width(), initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
    )


def _width() -> int:
    return max(shutil.get_terminal_size((80, 24)).columns, 40)
