"""Searching beyond a plan's pool: what is tried, what wins, and going on after a stop."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ingest.flows import get_flow
from ingest.keys import setup_of
from ingest.reading.dataset_files import find_datasets
from ingest.running.experiments import run_experiments
from ingest.running.plan import Plan, design_plan, read_plan
from ingest.running.pool import Member, read_pool, write_pool
from recommend.bo.cli import app
from recommend.bo.pool_search import Winner, find_winners, search_beyond_pool, with_winners
from warehouse.configurations.configuration import Configuration
from warehouse.store import Warehouse

ACCURACY = "predictive_accuracy"
SETUPS = "SELECT setup, task FROM runs ORDER BY setup"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Two small datasets, and two configurations each of two flows."""
    folder = tmp_path_factory.mktemp("datasets")
    for rows in (40, 60):
        random = np.random.default_rng(rows)
        kind = np.arange(rows) % 2
        columns = {"x": kind + random.normal(0, 0.8, rows), "z": random.normal(size=rows), "kind": kind}
        pd.DataFrame(columns).to_csv(folder / f"rows{rows}.csv", index=False)
    return design_plan(find_datasets(folder), ["decision_tree", "naive_bayes"], 1)


@pytest.fixture
def warehouse(plan: Plan, tmp_path: Path) -> Warehouse:
    """The pool's runs."""
    world = Warehouse.create(tmp_path / "warehouse")
    run_experiments(world, plan)
    return world


def test_what_is_tried_is_run_as_the_pool_is(warehouse: Warehouse, plan: Plan) -> None:
    """On every second dataset, here the first: new configurations, on the same task."""
    pool = {setup_of(member.configuration) for member in plan.pool}
    before = warehouse.sql(SETUPS)
    search_beyond_pool(warehouse, plan, every=2, trials=3)
    after = warehouse.sql(SETUPS)
    new = after[~after["setup"].isin(pool)]
    assert len(new) == len(after) - len(before) == 3
    assert new["setup"].is_unique
    assert len(set(new["task"])) == 1
    assert set(new["task"]) < set(before["task"])


def test_a_search_goes_on_where_it_was(warehouse: Warehouse, plan: Plan) -> None:
    seen: list[tuple[str, int, int]] = []
    for trials in (1, 3, 3):
        search_beyond_pool(warehouse, plan, every=2, trials=trials, report=lambda *state: seen.append(state))
    assert [(done, left) for _, done, left in seen] == [(0, 1), (1, 1)]
    assert len(warehouse.sql(SETUPS)) == 2 * 4 + 3


