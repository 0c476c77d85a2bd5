"""OpenML's XML documents, as columns and dictionaries of text.

Listings come from templates that do not escape everything, and flows use HTML entities, which XML does not
have. A document is accepted if it is well-formed and has the requested root.

Setups are most of the traffic: thirty parameters each, which are the same in every setup of a flow except for
the value. So only the first setup of a flow is parsed; from the others the values are cut out of the text as
long as all around them is the same, which is three times as fast.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html.entities import html5
from typing import Self

_IS_UTF8_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<(?!\x00)")
_DOCTYPE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?:[^?]|\?(?!>))*+\?>|<!--(?:[^-]|-(?!->))*+-->)*+<!DOCTYPE", re.IGNORECASE
)
_NAMESPACE = re.compile(r"\{[^}]*\}")
_MOST_DIGITS = 18  # of a number that fits 64 bits
_MOST_TAGS = 300_000
"""Most `<` in a document without hyperparameters: a page has up to 40,000. A nested one takes 500 bytes."""
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})

_ENTITIES = (("&quot;", '"'), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # & comes last
_OF_EVALUATION = ("run_id", "task_id", "setup_id", "flow_id", "function")
_OPEN, _CLOSE = b"<oml:parameters>", b"</oml:parameters>"
_START, _END = b"<oml:parameter>", b"</oml:parameter>"
_VALUE, _VALUE_END = b"<oml:value>", b"</oml:value>"
_SETUP_START = b"<oml:setup>"


class UnreadableError(Exception):
    """A body that is not the requested document."""

    def __init__(self, reason: str, *, complete: bool = False) -> None:
        super().__init__(reason)
        self.complete = complete
        """Whether the body is the complete right document, so that a retry is likely to bring the same."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a component: the part that all setups share."""

    id: str
    component_flow: str
    full_name: str
    name: str


@dataclass(frozen=True, slots=True)
class SetupValues:
    """The values of one setup, as text; tens of thousands are in memory at a time."""

    setup: str
    flow: str
    parameters: tuple[str, ...] = ()
    """Parameter ids, shared by the setups that have the same."""
    texts: str = ""
    """The values, joined by zero bytes, which XML can't contain."""
    exists: bool = True
    """False: runs refer to it, but the server has no data of it."""

    @property
    def values(self) -> dict[str, str]:
        """Value by parameter id; an empty value is the empty text."""
        return dict(zip(self.parameters, self.texts.split("\0") if self.parameters else (), strict=True))


@dataclass(frozen=True)
class Listing:
    """A page of evaluations or setups."""

    rows: list[dict[str, str]] = field(default_factory=list)
    """Child elements' text by name; an empty element is left out."""
    setups: list[SetupValues] = field(default_factory=list)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    lost: int = 0
    """Unreadable rows of the server here."""


def read_error(body: bytes) -> tuple[int, str] | None:
    """Code and message of an error document; None for other documents."""
    try:
        content = _leaves(parse(body, "error"))
        return int(content["code"]), content.get("message", "")
    except (UnreadableError, KeyError, ValueError):
        return None


def parse(body: bytes, root: str) -> ET.Element:
    """The root element, named `root`, of a document; namespaces are removed from names.

    Raises:
        UnreadableError: it is cut off, or something else, such as a document that declares entities, which
            could grow without end or name files.
    """
    if not _IS_UTF8_MARKUP.match(body) or _DOCTYPE.match(body):
        raise UnreadableError("not XML in UTF-8, or with a document type declaration")
    if body.count(b"<") > _MOST_TAGS:
        raise UnreadableError(f"more than {_MOST_TAGS:,} tags, the limit")
    try:
        element = ET.fromstring(body)
    except ET.ParseError:
        element = _parsed_with_entities(body, root)
    except (ValueError, LookupError) as error:  # an unknown encoding
        raise UnreadableError(str(error)) from error
    plain = cache(lambda name: _NAMESPACE.sub("", name))  # so that elements of the same name share it
    for part in element.iter():
        part.tag = plain(part.tag)
    if element.tag != root:
        raise UnreadableError(f"its root is {element.tag!r}, not {root!r}")
    return element


def _parsed_with_entities(body: bytes, root: str) -> ET.Element:
    """Parse the document with HTML entities replaced by their characters."""
    text = _ENTITY.sub(
        lambda found: found[0] if found[1] in _OF_XML else html5.get(found[1], found[0]),
        body.decode("utf-8", errors="replace"),
    )
    try:
        return ET.fromstring(text)
    except ET.ParseError as error:
        is_complete = text.rstrip().endswith((f"</oml:{root}>", f"</{root}>"))
        raise UnreadableError(str(error), complete=is_complete) from error


