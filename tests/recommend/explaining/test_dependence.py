"""Detection of rows ordered in time or grouped."""

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from recommend.explaining.data_checks import cautions
from recommend.explaining.dependence import in_words

N = 600


def table(**columns: object) -> Dataset:
    """Noise, a random class, and more columns."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": random.normal(size=N), "size": random.integers(0, 40, N)})
    label = pd.DataFrame({"class": random.choice(["a", "b"], N)})
    return load_dataset(pd.concat([frame, label], axis=1).assign(**columns), target="class")  # type: ignore[arg-type]


def shuffled(values: object, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.asarray(values))


DAYS = pd.date_range("2023-01-01", periods=N).strftime("%Y-%m-%d").to_numpy()
PERSONS = np.repeat(np.arange(100) * 7 + 300, 6)
OF_PERSON = np.repeat(np.random.default_rng(2).choice(["a", "b"], 100), 6)


@pytest.mark.parametrize(
    ("name", "values", "split", "seen"),
    [
        ("sold", DAYS, "time=sold", "the rows are in the order of 'sold'"),
        ("sold", DAYS[::-1], "time=sold", "the rows are in the order of 'sold'"),
        ("Year", np.repeat(np.arange(1990, 2010), 30), "time=Year", "the rows are in the order of 'Year'"),
        ("Date", shuffled(DAYS), "time=Date", "each row is dated by 'Date'"),
        (
            "customerId",
            shuffled(PERSONS),
            "group=customerId",
            "'customerId' has 100 different values in 600 rows",
        ),
        ("patient", [f"p{one}" for one in PERSONS], "group=patient", "has 100 different values in 600 rows"),
        ("order id", PERSONS, "'group=order id'", "has 100 different values"),
    ],
)
def test_a_time_in_order_and_a_repeated_identifier_are_pointed_out(
    name: str, values: object, split: str, seen: str
) -> None:
    (text,) = in_words(table(**{name: values}))
    assert seen in text
    assert text.endswith(f"give --split {split}")


def test_a_date_whose_neighbouring_rows_share_classes_is_pointed_out() -> None:
    by_month = np.random.default_rng(3).choice(["a", "b"], 20).repeat(30)
    order = shuffled(np.arange(N))
    (text,) = in_words(table(sold=DAYS[order], **{"class": by_month[order]}))
    assert "rows of nearly the same 'sold' have the same class" in text
    assert text.endswith("--split time=sold")


def test_blocks_of_rows_with_one_class_are_pointed_out_whatever_their_name() -> None:
    words = [f"unit {one}" for one in PERSONS]
    for values in (words, PERSONS):
        (text,) = in_words(table(commune=values, **{"class": OF_PERSON}))
        assert "rows with the same 'commune' stand together and have the same class (100% of them" in text
        assert text.endswith("--split group=commune")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sold", shuffled(DAYS)),  # uninformative
        ("birth date", DAYS),
        ("sold", ["2023-01-01"] * 300 + ["2023-02-01"] * 300),  # two times are not a series
        ("price", np.sort(np.random.default_rng(0).integers(0, 90, N))),  # sorted, but not a time
        ("group", np.arange(N) % 3),
        ("household size", PERSONS % 23),
        ("family", np.arange(N) % 10),
        ("commune", PERSONS),  # with random classes
        ("commune", shuffled(PERSONS)),
        ("row_id", np.arange(N) + 5),
    ],
)
def test_ordinary_columns_are_not_pointed_out(name: str, values: object) -> None:
    assert in_words(table(**{name: values})) == []


def test_a_sorted_number_smoothly_related_to_the_class_is_not_a_group() -> None:
    rows = np.random.default_rng(0)
    ages = np.sort(rows.integers(200, 280, N))
    label = np.where(ages + rows.normal(size=N) * 3 > 240, "a", "b")
    assert in_words(table(age=ages, **{"class": label})) == []


def test_a_time_and_a_group_are_both_named_but_nothing_once_rows_are_split() -> None:
    data = table(day=DAYS, patient=shuffled(PERSONS))
    assert [text.rpartition(" ")[2] for text in in_words(data)] == ["time=day", "group=patient"]
    assert in_words(data.split_by("group=patient")) == []


def test_the_check_is_a_caution_and_a_group_is_not_an_identifier() -> None:
    data = table(patient=shuffled(PERSONS))
    assert [caution.kind for caution in cautions(data, [])] == ["dependence"]
    (left,) = cautions(data.split_by("group=patient"), [])
    assert left.text == (
        "expected values hold for rows drawn at random and may be too good for rows of new groups: --verify "
        "measures them"
    )
    assert cautions(data.split_by("group=patient"), [], trials=12) == []
