"""Which rows a listing has.

Listings have no ORDER BY: ids usually come ascending, and `Order` can make them come otherwise. What
matches is remembered until the world changes, so that the pages of one listing cost one search.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tests.openml_server.errors import ApiError
from tests.openml_server.filters import Filters, within
from tests.openml_server.records import Dataset, Evaluation, Flow, Run, Setup, Study, Task
from tests.openml_server.world import RUN_INDEXES, World

Row = TypeVar("Row")
QUALITY_FILTERS = {
    "number_instances": "NumberOfInstances",
    "number_features": "NumberOfFeatures",
    "number_classes": "NumberOfClasses",
    "number_missing_values": "NumberOfMissingValues",
}
REMEMBERED = 16
RUN_STUDY_ERROR, EVALUATION_STUDY_ERROR = 517, 555


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

    def flows(self, filters: Filters, repeated: int = 0) -> list[Flow]:
        """A page of flow/list."""
        return self._page(filters, self._matching(filters, self._flows), repeated)

    def studies(self, filters: Filters, repeated: int = 0) -> list[Study]:
        """A page of study/list."""
        return self._page(filters, self._matching(filters, self._studies), repeated)

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
        self._check_evaluation_filters(filters)
        rows = self._matching(filters, self._evaluations)
        if filters.limit is None:
            self._check_size(filters, len(self._run_ids(filters)))
        if "sort_order" not in filters:
            return self._page(filters, rows, repeated)
        ordered = sorted(rows, key=_by_value, reverse=filters["sort_order"] == "desc")
        return _cut(filters, ordered, repeated)

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
        ids, uploaders, versions = map(filters.numbers, ("data_id", "uploader", "data_version"))
        return [
            dataset
            for did, dataset in sorted(self.world.datasets.items())
            if _within(did, ids)
            and _within(dataset.uploader, uploaders)
            and _within(dataset.version, versions)
            and self._tagged("data", filters.get("tag"), did)
            and _dataset_fits(dataset, filters)
        ]

    def _tasks(self, filters: Filters) -> list[Task]:
        ids, datasets, types = map(filters.numbers, ("task_id", "data_id", "type"))
        return [
            task
            for _, task in sorted(self.world.tasks.items())
            if _within(task.id, ids)
            and _within(task.did, datasets)
            and _within(task.task_type, types)
            and self._tagged("task", filters.get("tag"), task.id)
            and self._tagged("data", filters.get("data_tag"), task.did)
            and _dataset_fits(self.world.datasets[task.did], filters)
        ]

    def _flows(self, filters: Filters) -> list[Flow]:
        uploaders, tag = filters.numbers("uploader"), filters.get("tag")
        return [
            flow
            for _, flow in sorted(self.world.flows.items())
            if _within(flow.uploader, uploaders) and self._tagged("flow", tag, flow.id)
        ]

    def _studies(self, filters: Filters) -> list[Study]:
        status, kind = filters.get("status", "active"), filters.get("main_entity_type")
        creators = filters.numbers("uploader")
        return [
            study
            for _, study in sorted(self.world.studies.items())
            if status in ("all", study.status)
            and kind in (None, study.entity_type)
            and _within(study.creator, creators)
            and "benchmark_suite" not in filters  # no study here was made of a suite
        ]

    def _setups(self, filters: Filters) -> list[Setup]:
        wanted, flows, tag = filters.numbers("setup"), filters.numbers("flow"), filters.get("tag")
        ids = self.world.setup_ids(flows) if wanted is None else sorted(wanted)
        rows = (self.world.setups[setup] for setup in ids if setup in self.world.setups)
        return [
            row
            for row in rows
            if row.listed and _within(row.flow, flows) and self._tagged("setup", tag, row.id)
        ]

    def _runs(self, filters: Filters) -> list[Run]:
        types = filters.numbers("task_type")
        failed = filters.get("show_errors") == "true"
        rows = (self.world.runs[run] for run in self._run_ids(filters, RUN_STUDY_ERROR))
        return [
            row
            for row in rows
            if (failed or not row.error_message)
            and (types is None or self.world.tasks[row.task].task_type in types)
        ]

    def _evaluations(self, filters: Filters) -> list[Evaluation]:
        world, function, per_fold = self.world, filters.get("function"), filters.get("per_fold") == "true"
        return [
            evaluation
            for run in self._run_ids(filters, EVALUATION_STUDY_ERROR)
            if self._joins(world.runs[run])
            for evaluation in world.evaluations.get(run, ())
            if function in (None, evaluation.function) and (evaluation.folds or not per_fold)
        ]

    def _run_ids(self, filters: Filters, study_error: int = 0) -> list[int]:
        """Ids of the runs that match: the rarest filter's runs, without those that the others leave out."""
        world = self.world
        wanted = {name: filters.numbers(name) for name in RUN_INDEXES if name in filters}
        pools = [world.run_ids(name, values or ()) for name, values in wanted.items()]
        pools += [sorted(ids & world.runs.keys()) for ids in self._listed_runs(filters, study_error)]
        if not pools:
            return world.run_ids()
        rarest = min(pools, key=len)
        sets = [set(pool) for pool in pools if pool is not rarest]
        return [run for run in rarest if all(run in ids for ids in sets)] if sets else rarest

    def _listed_runs(self, filters: Filters, study_error: int) -> list[frozenset[int]]:
        """What the filters say that list runs one by one."""
        lists = [ids] if (ids := filters.numbers("run")) is not None else []
        if "tag" in filters:
            lists.append(frozenset(self.world.tags.get(("run", filters["tag"]), ())))
        if "study" in filters:
            study = self.world.studies.get(int(filters["study"].split(",")[0]))
            if study is None or study.entity_type != "run":
                raise ApiError(study_error)
            lists.append(frozenset(study.runs))
        return lists

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

    def _check_evaluation_filters(self, filters: Filters) -> None:
        if filters.get("per_fold", "true") not in ("true", "false"):
            raise ApiError(547)
        if filters.get("sort_order", "asc") not in ("asc", "desc"):
            raise ApiError(549)
        if filters.get("per_fold") == "true":
            inspected = len(self._run_ids(filters, EVALUATION_STUDY_ERROR))
            if inspected > self.page_limit:
                raise ApiError(548, information=f"Number of inspected run records: {inspected} runs")

    def _tagged(self, kind: str, tag: str | None, row: int) -> bool:
        return tag is None or row in self.world.tags.get((kind, tag), ())


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


def _dataset_fits(dataset: Dataset, filters: Filters) -> bool:
    """Whether status, name and qualities are as asked for; without a status, only active ones are."""
    return (
        filters.get("status", "active") in ("all", dataset.status)
        and filters.get("data_name", dataset.name) == dataset.name
        and all(
            within(dataset.qualities.get(quality), filters[name])
            for name, quality in QUALITY_FILTERS.items()
            if name in filters
        )
    )


def _by_value(evaluation: Evaluation) -> float:
    return float(evaluation.value) if evaluation.value else float("-inf")