def rows_in(root: str, row: str) -> Callable[[bytes], list[dict[str, str]]]:
    """Return a reader of the texts of the children of each element `row` in a document with this root."""
    return lambda body: [_leaves(element) for element in parse(body, root).iter(row)]


def texts_in(root: str, name: str) -> Callable[[bytes], list[str]]:
    """Return a reader of the texts of all elements with a name in a document with this root."""
    return lambda body: [element.text for element in parse(body, root).iter(name) if element.text]


def read_tasks(body: bytes) -> list[dict[str, str]]:
    """Rows of `task/list`, each with the id of its estimation procedure and the name of its target."""
    rows: list[dict[str, str]] = []
    for element in parse(body, "tasks").iter("task"):
        inputs = {part.get("name", ""): part.text or "" for part in element.findall("input")}
        known: dict[str, str] = {
            name: inputs[name] for name in ("estimation_procedure", "target_feature") if name in inputs
        }
        rows.append({**_leaves(element), **known})
    return rows


def read_qualities(body: bytes) -> dict[str, str | None]:
    """`data/qualities/{id}`: value by name, None if empty."""
    qualities = parse(body, "data_qualities").iter("quality")
    rows = [_leaves(element) for element in qualities]
    return {row["name"]: row.get("value") for row in rows if "name" in row}


@dataclass(frozen=True)
class DatasetDescription:
    """A dataset's description at `data/{id}`, with the files of its content."""

    name: str
    target: str | None
    """Name of the target, or comma-separated names."""
    ignored: tuple[str, ...]
    """Comma-separated names of columns to leave out."""
    url: str | None
    """Address of the uploaded file, usually ARFF."""
    md5: str | None
    """MD5 checksum of that file."""
    parquet_url: str | None


def read_description(body: bytes) -> DatasetDescription:
    """`data/{id}`."""
    root = parse(body, "data_set_description")
    content = _complete(_leaves(root), ("name",))
    ignored = [*root.iter("row_id_attribute"), *root.iter("ignore_attribute")]
    return DatasetDescription(
        name=content["name"],
        target=content.get("default_target_attribute"),
        ignored=tuple(element.text for element in ignored if element.text),
        url=content.get("url"),
        md5=content.get("md5_checksum"),
        parquet_url=content.get("parquet_url"),
    )


def read_evaluations(body: bytes) -> Listing:
    """A page of `evaluation/list` or `evaluation/setup/list`."""
    skeleton, blocks = _without_blocks(body, _wrapped_parameters(body))
    elements = parse(skeleton, "evaluations").findall("evaluation")
    texts: dict[str, str] = {}
    rows = [_complete(_leaves(element, texts), _OF_EVALUATION) for element in elements]
    values = _Values(body, blocks)
    setups = {
        row["setup_id"]: values.of(row["setup_id"], row["flow_id"], block)
        for element, row in zip(elements, rows, strict=True)
        if (block := element.find("parameters")) is not None
    }
    return Listing(rows, list(setups.values()), values.parameters)


