"""Generated parts of the reference.

A line `{{ NAME }}` or `{{ NAME ARGUMENT }}` of a page is replaced by the result of the function with this
name in `PARTS`. Commands are documented by Typer, and Python by mkdocstrings; the rest are tables of
registries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.cli import get_docs_for_click
from typer.main import get_command

import recommend
from ingest.flows import FLOWS, flows_of
from ingest.flows.pipelines import PREPROCESSOR_SUMMARIES, PREPROCESSORS, UNFIT, further_decisions
from metalearners import LEARNERS
from recommend.bo.summaries import summaries
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.qualities import QUALITIES, SELECTIONS
from warehouse.vocabulary.schema import TABLES
from warehouse.vocabulary.task_types import CLASSIFICATION

PROGRAMS: Mapping[str, str] = {
    "recommend": "recommend.cli",
    "tune": "recommend.bo.cli",
    "ingest": "ingest.cli",
    "warehouse": "warehouse.cli",
    "metalearners": "metalearners.cli",
}
"""Program -> module of its command line."""
PACKAGES = ("recommend", "ingest", "warehouse", "metalearners", "metalearners.evaluation")
"""Packages in display order; a name that two of them export is shown under the first."""

_MARKER = re.compile(r"^\{\{ (?P<name>[\w-]+)(?: (?P<argument>\S+))? \}\}$", re.MULTILINE)


def expanded(markdown: str) -> str:
    """Insert the generated parts into a page.

    Raises:
        KeyError: `PARTS` lacks a name.
    """
    return _MARKER.sub(lambda match: PARTS[match["name"]](*filter(None, [match["argument"]])), markdown)


def program(name: str) -> Any:
    """The command of a program; its `commands` are the subcommands."""
    return get_command(import_module(PROGRAMS[name]).app)


def command(name: str) -> str:
    """Usage, options and examples of a program and its subcommands."""
    own = program(name)
    text = get_docs_for_click(obj=own, ctx=type(own).context_class(own, info_name=name), name=name)
    text = re.sub(r"^(?:Example:)? +(?=\S)", "    ", text.partition("\n")[2], flags=re.MULTILINE)  # as code
    return re.sub(r"^\* `--help`: .*\n", "", text, flags=re.MULTILINE)


def api(package: str) -> str:
    """mkdocstrings blocks for the functions and classes that a package exports."""
    before = {address for other in PACKAGES[: PACKAGES.index(package)] for address in addresses(other)}
    return "\n\n".join(f"::: {address}" for address in addresses(package) if address not in before)


def addresses(package: str) -> list[str]:
    """Full names of the functions and classes that a package exports."""
    module = import_module(package)
    found = [getattr(module, name) for name in module.__all__]
    return [f"{one.__module__}.{one.__qualname__}" for one in found if hasattr(one, "__qualname__")]


def docstring(address: str) -> str:
    """A mkdocstrings block with only the docstring of a module, function or class."""
    return f"::: {address}\n    options: {{members: false, show_root_heading: false, show_signature: false}}"


def settings(address: str) -> str:
    """A mkdocstrings block with the fields of a dataclass."""
    module, _, name = address.rpartition(".")
    names = [field.name for field in fields(getattr(import_module(module), name))]
    return (
        f"::: {address}\n"
        f"    options: {{members: {json.dumps(names)}, inherited_members: true, show_root_heading: false,"
        " show_signature: false}"
    )


def learners() -> str:
    """The meta-learners with their settings."""
    places = {name: address.replace(":", ".") for name, address in LEARNERS.items()}
    return "\n\n".join(f"## {name}\n\n{settings(address)}" for name, address in places.items())


def schema(name: str) -> str:
    """The keys of a document, from `recommend/NAME.schema.json`."""
    text = Path(recommend.__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8")
    return table(["key", "type", "meaning"], _keys(json.loads(text), ""))


def _keys(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """Path, type and meaning of each key; `[]` stands for the items of an array."""
    for name, own in schema.get("properties", {}).items():
        kind = own.get("type") or own.get("const") or own.get("enum", "")
        optional = "" if name in schema.get("required", ()) else " (may be absent)"
        kinds = kind if isinstance(kind, str) else " or ".join(map(str, kind))
        yield code(f"{path}{name}"), kinds, plain(own.get("description", "")) + optional
        yield from _keys(own, f"{path}{name}.")
        for items, sign in ((own.get("items"), "[]"), (own.get("additionalProperties"), ".*")):
            if isinstance(items, dict):
                yield from _keys(items, f"{path}{name}{sign}.")


def tables() -> str:
    """The columns of the warehouse's tables."""
    parts = []
    for own in TABLES.values():
        rows = [
            (
                code(column.name),
                f"{column.type}{'' if column.nullable else ', never null'}",
                plain(column.metadata[b"meaning"].decode()),
            )
            for column in own.schema
        ]
        about = f"{plain(own.meaning)} Key: {codes(own.key)}."
        parts.append(f"## {own.name}\n\n{about}\n\n{table(['column', 'type', 'meaning'], rows)}")
    return "\n\n".join(parts)


