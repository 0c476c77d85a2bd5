"""Answers in JSON.

Listings of data, tasks, flows, runs and evaluations have templates of their own: numbers are numbers, and
texts are written as they are, without escapes, save those of parameters, which are escaped for HTML. Such
a document can be invalid. All other answers are made of the XML: every value is a text, one child is an
object, several are a list, and an empty element is `[]`.
"""

import json
import re
from collections.abc import Iterable, Sequence
from html import escape, unescape
from typing import Any
from xml.etree import ElementTree

from tests.openml_server.errors import ApiError
from tests.openml_server.records import Dataset, Evaluation, Flow, Run, Setup, Slot, Task
from tests.openml_server.world import World
from tests.openml_server.xml_data import BASIC_QUALITIES, task_inputs
from tests.openml_server.xml_text import escaped


def error(problem: ApiError) -> bytes:
    """The answer to a request that cannot be served; the code is a text."""
    content = {"code": str(problem.code), "message": problem.message}
    if problem.information:
        content["additional_information"] = problem.information
    return json.dumps({"error": content}).encode()


def converted(document: bytes) -> bytes:
    """A document in XML, as JSON."""
    text = re.sub(r"&(?!amp;|lt;|gt;|quot;|#)\w+;", lambda entity: unescape(entity[0]), document.decode())
    root = ElementTree.fromstring(text)
    return json.dumps({_local(root.tag): _content(root)}).encode()


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _content(element: ElementTree.Element) -> Any:
    if not len(element) and not element.attrib:
        return element.text if element.text else []
    content: dict[str, Any] = dict(element.attrib)
    if element.attrib and element.text and element.text.strip():
        content["value"] = element.text
    for child in element:
        name, value = _local(child.tag), _content(child)
        if name not in content:
            content[name] = value
        elif isinstance(content[name], list) and content[name]:
            content[name].append(value)
        else:
            content[name] = [content[name], value]
    return content


def _listing(root: str, kind: str, rows: Iterable[str]) -> bytes:
    return f'{{"{root}":{{"{kind}":[\n{",".join(rows)}\n]}}}}'.encode()


def datasets(rows: Sequence[Dataset]) -> bytes:
    """data/list."""
    return _listing("data", "dataset", map(_dataset_row, rows))


def _dataset_row(row: Dataset) -> str:
    qualities = {name: text for name in BASIC_QUALITIES if (text := row.qualities.get(name))}
    return (
        f'{{"did":{row.did},"name":"{row.name}","version":{row.version},"status":"{row.status}",'
        f'"format":"ARFF","file_id":{row.did},"quality":{_pairs(qualities)}}}'
    )


def tasks(world: World, rows: Sequence[Task]) -> bytes:
    """task/list."""
    return _listing("tasks", "task", (_task_row(row, world.datasets[row.did]) for row in rows))


def _task_row(row: Task, data: Dataset) -> str:
    qualities = {name: data.qualities[name] or "" for name in BASIC_QUALITIES if name in data.qualities}
    return (
        f'{{"task_id":{row.id},"task_type_id":{row.task_type},"task_type":"{row.task_type_name}",'
        f'"did":{row.did},"name":"{data.name}","status":"{data.status}","format":"ARFF",'
        f'"input":{_pairs(task_inputs(row, data))},"quality":{_pairs(qualities)}}}'
    )


def _pairs(texts: dict[str, str]) -> str:
    return "[" + ",".join(f'{{"name":"{name}","value":"{text}"}}' for name, text in texts.items()) + "]"


def flows(rows: Sequence[Flow]) -> bytes:
    """flow/list."""
    return _listing(
        "flows",
        "flow",
        (
            f'{{"id":{row.id},"full_name":"{row.full_name}","name":"{row.name}","version":{row.version},'
            f'"external_version":"{row.external_version}","uploader":{row.uploader}}}'
            for row in rows
        ),
    )


def runs(world: World, rows: Sequence[Run]) -> bytes:
    """run/list."""
    return _listing(
        "runs",
        "run",
        (
            f'{{"run_id":{row.id},"task_id":{row.task},"task_type_id":{world.tasks[row.task].task_type},'
            f'"setup_id":{row.setup},"flow_id":{row.flow},"uploader":{row.uploader},'
            f'"upload_time":"{row.upload_time}","error_message":"{row.error_message}","run_details":""}}'
            for row in rows
        ),
    )


def evaluations(
    world: World, rows: Sequence[Evaluation], *, per_fold: bool = False, with_setups: bool = False
) -> bytes:
    """evaluation/list and evaluation/setup/list: without uploader, data_id, engine and values per fold."""
    heads: dict[int, list[str]] | None = None
    if with_setups:
        used = {world.setups[world.runs[row.run].setup].flow for row in rows}
        heads = {flow: _parameter_heads(world.slots(flow)) for flow in used}
    return _listing(
        "evaluations", "evaluation", (_evaluation_row(world, row, per_fold, heads) for row in rows)
    )


def _evaluation_row(world: World, row: Evaluation, per_fold: bool, heads: dict[int, list[str]] | None) -> str:
    run = world.runs[row.run]
    setup = world.setups[run.setup]
    parameters = ""
    if heads is not None:
        inner = _parameters(world, setup, heads[setup.flow]) if setup.listed else ""
        parameters = f'"parameters":[{inner}],'
    values = ""
    if row.value and not per_fold:
        values += f',"value":{row.value}'
    if row.array_data and not per_fold:
        values += f',"array_data":{_quoted_strings(row.array_data)}'
    return (
        f'{{"run_id":{run.id},"task_id":{run.task},"setup_id":{run.setup},"flow_id":{setup.flow},'
        f'"flow_name":"{world.flows[setup.flow].full_name}",{parameters}'
        f'"data_name":"{world.datasets[world.tasks[run.task].did].name}","function":"{row.function}",'
        f'"upload_time":"{run.upload_time}"{values}}}'
    )


def _parameter_heads(slots: Sequence[Slot]) -> list[str]:
    return [
        f'{{"id":{slot.parameter.id},"flow_id":{slot.flow.id},"flow_name":"{escape(slot.flow.name)}",'
        f'"full_name":"{escape(slot.full_name)}","parameter_name":"{escape(slot.parameter.name)}",'
        f'"data_type":"{escape(slot.parameter.data_type)}",'
        f'"default_value":"{escape(slot.parameter.default)}","value":"'
        for slot in slots
    ]


def _parameters(world: World, row: Setup, heads: list[str]) -> str:
    elements = [
        f'{head}{escaped(value)}"}}'
        for head, value in zip(heads, row.values, strict=True)
        if value is not None
    ]
    tags = len(world.tags_of("setup", row.id))
    if tags > 1:
        elements = [element for element in elements for _ in range(tags)]
    return ",".join(elements)


def _quoted_strings(array: str) -> str:
    """A list whose words are quoted; numbers and nested lists stay as they are."""
    return re.sub(r"[^\[\],]+", lambda item: _quoted_word(item[0].strip()), array)


def _quoted_word(word: str) -> str:
    return word if not word or re.fullmatch(r"-?[0-9.]+([eE][+-]?[0-9]+)?", word) else f'"{word}"'
