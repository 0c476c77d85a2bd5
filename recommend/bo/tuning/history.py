"""The trials of one search on disk, written before and after each of them.

A folder holds `history.jsonl`: first what is searched and how, then a record when a trial begins and one when
it ends. A search that was killed goes on from it: trials that ended are told to the optimizer again, those
that had begun are run again, and which come next follows from (seed, number). `probabilities` has what each
trial predicted of rows that it was not fitted on, which ensembles are chosen by; a search can do without.
What came of the leaders on other folds and on the rows held out is kept as well: a search that is over is not
judged twice.

Several processes, on one machine or on several, may work on one search; `workers` has a file of each that is
at work. Who writes holds `.lock` and has read what others wrote, so no trial is begun twice. A trial belongs
to the worker that began it. Where that one ended it before there was an outcome, or is lost itself, the next
worker that asks takes the trial over; what was run twice all the same counts once.

Records are JSON objects, one a line, told apart by their first key:

    format    name and version of the format; `search` has the settings, which those of the next search must
              equal
    begun     number of the trial; `flow`, `hyperparameters`, `origin` (start, anchor, random or model), and
              `share` of the training rows where that is not all of them; `by` names the worker
    ended     number of the trial; `outcome` (success, timeout, memout or crash), `message`, `seconds`, and
              `result` with its values by measure
    stopped   number of the trial that its worker `by` ended without an outcome; `why` (interrupted, or time:
              that of the search was up)
    taken     number of the trial that the worker `by` runs again
    judging   number of the trial; `where` (again: other folds; held-out: the rows held out), and the worker
              `by` that evaluates its configuration there
    judged    number of the trial; `where`, `predicts`, and what `ended` has
    ensemble  what the choice rests on; `weights` has pairs of trial and weight
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from filelock import FileLock, Timeout

from ingest.running.limits import Trial
from recommend.bo.optimizer import ALL_ROWS, Origin
from recommend.bo.tuning.predictions import Predictions
from recommend.bo.tuning.workers import Worker, described, place_of
from warehouse.configurations.configuration import Configuration
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, UnreadableInput, Unwritable, reason_of
from warehouse.support.journal import Journal

FORMAT = "headstart-history/1"
LONGEST_TURN = 120.0
"""Seconds that one waits for others to write; choosing a configuration takes some of them."""

Where = Literal["again", "held-out"]
"""Rows that a configuration was tested on beside those of its trial: other folds, the rows held out."""
Why = Literal["interrupted", "time"]
"""Why a worker ended a trial itself: somebody asked it to end, or the time of its search was up."""

_STOPPED: Mapping[Why | None, str] = {
    "interrupted": "ended by us when interrupted",
    "time": "ended by us when the time was up",
}

logger = logging.getLogger(__name__)


@dataclass
class Entry:
    """One trial."""

    number: int
    configuration: Configuration
    origin: Origin
    trial: Trial | None = None
    """Outcome; None where there is none yet."""
    share: float = ALL_ROWS
    """Share of the training rows of each split that it is fitted on."""
    worker: str | None = None
    """Name of the worker that runs or ran it; None where nobody does, or nobody knows."""
    stopped: Why | None = None
    """Why its last worker ended it itself; None where none did."""


class TrialHistory:
    """The trials so far, in the order of their numbers. Used as a context, by any number of workers."""

    def __init__(self, folder: Path, search: Mapping[str, Any]) -> None:
        """Go on with the history in `folder`, or begin one.

        Args:
            search: JSON values that say what is searched and how; a history belongs to one search.

        Raises:
            BadInput: the folder holds the history of another search.
            Unwritable: it can't be written.
        """
        self.folder = folder
        self.entries: list[Entry] = []
        self._worker = Worker(folder / "workers")
        self._met: set[str] = set()
        self._judged: dict[tuple[Where, int], tuple[Trial, bool]] = {}
        self._judges: dict[tuple[Where, int], str] = {}
        self._ensembles: dict[str, dict[int, float]] = {}
        self._search = json.loads(json.dumps(dict(search)))
        self._journal = Journal(folder / "history.jsonl")
        self._read_so_far = 0
        self._predictions = Predictions(folder / "probabilities")
        self._lock = FileLock(folder / ".lock", thread_local=False)
        self._threads = threading.RLock()
        self._at_work = ExitStack()

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{self.folder} can't be written: {reason_of(error)}") from error
        with self.turn():
            self._at_work.enter_context(self._worker)
        self._met = {
            entry.worker for entry in self.entries if entry.worker is not None and self.is_elsewhere(entry)
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._at_work.close()

    # ---- trials -------------------------------------------------------------------------------------

    def begin(self, entry: Entry) -> None:
        """Remember a trial, the next one, before this worker runs it."""
        record = {
            "begun": entry.number,
            "flow": entry.configuration.algorithm,
            "hyperparameters": dict(entry.configuration.values),
            "origin": entry.origin,
            "by": self._worker.name,
        }
        self._write(record if entry.share == ALL_ROWS else {**record, "share": entry.share})

    def end(self, number: int, trial: Trial, probabilities: Floats | None = None) -> None:
        """Remember what came of a trial, and what it predicted, (rows, classes).

        Without effect where another worker, which took this one for lost, was first.
        """
        with self.turn():
            if self.entries[number].trial is None:
                if probabilities is not None:
                    self._predictions.keep(str(number), probabilities)
                self._write({"ended": number, **asdict(trial)})

    def stop(self, number: int, why: Why) -> None:
        """Remember that this worker ended a trial itself, which says nothing of the configuration.

        Without effect where it has an outcome.
        """
        with self.turn():
            if self.entries[number].trial is None:
                self._write({"stopped": number, "why": why, "by": self._worker.name})

    def take(self) -> Entry | None:
        """Take over the first trial without an outcome that no worker runs; None where there is none."""
        with self.turn():
            for entry in self.entries:
                if entry.trial is None and not self._is_run(entry):
                    if entry.worker is not None:
                        how = "was lost" if entry.stopped is None else "ended it before there was an outcome"
                        logger.info("trial %d again: %s %s", entry.number, described(entry.worker), how)
                    self._write({"taken": entry.number, "by": self._worker.name})
                    return entry
        return None

    def is_elsewhere(self, entry: Entry) -> bool:
        """Whether a trial is under way, and another worker runs it."""
        return entry.trial is None and entry.worker != self._worker.name and self._is_run(entry)

    def shares(self) -> dict[str, int]:
        """Worker -> trials that it ended, of this one and those that were at work at the same time.

        Empty where no other was.
        """
        ended = Counter(entry.worker for entry in self.entries if entry.trial is not None)
        names = [self._worker.name, *sorted(self._met - {self._worker.name})]
        return {name: ended[name] for name in names} if len(names) > 1 else {}

    def unfinished(self) -> dict[int, str]:
        """Number of a trial without an outcome -> why it has none."""
        reasons = {}
        for entry in self.entries:
            if entry.trial is None:
                runs = f"{described(entry.worker)} runs it" if entry.worker and self._is_run(entry) else None
                reasons[entry.number] = runs or _STOPPED.get(entry.stopped, "its worker was lost")
        return reasons

    def probabilities(self, number: int) -> Floats | None:
        """What a trial predicted; None where that was not kept, or is damaged."""
        return self._predictions.read(str(number))

    # ---- what comes after the trials ----------------------------------------------------------------

    def judge(self, where: Where, number: int) -> bool:
        """Whether this worker is to evaluate a trial's configuration elsewhere: nobody has, and none does."""
        with self.turn():
            if self.judged(where, number) is not None or self.is_judged_elsewhere(where, number):
                return False
            self._write({"judging": number, "where": where, "by": self._worker.name})
            return True

    def is_judged_elsewhere(self, where: Where, number: int) -> bool:
        """Whether another worker is at that."""
        judge = self._judges.get((where, number))
        return judge is not None and judge != self._worker.name and self._worker.is_alive(judge)

    def keep_judged(self, where: Where, number: int, trial: Trial, probabilities: Floats | None) -> None:
        """Remember what came of a trial's configuration elsewhere, and what it predicted there."""
        if probabilities is not None:
            self._predictions.keep(f"{number}-{where}", probabilities)
        predicts = probabilities is not None
        self._write({"judged": number, "where": where, "predicts": predicts, **asdict(trial)})

    def judged(self, where: Where, number: int) -> tuple[Trial, Floats | None] | None:
        """What was kept of it; None where nothing was, or what it predicted is damaged."""
        trial, predicts = self._judged.get((where, number), (None, False))
        if trial is None:
            return None
        probabilities = self._predictions.read(f"{number}-{where}") if predicts else None
        return None if predicts and probabilities is None else (trial, probabilities)

    def keep_ensemble(self, question: str, weights: Mapping[int, float]) -> None:
        """Remember the weights of trials in an ensemble; `question` names all that it rests on."""
        self._write({"ensemble": question, "weights": list(weights.items())})

    def ensemble(self, question: str) -> dict[int, float] | None:
        """The weights that were kept; None where none were."""
        return self._ensembles.get(question)

    # ---- records ------------------------------------------------------------------------------------

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep all others from writing until the block ends, after reading what they have written.

        Raises:
            BadInput: the folder holds the history of another search, or others do not let this one write.
            Unwritable: it can't be written.
        """
        with self._threads:
            try:
                self._lock.acquire(timeout=LONGEST_TURN)
            except Timeout as error:
                raise BadOption(
                    f"{self.folder} is in use: another process has kept its .lock for {LONGEST_TURN:g} s"
                ) from error
            except OSError as error:
                raise Unwritable(f"{self.folder} can't be written: {reason_of(error)}") from error
            try:
                self._read()
                yield
            finally:
                self._lock.release()

    def catch_up(self) -> None:
        """Read what others have written."""
        with self.turn():
            pass

    def _write(self, record: dict[str, Any]) -> None:
        with self.turn():
            self._journal.append(record)
            self._read()

    def _read(self) -> None:
        """Take what was written since the last time."""
        if not self._read_so_far:
            self._check_or_write_first()
        size = self._journal.size()
        if size > self._read_so_far:
            for record in self._journal.records(self._read_so_far):
                # A record that is damaged says nothing: the trial counts as not begun, or as under way.
                with suppress(KeyError, TypeError, ValueError):
                    self._take(record)
            self._read_so_far = size

    def _check_or_write_first(self) -> None:
        first = next(self._journal.records(), None)
        if first is None:
            self._journal.append({"format": FORMAT, "search": self._search})
            return
        if first.get("format") != FORMAT:
            raise UnreadableInput(
                f"{self.folder}: its history.jsonl is no history of this version; choose another"
            )
        different = _differences(first.get("search", {}), self._search)
        if different:
            raise BadOption(
                f"{self.folder} holds the history of another search (other {', '.join(different)}): choose "
                "another folder, or search as before"
            )

    def _take(self, record: dict[str, Any]) -> None:
        worker = record.pop("by", None)
        if worker is not None:
            place_of(worker)  # where it is no name, the record is damaged
            self._met.add(worker)
        if record.get("begun") == len(self.entries):
            configuration = Configuration(record["flow"], record["hyperparameters"])
            share = float(record.get("share", ALL_ROWS))
            if not 0 < share <= ALL_ROWS:
                raise ValueError(share)
            entry = Entry(record["begun"], configuration, record["origin"], share=share, worker=worker)
            self.entries.append(entry)
        elif "taken" in record:
            entry = self.entries[_index(record["taken"], self.entries)]
            entry.worker, entry.stopped = worker, None
        elif "stopped" in record:
            entry = self.entries[_index(record["stopped"], self.entries)]
            if entry.worker == worker:  # else another has taken it over
                entry.stopped = record["why"]
        elif "ended" in record:
            entry = self.entries[_index(record.pop("ended"), self.entries)]
            trial = Trial.from_record(record)
            if entry.trial is None:  # what was run twice counts once
                entry.trial = trial
        elif "judging" in record:
            self._judges[record["where"], int(record["judging"])] = worker
        elif "judged" in record:
            number, where = int(record.pop("judged")), record.pop("where")
            predicts = bool(record.pop("predicts"))
            self._judged[where, number] = Trial.from_record(record), predicts
        elif "ensemble" in record:
            weights = {int(number): float(weight) for number, weight in record["weights"]}
            self._ensembles[str(record["ensemble"])] = weights

    def _is_run(self, entry: Entry) -> bool:
        """Whether a worker is running a trial, this one or another."""
        worker = entry.worker
        if worker is None or entry.stopped is not None:
            return False
        return worker == self._worker.name or self._worker.is_alive(worker)


def _index(number: Any, entries: Sequence[Entry]) -> int:
    """Place of the trial with this number.

    Raises:
        ValueError: there is none.
    """
    if number not in range(len(entries)):
        raise ValueError(number)
    return int(number)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
