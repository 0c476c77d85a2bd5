"""The ARFF reader accepts all dialects seen so far, and names the line of an error."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.formats.arff import ArffTable, Attribute, read_arff
from ingest.reading.formats.encoding import decoded
from tests.cases import each
from warehouse.support.errors import BadInput


def _read(attributes: str, rows: str) -> ArffTable:
    return read_arff(f"@relation r\n{attributes}\n@data\n{rows}\n".encode())


# ---- header --------------------------------------------------------------------------------------

ATTRIBUTES = [
    ("@attribute x numeric", Attribute("x", "numeric")),
    ("@ATTRIBUTE\tx\t\tREAL", Attribute("x", "numeric")),
    ("@Attribute x integer [1,10]", Attribute("x", "numeric")),
    ("@attribute x real [0.5, 2.5]", Attribute("x", "numeric")),
    ("@attribute x real % the old remark", Attribute("x", "numeric")),
    ("  @attribute 'an x' INTEGER  ", Attribute("an x", "numeric")),
    ('@attribute "an x" numeric', Attribute("an x", "numeric")),
    (r"@attribute 'it\'s x' numeric", Attribute("it's x", "numeric")),
    ("@attribute x {a,b}", Attribute("x", "nominal", ("a", "b"))),
    ("@attribute x{a,b}", Attribute("x", "nominal", ("a", "b"))),
    ("@attribute x {  a , b c , d }", Attribute("x", "nominal", ("a", "b c", "d"))),
    ("@attribute x {a b c}", Attribute("x", "nominal", ("a", "b", "c"))),
    (
        "@attribute x { '<50', '>50, or so', \"it's\" }",
        Attribute("x", "nominal", ("<50", ">50, or so", "it's")),
    ),
    (r"@attribute x {'a\'b', 'c}d'}", Attribute("x", "nominal", ("a'b", "c}d"))),
    ("@attribute x {a,\n  b,\n  c}", Attribute("x", "nominal", ("a", "b", "c"))),
    ("@attribute x {a,b,} % last one empty", Attribute("x", "nominal", ("a", "b"))),
    ("@attribute x string", Attribute("x", "string")),
    ("@attribute x date", Attribute("x", "date")),
    ("@attribute x DATE 'yyyy-MM-dd'", Attribute("x", "date", date_format="yyyy-MM-dd")),
]


@each(("declaration", "expected"), ATTRIBUTES)
def test_attributes_are_read_in_every_dialect(declaration: str, expected: Attribute) -> None:
    assert _read(declaration, "?").attributes == (expected,)


@each("line", ["@relation iris", "@RELATION 'two words'", '@relation "q"  ', ""])
def test_the_relation_may_be_written_in_any_way_and_left_out(line: str) -> None:
    assert len(read_arff(f"{line}\n@attribute x numeric\n@data\n1".encode()).frame) == 1


def test_comments_before_the_data_are_kept_in_order() -> None:
    table = read_arff(b'% {"flow_id": 6969}\n@relation r\n  % second\n@attribute x real\n@data\n% no\n1')
    assert table.comments == ('{"flow_id": 6969}', "second")
    assert len(table.frame) == 1


# ---- data ----------------------------------------------------------------------------------------

NUMBER_AND_WORD = "@attribute x numeric\n@attribute w {a, 'b c', ?}"

ROWS = [
    ("1,a", [1.0], ["a"]),
    ("1,a\r\n2,'b c'\r\n", [1.0, 2.0], ["a", "b c"]),
    ("1 , a\n\t2\t,\t'b c'\t", [1.0, 2.0], ["a", "b c"]),
    ('1,"b c"\n2,a', [1.0, 2.0], ["b c", "a"]),
    ("1,'b c'\n2,\"b c\"", [1.0, 2.0], ["b c", "b c"]),
    ("?,?\n1,'?'", [np.nan, 1.0], [np.nan, "?"]),
    (" ? , ? ", [np.nan], [np.nan]),
    (",a", [np.nan], ["a"]),
    ("1,a,\n2,a,", [1.0, 2.0], ["a", "a"]),
    ("1,a,{2.5}\n2,a,{1}", [1.0, 2.0], ["a", "a"]),
    ("1 a\n2   a", [1.0, 2.0], ["a", "a"]),
    ("1\ta\n2\t'b c'", [1.0, 2.0], ["a", "b c"]),
    ("\n1,a\n\n  \n% remark, with comma\n2,a\n   % indented", [1.0, 2.0], ["a", "a"]),
    ("+1,a\n-1e-3,a\n.5,a", [1.0, -0.001, 0.5], ["a", "a", "a"]),
    ("{0 5, 1 'b c'}\n{}\n{1 ?}", [5.0, 0.0, 0.0], ["b c", "a", np.nan]),
    ("{0 5},{3}\n{1 'c}d', 0 1}, {2}", [5.0, 1.0], ["a", "c}d"]),
    ("1,undeclared", [1.0], ["undeclared"]),
]


@each(("rows", "numbers", "words"), ROWS)
def test_rows_are_read_in_every_dialect(rows: str, numbers: list[float], words: list[str]) -> None:
    frame = _read(NUMBER_AND_WORD, rows).frame
    np.testing.assert_array_equal(frame["x"].to_numpy(), numbers)
    pd.testing.assert_series_equal(
        frame["w"].astype(object), pd.Series(words, dtype=object), check_names=False
    )


def test_escapes_in_quotes_are_undone() -> None:
    frame = _read("@attribute s string", r"'it\'s'" + "\n" + r'"a \"b\" \\ c"').frame
    assert frame["s"].tolist() == ["it's", 'a "b" \\ c']


def test_nominal_columns_keep_the_declared_values_in_order() -> None:
    frame = _read("@attribute w {z, a, m}", "a\nz").frame
    assert list(frame["w"].cat.categories) == ["z", "a", "m"]


@each(
    ("date_format", "written"),
    [
        ("", "'2020-01-31T10:30:00'"),
        ("'yyyy-MM-dd HH:mm:ss'", "'2020-01-31 10:30:00'"),
        ('"dd/MM/yyyy HH:mm"', "'31/01/2020 10:30'"),
    ],
)
def test_dates_follow_their_declared_format(date_format: str, written: str) -> None:
    frame = _read(f"@attribute t date {date_format}", f"{written}\n?").frame
    assert frame["t"][0] == pd.Timestamp("2020-01-31 10:30")
    assert pd.isna(frame["t"][1])


def test_no_rows_give_an_empty_table_with_the_declared_types() -> None:
    frame = _read(NUMBER_AND_WORD, "% nothing").frame
    assert frame.shape == (0, 2)
    assert frame["x"].dtype == float


words = st.text(st.sampled_from("ab c,'\"\\%{}?é"), max_size=6).map(str.strip)


def _written(word: str | None) -> str:
    escaped = "" if word is None else word.replace("\\", "\\\\").replace("'", "\\'")
    return "?" if word is None else f"'{escaped}'"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | st.floats(allow_nan=False, allow_infinity=False), st.none() | words), min_size=1
    )
)
def test_written_values_are_read_back(rows: list[tuple[float | None, str | None]]) -> None:
    lines = [f"{'?' if number is None else repr(number)},{_written(word)}" for number, word in rows]
    frame = _read("@attribute x numeric\n@attribute s string", "\n".join(lines)).frame
    np.testing.assert_array_equal(frame["x"], [np.nan if number is None else number for number, _ in rows])
    assert [None if pd.isna(word) else word for word in frame["s"]] == [word for _, word in rows]


# ---- wrong files ---------------------------------------------------------------------------------

WRONG = [
    ("@relation r\n@attribute x real\n1", "no @data line"),
    ("@relation r\n@data\n1", "no @attribute"),
    ("@relation r\n@attribute x real\n@data\n1\n2,3", "line 5 has 2 values"),
    ("@relation r\n@attribute x real\n@data\n1\n\none", "line 6: 'one' is not a number"),
    ("@relation r\n@attribute x colour\n@data\n1", "line 2: attribute 'x' has the unknown type 'colour'"),
    ("@relation r\n@attribute x\n@data\n1", "line 2: an @attribute needs a name and a type"),
    ("@relation r\nhello\n@attribute x real\n@data\n1", "line 2 is not an ARFF declaration"),
    ("@relation r\n@attribute x real\n@data\n{7 1}", "line 4"),
    ("@relation r\n@attribute t date\n@data\ntomorrow", "not all values are dates"),
    ("@relation r\n@attribute x relational\n@data\n1", "unknown type"),
]


@each(("text", "message"), WRONG)
def test_wrong_files_are_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        read_arff(text.encode())
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# ---- real files ----------------------------------------------------------------------------------


def test_every_published_dataset_loads_with_its_counts(shared_data: Path) -> None:
    folder = shared_data / "datasets"
    index = pd.read_csv(folder / "index.csv").set_index("name")
    paths = sorted(folder.rglob("*.arff"))
    assert len(paths) == 100
    for path in paths:
        table = read_arff(decoded(path.read_bytes()).utf8)
        assert table.frame.shape[0] > 0, path
        published = index.loc[path.stem] if path.parent == folder else None
        if published is None or np.isnan(published["rows"]):
            continue
        assert table.frame.shape == (published["rows"], published["columns"]), path
        declared = {attribute.name: attribute for attribute in table.attributes}[published["target"]]
        assert (len(declared.values) or -1) == published["classes"], path


@each(("flow", "runs", "columns"), [(6969, 37_000, 12), (6970, 32_000, 7)])
def test_published_runs_load_with_their_metadata(
    shared_data: Path, flow: int, runs: int, columns: int
) -> None:
    table = read_arff((shared_data / "openml-runs" / f"flow_{flow}.arff").read_bytes())
    assert table.frame.shape == (runs, columns)
    assert not table.frame.isna().to_numpy().any()
    assert json.loads(table.comments[0])["flow_id"] == flow


@each("index", ["2", "999999999", "9" * 18, "9" * 5_000, "-1", "x", "1.5"])
def test_a_sparse_row_names_declared_attributes(index: str) -> None:
    with pytest.raises(BadInput, match=r"line 5 (has the index|is not a sparse row)"):
        _read("@attribute a numeric\n@attribute b numeric", f"{{{index} 1}}")


@each("date_format", ["yyyy yyyy", "dd.MM.dd", "%", "yyyy-%", "(?P<Y>yyyy"])
def test_a_date_format_that_makes_no_sense_is_refused(date_format: str) -> None:
    with pytest.raises(BadInput, match="not all values are dates of the form"):
        _read(f"@attribute d date '{date_format}'", "'x'")
