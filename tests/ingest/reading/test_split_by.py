"""Splits by a column: accepted and refused columns, and the effect on the dataset."""

import numpy as np
import pandas as pd
import pytest

from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.split_by import SplitBy, split_of_key
from tests.cases import each
from warehouse.support.errors import BadInput


def visits(**columns: object) -> Dataset:
    """Four visits of each of ten patients, on forty days."""
    frame = pd.DataFrame(
        {
            "patient": np.repeat(np.arange(10) + 300, 4),
            "day": pd.date_range("2024-03-01", periods=40).strftime("%Y-%m-%d"),
            "ward": ["a", "b"] * 20,
            "ill": ["no", "no", "yes", "yes"] * 10,
        }
    )
    return load_dataset(frame.assign(**columns), target="ill")  # type: ignore[arg-type]


def test_a_group_is_not_a_feature_and_a_time_stays_one() -> None:
    by_group, by_time = visits().split_by("group=patient"), visits().split_by("time=day")
    assert by_group.split == SplitBy("group", "patient")
    assert by_group.roles["patient"] is Role.identifier
    assert by_group.roles["day"] is Role.date
    assert by_time.roles == visits().roles


def test_a_split_dataset_has_another_key_and_the_same_content() -> None:
    whole = visits()
    split = whole.split_by("group=patient")
    assert split.key == f"{whole.key} by group=patient"
    assert split.content_hash == whole.content_hash
    assert split.take(np.arange(20)).split == split.split


def test_the_key_contains_the_split() -> None:
    assert split_of_key(visits().key) is None
    assert split_of_key(visits().split_by("time=day").key) == "time=day"
    assert split_of_key("openml:31") is None
    assert split_of_key("openml:31 by group=a by b") == "group=a by b"
    assert split_of_key("local:sales by group=shop-0123456789abcdef") is None


def test_moments_are_ranked_and_equal_ones_share_a_rank() -> None:
    days = pd.DataFrame({"day": pd.to_datetime(["2024-02-01", "2024-01-01", "2024-02-01", "2024-03-01"])})
    assert SplitBy("time", "day").blocks(days).tolist() == [1, 0, 1, 2]


def test_a_column_may_have_an_equals_sign_in_its_name() -> None:
    assert SplitBy.parse("group=a=b") == SplitBy("group", "a=b")


@each(
    ("split", "columns", "reason"),
    [
        ("patient", {}, "'patient' is not a split; give time=COLUMN or group=COLUMN"),
        ("random=patient", {}, "is not a split"),
        ("group=", {}, "is not a split"),
        ("group=patent", {}, "'patent' to split by does not exist; did you mean 'patient'?"),
        ("group=ill", {}, "'ill' is the target"),
        ("time=ward", {}, "'ward' holds neither dates nor numbers"),
        ("group=ward", {"ward": "a"}, "'ward' has one value only"),
        ("time=day", {"day": [None, None, *range(38)]}, "'day' has no value in 2 rows, .* can't place them"),
        ("group=patient", {"patient": [None, *map(str, range(39))]}, "no value in 1 row, .* can't place it"),
    ],
)
def test_unsuitable_split_columns_are_refused(split: str, columns: dict[str, object], reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as refusal:
        visits(**columns).split_by(split)
    assert "\n" not in str(refusal.value)