def measures() -> str:
    """The measures with a known definition."""
    rows = [
        (
            code(own.name),
            plain(own.definition),
            "larger" if own.larger_is_better else "smaller",
            own.range,
            codes(own.aliases),
        )
        for own in MEASURES.values()
    ]
    return table(["measure", "definition", "better", "range", "short names"], rows)


def metafeatures() -> str:
    """The meta-features, and their named selections."""
    chosen = [
        (code(name), codes(names[:3]) + f" and {len(names) - 3} more") for name, names in SELECTIONS.items()
    ]
    rows = [
        (
            code(own.name) + " (default)" * (own.name in SELECTIONS["default"]),
            plain(own.definition) + "; depends on the order of the rows" * own.depends_on_order,
            "any" if own.task_type is None else own.task_type.words,
            own.cost,
            plain(own.source),
        )
        for own in QUALITIES
    ]
    return (
        f"{table(['selection', 'meta-features'], chosen)}\n\n## All of them\n\n"
        f"{table(['meta-feature', 'definition', 'task type', 'cost', 'source'], rows)}"
    )


def flows() -> str:
    """The flows that Headstart builds, with their hyperparameters."""
    parts = []
    for own in FLOWS.values():
        facts = [f"Name: {code(own.name)}. Key in the warehouse: {code(own.id)}."]
        if own.openml:
            facts.append(f"Same as OpenML's {codes(own.openml)}.")
        if own.requires:
            facts.append(f"Needs the package {code(own.requires)}.")
        if own.most_rows:
            facts.append(f"Recommended by default for up to {own.most_rows:,} rows.")
        decisions = further_decisions(own) if own.further else ()
        optional = [one for one in own.further if one not in decisions]
        if optional:
            facts.append(f"Configurations may also have {codes(one.name for one in optional)}.")
        hyperparameters = _hyperparameters([*own.hyperparameters, *optional])
        title = own.title if own.task_type == CLASSIFICATION else f"{own.title} ({own.task_type.words})"
        parts.append(f"## {title}\n\n{' '.join(facts)}\n\n{hyperparameters}")
    return "\n\n".join(parts)


def preprocessors() -> str:
    """The preprocessors of features with their hyperparameters."""
    rows = [
        (code(name), plain(summary), codes(flow for flow, left_out in UNFIT.items() if name in left_out))
        for name, summary in PREPROCESSOR_SUMMARIES.items()
    ]
    every = [own for values in PREPROCESSORS.values() for own in values]
    return (
        f"{table(['preprocessor', 'makes of the features', 'not before'], rows)}\n\n"
        f"### Their hyperparameters\n\n{_hyperparameters(every)}"
    )


def decisions() -> str:
    """The other choices of a pipeline, which depend on the flow."""
    names_of: dict[tuple[str, ...], list[str]] = {}
    for flow in flows_of(CLASSIFICATION).values():
        for own in further_decisions(flow):
            if own.name in ("imputation", "encoding", "scaling", "balancing"):
                names_of.setdefault(_hyperparameter(own), []).append(flow.name)
    rows = [(*row, codes(names)) for row, names in sorted(names_of.items())]
    return table(["decision", "values", "default", "where", "flows"], rows)


def _hyperparameters(owns: Sequence[Number | Choice]) -> str:
    header = ["hyperparameter", "values", "default", "where"]
    return table(header, map(_hyperparameter, owns)) if owns else "It has no hyperparameters."


def _hyperparameter(own: Number | Choice) -> tuple[str, str, str, str]:
    if isinstance(own, Choice):
        values = ", ".join(code(json.dumps(value)) for value in own.choices)
    else:
        values = f"{own.low:.6g} to {own.high:.6g}{', whole' * own.is_whole}, {own.scale}"
    where = (f"{code(name)} is {' or '.join(map(json.dumps, given))}" for name, given in own.when.items())
    return code(own.name), values, code(json.dumps(own.default)), " and ".join(where)


def search(kind: str) -> str:
    """Names and summaries of one kind of a search's parts, such as surrogates."""
    return table(
        ["name", "what it is"], ((code(name), plain(own)) for name, own in summaries()[kind].items())
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; each cell is one line of Markdown."""
    lines = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *lines])


def code(text: object) -> str:
    """`text` as code."""
    return f"`{text}`"


def codes(names: Iterable[object]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(map(code, names))


def plain(text: object) -> str:
    """`text` escaped for Markdown and HTML, except code in backticks."""
    parts = str(text).split("`")
    parts[::2] = [re.sub(r"([*_\[\]])", r"\\\1", escape(part, quote=False)) for part in parts[::2]]
    return "`".join(parts)


PARTS: Mapping[str, Callable[..., str]] = {
    "api": api,
    "command": command,
    "schema": schema,
    "docstring": docstring,
    "settings": settings,
    "learners": learners,
    "tables": tables,
    "measures": measures,
    "metafeatures": metafeatures,
    "flows": flows,
    "preprocessors": preprocessors,
    "decisions": decisions,
    "search": search,
}
"""Name -> function of at most one argument that returns Markdown."""
