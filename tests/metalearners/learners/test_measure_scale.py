"""Scores in the unit of the measure, by landmarkers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.codec import decode, encode
from metalearners.encoding.training_data import LargerRuns, TrainingData
from metalearners.learners.measure_scale import OwnUnit, learn_own_unit
from tests.cases import each

DATASETS, RUNS = 60, 30
NOT_REPEATED = LargerRuns(np.empty(0, np.intp), np.empty(0), np.empty(0))


def metafeatures(tree: np.ndarray) -> pd.DataFrame:
    """Datasets with these error rates of a tree."""
    rows = np.exp(np.linspace(5, 10, len(tree))).round()
    return pd.DataFrame(
        {
            "NumberOfInstances": rows,
            "NumberOfFeatures": 10.0 + np.arange(len(tree)) % 7,
            "NumberOfNumericFeatures": 9.0,
            "NumberOfClasses": 2.0,
            "MajorityClassPercentage": 60.0,
            "J48.0001.ErrRate": tree,
        },
        index=[f"d{number}" for number in range(len(tree))],
    )


def accuracy(tree: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """On the logit scale a good configuration is 0.5 above the tree, and a score of 1 is worth 0.2."""
    return 1 / (1 + np.exp(-(np.log((1 - tree) / tree) + 0.5 + 0.2 * (scores - 1))))


def training(
    noise: float = 0.02, datasets: int = DATASETS, sign: float = 1.0
) -> tuple[TrainingData, np.ndarray]:
    """Runs, and their scores, which are uniform from -1.5 to 1.5; `sign` -1 makes values costs."""
    random = np.random.default_rng(0)
    tree = random.uniform(0.05, 0.4, datasets)
    dataset = np.repeat(np.arange(datasets), RUNS)
    scores = np.tile(np.linspace(-1.5, 1.5, RUNS), datasets)
    level = random.normal(0, noise, datasets)
    values = accuracy(tree[dataset], scores + level[dataset] / 0.2)
    if sign < 0:
        values = -(1 - values)
    data = TrainingData(
        scores=scores,
        values=values,
        configuration=np.tile(np.arange(RUNS), datasets),
        dataset=dataset,
        hyperparameters=pd.DataFrame(index=range(RUNS)),
        metafeatures=metafeatures(tree),
        families=np.arange(datasets),
        train_rows=np.full(len(scores), np.nan),
        larger=NOT_REPEATED,
        related=np.empty((len(scores), 0)),
        link="logit" if sign > 0 else "cost",
    )
    return data, scores


def learned(**options: float) -> OwnUnit:
    data, scores = training(**options)  # type: ignore[arg-type]
    own = learn_own_unit(data, np.arange(len(scores)), scores, scores)
    assert own is not None
    return own


@each("tree", [0.08, 0.2, 0.35])
def test_the_level_of_a_new_dataset_follows_its_landmarkers(tree: float) -> None:
    scores = np.array([0.0, 1.0, 2.0])
    expected = learned().expect(scores, metafeatures(np.array([tree])).iloc[0])
    np.testing.assert_allclose(expected.value, accuracy(np.array([tree]), scores), atol=0.01)
    assert (expected.low < expected.value).all()
    assert (expected.value < expected.high).all()


def test_costs_have_no_upper_bound() -> None:
    """A share of errors as a cost: values are negative, and remain so."""
    own = learned(sign=-1.0)
    expected = own.expect(np.array([1.0]), metafeatures(np.array([0.3])).iloc[0])
    np.testing.assert_allclose(-expected.value, 1 - accuracy(np.array([0.3]), np.array([1.0])), atol=0.02)
    assert expected.low < expected.value < expected.high < 0


def test_intervals_contain_four_of_five_new_datasets() -> None:
    own = learned(noise=0.3)
    random = np.random.default_rng(7)
    tree = random.uniform(0.05, 0.4, 150)
    held = []
    for number, (_, described) in enumerate(metafeatures(tree).iterrows()):
        true = accuracy(tree[[number]], np.array([1.0]) + random.normal(0, 0.3) / 0.2)
        expected = own.expect(np.array([1.0]), described)
        held.append(expected.low[0] <= true[0] <= expected.high[0])
    assert np.mean(held) == pytest.approx(0.8, abs=0.08)


def repeated(gain: float) -> OwnUnit:
    """Scale trained on runs on 2,000 and 8,000 rows, in which z grows by `gain` per factor e of the rows."""
    data, scores = training()
    z = np.log(data.values / (1 - data.values)) + gain * np.log(4)
    larger = LargerRuns(np.arange(len(scores)), np.full(len(scores), 8000.0), 1 / (1 + np.exp(-z)))
    data = replace(
        data,
        train_rows=np.full(len(scores), 2000.0),
        larger=larger,
        metafeatures=data.metafeatures.assign(NumberOfInstances=20_000.0),
    )
    own = learn_own_unit(data, np.arange(len(scores)), scores, scores)
    assert own is not None
    return own


def test_the_gain_of_more_rows_is_that_on_other_datasets() -> None:
    own, described = repeated(0.1), metafeatures(np.array([0.2])).iloc[0].copy()
    described["NumberOfInstances"] = 20_000.0
    few, more, most, all_rows = (
        own.expect(np.array([1.0]), described, rows).value[0] for rows in (2000, 4000, 8000, None)
    )
    logit = [np.log(value / (1 - value)) for value in (few, more, most)]
    np.testing.assert_allclose(np.diff(logit), 0.1 * np.log(2), atol=0.01)
    assert all_rows == most  # nothing is known of more rows


def test_a_trained_scale_can_be_stored() -> None:
    described = metafeatures(np.array([0.2])).iloc[0]
    for own in (learned(), repeated(0.1)):
        again = decode(OwnUnit, *encode(own))
        stored, fresh = (one.expect(np.array([1.0]), described, 4000) for one in (again, own))
        np.testing.assert_array_equal(stored, fresh)


def test_a_dataset_without_landmarkers_gets_a_wide_interval_and_no_error() -> None:
    described = metafeatures(np.array([0.2])).iloc[0].drop("J48.0001.ErrRate")
    expected = learned().expect(np.array([1.0]), described)
    assert np.isfinite(expected.value).all()


def test_levels_need_more_than_a_few_datasets() -> None:
    data, scores = training(datasets=10)
    assert learn_own_unit(data, np.arange(len(scores)), scores, scores) is None
