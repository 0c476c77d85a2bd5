"""Where the package of a flow is missing: what is recommended, searched and said."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import recommend.bo.cli
from ingest.flows import FLOWS, installed_flows
from ingest.reading.datasets import load_dataset
from recommend.bo.tuning import Budget, Search, tune
from recommend.cli import main
from recommend.recommender import recommend as rank
from tests.commands import Run
from tests.recommend.conftest import numbers
from tests.recommend.test_recommender import SCHEMA
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

MISSING = "decision_tree"
"""What the small world recommends for `csv`."""
REASON = "Decision tree needs the package no_such_package: pip install 'headstart[boosting]'"


@pytest.fixture(autouse=True)
def _a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOWS, MISSING, replace(FLOWS[MISSING], requires="no_such_package"))


@pytest.fixture
def run(small_world: Path, run_command: Run) -> Run:
    """Run a command on the small world."""
    return lambda command, *arguments: run_command(command, "--warehouse", small_world, *arguments)


def test_its_flow_is_learned_from_and_not_recommended(small_world: Path) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=16)
    assert {item.flow.name for item in result.configurations} == {"logistic_regression"}
    assert result.candidates == 8
    assert result.model.runs == 128


def test_the_table_says_so_in_one_line(run: Run, csv: Path) -> None:
    code, out, err = run(main, "--dataset", csv)
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if "Decision tree" in line]
    assert line == ("Not installed, so not recommended: Decision tree (pip install 'headstart[boosting]').")


def test_the_json_says_so(run: Run, csv: Path) -> None:
    _, out, _ = run(main, "--dataset", csv, "--format", "json")
    document = json.loads(out)
    assert document["warehouse"]["not_installed"] == [MISSING]
    jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize("command", [main, recommend.bo.cli.main])
def test_its_flow_is_refused_in_one_line(run: Run, csv: Path, command: Callable[[], None]) -> None:
    assert run(command, "--dataset", csv, "--flow", MISSING) == (2, "", f"error: {REASON}\n")


def test_a_search_refuses_its_flow_before_any_trial(small_world: Path, tmp_path: Path) -> None:
    asked = Search(flows=("logistic_regression", MISSING))
    with pytest.raises(BadInput, match="needs the package no_such_package"):
        tune(
            load_dataset(numbers(100)),
            asked,
            Budget(trials=1),
            warehouse=Warehouse.open(small_world),
            folder=tmp_path / "history",
        )
    assert not (tmp_path / "history").exists()


def test_searches_are_of_the_installed_flows(run: Run, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Search().flows == installed_flows()
    searched: list[tuple[str, ...]] = []

    def asked(_: object, search: Search, *__: object, **___: object) -> None:
        searched.append(search.flows)
        raise BadInput("enough is known")

    monkeypatch.setattr(recommend.bo.cli, "tune", asked)
    assert run(recommend.bo.cli.main, "--dataset", csv)[0] == 2
    assert searched == [installed_flows()]
