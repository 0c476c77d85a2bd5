"""Runs with several training sizes: learners get those with the size of most configurations."""

import pandas as pd

from tests.warehouse.worlds import BOOSTING, FOREST, runs, together
from warehouse.store import Warehouse

ACCURACY = "predictive_accuracy"


def ran(name: str, rows: int | None, flow: str = FOREST, **accuracies: float) -> dict[str, pd.DataFrame]:
    """A configuration's runs with `rows` training rows: dataset -> accuracy."""
    tables = runs(flow, flow, name=f"{name}-{rows}", values={"n": len(name)}, accuracies=accuracies)
    tables["runs"] = tables["runs"].assign(train_rows=rows)
    if rows is not None:
        for table in ("tasks", "runs"):
            tables[table] = tables[table].assign(task=tables[table]["task"] + f"-{rows}")
    return tables


def write(warehouse: Warehouse, *several: dict[str, pd.DataFrame]) -> None:
    """Write in one commit."""
    warehouse.write(together(several), source="test")


def values(warehouse: Warehouse) -> dict[str, list[float]]:
    """Dataset -> values, smallest first."""
    table = warehouse.run_table(None, ACCURACY).runs
    return {
        str(dataset): sorted(part["value"].tolist()) for dataset, part in table.groupby("dataset", sort=True)
    }


def test_ties_between_training_sizes_go_to_the_smallest(
    warehouse: Warehouse,
) -> None:
    tiers = ((2000, 0.9), (500, 0.8), (8000, 0.95))
    write(warehouse, *(ran("a", rows, d1=accuracy) for rows, accuracy in tiers))
    write(warehouse, *(ran("bb", rows, d1=accuracy / 2) for rows, accuracy in tiers))
    assert values(warehouse) == {"d1": [0.4, 0.8]}
    larger = warehouse.run_table(None, ACCURACY).larger
    assert sorted(zip(larger["train_rows"], larger["value"], strict=True)) == [
        (2000, 0.45),
        (2000, 0.9),
        (8000, 0.475),
        (8000, 0.95),
    ]


def test_every_dataset_has_its_own_usual_rows(warehouse: Warehouse) -> None:
    """A small dataset has fewer rows than the training size of a large one."""
    large = ran("a", 500, large=0.8), ran("a", 2000, large=0.9)
    write(warehouse, *large, ran("a", 100, small=0.6), ran("a", 700, middle=0.7))
    assert values(warehouse) == {"large": [0.8], "middle": [0.7], "small": [0.6]}


def test_runs_of_unknown_training_size_are_always_learned_from(warehouse: Warehouse) -> None:
    unstated = ran("a", None, stated=0.5, unstated=0.6)
    write(warehouse, unstated, ran("bb", 500, stated=0.7), ran("bb", 2000, stated=0.8))
    assert values(warehouse) == {"stated": [0.5, 0.7], "unstated": [0.6]}


def test_the_usual_training_size_does_not_depend_on_the_flow(warehouse: Warehouse) -> None:
    """It is that of all the dataset's runs, whichever flow is queried."""
    boosting = ran("bb", 2000, flow=BOOSTING, d1=0.95)
    write(warehouse, ran("a", 500, d1=0.8), ran("ccc", 500, d1=0.7), boosting)
    assert warehouse.run_table(FOREST, ACCURACY).runs["value"].tolist() == [0.8, 0.7]
    assert warehouse.run_table(BOOSTING, ACCURACY).runs.empty


def test_the_training_size_of_most_configurations_is_learned_from(warehouse: Warehouse) -> None:
    """A race fits a few configurations on 500 rows of a dataset whose whole pool was fitted on 2,000."""
    usual = ran("a", 2000, d1=0.8), ran("bb", 2000, d1=0.9)
    write(warehouse, ran("a", 500, d1=0.6), *usual, ran("a", 8000, d1=0.95))
    assert values(warehouse) == {"d1": [0.8, 0.9]}
    table = warehouse.run_table(None, ACCURACY)
    assert (table.smaller["value"].tolist(), table.larger["value"].tolist()) == ([0.6], [0.95])


def test_every_run_has_a_family_by_default_the_dataset_itself(
    warehouse: Warehouse,
) -> None:
    tables = runs(accuracies={"d1": 0.9, "d2": 0.8, "d3": 0.7})
    tables["datasets"] = tables["datasets"].assign(family=["copies", "copies", None])
    warehouse.write(tables, source="test")
    assert warehouse.run_table(None, ACCURACY).runs["family"].tolist() == ["copies", "copies", "d3"]
