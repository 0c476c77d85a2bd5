"""The choice of the target, its explanation, and questions to the user."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.datasets import load_dataset
from ingest.reading.tables import RawTable
from ingest.reading.target.target_names import name_weakness
from ingest.reading.target.targets import choose_target
from ingest.reading.target.task_choice import MOST_CLASSES
from tests.cases import each
from warehouse.support.errors import BadInput

ROWS = 80
VALUES = {
    "id": list(range(ROWS)),
    "number": [row / 7 for row in range(ROWS)],
    "three": [f"kind {row % 3}" for row in range(ROWS)],
    "two": ["p", "q"] * (ROWS // 2),
    "many": [f"code {row % (MOST_CLASSES + 1)}" for row in range(ROWS)],
    "constant": ["same"] * ROWS,
    "date": pd.date_range("2026-01-01", periods=ROWS),
    "text": [f"the customer called for the {row}th time and was satisfied" for row in range(ROWS)],
    "mostly empty": ["p", "q", None, None, None] * (ROWS // 5),
}


def table(*columns: str, name: str = "data", source: str = "data.csv", target: str | None = None) -> RawTable:
    """Columns given as `name` or `name: kind of values`; without a kind they have three classes."""
    values = {}
    for column in columns:
        label, _, kind = column.partition(": ")
        values[label] = VALUES[kind or "three"]
    return RawTable(name, source, pd.DataFrame(values), target)


# ---- chosen without a question ----------------------------------------------------------------------


@each(
    ("columns", "expected"),
    [
        (["a", "target", "b"], "target"),
        (["LABEL", "a", "b"], "LABEL"),
        (["churned", "a", "b"], "churned"),
        (["a", "Survived", "b"], "Survived"),
        (["a", "isFraud", "b"], "isFraud"),
        (["final.outcome", "a", "b"], "final.outcome"),
        (["a", "b", "income_label"], "income_label"),
        (["a", "y", "b"], "y"),
        (["x", "y"], "y"),
        (["x", "y: two", "a", "outcome"], "outcome"),  # y is a coordinate
        (["a", "b", "class"], "class"),
        (["survived", "a", "class", "b"], "survived"),  # an outcome precedes a class
        (["a", "b", "loan_status"], "loan_status"),
        (["a", "b", "price: number"], "price"),
        (["a", "income", "mpg: number"], "mpg"),
        (["a", "b", "revenue: two"], "revenue"),
        (["row: id", "a", "default", "nothing: constant"], "default"),  # the last informative column
        (["a", "Gekündigt", "b"], "Gekündigt"),
        (["a", "b", "RESULTADO"], "RESULTADO"),
        (["survécu", "a", "b"], "survécu"),
    ],
)
def test_a_suggestive_name_is_chosen_without_a_question(columns: list[str], expected: str) -> None:
    choice = choose_target(table(*columns), None)
    assert (choice.column, choice.doubts) == (expected, ())
    assert choice.reason == f"{expected!r} is the target because of its name"


@each(("source", "who"), [("openml:61", "OpenML"), ("sklearn:iris", "scikit-learn")])
def test_the_source_overrides_names(source: str, who: str) -> None:
    choice = choose_target(table("a", "class", source=source, target="a"), None)
    assert (choice.reason, choice.doubts) == (f"'a' is the target because {who} names it", ())


def test_no_dataset_is_named_after_a_number() -> None:
    choice = choose_target(table("46", "a", "class", name="data_46"), None)
    assert (choice.column, choice.doubts) == ("class", ())


def test_the_user_overrides_all() -> None:
    choice = choose_target(table("a: mostly empty", "class", "b", source="openml:61", target="b"), "a")
    assert (choice.reason, choice.doubts) == ("'a' is the target because it was given", ())


@each(
    ("columns", "name", "expected"),
    [
        (["a", "room_type"], "airbnb_room_type", "room_type"),
        (["a", "RoomType"], "room-type", "RoomType"),
        (["room", "a", "room_type"], "airbnb_room_type", "room_type"),  # the longest
    ],
)
def test_a_dataset_may_be_named_after_its_target(columns: list[str], name: str, expected: str) -> None:
    choice = choose_target(table(*columns, name=name), None)
    assert choice.reason == f"{expected!r} is the target because the dataset is named after it"
    assert not choice.doubts


# ---- asked about -----------------------------------------------------------------------------------


@each(
    ("columns", "expected", "options"),
    [
        (["a", "b", "c"], "c", "--target a"),
        (["a", "b: two", "c"], "c", "--target b or --target a"),  # the only one with two values
        (["a", "class", "b"], "class", "--target b or --target a"),
        (["class", "a", "b"], "class", "--target b"),
        (["species", "a", "year: number"], "species", "--target a"),  # may be a treatment
        (["risk: two", "a", "b"], "risk", "--target b"),
        (["a", "choice", "b"], "choice", "--target b or --target a"),
        (["carat: number", "price: number", "z: number"], "price", "--target z or --target carat"),
        (["a", "b", "rank", "credit score"], "credit score", "--target a"),  # any table has scores
        (["churned", "survived", "a"], "churned", "--target survived or --target a"),
        (["a", "survived", "class"], "survived", "--target class or --target a"),
        (["a", "status", "price: number"], "price", "--target status or --target a"),
        (["a", "b", "salary"], "salary", "--target a"),  # an amount cut into low, middle and high
        (["a", "diagnosis", "b"], "diagnosis", "--target b or --target a"),  # the disease may be a feature
        (["a", "b", "income: number"], "income", "--target a"),
        (["a", "diagnosis: many", "b"], "diagnosis", "--target b or --target a"),
        (["a", "response: number", "b"], "response", "--target b or --target a"),
        (["x", "y", "a"], "a", "--target x"),  # coordinates
        (["previous_outcome", "a", "marital status"], "marital status", "--target previous_outcome"),
        (["type", "room", "a"], "a", "--target type"),
        (["a", "the column"], "the column", "--target a"),
        (["the column", "a"], "a", "--target 'the column'"),
        (["row: id", "a"], "a", "--target NAME"),
        (["a", "price_usd: number", "listed_at: number"], "price_usd", "--target a"),
    ],
)
def test_a_guess_is_asked_about_with_the_two_best_alternatives(
    columns: list[str], expected: str, options: str
) -> None:
    choice = choose_target(table(*columns, name="my"), None)
    assert choice.doubts == (f"the target {expected!r} is a guess; for another one, give {options}",)


def test_an_index_without_a_name_is_no_alternative() -> None:
    frame = table("index: number", "a", "b").frame.rename(columns={"index": "Unnamed: 0"})
    assert choose_target(RawTable("my", "my.csv", frame), None).doubts[0].endswith("give --target a")


@each(
    "last",
    [
        *("row: id", "nothing: constant", "when: date", "what: text", "what: mostly empty"),
        *("year", "birth_year", "district", "City", "Comments", "Datum", "año", "updated_at"),
    ],
)
def test_an_unlikely_column_is_not_guessed(last: str) -> None:
    choice = choose_target(table("a", "b", last), None)
    assert choice.column == "b"
    assert (
        choice.reason
        == "'b' is the target because it is the last likely column, and no column name suggests another"
    )
    assert len(choice.doubts) == 1


def test_if_no_column_is_likely_the_last_one_is_guessed() -> None:
    choice = choose_target(table("city", "year"), None)
    assert (
        choice.reason
        == "'year' is the target because it is the last column, and no column name suggests another"
    )
    assert choice.doubts


def test_a_target_without_half_of_its_values_is_asked_about() -> None:
    choice = choose_target(table("a", "outcome: mostly empty"), None)
    assert choice.doubts == (
        "the target 'outcome' has no value in 60% of the rows, which are left out; for another one, give "
        "--target a",
    )


def test_a_constant_target_with_a_suggestive_name_is_refused_rather_than_skipped() -> None:
    with pytest.raises(BadInput, match="the target 'class' has one value only"):
        load_dataset(table("a", "b", "class: constant").frame)


def test_a_dataset_has_the_doubts_about_its_target() -> None:
    frame = table("a", "b", "c").frame
    assert load_dataset(frame).doubts == choose_target(RawTable("frame", "data frame", frame), None).doubts
    assert load_dataset(frame, target="c").doubts == ()


@settings(deadline=None)
@given(st.permutations(["churned", "class", "price: number", "city", "note: text", "row: id", "age: number"]))
def test_an_outcome_is_the_target_wherever_it_stands(columns: list[str]) -> None:
    assert choose_target(table(*columns), None).column == "churned"


# ---- names -----------------------------------------------------------------------------------------


def test_an_additional_word_makes_a_name_weaker() -> None:
    assert [name_weakness(name) for name in ("churn", "Customer Churn", "monthly customer churn")] == [
        1,
        2,
        3,
    ]
    assert name_weakness("was the customer asked for a reason of churn") is None


@each("name", ["age", "smoking_status", "previousOutcome", "status_code", "is", ""])
def test_names_of_features_do_not_suggest_a_target(name: str) -> None:
    assert name_weakness(name) is None


# ---- refusals --------------------------------------------------------------------------------------


@each(
    ("wanted", "hint"),
    [("Clas", "did you mean 'class'?"), ("nothing like it", "the columns are 'a', 'class'")],
)
def test_an_unknown_column_is_refused_with_similar_names(wanted: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint.replace("?", r"\?")):
        choose_target(table("a", "class"), wanted)
