"""Runs and evaluations in XML.

Names and error messages are written as they are: one awkward row makes its page unreadable.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain

from tests.openml_server import xml_flows
from tests.openml_server.records import Evaluation, Run
from tests.openml_server.world import World
from tests.openml_server.xml_text import document

PER_FOLD_LENGTH = 1024  # where MySQL cuts a GROUP_CONCAT


def runs(world: World, rows: Sequence[Run]) -> bytes:
    """run/list."""
    return document(
        "runs",
        (
            f"<oml:run><oml:run_id>{row.id}</oml:run_id><oml:task_id>{row.task}</oml:task_id>"
            f"<oml:task_type_id>{world.tasks[row.task].task_type}</oml:task_type_id>"
            f"<oml:setup_id>{row.setup}</oml:setup_id><oml:flow_id>{row.flow}</oml:flow_id>"
            f"<oml:uploader>{row.uploader}</oml:uploader><oml:upload_time>{row.upload_time}</oml:upload_time>"
            f"<oml:error_message>{row.error_message}</oml:error_message>"
            "<oml:run_details></oml:run_details></oml:run>\n"
            for row in rows
        ),
    )


def run(world: World, row: Run, origin: str) -> bytes:
    """run/{id}: a failed run has no evaluations and no predictions."""
    return document("run", _run_elements(world, row, origin))


def _run_elements(world: World, row: Run, origin: str) -> Iterable[str]:
    task, flow = world.tasks[row.task], world.flows[row.flow]
    data = world.datasets[task.did]
    yield (
        f"<oml:run_id>{row.id}</oml:run_id><oml:uploader>{row.uploader}</oml:uploader>"
        f"<oml:uploader_name>{escape(world.users.get(row.uploader, ''))}</oml:uploader_name>"
        f"<oml:task_id>{row.task}</oml:task_id><oml:task_type>{task.task_type_name}</oml:task_type>"
        f"<oml:flow_id>{row.flow}</oml:flow_id><oml:flow_name>{escape(flow.full_name)}</oml:flow_name>"
        f"<oml:setup_id>{row.setup}</oml:setup_id><oml:error_message>{row.error_message}</oml:error_message>"
        f"<oml:setup_string>{escape(flow.name)}</oml:setup_string>\n"
    )
    yield from _parameter_settings(world, row)
    yield (
        f"<oml:input_data><oml:dataset><oml:did>{data.did}</oml:did><oml:name>{escape(data.name)}</oml:name>"
        f"<oml:url>{origin}/data/v1/download/{data.did}</oml:url></oml:dataset></oml:input_data>\n"
        "<oml:output_data>"
    )
    for position, file in enumerate(("description", "predictions")[: 1 if row.error_message else 2]):
        file_id = 10 * row.id + position
        yield (
            f"<oml:file><oml:did>-1</oml:did><oml:file_id>{file_id}</oml:file_id><oml:name>{file}</oml:name>"
            f"<oml:url>{origin}/data/download/{file_id}/{file}</oml:url></oml:file>"
        )
    yield from chain.from_iterable(map(_run_evaluation, world.evaluations.get(row.id, ())))
    yield "</oml:output_data>"


def _parameter_settings(world: World, row: Run) -> Iterable[str]:
    if row.setup not in world.setups:
        return
    for slot, value in zip(world.slots(row.flow), world.setups[row.setup].values, strict=True):
        if value is not None:
            yield (
                f"<oml:parameter_setting><oml:name>{escape(slot.parameter.name)}</oml:name>"
                f"<oml:value>{escape(value)}</oml:value><oml:component>{slot.flow.id}</oml:component>"
                "</oml:parameter_setting>\n"
            )


def _run_evaluation(row: Evaluation) -> Iterable[str]:
    name = f"<oml:name>{row.function}</oml:name>"
    yield f"<oml:evaluation>{name}{_value(row)}</oml:evaluation>\n"
    for fold, value in enumerate(row.folds):
        yield (
            f'<oml:evaluation repeat="0" fold="{fold}">{name}'
            f"<oml:value>{value}</oml:value></oml:evaluation>\n"
        )


def evaluations(
    world: World, rows: Sequence[Evaluation], *, per_fold: bool = False, with_setups: bool = False
) -> bytes:
    """evaluation/list, or evaluation/setup/list with the parameters behind the name of the flow."""
    heads = xml_flows.heads_of(world, {world.runs[row.run].setup for row in rows}) if with_setups else None
    return document("evaluations", (_evaluation_row(world, row, per_fold, heads) for row in rows))


def _evaluation_row(world: World, row: Evaluation, per_fold: bool, heads: dict[int, list[str]] | None) -> str:
    run = world.runs[row.run]
    setup = world.setups[run.setup]
    data = world.datasets[world.tasks[run.task].did]
    parameters = ""
    if heads is not None:
        inner = xml_flows.parameters(world, setup, heads[setup.flow]) if setup.listed else ""
        parameters = f"<oml:parameters>\n{inner}</oml:parameters>\n"
    return (
        f"<oml:evaluation><oml:run_id>{run.id}</oml:run_id><oml:uploader>{run.uploader}</oml:uploader>"
        f"<oml:task_id>{run.task}</oml:task_id><oml:setup_id>{run.setup}</oml:setup_id>"
        f"<oml:flow_id>{setup.flow}</oml:flow_id>"
        f"<oml:flow_name>{world.flows[setup.flow].full_name}</oml:flow_name>{parameters}"
        f"<oml:data_id>{data.did}</oml:data_id><oml:data_name>{data.name}</oml:data_name>"
        f"<oml:evaluation_engine_id>{row.engine}</oml:evaluation_engine_id>"
        f"<oml:function>{row.function}</oml:function><oml:upload_time>{run.upload_time}</oml:upload_time>"
        f"{_per_fold_values(row) if per_fold else _value(row)}</oml:evaluation>\n"
    )


def _value(row: Evaluation) -> str:
    value = "" if row.value is None else f"<oml:value>{row.value}</oml:value>"
    return value if row.array_data is None else f"{value}<oml:array_data>{row.array_data}</oml:array_data>"


def _per_fold_values(row: Evaluation) -> str:
    """The values of the folds in a list, cut where MySQL cuts."""
    return f"<oml:values>[{','.join(row.folds)[:PER_FOLD_LENGTH]}]</oml:values>"
