"""Combining trials on a new dataset."""

import numpy as np
import pandas as pd

from metalearners.predictions import Observations
from tests.tables import flow_table, joint_table


def trials(**values: float) -> Observations:
    """A trial for each of these setup names; the depth is ten times the value."""
    depth = pd.DataFrame({"depth": [10 * value for value in values.values()]}, index=list(values))
    return Observations(flow_table(depth), np.array(list(values.values())))


def test_more_trials_are_appended_with_their_own_configurations() -> None:
    both = trials(a=0.2, b=0.1).with_more(trials(c=0.4))
    assert both.values.tolist() == [0.2, 0.1, 0.4]
    assert both.configurations.parameters["depth"].tolist() == [2, 1, 4]
    assert both.configurations.setups.tolist() == ["a", "b", "c"]


def test_trials_of_another_algorithm_lack_the_hyperparameters_of_the_first() -> None:
    forest = joint_table(pd.DataFrame({"forest:depth": [3]}, index=["a"]), ["forest"])
    boosting = joint_table(pd.DataFrame({"boosting:rate": [0.1]}, index=["b"]), ["boosting"])
    both = Observations(forest, np.array([0.5])).with_more(Observations(boosting, np.array([0.6])))
    assert [one.values for one in both.configurations.configurations()] == [{"depth": 3}, {"rate": 0.1}]
    assert both.configurations.hyperparameters["algorithm"].tolist() == ["forest", "boosting"]
