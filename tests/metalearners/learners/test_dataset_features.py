"""Datasets as points."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalearners.learners.dataset_features import FEATURE_GROUPS, QUALITIES, describe
from warehouse.vocabulary.qualities import GROUPS


def datasets(n: int = 9) -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.uniform(0.05, 0.9, size=(n, len(QUALITIES))), columns=list(QUALITIES))
    frame["NumberOfInstances"] = np.geomspace(10, 1e6, n)
    frame["NumberOfFeatures"] = np.arange(2.0, n + 2)
    frame["NumberOfClasses"] = 2.0
    frame["MajorityClassPercentage"] = np.linspace(50, 90, n)
    return frame


def test_every_quality_is_registered() -> None:
    assert set(QUALITIES) <= {name for names in GROUPS.values() for name in names}


def test_features_are_normal_scores_of_ranks() -> None:
    """The fifth of nine values is the median, 0, and the lowest and highest are opposite."""
    rows = describe(datasets(), ["sizes"]).points[:, 0]
    assert rows[4] == pytest.approx(0)
    assert rows[0] == pytest.approx(-rows[8])
    assert (np.diff(rows) > 0).all()


def test_a_training_dataset_keeps_its_features() -> None:
    known = describe(datasets(), list(FEATURE_GROUPS))
    for number in range(9):
        np.testing.assert_allclose(known.place(datasets().iloc[number]), known.points[number])
        assert known.distances(known.points[number])[:, number].max() == 0


def test_constant_and_mostly_missing_qualities_are_left_out() -> None:
    frame = datasets().drop(columns=list(GROUPS["relative"]))
    frame.loc[:5, "NumberOfNumericFeatures"] = np.nan
    known = describe(frame, list(FEATURE_GROUPS))
    assert "relative" not in known.groups
    of_sizes = known.used[: len(FEATURE_GROUPS["sizes"](lambda name: frame[name].to_numpy()))]
    assert of_sizes.tolist() == [True, True, False, False, True]  # a constant number of classes


@given(st.dictionaries(st.sampled_from(QUALITIES), st.floats(allow_nan=True, allow_infinity=True)))
def test_any_dataset_has_features(qualities: dict[str, float]) -> None:
    known = describe(datasets(), list(FEATURE_GROUPS))
    u = known.place(pd.Series(qualities, dtype=float))
    assert np.isfinite(u).all()
    assert np.abs(u).max(initial=0) < 3
