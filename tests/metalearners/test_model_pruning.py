"""Removable stored models do not include any that is still used."""

import os
from pathlib import Path

from metalearners.model_files import user_cache
from metalearners.model_pruning import OLD_DAYS, prune, superfluous_models
from metalearners.model_store import trained_model
from metalearners.stored_model import StoredModel
from tests.commands import Run
from warehouse.store import Warehouse


def train(warehouse: Warehouse) -> StoredModel:
    return trained_model(warehouse, "average-rank")


def correct(warehouse: Warehouse) -> None:
    """Another version of the warehouse."""
    runs = warehouse.sql("SELECT run FROM runs ORDER BY run LIMIT 1")
    corrected = runs.assign(measure="predictive_accuracy", value=0.0, flow="toy")
    warehouse.write({"evaluations": corrected}, source="correction")


def names(warehouse: Warehouse) -> dict[str, str]:
    return {one.path.name: one.reason for one in superfluous_models(warehouse)}


def test_used_models_stay(toy_warehouse: Warehouse) -> None:
    train(toy_warehouse)
    assert superfluous_models(toy_warehouse) == []


def test_a_model_of_an_earlier_version_is_removed(toy_warehouse: Warehouse) -> None:
    model = train(toy_warehouse)
    correct(toy_warehouse)
    (one,) = superfluous_models(toy_warehouse)
    assert (one.path, one.reason) == (model.path, "of an earlier version of the warehouse")
    assert one.size > 0
    prune([one], toy_warehouse)
    assert not one.path.exists()
    assert superfluous_models(toy_warehouse) == []


def test_unreadable_models_are_removed(toy_warehouse: Warehouse) -> None:
    model = train(toy_warehouse)
    assert model.path is not None
    (model.path / "arrays.npz").write_bytes(b"")
    assert names(toy_warehouse) == {model.path.name: "damaged, or of another version of Headstart"}


def test_models_of_other_warehouses_and_trainings_are_removed_later(toy_warehouse: Warehouse) -> None:
    older = Warehouse.open(toy_warehouse.path, version=toy_warehouse.version)
    model = train(older)  # which is in the cache
    assert model.path is not None
    training = user_cache() / ".pmf-0.training.npz"
    training.write_bytes(b"state")
    correct(toy_warehouse)
    assert names(toy_warehouse) == {}
    for path in (model.path, training):
        os.utime(path, (0, path.stat().st_mtime - (OLD_DAYS + 1) * 86_400))
    assert names(toy_warehouse) == {
        model.path.name: "of another warehouse or an earlier version, and old",
        ".pmf-0.training.npz": "an interrupted training, too old to resume",
    }


def test_the_command_lists_what_is_removed(toy_warehouse: Warehouse, run_command: Run) -> None:
    from metalearners.cli import main

    model = train(toy_warehouse)
    correct(toy_warehouse)

    def command() -> list[str]:
        return run_command(main, "models", "--prune", "--warehouse", toy_warehouse.path).stdout.splitlines()

    said = command()
    assert said[0] == f"removed {model.path}: of an earlier version of the warehouse"
    assert said[1].startswith("1 removed, ")
    assert not Path(str(model.path)).exists()
    assert command() == ["Nothing to remove."]
