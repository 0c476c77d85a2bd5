"""From the path of a request to the body of its answer."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from tests.openml_server import filters, json_answers, xml_data, xml_flows, xml_lists, xml_runs
from tests.openml_server.errors import ApiError
from tests.openml_server.filters import Filters, Listing
from tests.openml_server.records import Dataset
from tests.openml_server.selection import Selection

REPEATED_ROWS = 5  # how many rows a doubled page shows again


@dataclass(frozen=True)
class Question:
    """What a request asks for: `endpoint` names the kind ("run/list"), `rest` is what stands behind it."""

    endpoint: str
    rest: tuple[str, ...]
    json: bool = False

    @classmethod
    def parse(cls, path: str) -> "Question":
        """Read a path below `/api/v1`; slashes may be doubled, and without a format it is XML."""
        segments = [unquote(part) for part in path.split("/") if part]
        as_json = segments[:1] == ["json"]
        if segments and segments[0] in ("json", "xml"):
            segments = segments[1:]
        for length in (3, 2):
            name = "/".join(segments[:length])
            if len(segments) >= length and name in ENDPOINTS:
                return cls(name, tuple(segments[length:]), as_json)
        return cls(segments[0] if segments else "", tuple(segments[1:]), as_json)


class Answers:
    """Answers of a world."""

    def __init__(self, selection: Selection, origin: str = "") -> None:
        self.selection = selection
        self.world = selection.world
        self.origin = origin

    def answer(self, question: Question, *, doubled: bool = False) -> bytes:
        """The body of status 200, with rows twice if `doubled`. Raises `ApiError` where there is none."""
        find = ENDPOINTS.get(question.endpoint)
        if find is None:
            raise ApiError(100)
        with self.world.lock:
            return find(self, question, REPEATED_ROWS if doubled else 0)

    def arff(self, did: int) -> bytes | None:
        """The file of a dataset."""
        dataset = self.world.datasets.get(did)
        return None if dataset is None or dataset.arff is None else dataset.arff.encode()

    # ---- listings ---------------------------------------------------------------------------

    def _filters(self, listing: Listing, question: Question) -> Filters:
        return Filters(listing, question.rest, self.selection.page_limit)

    def _data_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.datasets(self._filters(filters.DATA, question), repeated)
        return _dialect(question).datasets(rows)

    def _task_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.tasks(self._filters(filters.TASK, question), repeated)
        return _dialect(question).tasks(self.world, rows)

    def _flow_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.flows(self._filters(filters.FLOW, question), repeated)
        return _dialect(question).flows(rows)

    def _run_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.runs(self._filters(filters.RUN, question), repeated)
        return _dialect(question).runs(self.world, rows)

    def _evaluation_list(self, question: Question, repeated: int) -> bytes:
        return self._evaluations(question, repeated, with_setups=False)

    def _evaluation_setup_list(self, question: Question, repeated: int) -> bytes:
        return self._evaluations(question, repeated, with_setups=True)

    def _evaluations(self, question: Question, repeated: int, *, with_setups: bool) -> bytes:
        given = self._filters(filters.EVALUATION, question)
        rows = self.selection.evaluations(given, repeated)
        per_fold = given.get("per_fold") == "true"
        return _dialect(question).evaluations(self.world, rows, per_fold=per_fold, with_setups=with_setups)

    def _setup_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.setups(self._filters(filters.SETUP, question), repeated)
        return _translated(question, xml_flows.setups(self.world, rows))

    def _study_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.studies(self._filters(filters.STUDY, question), repeated)
        return _translated(question, xml_lists.studies(rows))

    # ---- single records ---------------------------------------------------------------------

    def _data(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 111)
        content = self.arff(row.did)
        md5 = None if content is None else hashlib.md5(content, usedforsecurity=False).hexdigest()
        url = f"{self.origin}/data/v1/download/{row.did}/{row.did}.arff"
        return _translated(question, xml_data.dataset(row, url, md5, self.world.tags_of("data", row.did)))

    def _data_qualities(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 361)
        if row.no_qualities is not None:
            raise ApiError(row.no_qualities)
        if not row.qualities or question.rest[1:] not in ((), ("1",)):
            raise ApiError(362)
        return _translated(question, xml_data.qualities(row))

    def _data_features(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 271)
        if not row.features:
            raise ApiError(272)
        return _translated(question, xml_data.features(row))

    def _task(self, question: Question, _: int) -> bytes:
        row = self.world.tasks.get(_number(question.rest))
        if row is None:
            raise ApiError(151)
        dataset, procedure = self.world.datasets[row.did], self.world.procedures[row.procedure]
        splits = f"{self.origin}/api_splits/get/{row.id}/Task_{row.id}_splits.arff"
        tags = self.world.tags_of("task", row.id)
        return _translated(question, xml_data.task(row, dataset, procedure, splits, tags))

    def _flow(self, question: Question, _: int) -> bytes:
        row = self.world.flows.get(_number(question.rest))
        if row is None:
            raise ApiError(181)
        return _translated(question, xml_flows.flow(self.world, row))

    def _setup(self, question: Question, _: int) -> bytes:
        row = self.world.setups.get(_number(question.rest))
        if row is None or not row.listed:
            raise ApiError(281)
        return _translated(question, xml_flows.setup(self.world, row))

    def _run(self, question: Question, _: int) -> bytes:
        row = self.world.runs.get(_number(question.rest))
        if row is None:
            raise ApiError(236)
        return _translated(question, xml_runs.run(self.world, row, self.origin))

    def _study(self, question: Question, _: int) -> bytes:
        wanted = question.rest[0] if question.rest else ""
        studies = self.world.studies.values()
        row = next((study for study in studies if wanted in (str(study.id), study.alias)), None)
        if row is None:
            raise ApiError(601)
        runs = [self.world.runs[run] for run in row.runs]
        tasks = dict.fromkeys((*row.tasks, *(run.task for run in runs)))
        datasets = dict.fromkeys(self.world.tasks[task].did for task in tasks)
        flows, setups = (sorted({getattr(run, name) for run in runs}) for name in ("flow", "setup"))
        return _translated(question, xml_lists.study(row, tasks, datasets, flows, setups))

    # ---- small lists ------------------------------------------------------------------------

    def _measure_list(self, question: Question, _: int) -> bytes:
        return _translated(question, xml_lists.measures(self.world))

    def _procedure_list(self, question: Question, _: int) -> bytes:
        return _translated(question, xml_lists.procedures(self.world))

    def _quality_list(self, question: Question, _: int) -> bytes:
        return _translated(question, xml_data.quality_names(self.world))

    def _user_list(self, question: Question, _: int) -> bytes:
        if not re.fullmatch(r"[0-9]+(,[0-9]+)*", ",".join(question.rest)):
            raise ApiError(100)
        ids = set(map(int, question.rest[0].split(",")))
        return _translated(question, xml_lists.users(self.world, ids))

    def _dataset(self, question: Question, unknown: int) -> Dataset:
        row = self.world.datasets.get(_number(question.rest))
        if row is None:
            raise ApiError(unknown)
        return row


ENDPOINTS: dict[str, Callable[[Answers, Question, int], bytes]] = {
    "data/list": Answers._data_list,
    "data/qualities/list": Answers._quality_list,
    "data/qualities": Answers._data_qualities,
    "data/features": Answers._data_features,
    "data": Answers._data,
    "task/list": Answers._task_list,
    "task": Answers._task,
    "flow/list": Answers._flow_list,
    "flow": Answers._flow,
    "setup/list": Answers._setup_list,
    "setup": Answers._setup,
    "run/list": Answers._run_list,
    "run": Answers._run,
    "evaluation/list": Answers._evaluation_list,
    "evaluation/setup/list": Answers._evaluation_setup_list,
    "study/list": Answers._study_list,
    "study": Answers._study,
    "evaluationmeasure/list": Answers._measure_list,
    "estimationprocedure/list": Answers._procedure_list,
    "user/list/user_id": Answers._user_list,
}


class Dialect(NamedTuple):
    """The listings that have templates both in XML and in JSON."""

    datasets: Callable[..., bytes]
    tasks: Callable[..., bytes]
    flows: Callable[..., bytes]
    runs: Callable[..., bytes]
    evaluations: Callable[..., bytes]


XML = Dialect(xml_data.datasets, xml_data.tasks, xml_flows.flows, xml_runs.runs, xml_runs.evaluations)
JSON = Dialect(
    json_answers.datasets,
    json_answers.tasks,
    json_answers.flows,
    json_answers.runs,
    json_answers.evaluations,
)


def _dialect(question: Question) -> Dialect:
    return JSON if question.json else XML


def _translated(question: Question, document: bytes) -> bytes:
    return json_answers.converted(document) if question.json else document


def _number(segments: Sequence[str]) -> int:
    """The id that ends a path; anything else is a function that OpenML does not have."""
    if not segments or not segments[0].isdecimal():
        raise ApiError(100)
    return int(segments[0])
