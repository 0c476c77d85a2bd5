"""The toy world of the meta-learner contract, written to a warehouse."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from tests.metalearners.thesis import thesis_configurations
from warehouse.store import Warehouse


@pytest.fixture(scope="session")
def toy_tables() -> dict[str, pd.DataFrame]:
    runs, configurations = toy_runs().runs, toy_runs().configurations
    tasks = runs[["task", "dataset"]].drop_duplicates()
    parameters = configurations.parameters.reset_index().melt("setup", var_name="parameter")
    qualities = toy_metafeatures().reset_index().melt("dataset", var_name="quality")
    return {
        "datasets": pd.DataFrame({"dataset": tasks["dataset"], "name": tasks["dataset"]}),
        "tasks": tasks.assign(task_type="supervised_classification"),
        "flows": pd.DataFrame([{"flow": "toy", "name": "Toy forest", "algorithm": "forest"}]),
        "setups": pd.DataFrame({"setup": configurations.setups, "flow": "toy"}),
        "hyperparameters": parameters.assign(value=parameters["value"].map(json.dumps)),
        "runs": runs[["run", "task", "setup"]].assign(outcome="success", position=range(len(runs))),
        "evaluations": runs[["run", "value", "flow"]].assign(measure="predictive_accuracy"),
        "qualities": qualities.assign(source="computed", extractor="toy"),
    }


@pytest.fixture(scope="session")
def toy_folder(toy_tables: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy") / "warehouse"
    Warehouse.create(folder).write(toy_tables, source="toy")
    return folder


@pytest.fixture
def toy_warehouse(toy_folder: Path, tmp_path: Path) -> Warehouse:
    """12 datasets x 20 configurations, see `tests.contracts.meta_learner`; copied, which is fast."""
    shutil.copytree(toy_folder, tmp_path / "warehouse")
    return Warehouse.open(tmp_path / "warehouse")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep models of tests out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def thesis() -> pd.DataFrame:
    return thesis_configurations()
