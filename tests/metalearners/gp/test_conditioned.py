"""Models after trials: tried configurations are judged by their values."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from metalearners.gp.conditioned import Conditioned
from metalearners.gp.posterior import Prior
from metalearners.predictions import Observations, Prediction
from tests.tables import flow_table
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable

NOTHING = pd.Series(dtype=np.float64)


@dataclass(frozen=True)
class Independent:
    """Independent scores of configurations 0 to 4, with means 0.4 to 0."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        return Prediction(self.prior(configurations, metafeatures).mean)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        return np.argsort(-self.predict(configurations, metafeatures).mean)[:n]

    def expect(self, *_: object, **__: object) -> None:
        """It has no level."""

    def beats(self, configurations: ConfigurationTable, *_: object, **__: object) -> Floats:
        return np.full(len(configurations), np.nan)

    def condition(self, observations: Observations) -> Conditioned:
        return Conditioned(self, observations)

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:  # noqa: ARG002
        numbers = configurations.parameters["x"].to_numpy(dtype=np.intp)
        return Prior(0.4 - 0.1 * numbers, np.eye(5)[numbers], numbers[:, None].astype(np.float64))

    def targets_of(self, values: Floats) -> Floats:
        return values


@dataclass(frozen=True)
class OfRanks(Independent):
    """The same, having learned from ranks."""

    def targets_of(self, values: Floats) -> Floats:
        return np.argsort(np.argsort(values)).astype(np.float64)


def numbered(*numbers: int) -> ConfigurationTable:
    return flow_table(pd.DataFrame({"x": list(numbers)}))


def after(*trials: tuple[int, float]) -> Conditioned:
    numbers, values = zip(*trials, strict=True)
    return Conditioned(Independent(), Observations(numbered(*numbers), np.array(values)))


def test_the_best_trial_comes_first_and_a_bad_one_last() -> None:
    chosen = after((4, 0.9), (3, 0.1)).choose(numbered(0, 1, 2, 3, 4), NOTHING, 5)
    assert (chosen[0], chosen[-1]) == (4, 3)


def test_several_trials_of_one_configuration_count_as_their_mean() -> None:
    """0.9 and 0.1 have a mean below 0.6."""
    first = after((4, 0.9), (4, 0.1), (3, 0.6), (2, 0.2)).choose(numbered(2, 3, 4), NOTHING, 1)
    assert first.tolist() == [1]


def test_conditioning_step_by_step_equals_conditioning_at_once() -> None:
    at_once = after((4, 0.9), (3, 0.1), (0, 0.3))
    in_turn = after((4, 0.9)).condition(after((3, 0.1), (0, 0.3)).trials)
    everything = numbered(0, 1, 2, 3, 4)
    np.testing.assert_array_equal(
        in_turn.predict(everything, NOTHING).mean, at_once.predict(everything, NOTHING).mean
    )


SIX = ((0, 0.70), (1, 0.80), (2, 0.90), (3, 0.60), (1, 0.81), (2, 0.89))


def test_values_are_expected_in_the_unit_of_the_trials() -> None:
    expected = after(*SIX).expect(numbered(0, 1, 2, 3, 4), NOTHING)
    assert expected is not None
    measured = np.array([0.70, 0.805, 0.895, 0.60])
    np.testing.assert_allclose(expected.value[:4], measured, atol=0.02)
    assert (np.argsort(expected.value[:4]) == np.argsort(measured)).all()
    assert (expected.low < expected.value).all()
    assert (expected.value < expected.high).all()
    width = expected.high - expected.low
    assert width[4] > width[:4].max()  # the untried one


def test_the_value_of_the_best_trial_is_shrunk_for_luck() -> None:
    """All truly have 0.7. On 100 test rows, a measured 0.7 has a standard deviation of 0.046, of which trials
    on the same rows share a part."""
    measured = [0.70, 0.75, 0.65, 0.69, 0.71]
    everything = numbered(0, 1, 2, 3, 4)
    trials = Observations(everything, np.array(measured), "logit")

    def best(test_rows: int | None, instances: float = np.nan) -> tuple[float, float]:
        known = Conditioned(Independent(), replace(trials, test_rows=test_rows))
        expected = known.expect(everything, pd.Series({"NumberOfInstances": instances}))
        assert expected is not None
        assert expected.value.argmax() == 1
        return float(expected.value[1]), float(expected.high[1] - expected.low[1])

    few, some, many = best(100), best(1000), best(10**12)
    assert 0.70 < few[0] < 0.735 < some[0] < many[0] < 0.75
    assert few[1] > some[1] > many[1]
    assert best(None, 100.0) == few  # by default, all rows were tested
    assert best(None) == pytest.approx(many)


def test_values_of_costs_are_predicted_as_costs() -> None:
    trials = tuple((number, value - 1.2) for number, value in SIX)
    expected = after(*trials).expect(numbered(2, 4), NOTHING)
    assert expected is not None
    assert (expected.high < 0).all()
    assert expected.value[0] == pytest.approx(-0.3, abs=0.05)


def test_how_bad_the_worst_trial_is_does_not_matter_for_the_best() -> None:
    """The learner has learned ranks. On the scale of values, one bad trial would stretch all differences."""

    def expected(worst: float) -> Floats:
        values = np.array([worst, 0.70, 0.71, 0.72, 0.73, 0.74])
        known = Conditioned(OfRanks(), Observations(numbered(4, 3, 3, 2, 2, 1), values))
        found = known.expect(numbered(0, 1), NOTHING)
        assert found is not None
        return found.value

    np.testing.assert_allclose(expected(0.1), expected(0.69))
    assert expected(0.1)[0] < 0.76


def test_the_first_choice_has_the_best_expected_value() -> None:
    known, everything = after(*SIX), numbered(0, 1, 2, 3, 4)
    expected = known.expect(everything, NOTHING)
    assert expected is not None
    assert known.choose(everything, NOTHING, 1)[0] == expected.value.argmax()


def test_a_few_trials_give_no_expected_value() -> None:
    assert after(*SIX[:4]).expect(numbered(0), NOTHING) is None


def test_a_better_trial_is_likely_better() -> None:
    known = after(*SIX)
    likely = known.beats(numbered(2, 0, 4), numbered(1), NOTHING)
    assert likely[0] > 0.8
    assert likely[1] < 0.2
    assert likely[1] < likely[2] < likely[0]


def test_without_trials_predictions_are_the_models() -> None:
    nothing = Conditioned(Independent(), Observations(numbered(), np.empty(0)))
    assert nothing.expect(numbered(0), NOTHING) is None
    assert np.isnan(nothing.beats(numbered(0), numbered(1), NOTHING)).all()
