"""Suites, measures, procedures and users in XML."""

from collections.abc import Iterable
from html import escape

from tests.openml_server.records import Study
from tests.openml_server.world import World
from tests.openml_server.xml_text import document


def study(row: Study, datasets: Iterable[int]) -> bytes:
    """study/{id} of a suite: its tasks and their datasets."""
    alias = "" if row.alias is None else f"<oml:alias>{row.alias}</oml:alias>"
    return document(
        "study",
        (
            f"<oml:id>{row.id}</oml:id>{alias}<oml:main_entity_type>task</oml:main_entity_type>"
            f"<oml:name>{row.name}</oml:name><oml:status>active</oml:status>"
            "<oml:creation_date>2019-02-21 18:47:13</oml:creation_date><oml:creator>1</oml:creator>",
            f"<oml:description>{escape(row.name)}</oml:description>",
            _id_list("data", "data_id", datasets),
            _id_list("tasks", "task_id", row.tasks),
        ),
    )


def _id_list(name: str, element: str, ids: Iterable[int]) -> str:
    return f"<oml:{name}>{''.join(f'<oml:{element}>{i}</oml:{element}>' for i in ids)}</oml:{name}>"


def measures(world: World) -> bytes:
    """evaluationmeasure/list."""
    rows = "".join(f"<oml:measure>{name}</oml:measure>" for name in world.measures)
    return document("evaluation_measures", [f"<oml:measures>{rows}</oml:measures>"])


def procedures(world: World) -> bytes:
    """estimationprocedure/list."""
    return document(
        "estimationprocedures",
        (
            f"<oml:estimationprocedure><oml:id>{row.id}</oml:id><oml:ttid>{row.task_type}</oml:ttid>"
            f"<oml:name>{escape(row.name)}</oml:name><oml:type>{row.type}</oml:type>"
            f"<oml:repeats>{row.repeats}</oml:repeats><oml:folds>{row.folds}</oml:folds>"
            "</oml:estimationprocedure>"
            for row in world.procedures.values()
        ),
    )


def users(world: World, ids: Iterable[int]) -> bytes:
    """user/list/user_id/{ids}: those that have a record."""
    return document(
        "users",
        (
            f"<oml:user><oml:id>{user}</oml:id><oml:username>{escape(world.users[user])}</oml:username></oml:user>"
            for user in sorted(ids)
            if user in world.users
        ),
    )
