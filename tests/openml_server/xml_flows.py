"""Flows and setups in XML.

Texts of parameters are escaped. A flow's own page is escaped with the names that HTML has for characters,
which XML does not know; the listing of flows is not escaped at all.
"""

from collections.abc import Iterable, Sequence
from html import escape

from tests.openml_server.records import Component, Flow, Parameter, Setup, Slot
from tests.openml_server.world import World
from tests.openml_server.xml_text import NAMESPACE, as_html, document, escaped


def flow(world: World, row: Flow) -> bytes:
    """flow/{id}: the whole tree of components."""
    return document("flow", _flow_elements(world, row))


def _flow_elements(world: World, row: Flow) -> Iterable[str]:
    texts = {
        "id": str(row.id),
        "uploader": str(row.uploader),
        "name": row.name,
        "class_name": row.class_name,
        "version": str(row.version),
        "external_version": row.external_version,
        "description": row.description,
        "upload_date": row.upload_date,
        "language": "English",
        "dependencies": row.dependencies,
    }
    yield from (f"<oml:{key}>{as_html(text)}</oml:{key}>\n" for key, text in texts.items() if text)
    yield from map(_flow_parameter, row.parameters)
    yield from (_component(world, component) for component in row.components)
    yield from (f"<oml:tag>{as_html(tag)}</oml:tag>\n" for tag in world.tags_of("flow", row.id))


def _flow_parameter(parameter: Parameter) -> str:
    return (
        f"<oml:parameter><oml:name>{as_html(parameter.name)}</oml:name>"
        f"<oml:data_type>{as_html(parameter.data_type)}</oml:data_type>"
        f"<oml:default_value>{as_html(parameter.default)}</oml:default_value>"
        f"<oml:description>{as_html(parameter.description)}</oml:description></oml:parameter>\n"
    )


def _component(world: World, component: Component) -> str:
    inner = "".join(_flow_elements(world, world.flows[component.flow]))
    return (
        f"<oml:component><oml:identifier>{as_html(component.identifier)}</oml:identifier>"
        f"<oml:flow {NAMESPACE}>{inner}</oml:flow></oml:component>\n"
    )


def parameter_heads(slots: Sequence[Slot]) -> list[str]:
    """What stands in front of the value, for each parameter of a flow's setups."""
    return [
        f"<oml:parameter>\n <oml:id>{slot.parameter.id}</oml:id><oml:flow_id>{slot.flow.id}</oml:flow_id>"
        f"<oml:flow_name>{escape(slot.flow.name)}</oml:flow_name>"
        f"<oml:full_name>{escape(slot.full_name)}</oml:full_name>\n"
        f" <oml:parameter_name>{escape(slot.parameter.name)}</oml:parameter_name>"
        f"<oml:data_type>{escape(slot.parameter.data_type)}</oml:data_type>"
        f"<oml:default_value>{escape(slot.parameter.default)}</oml:default_value><oml:value>"
        for slot in slots
    ]


def heads_of(world: World, setups: Iterable[int]) -> dict[int, list[str]]:
    """Heads of the parameters by flow, for the flows of some setups."""
    flows = {world.setups[setup].flow for setup in setups}
    return {flow: parameter_heads(world.slots(flow)) for flow in flows}


def parameters(world: World, row: Setup, heads: list[str]) -> str:
    """A setup's parameters; each as often as the setup has tags, because tags are joined in."""
    elements = [
        f"{head}{escaped(value)}</oml:value>\n</oml:parameter>\n"
        for head, value in zip(heads, row.values, strict=True)
        if value is not None
    ]
    tags = len(world.tags_of("setup", row.id))
    if tags > 1:
        elements = [element for element in elements for _ in range(tags)]
    return "".join(elements)


def setups(world: World, rows: Sequence[Setup]) -> bytes:
    """setup/list."""
    heads = heads_of(world, (row.id for row in rows))
    return document(
        "setups",
        (
            f"<oml:setup>\n<oml:setup_id>{row.id}</oml:setup_id>\n<oml:flow_id>{row.flow}</oml:flow_id>\n"
            f"{parameters(world, row, heads[row.flow])}</oml:setup>\n"
            for row in rows
        ),
    )
