"""Tables of what there is: columns of the warehouse, measures, meta-features, flows, preprocessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from docs.parts.markdown import code, codes, plain, table, value
from ingest.flows import FLOWS
from ingest.flows.pipelines import PREPROCESSOR_SUMMARIES, PREPROCESSORS, UNFIT, further_decisions
from warehouse.configurations.parameters import Choice, Number
from warehouse.measures import COMMON, OTHERS, Measure
from warehouse.qualities import DEFAULT, GROUPS, QUALITIES, SELECTIONS
from warehouse.schema import TABLES, Table
from warehouse.support.bibliography import REFERENCES

_DECISIONS = ("imputation", "encoding", "scaling", "balancing")
_KINDS = {"string": "text", "int64": "whole number", "double": "number", "bool": "true or false"}


def tables() -> str:
    """Every column of the warehouse's tables."""
    return "\n\n".join(f"## {own.name}\n\n{_about(own)}\n\n{_columns(own)}" for own in TABLES.values())


def _about(own: Table) -> str:
    lines = [f"{plain(own.meaning)} Key: {codes(own.key)}."]
    if own.sort_by:
        lines.append(f"Sorted by {codes(own.sort_by)}.")
    return " ".join(lines)


def _columns(own: Table) -> str:
    rows = [
        (
            code(column.name),
            _kind(column.type) + ("" if column.nullable else ", never null"),
            plain(column.metadata[b"meaning"].decode()),
        )
        for column in own.schema
    ]
    return table(["column", "type", "meaning"], rows)


def _kind(kind: pa.DataType) -> str:
    return "time (UTC)" if pa.types.is_timestamp(kind) else _KINDS[str(kind)]


def measures() -> str:
    """Every measure that something is known of."""
    header = ["measure", "definition", "better", "range", "short names"]
    usual, others = (table(header, map(_measure, own)) for own in (COMMON, OTHERS))
    return f"## The usual ones\n\n{usual}\n\n## The others of OpenML\n\n{others}"


def _measure(own: Measure) -> tuple[str, ...]:
    better = "larger" if own.larger_is_better else "smaller"
    return code(own.name), plain(own.definition), better, own.range, codes(own.aliases)


def metafeatures() -> str:
    """Every meta-feature, by group."""
    parts = []
    for group, names in GROUPS.items():
        rows = [
            (
                code(own.name) + (" (default)" if own.name in DEFAULT else ""),
                plain(own.definition)
                + ("; depends on the order of the rows" if own.depends_on_order else ""),
                own.cost,
                plain(own.source),
            )
            for own in QUALITIES
            if own.name in names
        ]
        parts.append(f"## {group}\n\n{table(['meta-feature', 'definition', 'cost', 'source'], rows)}")
    return "\n\n".join(parts)


def selections() -> str:
    """The names that stand for several meta-features."""
    rows = [(code(name), str(len(names)), codes(names[:3]) + ", ...") for name, names in SELECTIONS.items()]
    return table(["name", "meta-features", "such as"], rows)


def flows() -> str:
    """Every flow that is built here, with its hyperparameters."""
    parts = []
    for own in FLOWS.values():
        facts = [f"Name: {code(own.name)}. Key in the warehouse: {code(own.id)}."]
        if own.openml:
            facts.append(
                f"Runs of OpenML's flow{'s' * (len(own.openml) > 1)} {codes(own.openml)} are runs of it."
            )
        if own.requires:
            facts.append(f"It needs the package {code(own.requires)}.")
        if own.most_rows:
            facts.append(f"Recommended unasked for up to {own.most_rows:,} rows.")
        names = {parameter.name for parameter in own.hyperparameters}
        facts += [f"It can't have {_together(one)} together." for one in own.forbidden if {*one} <= names]
        own_part = _hyperparameters(own.hyperparameters) if own.hyperparameters else "It has none."
        parts.append(f"## {own.title}\n\n{' '.join(facts)}\n\n{own_part}")
    return "\n\n".join(parts)


def preprocessors() -> str:
    """The preprocessors of features, with their hyperparameters."""
    rows = []
    for name, summary in PREPROCESSOR_SUMMARIES.items():
        unfit = [flow for flow, left_out in UNFIT.items() if name in left_out]
        rows.append((code(name), plain(summary), codes(unfit)))
    overview = table(["preprocessor", "what it makes of the features", "never before"], rows)
    every = _hyperparameters([own for values in PREPROCESSORS.values() for own in values])
    return f"{overview}\n\n### Their hyperparameters\n\n{every}"


def decisions() -> str:
    """What flows allow beside the preprocessor."""
    flows_of: dict[tuple[str, ...], list[str]] = {}
    for flow in FLOWS.values():
        for own in further_decisions(flow):
            if isinstance(own, Choice) and own.name in _DECISIONS:
                where = "a preprocessor comes first" if own.when else ""
                row = code(own.name), codes(own.choices), code(own.default), where
                flows_of.setdefault(row, []).append(flow.name)
    rows = [(*row, codes(names)) for row, names in sorted(flows_of.items())]
    return table(["decision", "values", "default", "where", "flows"], rows)


def bibliography() -> str:
    """Every publication that the code cites, by first author and year."""
    return "\n".join(f"- **{short}**: {plain(full)}." for short, full in sorted(REFERENCES.items()))


def _hyperparameters(owns: Sequence[Number | Choice]) -> str:
    header = ["hyperparameter", "values", "scale", "default"]
    rows = [[code(own.name), *_range(own), value(own.default)] for own in owns]
    if any(own.when for own in owns):
        header.append("where")
        rows = [[*row, _condition(own)] for row, own in zip(rows, owns, strict=True)]
    return table(header, rows)


def _range(own: Number | Choice) -> tuple[str, str]:
    if isinstance(own, Choice):
        return ", ".join(map(value, own.choices)), ""
    whole = ", whole" if own.is_whole else ""
    return f"{own.low:.6g} to {own.high:.6g}{whole}", own.scale


def _condition(own: Number | Choice) -> str:
    parts = [f"{code(parent)} is {' or '.join(map(value, values))}" for parent, values in own.when.items()]
    return " and ".join(parts)


def _together(combination: Mapping[str, object]) -> str:
    return " and ".join(code(f"{name}={own}") for name, own in combination.items())
