"""The layout of delimited text is detected from its first rows."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.formats.layout import Layout, find_layout
from tests.cases import each


@each(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a b\n1   2\n 3 4\n", " "),
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a\tb c, d\n1\t2 3, 4\n", "\t"),
        ("a|b;c\n1|2;3\n", "|"),
        ('a;b\n"1;2;3",5;6\n', ";"),
        ("a;b\n1,2;3\n4,5,6;7\n", ";"),
    ],
)
def test_the_delimiter_gives_most_rows_one_width_and_ties_go_to_the_rarer_sign(
    text: str, delimiter: str
) -> None:
    """In the last two, quoted semicolons do not count, and commas give rows of 1, 2 and 3 cells."""
    assert find_layout(text.encode()).delimiter == delimiter


@each(
    ("first_row", "is_header"),
    [
        ("size,colour", True),
        ("0,1", True),
        ("1,2", True),
        ("1990,1991", True),
        ("country,1990", True),
        ("1990,1990", False),
        ("7,8", False),
        ("0.5,1.5", False),
        ("4.5,red", False),
    ],
)
def test_numbers_in_the_first_row_are_data_unless_they_are_positions_or_years(
    first_row: str, is_header: bool
) -> None:
    layout = find_layout(f"{first_row}\n5,green\n6,blue\n".encode())
    expected = first_row.split(",") if is_header else ["column_1", "column_2"]
    assert (layout.names, layout.lines) == (expected, int(is_header))


def test_words_in_the_first_row_are_data_if_most_are_repeated_in_their_column() -> None:
    assert find_layout(b"p,x,k\ne,x,s\np,b,t\n").header is None
    assert find_layout(b"p,x,k\ne,x,s\nq,b,t\n").header == (0, 1)  # x only
    assert find_layout(b"p,x,k,m\ne,x,s,n\np,b,t,o\n").header == (0, 1)  # p and x, two of four


@each(
    ("text", "quote"),
    [
        ('a,b\n"1",2\n', '"'),
        ("a,b\n'x, y',2\n", "'"),
        ("a,b\nit's,2\n", None),
        ('a,b\n"1,2\n', None),
        ("a,b\n'x',\"y\"\n", '"'),
        ("a,b\n1,2\n", None),
    ],
)
def test_quotes_are_single_or_double_or_none_if_unclosed(text: str, quote: str | None) -> None:
    assert find_layout(text.encode()).quote == quote


def test_a_header_counts_its_lines_and_may_lack_one_name() -> None:
    assert find_layout(b'"a\nb",c\n1,2\n').lines == 2
    assert find_layout(b"a,b\nr1,1,2\nr2,3,4\n").names == ["", "a", "b"]
    assert find_layout(b"a,b\n1,2,\n3,4,\n").names == ["a", "b", ""]


def test_names_above_numbers_are_a_header_though_one_of_them_is_also_a_category() -> None:
    assert find_layout(b"x,y,c\n1,2,a\n3,4,b\n5,6,c\n7,8,c\n").header == (0, 1)
    # Words that recur among numbers stand for missing ones.
    assert find_layout(b"low,low,a\nlow,low,b\n5,6,a\n7,8,a\n9,1,b\n").header is None


@settings(max_examples=60, deadline=None)
@given(
    delimiter=st.sampled_from(",;|\t "),
    rows=st.integers(2, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.text("abc", min_size=1), min_size=width, max_size=width), min_size=1, max_size=5
        )
    ),
)
def test_the_header_of_a_table_of_words_is_found(delimiter: str, rows: list[list[str]]) -> None:
    names = [f"N{position}" for position in range(len(rows[0]))]
    text = "\n".join(delimiter.join(row) for row in [names, *rows])
    assert find_layout(text.encode()) == Layout(delimiter, None, None, names, (0, 1), 1)