def test_a_dataset_without_runs_of_the_pool_is_passed_over(
    warehouse: Warehouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    pd.DataFrame({"x": range(40), "kind": [0, 1] * 20}).to_csv(folder / "new.csv", index=False)
    other = design_plan(find_datasets(folder), ["decision_tree"], 1)
    search_beyond_pool(warehouse, other, trials=2)
    assert "passed over new: none of the pool was run on it" in caplog.text
    assert len(warehouse.sql(SETUPS)) == 2 * 4


def test_the_command_writes_a_pool_that_a_plan_reads(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pool as it was, and at its end what the output names."""
    write_pool(plan.pool, tmp_path / "pool.json")
    folder = Path(plan.datasets[0].file.path).parent
    (tmp_path / "plan.toml").write_text(
        f'pool = "pool.json"\ndatasets = [{{path = "{folder}"}}]\ntiers = [{{}}]\nsplits = [{{folds = 3}}]\n'
    )
    world = tmp_path / "world"
    run_experiments(Warehouse.create(world), read_plan(tmp_path / "plan.toml"))
    arguments = ["--plan", tmp_path / "plan.toml", "--warehouse", world, "--output", tmp_path / "wider.json"]
    app(["pool", *map(str, arguments), "--every", "1", "--trials", "4"], standalone_mode=False)
    *winners, summary = capsys.readouterr().out.splitlines()
    wider = read_pool(tmp_path / "wider.json")
    assert wider[:4] == plan.pool
    assert len(wider) == 4 + len(winners)
    assert summary.endswith(f"{len(wider)} configurations, {len(winners)} of them new")
    assert all(member.source.startswith("search on rows") for member in wider[4:])


# ---- winners -------------------------------------------------------------------------------------

POOL = [
    Configuration("decision_tree", get_flow("decision_tree").default() | {"max_depth": n}) for n in (1, 2)
]
SEARCHED = [
    Configuration("decision_tree", get_flow("decision_tree").default() | {"max_depth": n}) for n in (3, 4, 5)
]


def ran(accuracies: Mapping[str, Mapping[Configuration, float]]) -> dict[str, pd.DataFrame]:
    """Rows of runs: task -> configuration -> accuracy; a task is named by its dataset and maybe more."""
    cells = [(name, one, value) for name, of in accuracies.items() for one, value in of.items()]
    dataset_of = {name: name.partition("/")[0] for name in accuracies}
    flow = "headstart:decision_tree"
    return {
        "datasets": pd.DataFrame(
            [{"dataset": f"local:{name}", "name": name} for name in dict.fromkeys(dataset_of.values())]
        ),
        "tasks": pd.DataFrame(
            [
                {"task": name, "dataset": f"local:{dataset}", "task_type": "supervised_classification"}
                for name, dataset in dataset_of.items()
            ]
        ),
        "flows": pd.DataFrame([{"flow": flow, "name": "tree", "algorithm": "decision_tree"}]),
        "setups": pd.DataFrame({"setup": sorted({setup_of(one) for _, one, _ in cells}), "flow": flow}),
        "hyperparameters": pd.DataFrame(
            [
                {"setup": setup_of(one), "parameter": "max_depth", "value": str(one.values["max_depth"])}
                for one in {one for _, one, _ in cells}
            ]
        ),
        "runs": pd.DataFrame(
            [
                {"run": f"{name}/{place}", "task": name, "setup": setup_of(one), "outcome": "success"}
                for place, (name, one, _) in enumerate(cells)
            ]
        ),
        "evaluations": pd.DataFrame(
            [
                {"run": f"{name}/{place}", "measure": ACCURACY, "value": value, "flow": flow}
                for place, (name, _, value) in enumerate(cells)
            ]
        ),
    }


def test_winners_beat_the_whole_pool_and_the_largest_gain_comes_first(tmp_path: Path) -> None:
    """Pools of 0.5 and 0.7 have a standard deviation of 0.1: 0.8 gains 1, 0.75 gains 0.5, 0.65 nothing."""
    shallow, deep, deeper = SEARCHED
    pool = dict(zip(POOL, (0.5, 0.7), strict=True))
    world = Warehouse.create(tmp_path / "warehouse")
    accuracies = {
        "a": pool | {shallow: 0.8},
        "b": pool | {deep: 0.75, deeper: 0.72},  # one winner a dataset
        "c": pool | {shallow: 0.71},  # wins again, by less
        "d": pool | {deeper: 0.65},
        "e": pool,
        "e/on other rows": {deeper: 0.9},  # which can't be compared
        "constant": dict.fromkeys(POOL, 0.5) | {deeper: 0.9},
    }
    world.write(ran(accuracies), source="test")
    plan = Plan([], [Member(one, "default") for one in POOL])
    winners = find_winners(world, plan, 10)
    depths = [(winner.configuration.values["max_depth"], winner.dataset) for winner in winners]
    assert depths == [(3, "a"), (4, "b")]
    assert [winner.gain for winner in winners] == pytest.approx([1.0, 0.5])
    assert find_winners(world, plan, 1) == winners[:1]


def test_winners_stand_at_the_end_of_the_pool_with_their_dataset() -> None:
    pool = [Member(one, "default") for one in POOL]
    wider = with_winners(pool, [Winner(SEARCHED[0], "iris", 0.3)])
    assert wider[:2] == pool
    assert wider[2:] == [Member(SEARCHED[0], "search on iris")]
