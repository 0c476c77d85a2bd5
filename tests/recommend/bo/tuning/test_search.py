"""Searches on a dataset, with real processes: trials, fits and results."""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.limits import Outcome
from recommend.bo.tuning import Budget, Search, SearchResult, artifacts, deadline, tune
from tests.recommend.bo.tuning.searches import QUICK, configurations, noisy, values
from tests.recommend.code.scripts import run_scripts
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput, TooFewRuns, UnusableDataset
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import RMSE

COLD = replace(QUICK, start="none", anchors=False)


@pytest.fixture(scope="module", autouse=True)
def _with_time() -> Iterator[None]:
    """Allow a trial an hour, since this machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline, "USUAL_LIMIT", 3600.0)
        yield


@pytest.fixture(autouse=True)
def _in_one_thread() -> Iterator[None]:
    """As in a trial: with so few rows, threads would mostly wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset as a file."""
    path = tmp_path_factory.mktemp("table") / "noisy.csv"
    part = noisy(160)
    part.features.assign(**{"class": part.target.astype(str)}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def tuned(table: Path, world: Warehouse) -> SearchResult:
    """Six trials, and an average of several configurations as the model."""
    with threadpool_limits(1):
        seeds = tuple(
            Configuration("decision_tree", FLOWS["decision_tree"].default() | {"max_depth": depth})
            for depth in (2, 4)
        )
        search = replace(COLD, seeds=seeds, measure="log_loss")
        return tune(
            load_dataset(str(table)), search, Budget(trials=6), warehouse=world, folder=table.parent / "h"
        )


# ---- a search ------------------------------------------------------------------------------------


def test_a_resumed_search_equals_an_uninterrupted_one(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    whole = tune(dataset, QUICK, Budget(trials=5), folder=tmp_path / "whole", warehouse=world)
    tune(dataset, QUICK, Budget(trials=4), folder=tmp_path / "parts", warehouse=world)
    parts = tune(dataset, QUICK, Budget(trials=5), folder=tmp_path / "parts", warehouse=world)
    assert configurations(parts) == configurations(whole)
    assert values(parts) == values(whole)
    assert parts.weights == whole.weights


def test_a_search_on_shares_of_the_rows_is_resumed_and_only_full_trials_are_recorded(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    """Nine, three and one: trial 12 is the best, whatever the values on fewer rows."""
    search = replace(COLD, strategy="hyperband", flows=("decision_tree",))
    tuned = [
        tune(dataset, search, Budget(trials=trials), folder=tmp_path / name, warehouse=world)
        for name, trials in (("whole", 14), ("parts", 10), ("parts", 14))
    ]
    whole, first, parts = tuned
    assert configurations(parts) == configurations(whole)
    assert [one.share for one in whole.trials] == [1 / 9] * 9 + [1 / 3] * 3 + [1, 1 / 3]
    assert (first.best, whole.best and whole.best.number) == (None, 12)
    copy = Warehouse.create(tmp_path / "runs")
    assert [artifacts.record(one, copy) for one in (first, whole)] == [0, 1]


def test_failures_are_reported_and_do_not_end_the_search(world: Warehouse, tmp_path: Path) -> None:
    """There are fewer rows than neighbours, so that even the first fit is replaced by a default."""
    many = Configuration(
        "k_nearest_neighbors", {"n_neighbors": 100, "weights": "uniform", "metric": "manhattan"}
    )
    search = Search(flows=(many.algorithm,), start="file", seeds=(many,), surrogate="gbqr", folds=1)
    tuned = tune(noisy(90), search, Budget(trials=4), folder=tmp_path, warehouse=world)
    first, *others = [one.evaluation for one in tuned.trials if one.evaluation is not None]
    assert first.outcome is Outcome.crash
    assert "n_neighbors" in (first.message or "")
    assert {one.outcome for one in others} == {Outcome.success}
    assert tuned.model is not None
    assert many not in tuned.weights


def test_a_cost_is_minimized(dataset: Dataset, tmp_path: Path) -> None:
    """A cost has no predictions to average, so the model is one configuration."""
    search = replace(COLD, measure="time")
    tuned = tune(dataset, search, Budget(trials=3), folder=tmp_path, warehouse=Warehouse.open(STARTER))
    assert tuned.measure == "wall_clock_time_millis"
    assert tuned.best is not None
    assert tuned.value == tuned.best.value(tuned.measure) == min(value or np.inf for value in values(tuned))
    assert [*tuned.weights] == [tuned.best.configuration]


def test_words_of_a_start_are_run_unchanged(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    """A search places them among numbers, and scikit-learn knows them better: it counts indicators, too."""
    words = ("sqrt", "log2")
    default = FLOWS["decision_tree"].default()
    seeds = tuple(Configuration("decision_tree", default | {"max_features": word}) for word in words)
    search = Search(flows=("decision_tree",), start="file", seeds=seeds, surrogate="gbqr", folds=1)
    tune(dataset, search, Budget(trials=2), folder=tmp_path / "parts", warehouse=world)
    parts = tune(dataset, search, Budget(trials=4), folder=tmp_path / "parts", warehouse=world)
    assert configurations(parts)[:2] == list(seeds)
    artifacts.record(parts, Warehouse.create(tmp_path / "warehouse"))
    table = Warehouse.open(tmp_path / "warehouse").run_table(None, "kappa").configurations.parameters
    assert {"sqrt", "log2"} <= set(table["decision_tree:max_features"])


def test_a_search_without_preprocessing_ignores_trials_with_it(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    wide = replace(QUICK, preprocessing=True, start="none", seed=1)
    own = world.export(tmp_path / "warehouse")
    first = tune(dataset, wide, Budget(trials=3), folder=tmp_path / "wide", warehouse=own)
    decided = {"preprocessor", "balancing"}
    assert any(one.configuration.values.keys() & decided for one in first.trials)
    artifacts.record(first, own)
    own = Warehouse.open(own.path)
    tuned = tune(dataset, QUICK, Budget(trials=3), folder=tmp_path / "narrow", warehouse=own)
    assert len(tuned.trials) == 3
    assert not any(one.configuration.values.keys() & decided for one in tuned.trials)


@pytest.mark.parametrize(
    ("search", "others", "error", "message"),
    [
        (COLD, ["b"] * 4, UnusableDataset, "'class' has fewer than two classes with more than one row"),
        (
            replace(COLD, flows=("ridge",), measure=RMSE),
            [1.5, 2.5, 4.5, 9.5],
            TooFewRuns,
            "the target of few has one value; a search needs two or more",
        ),
    ],
)
def test_one_value_alone_is_refused_in_one_line(
    world: Warehouse,
    tmp_path: Path,
    search: Search,
    others: list[str] | list[float],
    error: type[BadInput],
    message: str,
) -> None:
    one = "a" if isinstance(others[0], str) else 0.5
    rows = pd.DataFrame({"x": np.arange(8.0), "class": [one, one, one, one, *others]})
    one_value = load_dataset(rows, name="few").take(np.arange(4))
    with pytest.raises(error, match=message):
        tune(one_value, search, Budget(trials=1), folder=tmp_path, warehouse=world)


def test_the_time_is_kept_with_real_processes(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    """It is two seconds; the rest is for other work on this machine."""
    tuned = tune(dataset, COLD, Budget(seconds=2.0), warehouse=world, folder=tmp_path, jobs=2)
    assert tuned.model is not None
    assert tuned.seconds < 300.0


def test_an_executor_gets_all_rows_and_the_search_makes_the_fits(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    seen = []

    class Watching:
        """Runs nothing; records its input."""

        def submit(self, *given: Any, **_: Any) -> Future[object]:
            seen.append(given[2])
            future: Future[object] = Future()
            future.set_exception(KeyboardInterrupt())
            return future

    tuned = tune(dataset, COLD, Budget(trials=1), folder=tmp_path, warehouse=world, executor=Watching())  # type: ignore[arg-type]
    assert tuned.interrupted
    assert tuned.model is not None
    assert [len(part.features) for part in seen] == [160]


# ---- results --------------------------------------------------------------------------------


def test_the_model_is_an_average_whose_value_is_estimated(tuned: SearchResult) -> None:
    assert tuned.model is not None
    assert tuned.model.weights == tuned.weights
    assert len(tuned.weights) > 1
    assert sum(tuned.weights.values()) == pytest.approx(1)
    assert tuned.value is not None
    assert 0 < tuned.value < np.log(2), "the log loss of a model that knows nothing"


def test_the_runs_go_to_the_warehouse_once(tuned: SearchResult, tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "warehouse")
    assert [artifacts.record(tuned, warehouse) for _ in range(2)] == [6, 6]
    runs = Warehouse.open(tmp_path / "warehouse").run_table(None, "log_loss").runs
    assert sorted(runs["value"]) == pytest.approx(sorted(value or 0.0 for value in values(tuned)), rel=1e-5)
    assert set(runs["dataset"]) == {tuned.dataset.key}


def test_the_model_as_file_and_script_gives_the_same_predictions(
    tuned: SearchResult, table: Path, tmp_path: Path
) -> None:
    from skops.io import load

    model, rows = artifacts.fitted(tuned), tuned.dataset.features
    assert tuned.model is not None
    parts = [weight * tuned.model.pipelines[one].predict_proba(rows) for one, weight in tuned.weights.items()]
    np.testing.assert_allclose(model.predict_proba(rows), sum(parts))
    types = artifacts.save_model(model, tmp_path / "model.skops")
    read = load(tmp_path / "model.skops", trusted=types)
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(read.predict(rows), model.predict(rows))
    (tmp_path / "model.py").write_text(tuned.code(), encoding="utf-8")
    predicted = tmp_path / "predicted.csv"
    run_scripts([(tmp_path / "model.py", table, "--predict", table, "--output", predicted)], tmp_path)
    probabilities = pd.read_csv(predicted).iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=1e-9)


def test_the_script_states_the_result_of_the_search(tuned: SearchResult) -> None:
    code = " ".join(tuned.code().split())
    assert "Found by Headstart's `tune` in 6 trials." in code
    assert f"expected log loss: {tuned.value:.4f}" in code
    alone = replace(tuned, weights=dict([next(iter(tuned.weights.items()))]))
    assert "It was chosen by trials on the data" in " ".join(alone.code().split())
    untried = replace(alone, trials=[], value=None)
    assert "It was chosen without trials on the data." in " ".join(untried.code().split())


def test_without_a_model_there_is_nothing_to_write(tuned: SearchResult) -> None:
    nothing = replace(tuned, model=None, weights={})
    for write in (artifacts.fitted, SearchResult.code):
        with pytest.raises(BadInput, match="no configuration was fitted"):
            write(nothing)
