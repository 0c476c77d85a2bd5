"""What remains of a search: runs in the warehouse, and the best configuration as a fitted pipeline."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.flows import get_flow
from ingest.keys import digest, setup_of
from ingest.running.rows import Run, write_runs
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.result import Tuned
from recommend.bo.tuning.setup import HELD_OUT
from recommend.code import Origin, script
from warehouse.configurations.configuration import Configuration
from warehouse.store import Warehouse
from warehouse.support.errors import Failed, TooFewRuns
from warehouse.support.files import write_bytes

if TYPE_CHECKING:
    from sklearn.ensemble import VotingClassifier
    from sklearn.pipeline import Pipeline


def record(tuned: Tuned, warehouse: Warehouse) -> int:
    """Write the trials to `warehouse` as runs; those that it has change nothing. Returns their number.

    They are runs of a task of their own, since they saw a part of the rows only. Those of a search that were
    fitted on a share of these are left out: most runs of a dataset say what its usual number of rows is.
    """
    dataset, search = tuned.dataset, tuned.search
    resampling = f"cv{search.folds}" if search.folds > 1 else "holdout3"
    procedure = f"{resampling} on all rows but one in {HELD_OUT}, seed {search.seed}"
    task = f"{dataset.key}/{resampling}-but-{HELD_OUT}-{search.seed}"
    results = []
    for entry in tuned.entries:
        if entry.trial is not None and entry.share == ALL_ROWS:
            key = f"own:{digest(task, setup_of(entry.configuration))}"
            results.append((Run(entry.configuration, task, key), entry.trial))
    if not results:
        return 0
    write_runs(warehouse, dataset, results, procedure, source="tune")
    return len(results)


def fitted(tuned: Tuned) -> Pipeline | VotingClassifier:
    """The best configuration's pipeline, fitted on all rows; it predicts the dataset's own labels.

    Where an ensemble was chosen, that: the weighted average of its members' probabilities.

    Raises:
        BadInput: no trial succeeded.
    """
    if tuned.best is None:
        raise TooFewRuns("no trial succeeded: there is no model to fit")
    dataset = tuned.dataset
    weights = tuned.finals.weights
    if weights:
        from sklearn.ensemble import VotingClassifier

        members = [(f"trial {number}", _pipeline(tuned, number)) for number in weights]
        model = VotingClassifier(members, voting="soft", weights=list(weights.values()))
    else:
        model = _pipeline(tuned, tuned.best.number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in the trials, whose scores show the effect
        return model.fit(dataset.features, dataset.target.astype(str).to_numpy())


def _pipeline(tuned: Tuned, number: int) -> Pipeline:
    """The pipeline of a trial."""
    configuration = _configuration(tuned, number)
    flow = get_flow(configuration.algorithm)
    return flow.pipeline(configuration.values, tuned.dataset.roles, seed=tuned.search.seed)


def _configuration(tuned: Tuned, number: int) -> Configuration:
    return next(entry.configuration for entry in tuned.entries if entry.number == number)


def code(tuned: Tuned) -> str:
    """Python source that cross-validates, fits, saves and predicts with the best configuration.

    It needs none of our packages (`recommend.code`).

    Raises:
        BadInput: no trial succeeded, or pandas alone can't read the dataset as it was read here.
    """
    best, measure = tuned.best, tuned.search.measure
    if best is None:
        raise TooFewRuns("no trial succeeded: there is no configuration to write as code")
    scores = [f"{tuned.value(best):.4f} in cross-validation"]
    if best.number in tuned.held_out:
        scores.append(f"{tuned.held_out[best.number]:.4f} on {tuned.rows[1]:,} rows held out")
    origin = Origin(
        choice=f"Found by Headstart's `tune`: trial {best.number}, the best of {len(tuned.entries):,}.",
        expected=f"Its {measure}: {', '.join(scores)}.",
        measure=measure,
    )
    return script(best.configuration, tuned.dataset, origin, seed=tuned.search.seed)


def save_model(pipeline: Pipeline | VotingClassifier, path: Path) -> list[str]:
    """Write a fitted pipeline as a skops file, which runs no code when it is loaded.

    Returns:
        The types that `skops.io.load(path, trusted=...)` asks to be told of.

    Raises:
        Failed: the package skops is missing, or the file can't be written.
    """
    try:
        from skops.io import dumps, get_untrusted_types
    except ImportError as error:
        raise Failed("writing a model needs the extra `tune`: pip install 'headstart[tune]'") from error
    content = dumps(pipeline)
    write_bytes(path, content)
    return list(get_untrusted_types(data=content))
