"""Columns of every source are converted to numbers, dates, words or categories."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.column_types.columns import as_dates, as_numbers, label, labels, tidied
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import load_dataset
from tests.cases import each
from tests.ingest.reading.checks import assert_sound


def _values(*values: Any) -> list[Any]:
    return [*values] * 3


ODD_COLUMNS: dict[str, Any] = {
    "nullable integers": pd.array(_values(1, None), dtype="Int64"),
    "nullable booleans": pd.array(_values(True, None), dtype="boolean"),
    "sparse": pd.arrays.SparseArray(_values(0.0, 1.0)),
    "unsigned": np.array(_values(2**64 - 1, 0), dtype=np.uint64),
    "half precision": np.array(_values(1, 2), dtype=np.float16),
    "complex": np.array(_values(1 + 2j, 3j)),
    "time spans": pd.to_timedelta(_values("1h", None)),
    "zoned times": pd.to_datetime(_values("2020-01-01", "2020-06-01")).tz_localize("Europe/Berlin"),
    "periods": pd.PeriodIndex(_values("2020-01", "2020-02"), freq="M"),
    "intervals": pd.cut(np.arange(6), 2),
    "categories of numbers": pd.Categorical(_values(1.0, 2.5)),
    "lists": pd.Series(_values([1], [2, 3])),
    "dictionaries": pd.Series(_values({"a": 1}, None)),
    "bytes": pd.Series(_values(b"a", b"b")),
    "objects of many kinds": pd.Series(_values(1, "a"), dtype=object),
    "objects that are numbers": pd.Series(_values(1, "2"), dtype=object),
    "objects that are truth values": pd.Series(_values(True, None), dtype=object),
    "nothing": pd.Series(_values(None, None), dtype=object),
    "arrow strings": pd.array(_values("a", None), dtype="string[pyarrow]"),
}


@each("kind", ODD_COLUMNS)
def test_a_frame_with_any_kind_of_column_is_loaded(kind: str) -> None:
    frame = pd.DataFrame({"odd": ODD_COLUMNS[kind], "class": _values("x", "y")})
    assert_sound(load_dataset(frame))


# ---- numbers -------------------------------------------------------------------------------------


def test_decorations_of_numbers_do_not_change_their_values() -> None:
    amounts = ["-$1,234.50", "$ 7", "$1,000,000", None]
    frame = pd.DataFrame({"a": amounts * 5, "class": ["x", "y"] * 10})
    assert load_dataset(frame).features["a"].head(3).tolist() == [-1234.5, 7.0, 1_000_000.0]


@each(
    ("words", "numbers"),
    [
        (["1e3", "007", None], [1000.0, 7.0, np.nan]),
        (["5%", "12.5 %"], [5.0, 12.5]),
        (["0.5 kg", "-1 kg"], [0.5, -1.0]),
        (["1,234", "1,234.5"], [1234.0, 1234.5]),
        (["1,234", "2,345"], None),
        (["1,2345", "1,234,567"], None),
        (["$3", "3"], [3.0, 3.0]),
        (["(12.5)", "3"], [-12.5, 3.0]),
        (["51,26", "1.149"], [51.26, 1149.0]),
        (["1 234", "1\u202f234\u202f567"], [1234.0, 1234567.0]),
        (["1'234.5", "-2"], [1234.5, -2.0]),
        ([f"{i}kg" for i in range(10)], [float(i) for i in range(10)]),
        (["2L", "3L"], None),
        (["10", "20", "30k"], None),
        ([f"{i}" for i in range(60)] + ["12B"], None),
        ([f"€{i}K" for i in range(10)] + ["€1.5M"], [*(1000.0 * i for i in range(10)), 1.5e6]),
        (["42 Lac", "1.4 Cr", "7"], [4.2e6, 1.4e7, 7.0]),
        (["300 K", "301 K"], [300.0, 301.0]),
        (["1.379,-", "12,--", "-3,50"], [1379.0, 12.0, -3.5]),
        (["12.5-", "3"], [-12.5, 3.0]),
        (["10.19*", "9.48"], [10.19, 9.48]),
        (["1,34,690", "12,857.5"], [134_690.0, 12_857.5]),
        (["1,34,69", "12"], None),
        (["192.168.0.1", "10.0.0.2"], None),
        (["+49 170 7797850", "+49 171 1234567"], None),
        (["089 123 456", "030 456 789"], None),
        (["3 kg", "4 lb"], None),
        (["3 kg", "4kg"], None),
        (["Fr. 1'234.50", "Fr. 5"], [1234.5, 5.0]),
        (["Rs. 1,23,456", "Rs. 500"], [123_456.0, 500.0]),
        (["1.234 kr.", "2.345,50 kr."], [1234.0, 2345.5]),
        (["3,5 Mio.", "4 Mio."], [3.5e6, 4e6]),
        (["\u20ba1.234,50", "-\u20ba3"], [1234.5, -3.0]),
        (["Fr 5", "Mo 5"], None),
        (["v. 1", "v. 2"], None),
        (["1..", "2.."], None),
        (["1", "two"], None),
    ],
)
def test_words_are_numbers_when_all_are_and_have_one_unit_or_none(
    words: list[str | None], numbers: list[float] | None
) -> None:
    """One word has to prove that the comma separates thousands: 1,234 alone may be 1.234.

    A unit without a blank needs ten words, since 2L and 3L may be names.
    """
    found = as_numbers(pd.Series(words, dtype="str"))
    assert (None if found is None else pytest.approx(found.tolist(), nan_ok=True)) == numbers


def test_a_word_after_the_first_hundred_numbers_is_found() -> None:
    assert as_numbers(pd.Series(["1"] * 150 + ["two"], dtype="str")) is None
    assert as_numbers(pd.Series(["$1"] * 150 + ["$two"], dtype="str")) is None


def test_time_spans_are_seconds_and_infinite_numbers_are_missing() -> None:
    assert tidied(pd.Series(pd.to_timedelta(["1h", "90s"]))).tolist() == [3600.0, 90.0]
    assert tidied(pd.Series(["1", "-inf"])).isna().tolist() == [False, True]


@each(
    ("words", "numbers"),
    [
        (["8:45", "08:05", None], [525.0, 485.0, np.nan]),
        (["1:00:30", "59:59.5", "0:07,5"], [3630.0, 3599.5, 7.5]),
        (["2:30 PM", "12:05 am", "12:00 p.m."], [870.0, 5.0, 720.0]),
        (["2:30:10 PM", "12:00:01 AM"], [52_210.0, 1.0]),
        (["0 days 00:01:00", "1 day, 0:00:01", "-1 days +23:59:00.5"], [60.0, 86_401.0, -59.5]),
        (
            [f"{hour}:15" for hour in range(24)] + ["late"],
            [*(60.0 * hour + 15 for hour in range(24)), np.nan],
        ),
        (["8:45", "?", "9:10"], [525.0, np.nan, 550.0]),
        (["2h 50m", "19h", "5 min"], [10_200.0, 68_400.0, 300.0]),
        (["1 hr 30 min", "2 hours", "3 days 2 h", "2 min 3.5 s"], [5400.0, 7200.0, 266_400.0, 123.5]),
        (["PT9H58M", "P1DT7H", "1h30"], [35_880.0, 111_600.0, 5400.0]),
        (["5'11\"", "6'", "5' 9.5\""], [71.0, 72.0, 69.5]),
        (["5 ft 11 in", "6\u2032 2\u2033"], [71.0, 74.0]),
    ],
)
def test_times_of_day_and_durations_count_in_the_unit_of_their_last_part(
    words: list[str | None], numbers: list[float]
) -> None:
    """With letters, times are in seconds, and feet are in inches."""
    assert tidied(pd.Series(words, dtype="str")).tolist() == pytest.approx(numbers, nan_ok=True)


@pytest.mark.parametrize(
    "words",
    [
        *(["8:45", "noon"], ["16:9", "4:3"], ["8:75", "8:80"], ["a:10", "b:20"]),
        *(["3h", "4h"], ["12'", "13'"], ["4'32\"", "5'10\""], ["h", "m"], ["PT", "P"]),
    ],
)
def test_words_that_are_no_times_stay_words(words: list[str]) -> None:
    assert tidied(pd.Series(words, dtype="str")).tolist() == words


# ---- dates ---------------------------------------------------------------------------------------


def test_day_first_dates_are_recognized_if_a_day_proves_it() -> None:
    frame = pd.DataFrame({"a": ["13/02/2020", "01/02/2020"] * 10, "class": ["x", "y"] * 10})
    assert load_dataset(frame).features["a"].dt.month.unique().tolist() == [2]


@each(
    ("words", "first"),
    [
        (["2020-02-01"], "2020-02-01"),
        (["2020-01-31T23:30:00-01:00"], "2020-02-01 00:30"),
        (["2/1/2020", "2/28/2020"], "2020-02-01"),
        (["1.2.2020"], "2020-02-01"),
        (["1 Feb 2020", None], "2020-02-01"),
        (["Feb 1, 2020"], "2020-02-01"),
        (["February 1 2020", "May 1 2020"], "2020-02-01"),
        (["2/1/2020 07:25 PM", "2/28/2020 12:00 AM"], "2020-02-01 19:25"),
        (["2020-02", "2020-12"], "2020-02-01"),
        (["2020-02-01 07:25:00 UTC"], "2020-02-01 07:25"),
        (["1.2.2020 07:25:00.250 GMT"], "2020-02-01 07:25:00.250"),
        (["1.2.2020 00:25 +02:00", "1.7.2020 00:25 +01:00"], "2020-01-31 22:25"),
        (["1.2.2020, 07:25:00"], "2020-02-01 07:25"),
        (["2/1/2020, 7:25:00 PM", "2/28/2020, 12:00:00 AM"], "2020-02-01 19:25"),
        (["Feb-20", "Dec-21"], "2020-02-01"),
        (["February-2020", "May-2020"], "2020-02-01"),
        (["Sat, 1 Feb 2020 07:25:00 +0200", "Sun, 2 Feb 2020 07:25:00 +0000"], "2020-02-01 05:25"),
        (["Saturday, February 1, 2020"], "2020-02-01"),
        (["Sat Feb 01 07:25:00 +0200 2020"], "2020-02-01 05:25"),
        (["Sat Feb 01 07:25:00 2020"], "2020-02-01 07:25"),
        (["20200201T072500"], "2020-02-01 07:25"),
        (["Sun 12", "Mon 13"], None),
        (["Step-20", "May-21"], None),
        (["2020-02-01", "1/2/2020"], None),
        (["2020-13-01"], None),
        (["20200201"], None),
        ([None], None),
    ],
)
def test_words_are_dates_when_one_format_fits_all(words: list[str | None], first: str | None) -> None:
    """A time with an offset is converted to UTC; if the order is ambiguous, the month comes first."""
    dates = as_dates(pd.Series(words, dtype="str"))
    assert (None if dates is None else dates[0]) == (None if first is None else pd.Timestamp(first))


# ---- words and categories ------------------------------------------------------------------------


def test_declared_categories_stay_categorical_even_when_they_look_like_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute a {1,2,3}\n@attribute class {x,y}\n@data\n" + "1,x\n2,y\n" * 5)
    dataset = load_dataset(path)
    assert dataset.roles == {"a": Role.categorical}
    assert list(dataset.features["a"].cat.categories) == ["1", "2", "3"]


def test_declared_categories_are_sorted_texts_and_a_question_mark_is_missing() -> None:
    column = pd.Categorical([" b", 2.0, "?", "NA", None], categories=["z", " b", "?", 2.0, "NA"])
    tidy = tidied(pd.Series(column))
    assert list(tidy.cat.categories) == ["2", "NA", "b", "z"]
    assert tidy.astype(object).fillna("missing").tolist() == ["b", "2", "missing", "NA", "missing"]


def test_a_dash_is_missing_among_numbers_and_a_word_among_words() -> None:
    assert tidied(pd.Series(["1", "-", "NA"])).isna().tolist() == [False, True, True]
    assert tidied(pd.Series(["a", "-", "NA"])).isna().tolist() == [False, False, True]


@each(
    ("value", "text"),
    [(3.0, "3"), (-0.0, "0"), (2.5, "2.5"), (np.float64(4), "4"), (7, "7"), (1e300, "1e+300")],
)
def test_a_label_of_a_whole_number_has_no_decimal_point(value: float, text: str) -> None:
    assert label(value) == text


@settings(max_examples=20, deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_labels_of_numbers_are_the_same_numbers(values: list[float | None]) -> None:
    numbers = pd.Series(values, dtype=float)
    assert labels(numbers).astype(float).equals(numbers)


cells = st.none() | st.sampled_from(
    [
        *("1", "-2.5", " 3 ", "1,234", "1,000,000", "$5", "7%", "inf", "?", "NA", "none", "-", ""),
        *(" a ", "True", "2020-01-31", "31/01/2020", "1/2/2020"),
    ]
)


@settings(max_examples=20, deadline=None)
@given(st.lists(cells, min_size=1, max_size=8))
def test_tidying_again_changes_nothing(values: list[str | None]) -> None:
    column = pd.Series(values, dtype=object, index=range(10, 10 + len(values)))
    tidy = tidied(column)
    assert tidy.index.equals(column.index)
    pd.testing.assert_series_equal(tidied(tidy), tidy)
