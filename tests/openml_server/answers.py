"""From the path of a request to the body of its answer."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from tests.openml_server import filters, xml_data, xml_flows, xml_lists, xml_runs
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

    @classmethod
    def parse(cls, path: str) -> "Question":
        """Read a path below `/api/v1`; slashes may be doubled, and the format left out."""
        segments = [unquote(part) for part in path.split("/") if part]
        if segments[:1] == ["xml"]:
            segments = segments[1:]
        for length in (3, 2):
            name = "/".join(segments[:length])
            if len(segments) >= length and name in ENDPOINTS:
                return cls(name, tuple(segments[length:]))
        return cls(segments[0] if segments else "", tuple(segments[1:]))


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
        return xml_data.datasets(rows)

    def _task_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.tasks(self._filters(filters.TASK, question), repeated)
        return xml_data.tasks(self.world, rows)

    def _run_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.runs(self._filters(filters.RUN, question), repeated)
        return xml_runs.runs(self.world, rows)

    def _evaluation_list(self, question: Question, repeated: int) -> bytes:
        return self._evaluations(question, repeated, with_setups=False)

    def _evaluation_setup_list(self, question: Question, repeated: int) -> bytes:
        return self._evaluations(question, repeated, with_setups=True)

    def _evaluations(self, question: Question, repeated: int, *, with_setups: bool) -> bytes:
        rows = self.selection.evaluations(self._filters(filters.EVALUATION, question), repeated)
        return xml_runs.evaluations(self.world, rows, with_setups=with_setups)

    def _setup_list(self, question: Question, repeated: int) -> bytes:
        rows = self.selection.setups(self._filters(filters.SETUP, question), repeated)
        return xml_flows.setups(self.world, rows)

    # ---- single records ---------------------------------------------------------------------

    def _data(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 111)
        content = self.arff(row.did)
        md5 = None if content is None else hashlib.md5(content, usedforsecurity=False).hexdigest()
        url = f"{self.origin}/data/v1/download/{row.did}/{row.did}.arff"
        parquet_url = (
            f"{self.origin}/datasets/{row.did}/dataset.pq" if row.did in self.world.parquet else None
        )
        return xml_data.dataset(row, url, md5, parquet_url, self.world.tags_of("data", row.did))

    def _data_qualities(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 361)
        if row.no_qualities is not None:
            raise ApiError(row.no_qualities)
        if not row.qualities or question.rest[1:] not in ((), ("1",)):
            raise ApiError(362)
        return xml_data.qualities(row)

    def _data_features(self, question: Question, _: int) -> bytes:
        row = self._dataset(question, 271)
        if not row.features:
            raise ApiError(272)
        return xml_data.features(row)

    def _flow(self, question: Question, _: int) -> bytes:
        row = self.world.flows.get(_number(question.rest))
        if row is None:
            raise ApiError(181)
        return xml_flows.flow(self.world, row)

    def _study(self, question: Question, _: int) -> bytes:
        wanted = question.rest[0] if question.rest else ""
        studies = self.world.studies.values()
        row = next((study for study in studies if wanted in (str(study.id), study.alias)), None)
        if row is None:
            raise ApiError(601)
        datasets = dict.fromkeys(self.world.tasks[task].did for task in row.tasks)
        return xml_lists.study(row, datasets)

    # ---- small lists ------------------------------------------------------------------------

    def _measure_list(self, _: Question, __: int) -> bytes:
        return xml_lists.measures(self.world)

    def _procedure_list(self, _: Question, __: int) -> bytes:
        return xml_lists.procedures(self.world)

    def _user_list(self, question: Question, _: int) -> bytes:
        if not re.fullmatch(r"[0-9]+(,[0-9]+)*", ",".join(question.rest)):
            raise ApiError(100)
        ids = set(map(int, question.rest[0].split(",")))
        return xml_lists.users(self.world, ids)

    def _dataset(self, question: Question, unknown: int) -> Dataset:
        row = self.world.datasets.get(_number(question.rest))
        if row is None:
            raise ApiError(unknown)
        return row


ENDPOINTS: dict[str, Callable[[Answers, Question, int], bytes]] = {
    "data/list": Answers._data_list,
    "data/qualities": Answers._data_qualities,
    "data/features": Answers._data_features,
    "data": Answers._data,
    "task/list": Answers._task_list,
    "flow": Answers._flow,
    "setup/list": Answers._setup_list,
    "run/list": Answers._run_list,
    "evaluation/list": Answers._evaluation_list,
    "evaluation/setup/list": Answers._evaluation_setup_list,
    "study": Answers._study,
    "evaluationmeasure/list": Answers._measure_list,
    "estimationprocedure/list": Answers._procedure_list,
    "user/list/user_id": Answers._user_list,
}


def _number(segments: Sequence[str]) -> int:
    """The id that ends a path; anything else is a function that OpenML does not have."""
    if not segments or not segments[0].isdecimal():
        raise ApiError(100)
    return int(segments[0])
