"""What remains of a search: runs in the warehouse, and the best configuration as a fitted pipeline."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.flows import get_flow
from ingest.keys import digest, setup_of
from ingest.running.rows import Run, description_tables, run_tables
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.result import Tuned
from recommend.bo.tuning.setup import HELD_OUT
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.parameters import Value
from warehouse.store import Warehouse
from warehouse.support.errors import Failed, TooFewRuns, UnusableDataset
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
    tables = run_tables(dataset, results, procedure)
    known = warehouse.sql("SELECT count(*) AS n FROM datasets WHERE dataset = ?", [dataset.key])["n"].item()
    if not known:  # else the warehouse may know more of it than we: its domain, its family
        tables |= description_tables(dataset)
    warehouse.write(tables, source="tune", location=dataset.source)
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


def script(tuned: Tuned) -> str:
    """Python code that fits the best configuration's pipeline on all rows, as `fitted` does.

    Raises:
        BadInput: no trial succeeded, or the data came from no file or server that could be read again.
    """
    if tuned.best is None:
        raise TooFewRuns("no trial succeeded: there is no model to fit")
    dataset = tuned.dataset
    if not (dataset.source.startswith("openml:") or Path(dataset.source).is_file()):
        raise UnusableDataset(f"{dataset.source} can't be read again by a script")
    target = str(dataset.target.name)
    roles = {target: "categorical", **{name: str(role) for name, role in dataset.roles.items()}}
    common = {"source": dataset.source, "target": target, "roles": _lines(roles), "seed": tuned.search.seed}
    weights = tuned.finals.weights
    if weights:
        members = [_member(_configuration(tuned, number), weight) for number, weight in weights.items()]
        return _SCRIPT_OF_ENSEMBLE.format(members="".join(members), **common)
    best = tuned.best.configuration
    return _SCRIPT.format(
        trial=f"trial {tuned.best.number}: {tuned.search.measure} {tuned.value(tuned.best):.4f}",
        flow=best.algorithm,
        hyperparameters=_lines(best.values),
        **common,
    )


def _member(configuration: Configuration, weight: float) -> str:
    """A member of an ensemble as an entry of a list."""
    return f"    ({weight!r}, {configuration.algorithm!r}, {dict(configuration.values)!r}),\n"


def _lines(values: Mapping[str, Value]) -> str:
    """A dictionary as code, an entry a line."""
    return "".join(["{\n", *(f"    {name!r}: {value!r},\n" for name, value in values.items()), "}"])


_SCRIPT = '''"""The best configuration that `tune` found ({trial} in the trials)."""

from ingest.reading.datasets import load_dataset
from ingest.flows import get_flow

ROLES = {roles}

HYPERPARAMETERS = {hyperparameters}

dataset = load_dataset({source!r}, target={target!r}, roles=ROLES)
model = get_flow({flow!r}).pipeline(HYPERPARAMETERS, dataset.roles, seed={seed})
model.fit(dataset.features, dataset.target.astype(str).to_numpy())
'''


_SCRIPT_OF_ENSEMBLE = '''"""The ensemble that `tune` chose among its trials."""

from sklearn.ensemble import VotingClassifier

from ingest.reading.datasets import load_dataset
from ingest.flows import get_flow

ROLES = {roles}

# weight, algorithm, hyperparameters
MEMBERS = [
{members}]

dataset = load_dataset({source!r}, target={target!r}, roles=ROLES)
pipelines = [
    (f"member {{number}}", get_flow(flow).pipeline(hyperparameters, dataset.roles, seed={seed}))
    for number, (_, flow, hyperparameters) in enumerate(MEMBERS)
]
model = VotingClassifier(pipelines, voting="soft", weights=[weight for weight, _, _ in MEMBERS])
model.fit(dataset.features, dataset.target.astype(str).to_numpy())
'''


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
