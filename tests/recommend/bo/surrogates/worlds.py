"""Inputs for tests of surrogates."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd
import pytest

from metalearners import new_learner
from metalearners.learners.base import MetaLearner
from recommend.bo.published.transfer.prior_tasks import PriorTasks
from recommend.space import Configurations, configurations_of_table
from tests.contracts.meta_learner import toy_metafeatures, toy_runs, two_algorithms
from tests.tables import flow_table

QUICK: Mapping[str, Mapping[str, Any]] = {"pmf": {"steps": 20, "epochs": 20}}
"""Settings of learners that otherwise take long to train."""
METAFEATURES = pd.Series({"NumberOfInstances": 300.0, "NumberOfFeatures": 10.0})


@cache
def learner_of(name: str, joint: bool) -> MetaLearner:
    """A learner trained on the toy runs; cached."""
    if name == "pmf":
        pytest.importorskip("torch", reason="training needs the extra `pmf`")
    runs = two_algorithms() if joint else toy_runs()
    return new_learner(name, QUICK.get(name)).fit(runs, toy_metafeatures())


@cache
def tasks_of(joint: bool) -> PriorTasks:
    """Base models of the toy runs."""
    return PriorTasks(two_algorithms() if joint else toy_runs(), toy_metafeatures())


def table(**columns: list[Any]) -> Configurations:
    """Configurations with these hyperparameters."""
    return configurations_of_table(flow_table(pd.DataFrame(columns, dtype=object)), {})
