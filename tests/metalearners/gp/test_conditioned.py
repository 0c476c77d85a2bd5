"""Models after trials: what was tried goes by what came of it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from metalearners.gp.conditioned import Conditioned
from metalearners.gp.posterior import Prior
from metalearners.predictions import Observations, Prediction
from tests.tables import flow_table
from warehouse.configurations.table import ConfigurationTable
from warehouse.support.arrays import Floats, Positions

NOTHING = pd.Series(dtype=np.float64)


@dataclass(frozen=True)
class Independent:
    """Scores of configurations 0 to 4, expected to be 0.4 to 0, that say nothing of each other."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        return Prediction(self.prior(configurations, metafeatures).mean)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        return np.argsort(-self.predict(configurations, metafeatures).mean)[:n]

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:  # noqa: ARG002
        numbers = configurations.parameters["x"].to_numpy(dtype=np.intp)
        return Prior(0.4 - 0.1 * numbers, np.eye(5)[numbers], numbers[:, None].astype(np.float64))

    def targets_of(self, values: Floats) -> Floats:
        return values


def numbered(*numbers: int) -> ConfigurationTable:
    return flow_table(pd.DataFrame({"x": list(numbers)}))


def after(*trials: tuple[int, float]) -> Conditioned:
    numbers, values = zip(*trials, strict=True)
    return Conditioned(Independent(), Observations(numbered(*numbers), np.array(values)))


def test_the_best_trial_comes_first_and_a_bad_one_last() -> None:
    chosen = after((4, 0.9), (3, 0.1)).choose(numbered(0, 1, 2, 3, 4), NOTHING, 5)
    assert (chosen[0], chosen[-1]) == (4, 3)


def test_several_trials_of_one_configuration_count_as_their_mean() -> None:
    """0.9 and 0.1 are less than 0.6 on average."""
    first = after((4, 0.9), (4, 0.1), (3, 0.6), (2, 0.2)).choose(numbered(2, 3, 4), NOTHING, 1)
    assert first.tolist() == [1]


@pytest.mark.parametrize("trials", [[(4, 0.9)], [(4, 0.9), (3, 0.9)]])
def test_trials_that_say_nothing_leave_the_choice_as_it_was(trials: list[tuple[int, float]]) -> None:
    assert after(*trials).choose(numbered(4, 0, 1), NOTHING, 3).tolist() == [1, 2, 0]


def test_trials_in_turn_are_trials_at_once() -> None:
    at_once = after((4, 0.9), (3, 0.1), (0, 0.3))
    in_turn = after((4, 0.9)).condition(after((3, 0.1), (0, 0.3)).trials)
    everything = numbered(0, 1, 2, 3, 4)
    np.testing.assert_array_equal(
        in_turn.predict(everything, NOTHING).mean, at_once.predict(everything, NOTHING).mean
    )
