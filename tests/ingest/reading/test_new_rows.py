"""Rows that come after a data frame was read: they are read as it was, whatever they look like themselves."""

import pandas as pd
import pytest

from ingest.reading.new_rows import Columns
from ingest.reading.roles import Role


def read_alike(first: list[object], later: list[object]) -> list[object]:
    """The later values of a column whose first values came, ten times each, before them."""
    columns, _ = Columns.read_first(pd.DataFrame({"x": first * 10}))
    return columns.read(pd.DataFrame({"x": later}))["x"].tolist()


@pytest.mark.parametrize(
    ("first", "later", "read"),
    [
        (["01", "Oslo"], ["01", "1"], ["01", "1"]),
        (["yes", "no"], [" yes "], ["yes"]),
        ([1.5, 2.5], ["7", "-2.5"], [7.0, -2.5]),
        (["1.5", "?", "2.5"], [3], [3.0]),
        (["$1,200.50", "$3.00"], ["$7.00"], [7.0]),
        (["13/02/2024", "01/03/2024"], ["01/02/2024"], [pd.Timestamp("2024-02-01")]),
        (["2024-02-13", "2024-03-01"], ["2024-02-01"], [pd.Timestamp("2024-02-01")]),
        ([True, False], [False], ["False"]),
    ],
    ids=["codes", "words", "numbers", "written numbers", "money", "day first", "ISO dates", "truth values"],
)
def test_later_values_are_read_as_the_first_ones_were(
    first: list[object], later: list[object], read: list[object]
) -> None:
    assert read_alike(first, later) == read


@pytest.mark.parametrize(
    ("first", "later"),
    [([1.5, 2.5], "much"), ([1.5, 2.5], float("inf")), (["13/02/2024", "01/03/2024"], "02/13/2024")],
)
def test_what_does_not_fit_the_role_is_missing(first: list[object], later: object) -> None:
    assert pd.isna(read_alike(first, [later])[0])


def test_the_first_rows_are_read_alike_when_they_come_again() -> None:
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
