"""Later rows are read like the first ones, whatever they look like."""

import warnings

import pandas as pd
import pytest

from ingest.reading.column_types.roles import Role
from ingest.reading.new_rows import Columns
from tests.cases import each


def read_alike(first: list[object], later: list[object]) -> list[object]:
    """The later values of a column after ten copies of its first values."""
    columns, _ = Columns.read_first(pd.DataFrame({"x": first * 10}))
    return columns.read(pd.DataFrame({"x": later}))["x"].tolist()


@each(
    ("first", "later", "read"),
    [
        (["01", "Oslo"], ["01", "1"], ["01", "1"]),
        (["yes", "no"], [" yes "], ["yes"]),
        ([1.5, 2.5], ["7", "-2.5"], [7.0, -2.5]),
        (["1.5", "?", "2.5"], [3], [3.0]),
        (["$1,200.50", "$3.00"], ["$7.00"], [7.0]),
        (["13/02/2024", "01/03/2024"], ["01/02/2024"], [pd.Timestamp("2024-02-01")]),
        (["2024-02-13", "2024-03-01"], ["2024-02-01"], [pd.Timestamp("2024-02-01")]),
        (["8:45 AM", "12:30 AM"], ["1:00 PM", "13:00"], [780.0, 780.0]),
        (["8:45", "9:30"], ["1:00:30", 77, "7,5"], [3630.0, None, None]),
        ([True, False], [False], ["False"]),
        ([True, False], [0, 1], ["False", "True"]),
        ([True, False], ["false", "YES", "perhaps"], ["False", "True", "perhaps"]),
        (["yes", "no"], [True, False], ["yes", "no"]),
        (["$1,200.50", "$3.00"], ["$7.00", "n/k"], [7.0, None]),
        ([0, 1, 1], [True, False], [1.0, 0.0]),
    ],
)
def test_later_values_are_read_as_the_first_ones_were(
    first: list[object], later: list[object], read: list[object]
) -> None:
    found = [None if pd.isna(value) else value for value in read_alike(first, later)]
    assert found == read


@pytest.mark.filterwarnings("ignore:column 'x'")
@pytest.mark.parametrize(
    ("first", "later"),
    [([1.5, 2.5], "much"), ([1.5, 2.5], float("inf")), (["13/02/2024", "01/03/2024"], "02/13/2024")],
)
def test_values_that_do_not_fit_the_role_are_missing(first: list[object], later: object) -> None:
    assert pd.isna(read_alike(first, [later])[0])


def test_the_first_rows_are_read_alike_when_repeated() -> None:
    frame = pd.DataFrame(
        {
            "when": ["13/02/2024", None, "01/03/2024"],
            "what": pd.Categorical(["b", "a", None]),
            "much": ["1", "?", "3"],
            7: [1, 2, 3],
        },
        index=[5, 6, 7],
    )
    columns, first = Columns.read_first(frame)
    assert columns.roles == {
        "when": Role.date,
        "what": Role.categorical,
        "much": Role.numeric,
        "7": Role.numeric,
    }
    again = columns.read(frame)
    pd.testing.assert_frame_equal(again.astype({"what": first["what"].dtype}), first, check_dtype=False)


@each(
    ("first", "later", "complaint"),
    [
        ([1.5, 2.5], ["1,5", "2,5"], "none of its values is a number, such as '1,5'; all count as missing"),
        ([0, 1], ["true", "false"], "none of its values is a number, such as 'true'; all count as missing"),
        (
            ["13/02/2024", "01/03/2024"],
            ["2024-02-13"],
            "none of its values is a date of the format %d/%m/%Y, such as '2024-02-13'; all count as missing",
        ),
        (
            ["red", "blue"],
            ["rot", None, "blau"],
            "none of its values, such as 'rot', came in training, which had 'blue', 'red'",
        ),
    ],
)
def test_a_warning_names_a_column_without_fitting_values(
    first: list[object], later: list[object], complaint: str
) -> None:
    with pytest.warns(UserWarning) as warned:
        read_alike(first, later)
    assert [str(one.message) for one in warned] == [f"column 'x': {complaint}"]


@each(
    ("first", "later"),
    [
        ([1.5, 2.5], ["much", "3"]),
        ([1.5, 2.5], ["-", None]),
        ([1.5, 2.5], [None, None]),
        (["red", "blue"], ["green"]),
        (["red", "blue"], ["green", "red"]),
        (["13/02/2024", "01/03/2024"], ["soon", "14/02/2024"]),
    ],
)
def test_there_is_no_warning_if_some_values_fit(first: list[object], later: list[object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_alike(first, later)


def test_numbers_of_later_rows_have_the_decimal_sign_of_the_first_ones() -> None:
    """1.149 alone is a fraction; beside 51,26 it is above a thousand."""
    first = pd.DataFrame({"price": ["51,26", "1.149", "3 €", "4"] * 5})
    columns, features = Columns.read_first(first)
    assert features["price"].tolist()[:4] == [51.26, 1149.0, 3.0, 4.0]
    assert columns.read(pd.DataFrame({"price": ["1.149", "2,5"]}))["price"].tolist() == [1149.0, 2.5]
