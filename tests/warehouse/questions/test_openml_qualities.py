"""Published qualities are converted to one unit and one rule."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from warehouse.questions.openml_qualities import harmonized


@pytest.fixture(scope="module")
def published(shared_data: Path) -> pd.DataFrame:
    """Real qualities, tasks x names."""
    return pd.DataFrame(json.loads((shared_data / "openml-runs" / "task_qualities.json").read_text())).T


def test_shares_are_percent_for_every_dataset(published: pd.DataFrame) -> None:
    """OpenML wrote them as fractions for some datasets."""
    values = harmonized(published)
    assert (values["MajorityClassPercentage"] >= values["MinorityClassPercentage"]).all()
    kinds = values["PercentageOfNumericFeatures"] + values["PercentageOfSymbolicFeatures"]
    assert kinds.between(50, 100 + 1e-9).all()
    assert (values["PercentageOfMissingValues"] <= 100).all()


def test_placeholders_are_missing(published: pd.DataFrame) -> None:
    values = harmonized(published)
    assert not (values == -1).any(axis=None)
    # Some published kurtoses, skewnesses and means are truly negative.
    assert (values < 0).any(axis=None)


def test_a_share_without_its_counts_stays_as_published() -> None:
    frame = pd.DataFrame(
        {
            "MajorityClassPercentage": [0.9, 60.0],
            "MajorityClassSize": [90.0, np.nan],
            "NumberOfInstances": [100.0, 50.0],
        }
    )
    assert harmonized(frame)["MajorityClassPercentage"].tolist() == [90.0, 60.0]


def test_a_numeric_target_is_not_an_attribute_and_has_no_classes() -> None:
    """OpenML publishes moments that depend on the target's unit, and an autocorrelation of 1 - 9 / 99."""
    frame = pd.DataFrame(
        {
            "NumberOfClasses": [0.0, 2.0],
            "NumberOfInstances": 100.0,
            "NumberOfNumericFeatures": 5.0,
            "AutoCorrelation": 1 - 9 / 99,
            "MeanMeansOfNumericAtts": [1e6, 1.0],
            "MaxCardinalityOfNumericAttributes": [100.0, 90.0],
            "CardinalityAtTwo": [9000.0, 180.0],
        }
    )
    assert harmonized(frame).notna().all(axis=1).tolist() == [False, True]
    kept = {"NumberOfClasses", "NumberOfInstances", "NumberOfNumericFeatures", "CardinalityAtTwo"}
    assert set(harmonized(frame).iloc[0].dropna().index) == kept


def test_moments_need_a_numeric_feature() -> None:
    frame = pd.DataFrame({"NumberOfNumericFeatures": [0.0, 2.0], "MaxMeansOfNumericAtts": [0.0, 0.0]})
    assert harmonized(frame)["MaxMeansOfNumericAtts"].isna().tolist() == [True, False]


def test_moments_shared_by_different_datasets_are_removed() -> None:
    """Two datasets of different sizes can't share an extreme to the last digit; copies of a dataset may."""
    frame = pd.DataFrame(
        {
            "NumberOfInstances": [100.0, 200.0, 300.0, 300.0],
            "NumberOfNumericFeatures": 5.0,
            "MaxSkewnessOfNumericAtts": [67.40076687598162, 67.40076687598162, 1.5, 1.5],
            "MeanMeansOfNumericAtts": [1.0, 2.0, 3.0, 3.0],
        }
    )
    assert harmonized(frame)["MeanMeansOfNumericAtts"].isna().tolist() == [True, True, False, False]
