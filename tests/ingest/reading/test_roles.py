"""The role of a column is detected from values and name, and determines its form."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.column_types.columns import tidied
from ingest.reading.column_types.role_detection import converted, detect_role
from ingest.reading.column_types.roles import Role, roles_in_words
from ingest.reading.datasets import load_dataset
from tests.cases import each

LABELS = ["x", "y"] * 15  # 30 rows
COUNTING = list(range(1, 31))

COLUMNS: dict[str, tuple[str, list[Any], Role]] = {
    "numbers": ("a", [0.5, 2.0, -1.0] * 10, Role.numeric),
    "few numbers": ("a", [0, 1] * 15, Role.numeric),
    "numbers as words": ("a", ["1", "2.5", " 3 "] * 10, Role.numeric),
    "numbers with markers": ("a", ["1", "NA", "?", "-", "None", "2"] * 5, Role.numeric),
    "thousands separators": ("a", ["1,000", "2,500", "1,000,000"] * 10, Role.numeric),
    "amounts of money": ("a", ["$1,000.50", "$950", "-$3"] * 10, Role.numeric),
    "amounts in two currencies": ("a", ["$5", "€4", "$3"] * 10, Role.categorical),
    "shares in percent": ("a", ["5%", "12.5 %", "-"] * 10, Role.numeric),
    "numbers with a unit": ("a", ["1248 CC", "998.5 CC"] * 15, Role.numeric),
    "numbers with two units": ("a", ["3 kg", "4 lb"] * 15, Role.categorical),
    "codes with digits": ("a", ["2WD", "4WD"] * 15, Role.categorical),
    "words that are markers among numbers": ("a", ["none", "oil", "gas"] * 10, Role.categorical),
    "numbers and words": ("a", ["1", "two"] * 15, Role.categorical),
    "unique numbers": ("a", np.random.default_rng(0).permutation(30).tolist(), Role.numeric),
    "unique numbers, named so": (
        "customer_id",
        np.random.default_rng(0).permutation(30).tolist(),
        Role.identifier,
    ),
    "unique numbers, named so in camel case": (
        "CustomerID",
        [i * 17 % 1009 for i in COUNTING],
        Role.identifier,
    ),
    "repeated numbers, named id": ("id", [1, 2, 3] * 10, Role.numeric),
    "measurements, named id": ("id", [i / 7 for i in COUNTING], Role.numeric),
    "a name that ends like id": ("humid", [i * 17 % 1009 for i in COUNTING], Role.numeric),
    "row numbers": ("a", COUNTING, Role.identifier),
    "row numbers from 0": ("a", [i - 1 for i in COUNTING], Role.identifier),
    "years": ("year", [1990 + i for i in COUNTING], Role.numeric),
    "pandas' index": ("", [i + 5 for i in COUNTING], Role.identifier),
    "unique words": ("a", [f"k{i}" for i in COUNTING], Role.identifier),
    "nearly unique words": ("a", [f"k{min(i, 29)}" for i in COUNTING], Role.identifier),
    "words": ("a", [f"k{i % 20}" for i in COUNTING], Role.categorical),
    "truth values": ("a", ["TRUE", "FALSE"] * 15, Role.boolean),
    "yes and no": ("a", ["yes", "no", None] * 10, Role.boolean),
    "one value": ("a", [3.5] * 30, Role.constant),
    "one word": ("a", ["w"] * 30, Role.constant),
    "nothing": ("a", [None] * 30, Role.constant),
    "one word with gaps": ("a", ["w", None] * 15, Role.categorical),
    "one value with gaps": ("a", [1.0, None] * 15, Role.numeric),
    "free text": ("a", [f"a long remark about the number {i % 25}" for i in COUNTING], Role.text),
    "long categories": ("a", [f"a long category with number {i % 5}" for i in COUNTING], Role.categorical),
    "ISO dates": ("a", [f"2020-01-{i:02d}" for i in COUNTING], Role.date),
    "ISO times": ("a", [f"2020-01-{i:02d}T10:00:00Z" for i in COUNTING], Role.date),
    "slashed dates": ("a", [f"{i}/1/2020" for i in COUNTING], Role.date),
    "dotted dates": ("a", [f"{i}.01.2020" for i in COUNTING], Role.date),
    "dates with months in words": ("a", [f"{i:02d}-Jan-2020" for i in COUNTING], Role.date),
    "dates with gaps": ("a", ["2020-01-01", None, "2020-02-01"] * 10, Role.date),
    "dates with markers": ("a", ["2020-01-01", "-", "2020-02-01"] * 10, Role.date),
    "times with short years": ("a", [f"1/{i}/20 9:30" for i in COUNTING], Role.date),
    "dates and words": ("a", ["2020-01-01", "never"] * 15, Role.categorical),
    "one word among numbers": ("a", [*range(40, 69), "unknown"], Role.numeric),
    "a few words among few numbers": ("a", ["1", "2", "3", "4", "5+"] * 6, Role.categorical),
    "one impossible date": ("a", ["2024-02-30", *(f"2024-03-{i:02d}" for i in range(1, 30))], Role.date),
    "zip codes": ("a", ["00501", "10115", "00544", "80331", "01067"] * 6, Role.categorical),
    "codes of several lengths": ("a", ["007", "12", "0815"] * 10, Role.categorical),
    "serial numbers of 20 digits": ("a", [f"987654321098765432{i:02d}" for i in COUNTING], Role.identifier),
    "ranges of ages": ("a", ["10-19", "20-29", "30-39"] * 10, Role.categorical),
    "times of day": ("a", ["10:30", "11:45", "12:00"] * 10, Role.numeric),
}


@each("kind", COLUMNS)
@each("through", ["frame", "csv"])
def test_roles_are_detected_from_values_and_names(tmp_path: Path, kind: str, through: str) -> None:
    name, values, expected = COLUMNS[kind]
    frame = pd.DataFrame({name: values, "b": [0.5, 1.5] * 15, "class": LABELS})
    if through == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    dataset = load_dataset(tmp_path / "t.csv" if through == "csv" else frame)
    assert next(iter(dataset.roles.values())) == expected


@each(("through", "expected"), [("frame", Role.categorical), ("csv", Role.numeric)])
def test_an_ambiguous_comma_separates_thousands_in_a_comma_delimited_file(
    tmp_path: Path, through: str, expected: Role
) -> None:
    frame = pd.DataFrame({"a": ["1,000", "2,500"] * 15, "class": LABELS})
    frame.to_csv(tmp_path / "t.csv", index=False)
    dataset = load_dataset(tmp_path / "t.csv" if through == "csv" else frame)
    assert dataset.roles["a"] is expected


def _role(values: list[Any], name: str = "a") -> Role:
    return detect_role(tidied(pd.Series(values)), name)


@each(
    ("rows", "distinct", "role"),
    [
        (20, 20, Role.identifier),
        (20, 19, Role.identifier),
        (20, 18, Role.categorical),
        (19, 19, Role.categorical),
    ],
)
def test_words_name_rows_when_95_percent_of_at_least_20_differ(rows: int, distinct: int, role: Role) -> None:
    """19 of 20 are 95 percent."""
    assert _role([f"k{min(row, distinct - 1)}" for row in range(rows)]) == role


@each(
    ("words", "role"),
    [
        ("aaaaaa bbbbbbb ccccccc ddddddd", Role.text),
        ("aaaaaa bbbbbb ccccccc ddddddd", Role.identifier),
        ("aaaaaaaaaaaaaa bbbbbbb ccccccc", Role.identifier),
    ],
)
def test_text_has_30_characters_and_four_words_on_average(words: str, role: Role) -> None:
    """The first has 30 characters and 4 words, the second 29 characters, the third 3 words."""
    rows = [words[:-2] + f"{number:02d}" for number in range(40)]
    assert _role(rows) == role


def test_words_are_not_text_if_fewer_than_half_differ() -> None:
    remarks = [f"a long remark about the number {number:02d}" for number in range(20)]
    assert _role(remarks * 2) == Role.text
    assert _role(remarks[:-1] * 2 + remarks[:2]) == Role.categorical


@each(
    ("name", "role"),
    [
        ("id", Role.identifier),
        ("Customer-ID", Role.identifier),
        ("order key", Role.identifier),
        ("orderId", Role.identifier),
        ("row_number", Role.identifier),
        ("Unnamed: 12", Role.identifier),
        ("monkey", Role.numeric),
        ("paid", Role.numeric),
        ("PAID", Role.numeric),
        ("id of shop", Role.numeric),
    ],
)
def test_whole_numbers_that_never_repeat_name_rows_only_under_a_name_that_says_so(
    name: str, role: Role
) -> None:
    assert _role([row * 17 % 1009 for row in range(20)], name) == role


@each(
    ("values", "role", "reason"),
    [
        (["1.5", "x"], Role.numeric, "'x' at position 1"),
        ([1.5, 2.5], Role.date, "not all values are dates of one format"),
        (["2020-01-01", "soon"], Role.date, "not all values are dates of one format"),
    ],
)
def test_a_role_that_the_values_do_not_fit_is_an_error(values: list[Any], role: Role, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        converted(tidied(pd.Series(values)), role)


def test_a_column_takes_the_form_of_the_role_it_is_given() -> None:
    """In alphabetical order, 10 comes before 9; whole numbers as text have no decimal point."""
    numbers = tidied(pd.Series([9, 10.0, None]))
    as_categories = converted(numbers, Role.categorical)
    assert list(as_categories.cat.categories) == ["10", "9"]
    assert as_categories.isna().tolist() == [False, False, True]
    assert converted(numbers, Role.text).tolist()[:2] == ["9", "10"]
    assert converted(numbers, Role.identifier).equals(numbers)
    declared = tidied(pd.Series(pd.Categorical(["9", "10", None])))
    assert converted(declared, Role.numeric).tolist()[:2] == [9.0, 10.0]
    days = tidied(pd.Series(pd.Categorical(["31/01/2020"])))
    assert converted(days, Role.date).tolist() == [pd.Timestamp("2020-01-31")]


cells = st.none() | st.sampled_from(
    [
        "1",
        "-2.5",
        "1,000",
        "1,000,000",
        "$5",
        "7%",
        "?",
        "none",
        "-",
        "a",
        "2020-01-31",
        "31/01/2020",
        "yes",
        "no",
    ]
)
FORMS: dict[Role, str] = {
    Role.numeric: "fi", Role.categorical: "O", Role.boolean: "O", Role.date: "M", Role.text: "O",
}  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(cells, min_size=1, max_size=30), st.sampled_from(["a", "id"]))
def test_the_detected_role_fits_and_loses_no_value(values: list[str | None], name: str) -> None:
    column = tidied(pd.Series(values, dtype=object))
    role = detect_role(column, name)
    formed = converted(column, role)
    assert formed.isna().equals(column.isna())
    assert formed.dtype.kind in FORMS.get(role, "fiOM")


def test_roles_are_counted_and_ignored_columns_are_named() -> None:
    roles = {"a": Role.date, "b": Role.numeric, "c": Role.numeric, "id": Role.identifier, "k": Role.constant}
    assert roles_in_words(roles) == "2 numeric, 1 date; ignored: id (identifier), k (constant)"
    assert roles_in_words({"a": Role.text}) == "1 text"
    assert roles_in_words({"k": Role.constant}) == "none to learn from; ignored: k (constant)"


def test_of_many_ignored_columns_five_are_named() -> None:
    many = roles_in_words({f"k{number}": Role.constant for number in range(1_007)})
    assert many.endswith("k4 (constant), 1,002 more")
    assert many.count("(constant)") == 5