def read_setups(body: bytes) -> Listing:
    """A page of `setup/list`."""
    # Parameters are among the other children of a setup, mostly without an element around them.
    is_wrapped = _OPEN in body
    places = _wrapped_parameters(body) if is_wrapped else _parameters_of_setups(body)
    skeleton, blocks = _without_blocks(body, places)
    values = _Values(body, blocks)
    found = []
    for element in parse(skeleton, "setups").findall("setup"):
        row = _complete(_leaves(element), ("setup_id", "flow_id"))
        found.append(values.of(row["setup_id"], row["flow_id"], element.find("parameters")))
    return Listing([], found, values.parameters)


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of a block of parameters in a document."""

    start: int
    end: int
    margins: tuple[int, int] = (0, 0)
    """Bytes of the tags around it."""


def _wrapped_parameters(body: bytes) -> Iterator[_Place]:
    """The elements `parameters`, one after the other."""
    start = 0
    while (opening := body.find(_OPEN, start)) >= 0:
        start = opening + len(_OPEN)
        end = body.find(_CLOSE, start)
        if end < 0:
            return
        yield _Place(start, end, (len(_OPEN), len(_CLOSE)))
        start = end + len(_CLOSE)


def _parameters_of_setups(body: bytes) -> Iterator[_Place]:
    """All elements `parameter` of each setup."""
    setup = body.find(_SETUP_START)
    while setup >= 0:
        following = body.find(_SETUP_START, setup + 1)
        until = following if following >= 0 else len(body)
        start, end = body.find(_START, setup, until), body.rfind(_END, setup, until)
        if 0 <= start < end:
            yield _Place(start, end + len(_END))
        setup = following


def _without_blocks(body: bytes, places: Iterable[_Place]) -> tuple[bytes, list[_Place]]:
    """Replace each block of parameters by a numbered, empty element; return the document and the blocks.

    Blocks are most of a large document, so they are not copied.
    """
    skeleton: list[bytes] = []
    blocks: list[_Place] = []
    start = 0
    for place in places:
        skeleton.append(body[start : place.start - place.margins[0]])
        skeleton.append(b'<oml:parameters block="%d"/>' % len(blocks))
        blocks.append(place)
        start = place.end + place.margins[1]
    skeleton.append(body[start:])
    return b"".join(skeleton), blocks


@dataclass(frozen=True)
class _Template:
    """The text of a block of parameters around its values."""

    parameters: tuple[str, ...]
    prefixes: list[bytes]
    end: bytes

    @classmethod
    def of(cls, block: bytes, parameters: tuple[str, ...]) -> Self:
        *pieces, end = block.split(_VALUE_END)
        return cls(parameters, [piece[: piece.rfind(_VALUE) + len(_VALUE)] for piece in pieces], end)

    def texts(self, block: bytes) -> str | None:
        """The values for `SetupValues`; None if the text around them differs."""
        *pieces, end = block.split(_VALUE_END)
        parts = list(zip(pieces, self.prefixes, strict=False))
        if end != self.end or not len(pieces) == len(self.prefixes) == len(self.parameters):
            return None
        if not all(piece.startswith(prefix) for piece, prefix in parts):
            return None
        together = b"\0".join([piece[len(prefix) :] for piece, prefix in parts])
        try:
            texts = _unescaped(together.decode("utf-8", errors="replace"))
        except ValueError:  # an endless character reference: let the parser reject it
            return None
        # A zero byte in a value: let the parser reject it.
        return texts if texts.count("\0") == max(len(pieces) - 1, 0) else None


def _unescaped(text: str) -> str:
    """Decode the entities of an XML text; much faster than `html.unescape` on the usual ones."""
    if "&" not in text:
        return text
    if "&#" in text:
        return html.unescape(text)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


class _Values:
    """The parameter values of one page's setups."""

    def __init__(self, body: bytes, blocks: Sequence[_Place]) -> None:
        self.parameters: dict[str, Parameter] = {}
        self._body = body
        self._blocks = blocks
        self._templates: dict[str, _Template] = {}

    def of(self, setup: str, flow: str, element: ET.Element | None) -> SetupValues:
        """The setup whose block of parameters `element` replaces."""
        if element is None or element.get("block") is None:
            return SetupValues(setup, flow)
        number = element.get("block", "")
        if not number.isdecimal() or int(number[:_MOST_DIGITS]) >= len(self._blocks):
            raise UnreadableError("parameters have a number that is not ours", complete=True)
        place = self._blocks[int(number)]
        block = self._body[place.start : place.end]
        if flow in self._templates:
            texts = self._templates[flow].texts(block)
            if texts is not None:
                return SetupValues(setup, flow, self._templates[flow].parameters, texts)
        values = self._parsed(block)
        parameters = tuple(values)
        self._templates[flow] = _Template.of(block, parameters)
        return SetupValues(setup, flow, parameters, "\0".join(values.values()))

    def _parsed(self, block: bytes) -> dict[str, str]:
        wrapped = b'<oml:parameters xmlns:oml="http://openml.org/openml">' + block + _CLOSE
        values = {}
        for part in parse(wrapped, "parameters").iter("parameter"):
            content = _complete(_leaves(part), ("id", "parameter_name"))
            known = Parameter(
                content["id"],
                content.get("flow_id", ""),
                content.get("full_name", ""),
                content["parameter_name"],
            )
            self.parameters.setdefault(known.id, known)
            values[known.id] = content.get("value", "")
        return values


def is_number(text: str) -> bool:
    """Whether a text is a number like OpenML's ids."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _complete(row: dict[str, str], needed: Iterable[str]) -> dict[str, str]:
    missing = [name for name in needed if name not in row]
    if missing:
        raise UnreadableError(f"a row without {', '.join(missing)}", complete=True)
    for name in needed:
        if name.endswith("_id") and not is_number(row[name]):
            raise UnreadableError(f"a row whose {name} is {row[name][:_MOST_DIGITS]!r}", complete=True)
    return row


def _leaves(element: ET.Element, texts: dict[str, str] | None = None) -> dict[str, str]:
    """Text of the children that have text and no children of their own.

    Args:
        texts: cache of texts, so that equal ones share memory.
    """
    own = {child.tag: child.text for child in element if child.text and not len(child)}
    return own if texts is None else {name: texts.setdefault(text, text) for name, text in own.items()}
