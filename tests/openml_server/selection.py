"""Which rows a listing has.

Listings have no ORDER BY: ids usually come ascending, and `Order` can make them come otherwise. What
matches is remembered until the world changes, so that the pages of one listing cost one search.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tests.openml_server.errors import ApiError
from tests.openml_server.filters import Filters
from tests.openml_server.records import Dataset, Evaluation, Run, Setup, Task
from tests.openml_server.world import RUN_INDEXES, World

Row = TypeVar("Row")
REMEMBERED = 16


class Selection:
    """Pages of a world's rows."""

    def __init__(self, world: World, *, page_limit: int = 1000, unstable_order: bool = False) -> None:
        self.world = world
        self.page_limit = page_limit
        self.unstable_order = unstable_order
        self._orders = random.Random(0)
        self._remembered: OrderedDict[tuple[Any, ...], Sequence[Any]] = OrderedDict()

    def datasets(self, filters: Filters, repeated: int = 0) -> list[Dataset]:
        """A page of data/list."""
        return self._page(filters, self._matching(filters, self._datasets), repeated)

    def tasks(self, filters: Filters, repeated: int = 0) -> list[Task]:
        """A page of task/list."""
        return self._page(filters, self._matching(filters, self._tasks), repeated)

    def setups(self, filters: Filters, repeated: int = 0) -> list[Setup]:
        """A page of setup/list."""
        rows = self._matching(filters, self._setups)
        self._check_size(filters, len(rows))
        return self._page(filters, rows, repeated)

    def runs(self, filters: Filters, repeated: int = 0) -> list[Run]:
        """A page of run/list."""
        rows = self._matching(filters, self._runs)
        self._check_size(filters, len(rows))
        return self._page(filters, rows, repeated)

    def evaluations(self, filters: Filters, repeated: int = 0) -> list[Evaluation]:
        """A page of evaluation/list or evaluation/setup/list."""
        rows = self._matching(filters, self._evaluations)
        if filters.limit is None:
            self._check_size(filters, len(self._run_ids(filters)))
        return self._page(filters, rows, repeated)

    # ---- pages ------------------------------------------------------------------------------

    def _page(self, filters: Filters, rows: Sequence[Row], repeated: int) -> list[Row]:
        if self.unstable_order:
            rows = self._orders.sample(rows, len(rows))
        return _cut(filters, rows, repeated)

    def _matching(self, filters: Filters, search: Callable[[Filters], Sequence[Row]]) -> Sequence[Row]:
        key = (search.__name__, filters.selection, self.world.version)
        if key not in self._remembered:
            self._remembered[key] = search(filters)
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return self._remembered[key]

    def _check_size(self, filters: Filters, size: int) -> None:
        """Refuse to answer without a limit where there is more than a page."""
        code = filters.listing.too_many_rows
        if code is not None and filters.limit is None and size > self.page_limit:
            raise ApiError(
                code, "Too many results", f"Size of result set: {size}; max size: {self.page_limit}"
            )

    # ---- searches ---------------------------------------------------------------------------

    def _datasets(self, filters: Filters) -> list[Dataset]:
        ids = filters.numbers("data_id")
        return [
            dataset
            for did, dataset in sorted(self.world.datasets.items())
            if _within(did, ids) and _has_status(dataset, filters)
        ]

    def _tasks(self, filters: Filters) -> list[Task]:
        ids, datasets, types = map(filters.numbers, ("task_id", "data_id", "type"))
        return [
            task
            for _, task in sorted(self.world.tasks.items())
            if _within(task.id, ids)
            and _within(task.did, datasets)
            and _within(task.task_type, types)
            and _has_status(self.world.datasets[task.did], filters)
        ]

    def _setups(self, filters: Filters) -> list[Setup]:
        wanted, flows = filters.numbers("setup"), filters.numbers("flow")
        ids = self.world.setup_ids(flows) if wanted is None else sorted(wanted)
        rows = (self.world.setups[setup] for setup in ids if setup in self.world.setups)
        return [row for row in rows if row.listed and _within(row.flow, flows)]

    def _runs(self, filters: Filters) -> list[Run]:
        failed = filters.get("show_errors") == "true"
        rows = (self.world.runs[run] for run in self._run_ids(filters))
        return [row for row in rows if failed or not row.error_message]

    def _evaluations(self, filters: Filters) -> list[Evaluation]:
        world, function = self.world, filters.get("function")
        return [
            evaluation
            for run in self._run_ids(filters)
            if self._joins(world.runs[run])
            for evaluation in world.evaluations.get(run, ())
            if function in (None, evaluation.function)
        ]

    def _run_ids(self, filters: Filters) -> list[int]:
        """Ids of the runs that match: the rarest filter's runs, without those that the others leave out."""
        world = self.world
        wanted = {name: filters.numbers(name) for name in RUN_INDEXES if name in filters}
        pools = [world.run_ids(name, values or ()) for name, values in wanted.items()]
        if (listed := filters.numbers("run")) is not None:
            pools.append(sorted(listed & world.runs.keys()))
        if not pools:
            return world.run_ids()
        rarest = min(pools, key=len)
        sets = [set(pool) for pool in pools if pool is not rarest]
        return [run for run in rarest if all(run in ids for ids in sets)] if sets else rarest

    def _joins(self, run: Run) -> bool:
        """Whether all rows are there that evaluation/list joins; failed runs were never evaluated."""
        world = self.world
        setup, task = world.setups.get(run.setup), world.tasks.get(run.task)
        return (
            not run.error_message
            and setup is not None
            and setup.flow in world.flows
            and task is not None
            and task.did in world.datasets
        )


def _cut(filters: Filters, rows: Sequence[Row], repeated: int) -> list[Row]:
    """The page that limit and offset say, with `repeated` rows of the page before it (or of itself)."""
    start = filters.offset
    end = len(rows) if filters.limit is None else start + filters.limit
    page = list(rows[start:end])
    if not page:
        raise ApiError(filters.listing.no_rows)
    before = rows[max(0, start - repeated) : start] or page[:repeated]
    return [*before, *page] if repeated else page


def _within(value: int, wanted: Iterable[int] | None) -> bool:
    return wanted is None or value in wanted


def _has_status(dataset: Dataset, filters: Filters) -> bool:
    """Whether the dataset has the status that is asked for; without one, only active ones have."""
    return filters.get("status", "active") in ("all", dataset.status)
