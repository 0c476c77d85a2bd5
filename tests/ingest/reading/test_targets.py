"""Which column is taken for the target, and what is said about it."""

import pandas as pd
import pytest

from ingest.reading.tables import RawTable
from ingest.reading.targets import MOST_CLASSES, alternatives, choose_target
from warehouse.support.errors import BadInput


def table(*columns: str, name: str = "data", source: str = "data.csv", target: str | None = None) -> RawTable:
    """Forty rows; a column called `id` has numbers of its own, any other one two classes."""
    values = {column: range(40) if column == "id" else ["p", "q"] * 20 for column in columns}
    return RawTable(name, source, pd.DataFrame(values), target)


BY_NAME = "of its name"
LAST = "it is the last column and no name tells another"


@pytest.mark.parametrize(
    ("columns", "expected", "reason"),
    [
        (["a", "class", "b"], "class", BY_NAME),
        (["Class", "a", "b"], "Class", BY_NAME),
        (["y", "target", "a"], "target", BY_NAME),  # class stands before target, label and y
        (["LABEL", "a", "y"], "LABEL", BY_NAME),
        (["y", "a"], "y", BY_NAME),
        (["x", "y", "a"], "a", LAST),  # a coordinate
        (["x", "y"], "y", BY_NAME),
        (["churned", "a", "b"], "churned", BY_NAME),
        (["a", "Survived", "b"], "Survived", BY_NAME),
        (["a", "isFraud", "b"], "isFraud", BY_NAME),
        (["final.outcome", "a", "b"], "final.outcome", BY_NAME),
        (["income_label", "a", "b"], "income_label", BY_NAME),
        (["a", "outcome", "churn"], "churn", BY_NAME),  # the last one of several
        (["outcome", "churn", "a"], "a", LAST),  # which of the two?
        (["previous_campaign_poor_outcome", "a"], "a", LAST),
        (["outcomes_of_all", "a"], "a", LAST),
        (["a", "b"], "b", LAST),
    ],
)
def test_names_tell_and_else_the_last_column_is_the_target(
    columns: list[str], expected: str, reason: str
) -> None:
    assert choose_target(table(*columns), None) == (expected, f"'{expected}' is the target because {reason}")


@pytest.mark.parametrize(
    ("columns", "name", "expected"),
    [
        (["room_type", "a"], "airbnb_room_type", "room_type"),
        (["RoomType", "a"], "room-type", "RoomType"),
        (["room", "room_type", "a"], "airbnb_room_type", "room_type"),  # the longest
        (["type", "room", "a"], "airbnb_room_type", "a"),  # which of the two?
        (["id", "a"], "id", "a"),  # no classes
        (["am", "a"], "camera", "a"),  # no word of it
    ],
)
def test_a_dataset_may_be_named_after_its_target(columns: list[str], name: str, expected: str) -> None:
    found, sentence = choose_target(table(*columns, name=name), None)
    assert found == expected
    assert ("the dataset is named after it" in sentence) == (expected != "a")


def test_what_has_no_classes_is_no_outcome_whatever_its_name() -> None:
    """The response of an amplifier may be a measurement, and 31 diagnoses are not two."""
    frame = pd.DataFrame(
        {
            "response": [row / 7 for row in range(62)],
            "diagnosis": [f"code {row % (MOST_CLASSES + 1)}" for row in range(62)],
            "a": [0, 1] * 31,
        }
    )
    assert choose_target(RawTable("data", "data.csv", frame), None)[0] == "a"


@pytest.mark.parametrize(("source", "who"), [("openml:61", "OpenML"), ("sklearn:iris", "scikit-learn")])
def test_the_source_stands_before_names(source: str, who: str) -> None:
    found = choose_target(table("a", "class", source=source, target="a"), None)
    assert found == ("a", f"'a' is the target because {who} says so")


def test_what_the_user_says_stands_before_all() -> None:
    found = choose_target(table("a", "class", "b", source="openml:61", target="b"), "a")
    assert found == ("a", "'a' is the target because it was given")


@pytest.mark.parametrize(
    ("given", "hint"),
    [("Clas", "did you mean 'class'?"), ("nothing like it", "the columns are 'a', 'class'")],
)
def test_an_unknown_column_is_refused_with_what_may_have_been_meant(given: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint.replace("?", r"\?")):
        choose_target(table("a", "class"), given)


def test_five_alternatives_are_named_and_the_rest_is_counted() -> None:
    columns = [f"c{number}" for number in range(8)]
    text = alternatives(table("id", *columns).frame, "c0")
    assert text.startswith("columns with classes are 'c1' (2 values), 'c2' (2 values)")
    assert text.endswith("'c5' (2 values) and 2 more")
    assert alternatives(table("id", "a").frame, "a") == "no other column has classes"
