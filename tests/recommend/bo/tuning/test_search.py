"""Searching on a dataset: budgets, failures, interruptions, and what comes of it."""

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.limits import Outcome
from recommend.bo.tuning import Budget, Finish, Search, artifacts, tune
from tests.recommend.bo.tuning.searches import QUICK, configurations, values
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.configuration import Configuration


def test_a_search_that_goes_on_equals_one_that_never_stopped(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    whole = tune(dataset, QUICK, Budget(trials=9), folder=tmp_path / "whole", warehouse=world)
    tune(dataset, QUICK, Budget(trials=5), folder=tmp_path / "parts", warehouse=world)
    parts = tune(dataset, QUICK, Budget(trials=9), folder=tmp_path / "parts", warehouse=world)
    assert configurations(parts) == configurations(whole)
    assert values(parts) == values(whole)


def test_a_search_on_shares_of_the_rows_goes_on_and_keeps_what_was_on_all(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    """Nine, three and one: trial 12 is the best and the ensemble, whatever others were on fewer rows."""
    search = replace(QUICK, strategy="hyperband", anchors=False, start="none", folds=1)
    finish = Finish(leaders=2, ensemble=2)
    tuned = [
        tune(dataset, search, Budget(trials=trials), folder=tmp_path / name, warehouse=world, finish=finish)
        for name, trials in (("whole", 14), ("parts", 10), ("parts", 14))
    ]
    whole, first, parts = tuned
    assert configurations(parts) == configurations(whole)
    assert values(parts) == values(whole)
    shares = [entry.share for entry in whole.trials]
    assert shares == [1 / 9] * 9 + [1 / 3] * 3 + [1, 1 / 3]
    assert first.best is None
    assert whole.best is not None
    assert whole.best.number == 12
    assert {*whole.finals.again, *whole.finals.weights} == {12}
    copy = Warehouse.create(tmp_path / "runs")
    assert artifacts.record(first, copy) == 0
    assert artifacts.record(whole, copy) == 1


def test_the_recommendation_comes_first_and_incumbents_get_better(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    tuned = tune(dataset, QUICK, Budget(trials=6), folder=tmp_path, warehouse=world)
    assert [entry.origin for entry in tuned.trials[:4]] == ["start"] * 3 + ["model"]
    of_incumbents = [tuned.value(entry) or 0.0 for entry in tuned.incumbents]
    assert of_incumbents == sorted(set(of_incumbents))
    assert tuned.best is not None
    assert tuned.value(tuned.incumbents[-1]) == max(value or 0.0 for value in values(tuned))
    assert set(tuned.held_out) == {tuned.incumbents[0].number, tuned.best.number}


def test_rows_are_held_out_of_every_trial(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    seen = []

    class Watching:
        """Runs nothing; keeps what it was given."""

        def submit(self, *given: Any, **_: Any) -> Future[object]:
            seen.append(given[2])
            future: Future[object] = Future()
            future.set_exception(KeyboardInterrupt())
            return future

    tuned = tune(dataset, QUICK, Budget(trials=1), folder=tmp_path, warehouse=world, executor=Watching())  # type: ignore[arg-type]
    assert tuned.interrupted
    assert sum(tuned.rows) == 160
    assert len(seen[0].features) == tuned.rows[0] == pytest.approx(120, abs=2)


@pytest.mark.parametrize("step", ["search.run_finals", "result.evaluate_trials"])
def test_an_interrupt_after_the_trials_keeps_them(
    dataset: Dataset, world: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"recommend.bo.tuning.{step}", interrupt)
    tuned = tune(dataset, QUICK, Budget(trials=2), folder=tmp_path, warehouse=world)
    assert tuned.interrupted
    assert len(tuned.trials) == 2
    assert tuned.best is not None
    assert bool(tuned.finals.again) == (step == "result.evaluate_trials")
    assert not tuned.held_out


def test_a_search_that_is_over_answers_from_its_history(
    dataset: Dataset, world: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Finish(ensemble=3)
    first = tune(dataset, QUICK, Budget(trials=3), folder=tmp_path, warehouse=world, finish=finish)
    for work in ("search.new_search", "reevaluation.evaluate", "reevaluation.select_ensemble"):
        monkeypatch.setattr(f"recommend.bo.tuning.{work}", lambda *_, **__: pytest.fail("done again"))
    again = tune(dataset, QUICK, Budget(trials=3), folder=tmp_path, warehouse=world, finish=finish)
    assert again.finals == first.finals
    assert again.held_out == first.held_out
    assert again.ensemble_held_out == first.ensemble_held_out


def test_a_cost_is_made_small(dataset: Dataset, tmp_path: Path) -> None:
    search = Search(flows=QUICK.flows, surrogate="gbqr", folds=2, measure="time")
    tuned = tune(dataset, search, Budget(trials=5), folder=tmp_path, warehouse=Warehouse.open(STARTER))
    assert tuned.search.measure == "wall_clock_time_millis"
    assert tuned.value(tuned.incumbents[-1]) == min(value or np.inf for value in values(tuned))


def test_words_of_a_start_are_run_as_they_are(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    """A search places them among numbers, and scikit-learn knows them better: it counts indicators, too."""
    default = FLOWS["decision_tree"].default()
    words = ("sqrt", "log2")
    seeds = tuple(Configuration("decision_tree", default | {"max_features": word}) for word in words)
    search = Search(flows=("decision_tree",), start="file", seeds=seeds, surrogate="gbqr", folds=2)
    whole = tune(dataset, search, Budget(trials=6), folder=tmp_path / "whole", warehouse=world)
    assert configurations(whole)[:2] == list(seeds)
    assert [entry.evaluation.outcome for entry in whole.trials if entry.evaluation] == [Outcome.success] * 6
    tune(dataset, search, Budget(trials=3), folder=tmp_path / "parts", warehouse=world)
    parts = tune(dataset, search, Budget(trials=6), folder=tmp_path / "parts", warehouse=world)
    assert configurations(parts) == configurations(whole)
    artifacts.record(whole, Warehouse.create(tmp_path / "warehouse"))
    table = Warehouse.open(tmp_path / "warehouse").run_table(None, "kappa").configurations.parameters
    assert {"sqrt", "log2"} <= set(table["decision_tree:max_features"])


def test_decisions_of_preprocessing_are_searched_where_it_is_asked_for(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    wide = replace(QUICK, preprocessing=True, start="none", strategy="mosaic")
    tuned = tune(dataset, wide, Budget(trials=8), folder=tmp_path / "wide", warehouse=world)
    assert any(entry.configuration.values.keys() & {"preprocessor", "balancing"} for entry in tuned.trials)


def test_a_search_without_preprocessing_passes_over_earlier_decisions(
    dataset: Dataset, world: Warehouse, tmp_path: Path
) -> None:
    wide = replace(QUICK, preprocessing=True, start="none", seed=1)
    own = world.export(tmp_path / "warehouse")
    artifacts.record(tune(dataset, wide, Budget(trials=6), folder=tmp_path / "wide", warehouse=own), own)
    own = Warehouse.open(own.path)
    tuned = tune(dataset, QUICK, Budget(trials=4), folder=tmp_path / "narrow", warehouse=own)
    assert len(tuned.trials) == 4
    assert not any("preprocessor" in entry.configuration.values for entry in tuned.trials)
