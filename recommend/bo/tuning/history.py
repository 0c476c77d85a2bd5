"""History of a search: its trials, written to disk before and after each.

A folder contains `history.jsonl`: first the settings of the search, then a record when a trial begins and one
when it ends. A killed search is resumed from it: the optimizer is told the outcomes again, trials without an
outcome are repeated, and later ones are determined by (seed, number). `probabilities` contains each trial's
predictions for ensemble selection; a search can do without them. Lines and predictions with a wrong checksum
are ignored with a warning: a damaged beginning loses the trial, a damaged end repeats it.

A search holds `.lock` as long as it runs, and a second search on the same folder is refused.

Records are JSON objects, one per line, distinguished by their first key:

    format    name and version of the format; `search` has the settings, which must equal those of a resumed
              search
    resampling  `folds` and `train_rows` of the trials
    begun     number of the trial; `flow`, `hyperparameters`, `origin` (start, anchor, random or model), and
              `share` of the training rows if it is not all of them
    ended     number of the trial; `repetition` (0 for the first), `outcome` (success, timeout, memout or
              crash), `message`, `seconds`, `result` with its values by measure, and `predictions`, the
              checksum of the file with its predictions or null
    stopped   number of a trial that the search ended without an outcome; `why` (interrupted, or time: the
              search ran out of time)

Other records and keys are ignored.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from filelock import FileLock, Timeout

from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.predictions import UNKNOWN, KeptPredictions
from recommend.bo.tuning.trials import Trial
from warehouse.support.errors import BadOption, UnreadableInput, Unwritable, reason_of
from warehouse.support.files import make_folder
from warehouse.support.journal import Journal
from warehouse.vocabulary.configuration import Configuration

FORMAT = "headstart-history/2"

Why = Literal["interrupted", "time"]
"""Reasons for which a search ends a trial itself: an interrupt, or the end of its time."""

_STOPPED: Mapping[Why, str] = {
    "interrupted": "ended by us when interrupted",
    "time": "ended by us when the time was up",
}

logger = logging.getLogger(__name__)


class TrialHistory:
    """The trials so far, in the order of their numbers. A context manager, for one search at a time.

    Numbers have gaps if a damaged history has lost trials.
    """

    def __init__(self, folder: Path | None, search: Mapping[str, Any]) -> None:
        """Open the history in `folder`, or begin one.

        Args:
            folder: None = keep the history in memory only.
            search: settings of the search as JSON values; a history belongs to one search.
        """
        self.folder = folder
        self.trials: list[Trial] = []
        self.resampling: dict[str, int | None] | None = None
        """`folds` and `train_rows` of the trials, fixed for the history, even if the time limit changes; None
        before they are settled."""
        self._left: list[Trial] = []
        """Trials without an outcome from earlier processes, not yet repeated by this one."""
        self._search = json.loads(json.dumps(dict(search)))
        self._files = None if folder is None else _Files(folder)

    def __enter__(self) -> Self:
        """Lock and read the history.

        Raises:
            BadInput: the folder has the history of another search, or another process is using it.
            Unwritable: the folder can't be written.
        """
        if self._files is not None:
            self._files.lock()
            try:
                self._read(self._files)
            except BaseException:
                self._files.release()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._files is not None:
            self._files.release()

    # ---- trials -------------------------------------------------------------------------------------

    @property
    def next_number(self) -> int:
        """Number of the trial to begin next."""
        return self.trials[-1].number + 1 if self.trials else 0

    def trial(self, number: int) -> Trial:
        """The trial with this number.

        Raises:
            ValueError: there is none.
        """
        for trial in reversed(self.trials):  # usually among the last
            if trial.number == number:
                return trial
        raise ValueError(f"there is no trial {number}")

    def settle(self, resampling: Mapping[str, int | None]) -> None:
        """Record the resampling of the trials, before the first of them.

        Raises:
            UnreadableInput: there are trials whose resampling is lost.
        """
        if self.trials:
            raise UnreadableInput(
                f"{self.folder}: the folds of its trials are lost, as history.jsonl is damaged;"
                " choose another folder"
            )
        self._write({"resampling": dict(resampling)})

    def begin(self, trial: Trial) -> None:
        """Record the next trial before it is run."""
        record = {
            "begun": trial.number,
            "flow": trial.configuration.algorithm,
            "hyperparameters": dict(trial.configuration.values),
            "origin": trial.origin,
        }
        self._write(record if trial.share == ALL_ROWS else {**record, "share": trial.share})

    def end(self, number: int, evaluation: Evaluation) -> None:
        """Record the outcome of a trial's next repetition, and its predictions.

        A failed repetition after the first is not recorded, and leaves the trial unchanged.
        """
        trial = self.trial(number)
        repetition = len(trial.evaluations)
        if repetition and evaluation.outcome is not Outcome.success:
            return
        if self._files is not None:
            checksum = self._files.predictions.keep(_name(number, repetition), evaluation.predictions)
            record = {"ended": number, "repetition": repetition, **evaluation.record()}
            self._files.journal.append({**record, "predictions": checksum})
        trial.evaluations.append(evaluation)

    def stop(self, number: int, why: Why) -> None:
        """Record that the search ended a trial without an outcome.

        This says nothing about the configuration, and a resumed search repeats the trial.
        """
        self._write({"stopped": number, "why": why})

    def take(self, may: Callable[[Trial], bool] = lambda _: True) -> Trial | None:
        """Take the first trial that an earlier process left without an outcome, to repeat it.

        Args:
            may: whether a trial may be run now.

        Returns:
            None if there is none that may be run.
        """
        trial = next(filter(may, self._left), None)
        if trial is None:
            return None
        self._left.remove(trial)
        logger.info("repeating trial %d, which has no outcome", trial.number)
        trial.stopped = None
        return trial

    def unfinished(self) -> dict[int, str]:
        """Number of a trial without an outcome -> the reason."""
        return {
            trial.number: trial.stopped or "its search was killed"
            for trial in self.trials
            if not trial.evaluations
        }

    # ---- records ------------------------------------------------------------------------------------

    def _write(self, record: dict[str, Any]) -> None:
        if self._files is not None:
            self._files.journal.append(record)
        self._apply(json.loads(json.dumps(record)))

    def _read(self, files: _Files) -> None:
        files.predictions.clean()
        records = files.journal.records()
        if not records:
            files.journal.append({"format": FORMAT, "search": self._search})
            return
        self._check(records[0])
        for record in records[1:]:
            # A damaged record is ignored: the trial counts as not begun, or as running.
            with suppress(KeyError, TypeError, ValueError):
                self._apply(record)
        self._left = [trial for trial in self.trials if not trial.evaluations]

    def _check(self, first: Mapping[str, Any]) -> None:
        if first.get("format") != FORMAT:
            raise UnreadableInput(
                f"{self.folder}: its history.jsonl is damaged, or not a history of this version;"
                " choose another folder"
            )
        different = _differences(first.get("search", {}), self._search)
        if different:
            raise BadOption(
                f"{self.folder} holds the history of another search (other {', '.join(different)}): choose "
                f"another folder, or give the earlier settings"
            )

    def _apply(self, record: dict[str, Any]) -> None:
        if record.get("begun", -1) >= self.next_number:
            configuration = Configuration(record["flow"], record["hyperparameters"])
            share = float(record.get("share", ALL_ROWS))
            if not 0 < share < math.inf:
                raise ValueError(share)
            self.trials.append(Trial(record["begun"], configuration, record["origin"], share=share))
        elif "resampling" in record:
            folds, train_rows = record["resampling"]["folds"], record["resampling"]["train_rows"]
            self.resampling = {"folds": int(folds), "train_rows": train_rows and int(train_rows)}
        elif "stopped" in record:
            self.trial(record["stopped"]).stopped = _STOPPED[record["why"]]
        elif "ended" in record and self._files is not None:
            trial, evaluation = self.trial(record["ended"]), Evaluation.from_record(record)
            if len(trial.evaluations) == record["repetition"]:  # repeated runs count once
                kept, checksum = None, record.get("predictions", UNKNOWN)
                if checksum is not None:
                    kept = self._files.predictions.read(_name(trial.number, record["repetition"]), checksum)
                trial.evaluations.append(replace(evaluation, predictions=kept))


class _Files:
    """The files of a history."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder / "history.jsonl")
        self.predictions = KeptPredictions(folder / "probabilities")
        self._lock = FileLock(folder / ".lock", timeout=0, thread_local=False)

    def lock(self) -> None:
        """Make the folder, and lock it.

        Raises:
            BadOption: another process is using it.
            Unwritable: it can't be written.
        """
        try:
            make_folder(self.folder)
            self._lock.acquire()
        except Timeout as error:
            raise BadOption(
                f"another search is using the history in {self.folder}: wait until it ends, or choose "
                f"another folder"
            ) from error
        except OSError as error:
            reason = f"{reason_of(error)}; choose another folder (--history)"
            raise Unwritable(f"{self.folder} can't be written: {reason}") from error

    def release(self) -> None:
        """Unlock the folder."""
        self._lock.release()


def _name(number: int, repetition: int) -> str:
    """Name of the kept predictions of a repetition."""
    return f"{number}-{repetition}" if repetition else str(number)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
