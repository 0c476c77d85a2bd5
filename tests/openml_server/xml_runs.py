"""Runs and evaluations in XML.

Names and error messages are written as they are: one awkward row makes its page unreadable.
"""

from collections.abc import Sequence

from tests.openml_server import xml_flows
from tests.openml_server.records import Evaluation, Run
from tests.openml_server.world import World
from tests.openml_server.xml_text import document


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


def evaluations(world: World, rows: Sequence[Evaluation], *, with_setups: bool = False) -> bytes:
    """evaluation/list, or evaluation/setup/list with the parameters behind the name of the flow."""
    heads = xml_flows.heads_of(world, {world.runs[row.run].setup for row in rows}) if with_setups else None
    return document("evaluations", (_evaluation_row(world, row, heads) for row in rows))


def _evaluation_row(world: World, row: Evaluation, heads: dict[int, list[str]] | None) -> str:
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
        f"{_value(row)}</oml:evaluation>\n"
    )


def _value(row: Evaluation) -> str:
    value = "" if row.value is None else f"<oml:value>{row.value}</oml:value>"
    return value if row.array_data is None else f"{value}<oml:array_data>{row.array_data}</oml:array_data>"
