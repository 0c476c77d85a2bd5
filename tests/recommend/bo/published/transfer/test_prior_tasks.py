"""Base models of other datasets."""

import numpy as np
import pandas as pd
import pytest

from recommend.bo.published.transfer import prior_tasks
from recommend.bo.published.transfer.prior_tasks import FEWEST, PriorTasks
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from tests.tables import runs_of_flow
from warehouse.questions.queries import RunTable


def runs_of(values: dict[str, list[float]]) -> RunTable:
    """Runs at x = 0, 1, ... on each dataset."""
    rows = [(dataset, f"x{n}", value) for dataset, own in values.items() for n, value in enumerate(own)]
    runs = pd.DataFrame(rows, columns=["dataset", "setup", "value"])
    most = max(map(len, values.values()))
    x = pd.DataFrame({"x": np.arange(most)}, index=pd.Index([f"x{n}" for n in range(most)]))
    return runs_of_flow(runs, x)


@pytest.mark.parametrize("says_nothing", [[0.5] * 5, [0.1, 0.9][: FEWEST - 1]])
def test_a_dataset_with_few_or_equal_values_has_no_base_model(says_nothing: list[float]) -> None:
    runs = runs_of({"told": [0.1, 0.5, 0.9, 0.4, 0.2], "untold": says_nothing})
    sizes = pd.DataFrame({"NumberOfInstances": 100.0, "NumberOfFeatures": 1.0}, index=["told", "untold"])
    models = PriorTasks(runs, sizes).models["toy"]
    assert models is not None
    assert len(models) == 1


def test_a_base_model_learns_from_a_sample_of_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prior_tasks, "CONFIGURATIONS", 7)
    tasks = PriorTasks(toy_runs(), toy_metafeatures())
    (models,) = tasks.models.values()
    assert models is not None
    assert len(models) == toy_runs().runs["dataset"].nunique()
    assert models.known.sum(axis=1).max() == 7
