"""Selections of runs: invalid ones are refused, and the filters together cover the selection."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.openml.api.connection import LONGEST_TARGET, Connection
from ingest.openml.selection import Selection, partitions
from tests.cases import each
from tests.ingest.openml.jobs import connect
from tests.openml_server import Faults, OpenMLServer, World
from tests.openml_server import generated as names
from warehouse.support.errors import BadInput, Failed

ids = st.lists(st.integers(1, 10**7), max_size=450, unique=True)


@each(
    ("given", "complaint"),
    [
        ({"suite": "../x"}, r"a suite is a number or an alias, not '\.\./x'"),
        ({"measures": ()}, "name at least one measure"),
        ({"measures": ("kappa", "a/b")}, "'a/b' is not a measure"),
        ({"most": 3, "flows": (1,)}, "needs the flows, and the tasks, a suite or datasets"),
        ({"most": 3, "suite": "x"}, "needs the flows, and the tasks, a suite or datasets"),
    ],
)
def test_an_invalid_selection_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Selection(**given)


def test_everything_is_one_partition_without_a_filter() -> None:
    assert partitions(Selection(), Connection()) == [""]


def test_tasks_of_a_suite_and_of_datasets_and_given_tasks_are_one_list(world: World) -> None:
    """Tasks 1, 2 and 3 are the suite's; task 2 is also of dataset 102."""
    wanted = Selection(suite="small-suite", datasets=(102,), tasks=(5, 1), flows=(names.J48,), uploaders=(2,))
    with OpenMLServer(world) as server:
        assert partitions(wanted, connect(server)) == [f"flow/{names.J48}/task/1,2,3,5/uploader/2"]


@given(ids, ids, ids)
def test_every_combination_is_in_one_partition_and_every_filter_fits_into_a_request(
    flows: list[int], tasks: list[int], uploaders: list[int]
) -> None:
    parts = partitions(
        Selection(flows=tuple(flows), tasks=tuple(tasks), uploaders=tuple(uploaders)), Connection()
    )
    assert all(len(part) < LONGEST_TARGET - 500 for part in parts)
    seen = []
    for part in parts:
        segments = part.split("/") if part else []
        filters = dict(zip(segments[::2], segments[1::2], strict=True))
        of = {name: tuple(map(int, numbers.split(","))) for name, numbers in filters.items()}
        seen.append(tuple(of.get(name, (None,)) for name in ("flow", "task", "uploader")))
    covered = sum(len(flow) * len(task) * len(uploader) for flow, task, uploader in seen)
    assert covered == max(len(flows), 1) * max(len(tasks), 1) * max(len(uploaders), 1)
    for place, numbers in enumerate((flows, tasks, uploaders)):
        assert {number for part in seen for number in part[place]} == set(numbers or [None])


def test_a_limit_of_runs_applies_to_each_task_and_flow() -> None:
    wanted = Selection(flows=(7, 8), tasks=(2, 1), uploaders=(4, 5), most=3)
    assert partitions(wanted, Connection()) == [
        f"flow/{flow}/task/{task}/uploader/4,5" for flow in (7, 8) for task in (1, 2)
    ]


def test_datasets_without_a_task_select_nothing(world: World) -> None:
    with OpenMLServer(world) as server, pytest.raises(BadInput, match="no task for this selection"):
        partitions(Selection(datasets=(names.PROCESSING_ERROR,)), connect(server))


def test_a_suite_that_the_server_does_not_have_is_refused(world: World) -> None:
    with OpenMLServer(world) as server, pytest.raises(BadInput, match="can't list study/77: 601: Unknown"):
        partitions(Selection(suite="77"), connect(server))


def test_a_suite_that_can_not_be_read_is_a_failure(world: World) -> None:
    faults = Faults(rate=1, kinds=("malformed",), endpoints=["study"])
    with OpenMLServer(world, faults=faults) as server, pytest.raises(Failed, match="study/14 can't be read"):
        partitions(Selection(suite="14"), connect(server))
