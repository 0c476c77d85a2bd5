"""Samples: their rows and columns, with order and form."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.metafeatures.prepared import Prepared
from ingest.reading.datasets import load_dataset
from tests.ingest.metafeatures.small_tables import computed, sample_from, sample_of


def test_a_sample_is_the_same_whatever_the_order() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(9000, 3)).round(3)).add_prefix("x")
    frame["class"] = np.where(frame["x0"] + random.normal(size=9000) > 0, "a", "b")
    shuffled = frame.sample(frac=1, random_state=0)
    once, again = computed(frame, "landmarkers,pca"), computed(shuffled, "landmarkers,pca")
    assert once.sample == "7,000 of 9,000 rows"
    assert once.values == pytest.approx(again.values)


def test_a_sample_has_each_class_in_its_share() -> None:
    labels = np.resize(["a"] * 89 + ["b"] * 10 + ["c"], 20_000)
    dataset = load_dataset(pd.DataFrame({"x": np.random.default_rng(0).normal(size=20_000), "class": labels}))
    sample = Prepared(dataset).sample
    assert np.bincount(sample.y).tolist() == [6230, 700, 70]


def test_two_categories_are_as_far_apart_as_the_ends_of_a_number() -> None:
    frame = pd.DataFrame(
        {"x": np.tile([0.0, 5.0], 12), "c": np.resize(list("uvw"), 24), "class": np.resize(["a", "b"], 24)}
    )
    sample = sample_of(frame)
    first, others = sample.scaled[0], sample.scaled
    distances = ((others - first) ** 2).sum(axis=1)
    assert set(np.round(distances, 5)) == {0.0, 1.0, 2.0}


@settings(max_examples=50)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=6))
def test_folds_differ_by_one_row_of_a_class_at_most(sizes: list[int]) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    sample = sample_from(y)
    for label in range(len(sizes)):
        of_class = np.bincount(sample.fold[y == label], minlength=sample.fold.max() + 1)
        assert np.ptp(of_class) <= 1


def test_a_wide_table_loses_rows_and_then_columns() -> None:
    """200,000 cells are 666 rows of 300 columns, but 1,000 rows are kept, so only 200 columns."""
    X = np.random.default_rng(0).normal(size=(1200, 300)).round(2)
    sample = sample_of(pd.DataFrame(X).add_prefix("x").assign(**{"class": ["a", "b"] * 600}))
    assert sample.numbers.shape == (1000, 200)
    assert sample.note == "1,000 of 1,200 rows and 200 of 300 attributes"


def test_codes_go_by_frequency_and_a_gap_is_minus_one() -> None:
    colour = ["b", "g", "g", "g", None, "r", "r", "r", "r", "r"]
    sample = sample_of(pd.DataFrame({"colour": colour, "class": list("aaaazzzzzz")}))
    assert sample.y.tolist() == [0] * 6 + [1] * 4
    assert sorted(sample.categories[:, 0]) == [-1, *[0] * 5, *[1] * 3, 2]


def test_categories_after_the_fifteen_most_frequent_count_as_one() -> None:
    """Twenty categories have 21, 20, ..., 2 rows: the last five have 6 + 5 + 4 + 3 + 2 = 20."""
    values = np.repeat([f"v{i}" for i in range(20)], range(21, 1, -1))
    sample = sample_of(pd.DataFrame({"c": values, "class": np.resize(["a", "b"], len(values))}))
    assert np.bincount(sample.categories[:, 0]).tolist() == [*range(21, 6, -1), 20]


def test_two_categories_need_one_indicator_unless_there_are_gaps() -> None:
    frame = pd.DataFrame(
        {
            "two": np.resize(["u", "v"], 12),
            "with gaps": np.resize(["u", "v", None], 12),
            "three": np.resize(["u", "v", "w", "w"], 12),
            "class": np.repeat(["a", "b"], 6),
        }
    )
    sample = sample_of(frame)
    assert sorted(np.bincount(sample.attribute_of)) == [1, 2, 3]
    assert sample.encoded.shape == (12, 6)


def test_a_missing_number_is_filled_with_the_mean() -> None:
    frame = pd.DataFrame({"x": [1.5, np.nan, 4.5, 6.0], "class": list("aabb")})
    sample = sample_of(frame)
    assert sample.ordered.tolist() == [[1.5, 4.0, 4.5, 6.0]]
    assert sorted(sample.tree_columns[:, 0]) == [-2.5, 0, 0.5, 2]
    assert np.isnan(sample.numbers).sum() == 1


def test_a_date_is_a_number_of_days() -> None:
    days = ["2020-02-28", "2020-02-29", "2020-03-01", "2021-03-01"]
    sample = sample_of(pd.DataFrame({"when": days * 2, "class": list("aabbbbaa")}))
    assert np.unique(sample.numbers - sample.numbers.min()).tolist() == [0, 1, 2, 367]


def test_unusable_columns_are_left_out_of_a_sample() -> None:
    """A column that only varies by rounding is constant, too."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "key": [f"k{i}" for i in range(30)],
            "said": [f"the {i}th of several long sentences about {i * 7} things" for i in range(30)],
            "constant": "same",
            "almost constant": 1e9 + random.normal(size=30) * 1e-6,
            "x": 1e9 + random.normal(size=30),
            "c": list("uvw") * 10,
            "class": list("ab") * 15,
        }
    )
    sample = sample_of(frame)
    assert (sample.numbers.shape, sample.categories.shape) == ((30, 1), (30, 1))
    assert np.ptp(sample.numbers) > 1
