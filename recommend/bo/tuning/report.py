"""Report of a search as JSON and as a table, and its progress line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ingest.flows import FLOWS, get_flow
from ingest.reading.split_by import Kind
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.loop import Progress
from recommend.bo.tuning.result import SearchResult
from recommend.explaining.dependence import in_words
from warehouse.support import console
from warehouse.support.text import counted

SCHEMA = "headstart-search/1"
"""Name and version of the document's format."""


_HELD_OUT: Mapping[Kind | None, str] = {
    None: "unseen rows",
    "time": "the last rows, unseen",
    "group": "unseen groups",
}


def document(tuned: SearchResult) -> dict[str, Any]:
    """The outcome as the JSON document that `recommend/search.schema.json` describes."""
    measure = tuned.search.measure
    shared = any(trial.share < ALL_ROWS for trial in tuned.trials)
    return {
        "schema": SCHEMA,
        "dataset": {
            "name": tuned.dataset.name,
            "content_hash": tuned.dataset.content_hash,
            **({} if tuned.dataset.split is None else {"split": str(tuned.dataset.split)}),
            "rows": {"tuned": tuned.rows[0], "held_out": tuned.rows[1]},
        },
        "search": tuned.search.description(),
        "measure": measure,
        "best": None if tuned.best is None else tuned.best.number,
        "trials": [
            {
                "number": trial.number,
                "flow": get_flow(trial.configuration.algorithm).id,
                "algorithm": trial.configuration.algorithm,
                "hyperparameters": dict(trial.configuration.values),
                "origin": trial.origin,
                **({"share": trial.share} if shared else {}),
                "outcome": None if trial.evaluation is None else str(trial.evaluation.outcome),
                "message": None if trial.evaluation is None else trial.evaluation.message,
                "seconds": None if trial.evaluation is None else trial.evaluation.seconds,
                "value": trial.value(measure),
                "again": tuned.finals.again.get(trial.number),
                "held_out": tuned.held_out.get(trial.number),
            }
            for trial in tuned.trials
        ],
        "incumbents": [trial.number for trial in tuned.incumbents],
        "ensemble": {
            "weights": [
                {"trial": number, "weight": weight} for number, weight in tuned.finals.weights.items()
            ],
            "held_out": tuned.ensemble_held_out,
        },
        "history": str(tuned.folder),
        "interrupted": tuned.interrupted,
        "unfinished": [{"trial": number, "why": why} for number, why in tuned.unfinished.items()],
    }


def table(tuned: SearchResult) -> str:
    """The outcome as a person reads it."""
    dataset, measure = tuned.dataset, tuned.search.measure
    on, off = tuned.rows
    counts = Counter(str(trial.evaluation.outcome) for trial in tuned.trials if trial.evaluation is not None)
    outcomes = ", ".join(f"{number} {name}" for name, number in counts.most_common())
    lines = [
        f"{dataset.name}: {counted(on, 'rows')} to tune on, {off:,} held out; {dataset.target_choice}",
        *([f"Note: {dataset.note}."] if dataset.note else []),
        *(f"Check: {doubt}." for doubt in [*dataset.doubts, *in_words(dataset)]),
        f"{counted(len(tuned.trials), 'trials')} ({outcomes or 'none ended'})"
        + (", interrupted" if tuned.interrupted else ""),
        *_shares(tuned),
        *(f"trial {number} has no outcome: {why}" for number, why in tuned.unfinished.items()),
    ]
    if tuned.best is None:
        on_all = " on all rows" if _shares(tuned) else ""
        return "\n".join([*lines, f"No trial{on_all} succeeded."])
    rows = [
        (
            str(trial.number),
            f"{trial.value(measure) or 0.0:.4f}",
            f"{tuned.held_out[trial.number]:.4f}" if trial.number in tuned.held_out else "",
            trial.origin,
            f"{FLOWS[trial.configuration.algorithm].title}: "
            + ", ".join(
                f"{name}={console.short(value)}" for name, value in trial.configuration.values.items()
            ),
        )
        for trial in tuned.incumbents
    ]
    header = ("trial", measure, "held out", "chosen by", "configuration")
    lines += ["", *console.wrapped_table(header, rows, ">>><")]
    lines += ["", "Each line is better than those above it.", *_finals(tuned)]
    if off and tuned.best.number not in tuned.held_out and not tuned.interrupted:
        lines.append("The best has no held-out score: it failed there, or the time was up.")
    lines += [
        "",
        f"{measure}: of the trial's {_resampling(tuned)};",
        f"held out: its score on {_HELD_OUT[dataset.split and dataset.split.kind]}; expect this on new data.",
    ]
    return "\n".join(lines)


def _shares(tuned: SearchResult) -> list[str]:
    """A line about trials on a share of the rows to fit on; none where there are none."""
    counts = Counter(trial.share for trial in tuned.trials)
    parts = [f"{counts[share]} on {share:.0%}" for share in sorted(counts) if share < ALL_ROWS]
    on_all = f"{counts[ALL_ROWS]} on all"
    return [f"shares of the rows: {', '.join([*parts, on_all])}"] if parts else []


def _finals(tuned: SearchResult) -> list[str]:
    """The leaders on other folds, the best, and the ensemble."""
    if tuned.best is None:
        return []
    best = f"The best is trial {tuned.best.number}"
    lines = [f"{best}."]
    again = tuned.finals.again
    if again:
        rows = [
            (
                str(trial.number),
                f"{tuned.value(trial) or 0.0:.4f}",
                f"{again[trial.number]:.4f}",
                f"{tuned.held_out[trial.number]:.4f}" if trial.number in tuned.held_out else "",
                FLOWS[trial.configuration.algorithm].title,
            )
            for trial in tuned.trials
            if trial.number in again
        ]
        header = ("trial", tuned.search.measure, "again", "held out", "algorithm")
        lines = ["", "The leaders, evaluated again on other folds:", ""]
        lines += [*console.wrapped_table(header, rows, ">>>>"), "", f"{best}, on average over both."]
    weights = sorted(tuned.finals.weights.items(), key=lambda item: -item[1])
    if weights:
        members = ", ".join(f"{weight:.0%} trial {number}" for number, weight in weights)
        value = tuned.ensemble_held_out
        lines.append(f"Ensemble: {members}" + (f"; held out {value:.4f}." if value is not None else "."))
    return lines


def standing(progress: Progress, measure: str) -> str:
    """A line about a search that goes on."""
    of = "" if progress.of is None else f" of {progress.of}"
    parts = [f"trial {progress.done}{of}"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.best is not None:
        parts.append(f"best {measure} {progress.best:.4f} ({progress.best_flow})")
    if progress.seconds_left is not None:
        parts.append(f"{console.duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _resampling(tuned: SearchResult) -> str:
    folds, split = tuned.search.folds, tuned.dataset.split
    name = "split" if folds == 1 else f"{folds}-fold cross-validation"
    return name if split is None else f"{name} by {split}"
