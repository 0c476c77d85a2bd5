"""Uncertainty of expected gains: known answers on simulated comparisons, and the choice of comparisons."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from ingest.flows import get_flow
from ingest.keys import setup_of
from metalearners.encoding.training_data import LargerRuns, TrainingData, training_data
from metalearners.learners.functional_pca import FunctionalPCALearner
from metalearners.learners.improvement_probability import (
    REFERENCE,
    REFERENCE_OF_NUMBERS,
    GainSpread,
    first_beside,
    learn_gain_spread,
    place_of_reference,
    usual_rows_of,
)
from recommend.ranking.target_kinds import REFERENCES
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration

SPREAD = GainSpread(factor=1.5, widening=0.5, usual_rows=2000.0, most_rows=32000.0)


def test_gains_are_less_certain_on_more_rows_if_their_widening_is_known() -> None:
    assert [SPREAD.at(rows) for rows in (10, 2000, 8000, 32000, 1e6)] == pytest.approx([1.5, 1.5, 3, 6, 6])
    assert SPREAD.at(np.nan) == 1.5


@given(st.floats(1, 1e7), st.floats(1, 1e7))
def test_more_rows_never_make_a_gain_more_certain(few: float, more: float) -> None:
    few, more = sorted([few, more])
    assert SPREAD.at(few) <= SPREAD.at(more)


def test_factor_and_widening_are_recovered() -> None:
    random = np.random.default_rng(0)
    rows = random.choice([500.0, 2000.0, 8000.0, 32000.0, np.nan], 20_000)
    gain = random.normal(1.5, 1, len(rows))
    won = (random.random(len(rows)) < ndtr(gain / [SPREAD.at(of) for of in rows])).astype(float)
    learned = learn_gain_spread(gain, won, rows, 2000.0)
    assert (learned.factor, learned.widening) == pytest.approx((1.5, 0.5), abs=0.08)
    assert (learned.usual_rows, learned.most_rows) == (2000.0, 32000.0)


def repeated_runs() -> tuple[TrainingData, list[Positions], list[Floats]]:
    """Three configurations on two datasets of 2,000 rows; on one dataset the first two also on 8,000."""
    values = [0.9, 0.8, 0.7, 0.5, 0.6, 0.7]
    keep = np.array([name in {"setup 0", "setup 1", "setup 2"} for name in toy_runs(2).runs["setup"]])
    runs = toy_runs(2)
    table = runs.runs[keep].reset_index(drop=True).assign(value=values, train_rows=2000.0)
    small = replace(runs, runs=table, configurations=runs.configurations.take([0, 1, 2]))
    data = training_data(small, toy_metafeatures(2))
    larger = LargerRuns(np.array([0, 1]), np.array([8000.0, 8000.0]), np.array([0.91, 0.92]))
    rows = [np.arange(3), np.arange(3, 6)]
    return replace(data, larger=larger), rows, [np.array([2.0, 1.0, 0.0]), np.array([2.0, 1.0, 0.0])]


def test_first_choices_are_compared_with_the_reference_on_each_number_of_rows() -> None:
    """On one dataset configuration 0 is better on 2,000 rows but not on 8,000; on the other it never is."""
    data, rows, expected = repeated_runs()
    found = first_beside(1, data, rows, expected)
    assert found[["dataset", "rows", "won"]].to_numpy().tolist() == [
        [0, 2000, 1],
        [0, 8000, 0],
        [1, 2000, 0],
    ]
    assert set(found["first"]) == {0}
    assert set(found["other"]) == {1}
    assert usual_rows_of(data, rows) == 2000.0


def test_the_reference_is_the_baseline_of_stated_gains() -> None:
    of_classes, of_numbers = map(get_flow, REFERENCES)
    references = [setup_of(Configuration(flow.name, flow.default())) for flow in (of_classes, of_numbers)]
    assert [FunctionalPCALearner().reference, REFERENCE_OF_NUMBERS] == references


def test_the_reference_is_that_of_the_runs_task_type() -> None:
    assert place_of_reference(pd.Index(["other", REFERENCE])) == 1
    assert place_of_reference(pd.Index(["other", "another", REFERENCE_OF_NUMBERS])) == 2
    assert place_of_reference(pd.Index(["other"])) == -1


def test_a_model_is_less_sure_of_gains_where_first_choices_were_overtaken_on_more_rows() -> None:
    """On 8,000 rows all configurations are equally good, unlike on 2,000."""
    runs, metafeatures = toy_runs(24), toy_metafeatures(24)
    base = runs.runs.assign(train_rows=2000.0)
    random = np.random.default_rng(0)
    again = base.assign(train_rows=8000.0, run="8000 " + base["run"], value=random.random(len(base)))
    runs = replace(runs, runs=base, larger=again)
    model = FunctionalPCALearner(reference="setup 0").fit(runs, metafeatures)
    described = metafeatures.iloc[1]  # where gini, such as setup 0, is the worse criterion
    other = runs.configurations.take([0])
    usual, more, beyond = (
        model.beats(runs.configurations, other, described, rows) for rows in (2000.0, 8000.0, 1e6)
    )
    assert usual.max() > more.max() + 0.1
    np.testing.assert_array_equal(more, beyond)
    assert [usual[0], more[0]] == pytest.approx([0.5, 0.5])  # setup 0 against itself, up to rounding
    np.testing.assert_array_equal(usual[1:] > 0.5, more[1:] > 0.5)
