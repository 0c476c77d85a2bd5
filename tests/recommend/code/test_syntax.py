"""Literals contain their value and nothing else, and long lines are broken as a formatter would."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from recommend.code.syntax import literal, plain

HOSTILE = ['"""', "'", '"', "\\", "\n", "\r", "\u2028", "\x00", "#", "{x}", "%(prog)s", "__import__('os')"]
texts = st.lists(st.one_of(st.text(max_size=5), st.sampled_from(HOSTILE)), max_size=8).map("".join)


@given(texts)
def test_a_literal_is_read_back_as_its_text(text: str) -> None:
    source = literal(text)
    assert ast.literal_eval(source) == text
    assert len(source.splitlines()) == 1


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.booleans(), st.none()))
def test_a_number_is_read_back_unchanged(value: object) -> None:
    assert ast.literal_eval(literal(value)) == value


@given(texts)
def test_text_in_a_docstring_cannot_end_it(text: str) -> None:
    source = f'"""It is {plain(text)}."""\n'
    tree = ast.parse(source)
    assert len(tree.body) == 1
    assert ast.get_docstring(tree) is not None
    assert len(source.splitlines()) == 1
