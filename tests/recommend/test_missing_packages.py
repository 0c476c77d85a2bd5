"""Missing packages of flows: recommendations, searches and messages."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import recommend.bo.cli
from ingest.flows import FLOWS, installed_flows
from ingest.reading.datasets import load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.rows import Run as Trial
from ingest.running.rows import description_tables, run_tables
from recommend.bo.tuning import Budget, Search, tune
from recommend.cli import main
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommend as rank
from tests.commands import Run
from tests.recommend.conftest import copy_of, numbers
from tests.recommend.reporting.html.pages import Page
from tests.recommend.test_recommender import SCHEMA
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput

EXAMPLE = str(Path(recommend.__file__).parent / "examples" / "subscribers.csv")
MISSING = "decision_tree"
"""The small world's recommendation for `csv`."""
REASON = "Decision tree needs the package no_such_package: pip install 'no_such_package'"


@pytest.fixture(autouse=True)
def _a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOWS, MISSING, replace(FLOWS[MISSING], requires="no_such_package"))


@pytest.fixture
def run(small_world: Path, run_command: Run) -> Run:
    """Run a command on the small world."""
    return lambda command, *arguments: run_command(command, "--warehouse", small_world, *arguments)


def test_a_flow_without_its_package_is_learned_from_but_not_recommended(small_world: Path) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=16)
    assert {item.flow.name for item in result.configurations} == {"logistic_regression"}
    assert result.candidates == 8
    assert result.model.runs == 128


def unwrapped(text: str) -> str:
    """Join sentences that are wrapped at a terminal's width."""
    return " ".join(text.split())


def test_the_table_says_so_in_one_line(run: Run, csv: Path) -> None:
    code, out, err = run(main, "--dataset", csv)
    assert (code, err) == (0, "")
    assert "Not installed, so not recommended: Decision tree (pip install 'no_such_package')." in unwrapped(
        out
    )


def test_the_json_says_so(run: Run, csv: Path) -> None:
    _, out, _ = run(main, "--dataset", csv, "--format", "json")
    document = json.loads(out)
    assert document["warehouse"]["not_installed"] == [MISSING]
    assert document["worth_installing"] is None
    jsonschema.validate(document, SCHEMA)


# The gain by a package, on the bundled starter, which has enough datasets to predict values


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Simulate that the package of a flow is missing."""

    def remove(flow: str) -> None:
        monkeypatch.setitem(FLOWS, flow, replace(FLOWS[flow], requires="no_such_package"))

    return remove


def test_a_package_with_a_better_configuration_is_named_with_its_gain(
    run_command: Run, tmp_path: Path, missing: Callable[[str], None]
) -> None:
    dataset, starter = load_dataset(EXAMPLE), Warehouse.open(STARTER)
    first = rank(dataset, warehouse=starter, top=1).configurations[0]
    missing(first.flow.name)
    code, out, _ = run_command(main, EXAMPLE, "--warehouse", STARTER, "--report", tmp_path / "page.html")
    assert code == 0
    better = rank(dataset, warehouse=starter).worth_installing
    assert better is not None
    assert first.expectation is not None
    assert better.configuration == first.configuration
    assert better.expected == pytest.approx(first.expectation.value)
    line = (
        f"With {first.flow.title} installed (pip install 'no_such_package') the first would be"
        f" {first.flow.title}: expected {better.expected:.3f}, {better.improvement:+.3f}."
    )
    assert line in unwrapped(out)
    assert line in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "Not installed" not in out


def test_the_json_has_the_gain_by_the_package(missing: Callable[[str], None]) -> None:
    dataset, starter = load_dataset(EXAMPLE), Warehouse.open(STARTER)
    missing("catboost")
    for measure, better in (("predictive_accuracy", 1), ("log_loss", -1)):
        document = rank(dataset, warehouse=starter, measure=measure).document()
        jsonschema.validate(document, SCHEMA)
        said = document["worth_installing"]
        assert (said["algorithm"], said["package"]) == ("catboost", "no_such_package")
        apart = said["expected"] - document["configurations"][0]["expectation"]["value"]
        assert said["improvement"] == pytest.approx(better * apart)
        assert said["improvement"] > 0


def test_a_package_without_a_gain_is_not_mentioned(run_command: Run) -> None:
    """On the bundled starter the missing decision tree is not the first choice."""
    document = rank(load_dataset(EXAMPLE), warehouse=Warehouse.open(STARTER)).document()
    assert document["warehouse"]["not_installed"] == [MISSING]
    assert document["worth_installing"] is None
    assert "Decision tree" not in run_command(main, EXAMPLE, "--warehouse", STARTER)[1]


def test_a_configuration_that_exceeds_the_budget_gives_no_gain(missing: Callable[[str], None]) -> None:
    """Half of its time is too little for it, but enough for others."""
    dataset, starter = load_dataset(EXAMPLE), Warehouse.open(STARTER)
    first = rank(dataset, warehouse=starter, top=1).configurations[0]
    missing(first.flow.name)
    assert first.fit_seconds is not None
    found = rank(dataset, warehouse=starter, top=1, budget=first.fit_seconds / 2).worth_installing
    assert found is None or found.configuration != first.configuration


@pytest.mark.parametrize("command", [main, recommend.bo.cli.main])
def test_a_flow_without_its_package_is_refused_in_one_line(
    run: Run, csv: Path, command: Callable[[], None]
) -> None:
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


def test_searches_use_only_installed_flows(run: Run, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[tuple[str, ...]] = []

    def asked(_: object, search: Search, *__: object, **___: object) -> None:
        searched.append(search.flows)
        raise BadInput("enough is known")

    monkeypatch.setattr(recommend.bo.cli, "tune", asked)
    assert run(recommend.bo.cli.main, "--dataset", csv)[0] == 2
    assert searched == [installed_flows()]


def test_a_configuration_that_failed_on_the_dataset_gives_no_gain(small_world: Path, tmp_path: Path) -> None:
    """One of the missing decision trees timed out, and the others were not run."""
    dataset = load_dataset(numbers(900, seed=50))
    world = copy_of(small_world, tmp_path / "world")
    before = find_candidates(gather(describe_task(dataset, warehouse=world, leave_out=False))).to_install
    failed = next(iter(before.values()))
    ended = [(Trial(failed, "mine/cv3", "run 1"), Evaluation(Outcome.timeout, 60.0))]
    world.write(description_tables(dataset) | run_tables(dataset, ended, "cv3"), source="tune")
    after = find_candidates(gather(describe_task(dataset, warehouse=world, leave_out=False))).to_install
    assert [*before.values()] == [failed, *after.values()]
