"""Artifacts of a search: runs in the warehouse, and the model as a file."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from ingest.keys import digest, setup_of
from ingest.running.rows import Run, write_runs
from recommend.bo.tuning.result import SearchResult
from recommend.code.models import averaged
from warehouse.store import Warehouse
from warehouse.support.errors import MissingPackage, TooFewRuns
from warehouse.support.extras import install_command
from warehouse.support.files import write_bytes

if TYPE_CHECKING:
    from sklearn.ensemble import VotingClassifier
    from sklearn.pipeline import Pipeline


def record(tuned: SearchResult, warehouse: Warehouse) -> int:
    """Write the trials to `warehouse` as runs, and return their number; existing ones are not written again.

    Trials on a share of the rows are left out, because the usual training size of a dataset is inferred from
    most of its runs.
    """
    dataset, resampling = tuned.dataset, tuned.resampling
    seed = tuned.search.seed
    task = f"{dataset.key}/{resampling.name}-seed-{seed}"
    train_rows, test_rows = resampling.sizes(len(dataset.features))
    results = []
    for trial in tuned.trials:
        if trial.evaluation is not None and trial.counts:
            key = f"own:{digest(task, setup_of(trial.configuration))}"
            run = Run(trial.configuration, task, key, round(trial.share * train_rows), test_rows)
            results.append((run, trial.evaluation))
    if not results:
        return 0
    write_runs(warehouse, dataset, results, f"{resampling.name}, seed {seed}", source="tune")
    return len(results)


def fitted(tuned: SearchResult) -> Pipeline | VotingClassifier:
    """The model, which predicts the dataset's own labels: a pipeline, or the average of several.

    It contains none of our classes or functions (`recommend.code.models`).

    Raises:
        BadInput: nothing was fitted.
    """
    if tuned.model is None:
        raise TooFewRuns("no configuration was fitted, so there is no model to write")
    weights = tuned.model.weights
    return averaged([tuned.model.pipelines[one] for one in weights], [*weights.values()], tuned.dataset)


def prepare_saving() -> None:
    """Import skops in the background, which takes seconds, while the search has no model yet.

    Raises:
        BadInput: the package skops is missing.
    """
    if find_spec("skops") is None:
        raise MissingPackage(f"writing a model needs the extra `tune`: {install_command('tune')}")
    Thread(target=import_module, args=("skops.io",), daemon=True).start()


def save_model(pipeline: Pipeline | VotingClassifier, path: Path) -> list[str]:
    """Write a fitted pipeline as a skops file, which can be loaded without running code.

    Returns:
        The types for `skops.io.load(path, trusted=...)`.

    Raises:
        BadInput: the file can't be written.
    """
    from skops.io import dumps, get_untrusted_types

    content = dumps(pipeline)
    write_bytes(path, content)
    return list(get_untrusted_types(data=content))
