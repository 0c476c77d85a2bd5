"""Report of a search as JSON and as a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ingest.flows import FLOWS, get_flow
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.result import SearchResult, incumbents
from recommend.bo.tuning.trials import Trial
from recommend.explaining.dependence import in_words
from recommend.explaining.target_words import target_words
from warehouse.support import console
from warehouse.support.text import counted
from warehouse.vocabulary.measures import measure_title

SCHEMA = "headstart-search/2"
"""Name and version of the document's format."""


def document(tuned: SearchResult) -> dict[str, Any]:
    """The outcome as the JSON document that `recommend/search.schema.json` describes."""
    measure = tuned.measure
    number = {trial.configuration: trial.number for trial in reversed(tuned.trials)}
    return {
        "schema": SCHEMA,
        "dataset": {
            "name": tuned.dataset.name,
            "content_hash": tuned.dataset.content_hash,
            **({} if tuned.dataset.split is None else {"split": str(tuned.dataset.split)}),
            "rows": len(tuned.dataset.features),
        },
        "search": tuned.search.description(),
        "measure": measure,
        "resampling": {"folds": tuned.resampling.folds, "train_rows": tuned.resampling.train_rows},
        "seconds": tuned.seconds,
        "model": {
            "value": tuned.value,
            "fitted": tuned.model is not None,
            "members": [
                {
                    "flow": get_flow(one.algorithm).id,
                    "algorithm": one.algorithm,
                    "hyperparameters": dict(one.values),
                    "weight": weight,
                    "trial": number.get(one),
                    "train_rows": None if tuned.model is None else tuned.model.rows.get(one),
                }
                for one, weight in tuned.weights.items()
            ],
        },
        "best": None if tuned.best is None else tuned.best.number,
        "trials": [
            {
                "number": trial.number,
                "algorithm": trial.configuration.algorithm,
                "origin": trial.origin,
                "share": trial.share,
                **trial.document(measure),
            }
            for trial in tuned.trials
        ],
        "incumbents": [trial.number for trial in incumbents(tuned.trials, measure)],
        "remarks": list(tuned.remarks),
        "warehouse": None if tuned.origins is None else tuned.origins.document(),
        "history": None if tuned.folder is None else str(tuned.folder),
        "interrupted": tuned.interrupted,
        "unfinished": [{"trial": number, "why": why} for number, why in tuned.unfinished.items()],
    }


def table(tuned: SearchResult) -> str:
    """The outcome as text."""
    dataset = tuned.dataset
    counts = Counter(str(trial.evaluation.outcome) for trial in tuned.trials if trial.evaluation is not None)
    outcomes = ", ".join(f"{number} {name}" for name, number in counts.most_common())
    lines = [
        f"{dataset.name}: {counted(len(dataset.features), 'rows')}; {dataset.target_choice}",
        *([f"Note: {dataset.note}."] if dataset.note else []),
        *(f"Check: {doubt}." for doubt in [*dataset.doubts, *in_words(dataset)]),
        *([] if tuned.origins is None else [f"Learned from {tuned.origins.in_words()}."]),
        f"{counted(len(tuned.trials), 'trials')} ({outcomes or 'none ended'})"
        + (", interrupted" if tuned.interrupted else "")
        + f", {console.duration(tuned.seconds)}",
        *_shares(tuned),
        *(f"trial {number} has no outcome: {why}" for number, why in tuned.unfinished.items()),
    ]
    if tuned.best is not None:
        lines += ["", *_leaderboard(tuned), ""]
        lines.append(f"{measure_title(tuned.measure)}: by {tuned.procedure}, averaged over repetitions.")
    return "\n".join([*lines, *_model(tuned), *tuned.remarks])


def _leaderboard(tuned: SearchResult) -> list[str]:
    """The best trials, and those of the model."""
    measured = target_words(tuned.dataset).measured
    header = ("trial", measure_title(tuned.measure), "times", "weight", "chosen by", "configuration")
    rows = [
        (
            str(trial.number),
            measured(trial.value(tuned.measure) or 0.0),
            str(len(trial.evaluations)),
            _weight(tuned, trial),
            trial.origin,
            f"{FLOWS[trial.configuration.algorithm].title}: " + console.settings(trial.configuration.values),
        )
        for trial in tuned.leaders
    ]
    return console.wrapped_table(header, rows, ">>>><")


def _weight(tuned: SearchResult, trial: Trial) -> str:
    weight = tuned.weights.get(trial.configuration)
    return "" if weight is None else f"{weight:.0%}"


def _model(tuned: SearchResult) -> list[str]:
    """The model and its expected value."""
    if tuned.model is None:
        return ["There is no model."]
    titles = Counter(FLOWS[one.algorithm].title for one in tuned.weights)
    several = ", ".join(f"{count} of {title}" if count > 1 else title for title, count in titles.items())
    what = (
        f"the average of {len(tuned.weights)} configurations ({several})"
        if len(tuned.weights) > 1
        else several
    )
    expected = ""
    if tuned.value is not None:
        value = target_words(tuned.dataset).measured(tuned.value)
        expected = f", expected {measure_title(tuned.measure)} {value} on new rows"
    rows = len(tuned.dataset.features)
    on = "" if min(tuned.model.rows.values()) < rows else ", fitted on all rows"
    return [f"The model: {what}{on}{expected}."]


def _shares(tuned: SearchResult) -> list[str]:
    """A line about trials on a share of the training rows, if there are any."""
    counts = Counter(min(trial.share, ALL_ROWS) for trial in tuned.trials)
    parts = [f"{counts[share]} on {share:.0%}" for share in sorted(counts) if share < ALL_ROWS]
    on_all = f"{counts[ALL_ROWS]} on all"
    return [f"shares of the rows: {', '.join([*parts, on_all])}"] if parts else []
