"""Reading OpenML's XML: values cut out of the text equal a parser's, and other documents are refused."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.openml.api.documents import (
    Listing,
    UnreadableError,
    parse,
    read_error,
    read_evaluations,
    read_qualities,
    read_setups,
    read_tasks,
)
from tests.cases import each

OML = "{http://openml.org/openml}"
HEAD = '<oml:{0} xmlns:oml="http://openml.org/openml">'

# Text that XML can hold; a parser turns carriage returns into line feeds.
texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\r"), max_size=20)


def parameter(number: int, value: str, gap: str = "") -> str:
    return gap.join(
        [
            "<oml:parameter>",
            f"<oml:id>{number}</oml:id>",
            "<oml:flow_id>7</oml:flow_id>",
            f"<oml:full_name>tree(1)_p{number}</oml:full_name>",
            f"<oml:parameter_name>p{number}</oml:parameter_name>",
            f"<oml:default_value>{number}</oml:default_value>",
            f"<oml:value>{escape(value, {chr(34): '&quot;'})}</oml:value>" if value else "<oml:value/>",
            "</oml:parameter>",
        ]
    )


def evaluation(run: int, values: Sequence[str], gap: str = "") -> str:
    inside = gap.join(parameter(number, value, gap) for number, value in enumerate(values))
    return (
        f"<oml:evaluation><oml:run_id>{run}</oml:run_id><oml:task_id>1</oml:task_id>"
        f"<oml:setup_id>{run}</oml:setup_id><oml:flow_id>7</oml:flow_id>"
        f"<oml:parameters>{gap}{inside}{gap}</oml:parameters>"
        f"<oml:function>kappa</oml:function><oml:value>0.5</oml:value></oml:evaluation>"
    )


def page(setups: Sequence[Sequence[str]], gap: str = "") -> bytes:
    rows = "".join(evaluation(run, values, gap) for run, values in enumerate(setups, start=1))
    return f"{HEAD.format('evaluations')}{rows}</oml:evaluations>".encode()


def as_parsed(body: bytes) -> list[dict[str, str]]:
    """Values by parameter of each setup, with only a parser."""
    return [
        {
            part.findtext(f"{OML}id") or "": part.findtext(f"{OML}value") or ""
            for part in row.iter(f"{OML}parameter")
        }
        for row in ET.fromstring(body)
    ]


@given(st.lists(st.lists(texts, min_size=3, max_size=3), max_size=4), st.sampled_from(["", "\n ", "\t"]))
def test_values_are_those_that_a_parser_finds(setups: list[list[str]], gap: str) -> None:
    body = page(setups, gap)
    listing = read_evaluations(body)
    assert [setup.values for setup in listing.setups] == as_parsed(body)
    assert [row["value"] for row in listing.rows] == ["0.5"] * len(setups)


def test_setups_of_one_flow_may_set_different_parameters() -> None:
    listing = read_evaluations(page([["a", "b"], ["c"], [], ["d", "", "f"]]))
    assert [list(setup.values.values()) for setup in listing.setups] == [
        ["a", "b"], ["c"], [], ["d", "", "f"],
    ]  # fmt: skip
    assert sorted(listing.parameters) == ["0", "1", "2"]
    assert listing.parameters["1"].full_name == "tree(1)_p1"


def test_characters_that_xml_forbids_are_refused() -> None:
    with pytest.raises(UnreadableError):
        read_evaluations(page([["a", "b"], ["c", "d\0e"]]))


def test_numeric_entities_are_characters() -> None:
    body = page([["x"], ["y"]]).replace(b"<oml:value>y", b"<oml:value>it&#039;s &#9731;")
    assert read_evaluations(body).setups[1].values == {"0": "it's \u2603"}


@given(st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=3), st.data())
def test_a_page_that_is_cut_off_is_never_read(setups: list[list[str]], data: st.DataObject) -> None:
    body = page(setups)
    end = data.draw(st.integers(0, len(body) - 1))
    with pytest.raises(UnreadableError) as refused:
        read_evaluations(body[:end])
    assert not refused.value.complete


@each("body", [b"", b"<html><body>503<hr></body></html>", b"<html></html>", b"{}"])
def test_an_answer_that_is_not_a_listing_is_retried(body: bytes) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_evaluations(body)
    assert not refused.value.complete


LAUGHS = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10 if n else 'lol'}'>" for n in range(30))


@each(
    "declaration",
    [
        f"<!DOCTYPE runs [{LAUGHS}]>",
        "<!DOCTYPE runs [<!ENTITY l29 SYSTEM 'file:///etc/passwd'>]>",
        "<!-- a comment --> <?pi ?> <!doctype runs [<!ENTITY l29 'x'>]>",
    ],
)
@each("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_document_that_declares_entities_is_not_read(declaration: str, encoding: str) -> None:
    body = f"<?xml version='1.0'?>{declaration}<runs>&l29;</runs>".encode(encoding)
    with pytest.raises(UnreadableError, match="a document type declaration"):
        parse(body, "runs")


def test_a_broken_row_is_distinguished_from_a_cut_document() -> None:
    with pytest.raises(UnreadableError) as refused:
        parse(f"{HEAD.format('runs')}1 < 2</oml:runs>".encode(), "runs")
    assert refused.value.complete


@each("name", ["run_id", "setup_id", "flow_id", "task_id", "function"])
def test_a_row_without_what_identifies_it_is_refused(name: str) -> None:
    body = page([["a"]]).replace(f"oml:{name}>".encode(), b"oml:other>", 2)
    with pytest.raises(UnreadableError, match=name):
        read_evaluations(body)


def test_parameters_of_a_listing_of_setups_are_not_wrapped() -> None:
    setups = "".join(
        f"<oml:setup><oml:setup_id>{n}</oml:setup_id><oml:flow_id>7</oml:flow_id>"
        f"{''.join(parameter(k, f'{n}{k}') for k in range(n))}</oml:setup>"
        for n in (2, 0, 2)
    )
    listing: Listing = read_setups(f"{HEAD.format('setups')}{setups}</oml:setups>".encode())
    assert [setup.values for setup in listing.setups] == [{"0": "20", "1": "21"}, {}, {"0": "20", "1": "21"}]


def test_entities_of_html_are_read() -> None:
    flow = f"{HEAD.format('flow')}<oml:name>Andr&eacute; &amp; &lt;co&gt;</oml:name></oml:flow>"
    assert parse(flow.encode(), "flow").findtext("name") == "André & <co>"


def test_the_estimation_procedure_of_a_task_is_one_of_its_inputs() -> None:
    tasks = (
        f"{HEAD.format('tasks')}<oml:task><oml:task_id>3</oml:task_id><oml:did>4</oml:did>"
        '<oml:input name="source_data">4</oml:input><oml:input name="estimation_procedure">1</oml:input>'
        "</oml:task></oml:tasks>"
    )
    (row,) = read_tasks(tasks.encode())
    assert (row["task_id"], row["did"], row["estimation_procedure"]) == ("3", "4", "1")


def test_empty_qualities_are_kept_apart_from_missing_ones() -> None:
    qualities = (
        f"{HEAD.format('data_qualities')}"
        "<oml:quality><oml:name>a</oml:name><oml:value>-1.0</oml:value></oml:quality>"
        "<oml:quality><oml:name>b</oml:name><oml:value/></oml:quality></oml:data_qualities>"
    )
    assert read_qualities(qualities.encode()) == {"a": "-1.0", "b": None}


def test_errors_have_a_code() -> None:
    error = f"{HEAD.format('error')}<oml:code>512</oml:code><oml:message>No results</oml:message></oml:error>"
    assert read_error(error.encode()) == (512, "No results")
    assert read_error(b"<html></html>") is None
