"""Cautions about a dataset before trusting a recommendation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from recommend.explaining.data_checks import Outside, cautions


def dataset(rows: int = 1000, /, **columns: object) -> Dataset:
    """Noise, a class of half of the rows, and more columns."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": random.normal(size=rows), "class": random.choice(["a", "b"], rows)})
    return load_dataset(frame.assign(**columns), target="class")  # type: ignore[arg-type]


def kinds(data: Dataset) -> list[str]:
    return [caution.kind for caution in cautions(data, [])]


def test_an_ordinary_dataset_needs_no_caution() -> None:
    assert kinds(dataset()) == []


def test_doubts_of_reading_come_first() -> None:
    doubted = replace(dataset(20), doubts=("'size' has a word among its numbers",))
    first = cautions(doubted, [])[0]
    assert (first.kind, first.text) == ("reading", "'size' has a word among its numbers")


def test_numbers_that_are_clipped_are_named() -> None:
    (caution,) = cautions(dataset(energy=-5e301 * np.random.default_rng(0).random(1000)), [])
    assert caution.kind == "reading"
    assert caution.text.startswith(
        "'energy' has numbers up to 5e+301 in size; all beyond 1.3e+30 count alike"
    )


def test_a_last_row_of_totals_is_pointed_out() -> None:
    sold = np.random.default_rng(0).integers(0, 9, 1000)
    (caution,) = cautions(dataset(sold=[*sold[:-1], sold[:-1].sum()]), [])
    assert "a total: its 'sold' is the sum of all others" in caution.text


@pytest.mark.parametrize("leak", ["number", "category", "half of an interval"])
def test_a_column_that_determines_the_class_is_suspected(leak: str) -> None:
    label = np.random.default_rng(0)
    label.normal(size=1000)
    label = (label.choice(["a", "b"], 1000) == "a").astype(int)
    other = np.random.default_rng(1)
    columns = {
        "number": label + other.normal(size=1000) / 100,
        "category": np.where(label, "yes, paid", "no, not yet"),
        "half of an interval": np.where(label, other.uniform(0, 1, 1000), other.uniform(1, 9, 1000)),
    }
    (caution,) = cautions(dataset(after=columns[leak]), [])
    assert caution.kind == "leakage"
    assert "'after' alone tells nearly every class" in caution.text


@pytest.mark.parametrize(("share", "is_found"), [(0.02, True), (0.3, False)])
def test_a_noisy_copy_of_the_class_is_suspected(share: float, is_found: bool) -> None:
    """This share of rows has the other class in the copy; on balanced classes twice that remains."""
    label = dataset(2000).target.astype(str)
    flipped = np.random.default_rng(2).random(2000) < share
    copy = label.where(~flipped, label.map({"a": "b", "b": "a"}))
    assert kinds(dataset(2000, copy=copy)) == (["leakage"] if is_found else [])


@pytest.mark.parametrize(("where", "words"), [("there", "a value"), ("missing", "gaps")])
def test_a_column_whose_gaps_determine_a_class_is_suspected(where: str, words: str) -> None:
    """A date of cancellation exists only for those who cancelled, whatever its value."""
    random = np.random.default_rng(3)
    label = random.choice(["cancelled", "new", "old"], 1000)
    is_there = (label == "cancelled") == (where == "there")
    after = np.where(is_there, random.normal(size=1000), np.nan)
    (caution,) = cautions(dataset(after=after, **{"class": label}), [])
    assert caution.kind == "leakage"
    assert f"'after' has {words} nearly only in rows of class 'cancelled'" in caution.text


def test_repeated_rows_are_pointed_out_unless_chance_explains_them() -> None:
    frame = dataset(950).features.assign(**{"class": dataset(950).target})
    copied = load_dataset(pd.concat([frame, frame[:50]]), target="class")
    (caution,) = cautions(copied, [])
    assert caution.text.startswith("50 of 1,000 rows repeat another one: if these are copies, delete them")
    assert kinds(load_dataset(frame[["class"]].assign(a=np.arange(950) % 7), target="class")) == []


def test_categories_that_name_rows_are_pointed_out() -> None:
    """600 of 1,000 rows have a unique code."""
    data = dataset(code=[f"c{n if n < 600 else 0}x" for n in range(1000)])
    assert data.roles["code"] == "categorical"
    assert kinds(data) == ["identifier"]


def test_an_increasing_number_is_pointed_out() -> None:
    (caution,) = cautions(dataset(when=np.arange(1000) * 7 + 100), [])
    assert caution.kind == "identifier"
    assert "--role when=identifier" in caution.text


def test_ignored_identifiers_are_named() -> None:
    (caution,) = cautions(dataset(row_id=np.arange(1, 1001)), [])
    assert caution.text == (
        "ignored as identifiers, since hardly any value repeats: 'row_id'; to use one as a feature, "
        "give --role row_id=categorical"
    )


def test_the_option_for_a_column_can_be_copied_into_a_shell() -> None:
    """A name may have blanks."""
    (caution,) = cautions(dataset(**{"sent at": np.arange(1000) * 7 + 100}), [])
    assert "give --role 'sent at=identifier'" in caution.text


def test_rare_classes_and_few_rows_are_named() -> None:
    label = ["a"] * 50 + ["b"] * 46 + ["rare"] * 4
    texts = [caution.text for caution in cautions(dataset(100, **{"class": label}), [])]
    assert "classes with very few rows: 'rare' (4)" in texts
    # 1.28 sqrt(0.8 0.2 / 100) = 0.0512
    assert any("100 rows: chance alone moves a measured accuracy of 0.80 by 0.051" in text for text in texts)


def test_imbalance_is_named() -> None:
    assert kinds(dataset(**{"class": ["no"] * 950 + ["yes"] * 50})) == ["imbalance"]


def test_the_extent_to_which_a_size_is_out_of_range() -> None:
    (caution,) = cautions(dataset(), [Outside("NumberOfFeatures", 501, 3, 201)])
    assert "outside of the known datasets' range (2 to 200; 2.5 times the most)" in caution.text
