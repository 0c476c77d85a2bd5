"""Tables, prose and fields as Markdown."""

from dataclasses import MISSING, dataclass, field

from docs.parts.markdown import Field, fields_of, gist, plain, table, text_of, value


@dataclass
class Base:
    """A base."""

    size: int
    """How large."""


@dataclass
class Derived(Base):
    """A derived class."""

    size: int = 3
    names: list[str] = field(default_factory=list)
    """What it is called,
    in order."""
    _hidden: int = 0


def test_cells_of_a_table_are_of_one_line_and_keep_bars() -> None:
    assert table(["a", "b"], [("x | y", "one\ntwo")]) == "| a | b |\n| --- | --- |\n| x \\| y | one two |"


def test_what_markdown_or_html_would_read_is_plain_outside_of_code() -> None:
    assert plain("a <b> *c* `<d> _e_` f_g") == "a &lt;b&gt; \\*c\\* `<d> _e_` f\\_g"


def test_values_are_json_and_long_lists_are_cut() -> None:
    assert value(None) == "`null`"
    assert value("a") == '`"a"`'
    assert value(("a", "b", "c", "d", "e")) == "5 names, `a` first"


def test_a_gist_is_the_first_paragraph_without_its_full_stop() -> None:
    assert gist("One\n    line.\n\n    More.") == "One line"


def test_prose_has_paragraphs_tables_and_code_and_nothing_about_arguments() -> None:
    docstring = """Title.

    Names:

        one    what it is,
               at length
        two    more

        {"a": 1}

    Args:
        x: left out.
    """
    names = "| name | what it is |\n| --- | --- |\n| `one` | what it is, at length |\n| `two` | more |"
    assert text_of(docstring) == f'Title.\n\nNames:\n\n{names}\n\n```\n{{"a": 1}}\n```'


def test_fields_have_the_docstring_of_the_class_that_has_one() -> None:
    assert fields_of(Base) == [Field("size", "int", MISSING, "How large.")]
    assert fields_of(Derived) == [
        Field("size", "int", 3, "How large."),
        Field("names", "list[str]", [], "What it is called, in order."),
    ]
