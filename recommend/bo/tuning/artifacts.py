"""Artifacts of a search: runs in the warehouse, fitted pipelines and scripts."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.keys import digest, setup_of
from ingest.running.rows import Run, write_runs
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.setup import HELD_OUT, resampling_of
from recommend.code import Origin, ensemble_script, script
from recommend.code.models import plain_model
from warehouse.store import Warehouse
from warehouse.support.errors import MissingPackage, TooFewRuns
from warehouse.support.files import write_bytes
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from sklearn.ensemble import VotingClassifier
    from sklearn.pipeline import Pipeline


def record(tuned: SearchResult, warehouse: Warehouse) -> int:
    """Write the trials to `warehouse` as runs; those that it has change nothing. Returns their number.

    They are runs of a task of their own, since they saw a part of the rows only. Those of a search that were
    fitted on a share of these are left out: most runs of a dataset say what its usual number of rows is.
    """
    dataset, search = tuned.dataset, tuned.search
    resampling = resampling_of(dataset, search).name
    procedure = f"{resampling} on all rows but one in {HELD_OUT}, seed {search.seed}"
    task = f"{dataset.key}/{resampling}-but-{HELD_OUT}-{search.seed}"
    results = []
    for trial in tuned.trials:
        if trial.evaluation is not None and trial.share == ALL_ROWS:
            key = f"own:{digest(task, setup_of(trial.configuration))}"
            results.append((Run(trial.configuration, task, key), trial.evaluation))
    if not results:
        return 0
    write_runs(warehouse, dataset, results, procedure, source="tune")
    return len(results)


def fitted(tuned: SearchResult) -> Pipeline | VotingClassifier:
    """The best configuration's pipeline, fitted on all rows; it predicts the dataset's own labels.

    Where an ensemble was chosen, that: the weighted average of its members' probabilities. No step is a class
    or function of ours (`recommend.code.models`).

    Raises:
        BadInput: no trial succeeded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in the trials, whose scores show the effect
        return plain_model(_members(tuned), tuned.dataset, seed=tuned.search.seed)


def _configuration(tuned: SearchResult, number: int) -> Configuration:
    return next(trial.configuration for trial in tuned.trials if trial.number == number)


def code(tuned: SearchResult) -> str:
    """Python source that cross-validates, fits, saves and predicts with what `fitted` fits.

    That is the best configuration, or the ensemble. It needs none of our packages (`recommend.code`).

    Raises:
        BadInput: no trial succeeded, or pandas alone can't read the dataset as it was read here.
    """
    members, seed = _members(tuned), tuned.search.seed
    if len(members) > 1:
        return ensemble_script(members, tuned.dataset, _origin_of_ensemble(tuned), seed=seed)
    return script(next(iter(members)), tuned.dataset, _origin(tuned), seed=seed)


def _members(tuned: SearchResult) -> dict[Configuration, float]:
    """Configuration -> weight of what a search comes to: the ensemble's members, else the best alone.

    Raises:
        BadInput: no trial succeeded.
    """
    if tuned.best is None:
        raise TooFewRuns("no trial succeeded, so there is no model and no script to write")
    members: dict[Configuration, float] = {}
    for number, weight in (tuned.finals.weights or {tuned.best.number: 1.0}).items():
        configuration = _configuration(tuned, number)
        members[configuration] = members.get(configuration, 0.0) + weight
    return members


def _origin(tuned: SearchResult) -> Origin:
    """Where the best configuration, or the only member of an ensemble, comes from."""
    number = next(iter(tuned.finals.weights), tuned.best.number if tuned.best else 0)
    trial = next(trial for trial in tuned.trials if trial.number == number)
    measure = tuned.search.measure
    scores = [f"{tuned.value(trial):.4f} in cross-validation"]
    if number in tuned.held_out:
        scores.append(f"{tuned.held_out[number]:.4f} on {counted(tuned.rows[1], 'rows')} held out")
    return Origin(
        choice=f"Found by Headstart's `tune`: trial {number}, the best of {len(tuned.trials):,}.",
        expected=f"Its {measure}: {', '.join(scores)}.",
        measure=measure,
    )


def _origin_of_ensemble(tuned: SearchResult) -> Origin:
    weights, measure = tuned.finals.weights, tuned.search.measure
    trials = ", ".join(f"trial {number} (weight {weight:.2f})" for number, weight in weights.items())
    expected = "It has no held-out score."
    if tuned.ensemble_held_out is not None:
        expected = (
            f"Its {measure}: {tuned.ensemble_held_out:.4f} on {counted(tuned.rows[1], 'rows')} held out."
        )
    return Origin(
        choice=f"Chosen by Headstart's `tune` from {counted(len(tuned.trials), 'trials')}: {trials}.",
        expected=expected,
        measure=measure,
    )


def save_model(pipeline: Pipeline | VotingClassifier, path: Path) -> list[str]:
    """Write a fitted pipeline as a skops file, which runs no code when it is loaded.

    Returns:
        The types that `skops.io.load(path, trusted=...)` asks to be told of.

    Raises:
        BadInput: the package skops is missing, or the file can't be written.
    """
    try:
        from skops.io import dumps, get_untrusted_types
    except ImportError as error:
        raise MissingPackage(
            "writing a model needs the extra `tune`: pip install 'headstart[tune]'"
        ) from error
    content = dumps(pipeline)
    write_bytes(path, content)
    return list(get_untrusted_types(data=content))
