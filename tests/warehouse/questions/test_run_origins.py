"""Description of a warehouse by its difference from the bundled starter."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.warehouse.worlds import BOOSTING, Templates, runs
from warehouse import store
from warehouse.store import Warehouse


@pytest.fixture(autouse=True)
def starter(templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A starter with three runs, and a user without a warehouse."""
    three = runs(accuracies={f"openml:{number}": 0.9 for number in range(3)})
    made = templates.copy(tmp_path / "starter", three)
    monkeypatch.setattr(store, "STARTER", made.path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return made


OWN = runs(BOOSTING, "adaboost", accuracies={"openml:7": 0.5, "openml:8": 0.5})
TODAY = datetime.now(UTC).date()


@pytest.fixture
def named(templates: Templates, tmp_path: Path) -> Warehouse:
    """A warehouse elsewhere with two other runs."""
    return templates.copy(tmp_path / "named", OWN)


def test_the_starter_is_named(starter: Warehouse) -> None:
    origins = Warehouse.open(starter.path).origins()
    assert (origins.starter, origins.of_starter, origins.others, origins.last) == (3, 3, 0, None)
    assert origins.in_words() == "the bundled starter"


def test_the_users_own_warehouse_is_the_starter_and_newer_runs() -> None:
    own = Warehouse.create()
    assert own.origins().in_words() == f"your warehouse {own.path} (the starter and nothing else)"
    own.write(OWN, source="tune")
    origins = own.origins()
    assert (origins.starter, origins.of_starter, origins.others) == (3, 3, 2)
    assert origins.last is not None
    assert (origins.last - TODAY).days in (0, 1)  # midnight may have passed
    assert origins.in_words() == (
        f"your warehouse {own.path} (the starter and 2 runs of yours, last on {origins.last})"
    )


def test_another_warehouse_may_have_no_run_of_the_starter(named: Warehouse) -> None:
    origins = named.origins()
    assert (origins.of_starter, origins.others) == (0, 2)
    assert origins.in_words() == (
        f"the warehouse {named.path} (2 runs, none of the starter's, last on {origins.last})"
    )


def test_runs_of_the_starter_are_recognized_by_key_after_a_merge(
    starter: Warehouse, named: Warehouse
) -> None:
    named.merge(starter.path)
    assert named.origins().in_words() == (
        f"the warehouse {named.path} (the starter and 2 other runs, last on {named.origins().last})"
    )


def test_a_copy_of_an_older_starter_lacks_some_of_its_runs(
    starter: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, newer = starter.export(tmp_path / "copy"), starter.export(tmp_path / "newer")
    newer.write(runs(name="b"), source="experiments")
    monkeypatch.setattr(store, "STARTER", newer.path)
    assert copy.origins().in_words() == (
        f"the warehouse {copy.path} (3 of the starter's 4 runs and nothing else)"
    )


def test_failed_runs_do_not_count() -> None:
    own = Warehouse.create()
    failed = {name: OWN[name] for name in OWN if name != "evaluations"}
    own.write(failed | {"runs": OWN["runs"].assign(outcome="timeout")}, source="tune")
    assert own.origins().in_words() == f"your warehouse {own.path} (the starter and nothing else)"


def test_an_installation_without_a_starter_makes_no_comparison(
    named: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "STARTER", tmp_path / "nowhere")
    assert "2 runs" in named.origins().in_words()
