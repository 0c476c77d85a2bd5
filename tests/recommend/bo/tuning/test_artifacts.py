"""What remains of a search: runs, a file that runs no code when it is read, and code to fit it again."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from recommend.bo.tuning.reevaluation import Reevaluation
from threadpoolctl import threadpool_limits

from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.tuning import Budget, Finish, artifacts, tune
from tests.recommend.bo.tuning.searches import QUICK, values
from tests.recommend.code.scripts import run_scripts
from warehouse.store import Warehouse


@pytest.fixture(autouse=True)
def _in_one_thread() -> Iterator[None]:
    """As in a trial: for so few rows, threads would mostly wait for one another."""
    with threadpool_limits(1):
        yield


def same_answers(one: Any, other: Any, dataset: Dataset) -> bool:
    """Whether two fitted pipelines agree on every row: the class, and how probable each is."""
    rows = dataset.features
    same_probabilities = np.array_equal(one.predict_proba(rows), other.predict_proba(rows))
    return same_probabilities and bool((one.predict(rows) == other.predict(rows)).all())


def read(path: Path, types: list[str]) -> Any:
    from skops.io import load

    return load(path, trusted=types)


def test_the_runs_go_to_the_warehouse_once(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    tuned = tune(dataset, QUICK, Budget(trials=4), folder=tmp_path / "history", warehouse=world)
    warehouse = Warehouse.create(tmp_path / "warehouse")
    assert artifacts.record(tuned, warehouse) == 4
    assert artifacts.record(tuned, warehouse) == 4
    runs = Warehouse.open(tmp_path / "warehouse").run_table(None, "predictive_accuracy").runs
    of_trials = sorted(value or 0.0 for value in values(tuned))
    assert sorted(runs["value"]) == pytest.approx(of_trials, rel=1e-5)  # six digits are kept
    assert set(runs["dataset"]) == {dataset.key}


def test_the_best_is_written_as_a_script_that_predicts_as_the_model_does(
    csv: Path, world: Warehouse, tmp_path: Path
) -> None:
    of_file = load_dataset(str(csv))
    tuned = tune(of_file, QUICK, Budget(trials=3), folder=tmp_path / "history", warehouse=world)
    (tmp_path / "best.py").write_text(artifacts.code(tuned), encoding="utf-8")
    predicted = tmp_path / "predicted.csv"
    run_scripts([(tmp_path / "best.py", csv, "--predict", csv, "--output", predicted)], tmp_path)
    found = pd.read_csv(predicted, dtype={"prediction": str})["prediction"]
    assert (found == artifacts.fitted(tuned).predict(of_file.features)).all()


def test_the_script_says_what_the_search_found(csv: Path, world: Warehouse, tmp_path: Path) -> None:
    tuned = tune(
        load_dataset(str(csv)), QUICK, Budget(trials=3), folder=tmp_path / "history", warehouse=world
    )
    assert tuned.best is not None
    head = ast.get_docstring(ast.parse(artifacts.code(tuned)))
    assert head is not None
    assert f"trial {tuned.best.number}, the best of 3" in head
    assert f"{tuned.value(tuned.best):.4f} in cross-validation" in head


def test_an_ensemble_is_written_as_a_file_and_a_script_that_answer_as_it_does(
    csv: Path, world: Warehouse, tmp_path: Path
) -> None:
    of_file = load_dataset(str(csv))
    tuned = tune(
        of_file,
        QUICK,
        Budget(trials=4),
        folder=tmp_path / "history",
        warehouse=world,
        finish=Finish(leaders=4, ensemble=5),
    )
    assert tuned.ensemble_held_out is not None
    both = replace(tuned, finals=replace(tuned.finals, weights={0: 0.25, 1: 0.75}))
    model = artifacts.fitted(both)
    parts = [
        artifacts.fitted(replace(both, finals=Reevaluation(), best=both.trials[number])) for number in (0, 1)
    ]
    averaged = sum(
        weight * part.predict_proba(of_file.features)
        for weight, part in zip((0.25, 0.75), parts, strict=True)
    )
    np.testing.assert_allclose(model.predict_proba(of_file.features), averaged)
    types = artifacts.save_model(model, tmp_path / "ensemble.skops")
    assert same_answers(read(tmp_path / "ensemble.skops", types), model, of_file)
    code = artifacts.code(both)
    assert "trial 0 (weight 0.25), trial 1 (weight 0.75)" in " ".join(code.split())
    (tmp_path / "ensemble.py").write_text(code, encoding="utf-8")
    predicted = tmp_path / "predicted.csv"
    run_scripts([(tmp_path / "ensemble.py", csv, "--predict", csv, "--output", predicted)], tmp_path)
    probabilities = pd.read_csv(predicted).iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(probabilities, model.predict_proba(of_file.features), rtol=1e-12)
