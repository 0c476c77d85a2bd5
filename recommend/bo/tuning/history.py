"""History of a search: its trials on disk, written before and after each.

A folder holds `history.jsonl`: first the settings of the search, then a record when a trial begins and one
when it ends. A search that was killed goes on from it: trials with an outcome are told to the optimizer
again, those without are run again, and what comes next follows from (seed, number). `probabilities` holds
each trial's predictions of its test rows, from which ensembles are chosen; a search can do without them. The
values of the leaders on other folds and on the rows held out are kept as well, so that a search that has
ended is not evaluated twice.

A search holds `.lock` as long as it runs, and a second search on the same folder is refused.

Records are JSON objects, one a line, told apart by their first key:

    format    name and version of the format; `search` has the settings, which those of the next search must
              equal
    begun     number of the trial; `flow`, `hyperparameters`, `origin` (start, anchor, random or model), and
              `share` of the training rows where that is not all of them
    ended     number of the trial; `outcome` (success, timeout, memout or crash), `message`, `seconds`, and
              `result` with its values by measure
    stopped   number of a trial that the search ended without an outcome; `why` (interrupted, or time: that of
              the search was up)
    judged    number of the trial; `where` (again: other folds; held-out: the rows held out), `predicts`, and
              what `ended` has
    ensemble  what the choice rests on; `weights` has pairs of trial and weight

Other records and keys are ignored. Earlier versions wrote some to share a history among several processes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from filelock import FileLock, Timeout

from ingest.running.evaluation import Evaluation
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.predictions import KeptPredictions
from recommend.bo.tuning.trials import Trial
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, UnreadableInput, Unwritable, reason_of
from warehouse.support.journal import Journal
from warehouse.vocabulary.configuration import Configuration

FORMAT = "headstart-history/1"

Where = Literal["again", "held-out"]
"""Rows that a configuration was tested on beside those of its trial: other folds, the rows held out."""
Why = Literal["interrupted", "time"]
"""Reasons why a search ends a trial itself: an interrupt, or the end of its time."""

_STOPPED: Mapping[Why, str] = {
    "interrupted": "ended by us when interrupted",
    "time": "ended by us when the time was up",
}

logger = logging.getLogger(__name__)


class TrialHistory:
    """The trials so far, in the order of their numbers. Used as a context, by one search at a time."""

    def __init__(self, folder: Path, search: Mapping[str, Any]) -> None:
        """Go on with the history in `folder`, or begin one.

        Args:
            search: settings of the search as JSON values; a history belongs to one search.
        """
        self.folder = folder
        self.trials: list[Trial] = []
        self._left: list[Trial] = []
        """Trials without an outcome that an earlier process began, and this one has not."""
        self._elsewhere: dict[tuple[Where, int], tuple[Evaluation, bool]] = {}
        self._ensembles: dict[str, dict[int, float]] = {}
        self._search = json.loads(json.dumps(dict(search)))
        self._journal = Journal(folder / "history.jsonl")
        self._predictions = KeptPredictions(folder / "probabilities")
        self._lock = FileLock(folder / ".lock", timeout=0, thread_local=False)

    def __enter__(self) -> Self:
        """Lock and read the history.

        Raises:
            BadInput: the folder holds the history of another search, or another process is searching on it.
            Unwritable: the folder can't be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise BadOption(
                f"another search is using the history in {self.folder}: wait until it ends, or choose "
                f"another folder"
            ) from error
        except OSError as error:
            raise Unwritable(f"{self.folder} can't be written: {reason_of(error)}") from error
        try:
            self._read()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    # ---- trials -------------------------------------------------------------------------------------

    def begin(self, trial: Trial) -> None:
        """Remember a trial, the next one, before it is run."""
        record = {
            "begun": trial.number,
            "flow": trial.configuration.algorithm,
            "hyperparameters": dict(trial.configuration.values),
            "origin": trial.origin,
        }
        self._write(record if trial.share == ALL_ROWS else {**record, "share": trial.share})

    def end(self, number: int, evaluation: Evaluation) -> None:
        """Remember the outcome of a trial, and its predictions."""
        self._predictions.keep(str(number), evaluation.predictions)
        self._write({"ended": number, **evaluation.record()})

    def stop(self, number: int, why: Why) -> None:
        """Remember that the search ended a trial without an outcome.

        This says nothing about the configuration, and the next search runs the trial again.
        """
        self._write({"stopped": number, "why": why})

    def take(self) -> Trial | None:
        """Take the first trial that an earlier process left without an outcome, to run it again.

        None where there is none left.
        """
        if not self._left:
            return None
        trial = self._left.pop(0)
        logger.info("trial %d again: it was begun, but has no outcome", trial.number)
        trial.stopped = None
        return trial

    def unfinished(self) -> dict[int, str]:
        """Number of a trial without an outcome -> why it has none."""
        return {
            trial.number: trial.stopped or "its search was killed"
            for trial in self.trials
            if trial.evaluation is None
        }

    def predictions(self, number: int) -> Floats | None:
        """Predictions of a trial; None if they were not kept or are damaged."""
        return self._predictions.read(str(number))

    # ---- what comes after the trials ----------------------------------------------------------------

    def keep_elsewhere(self, where: Where, number: int, evaluation: Evaluation) -> None:
        """Remember the evaluation of a trial's configuration on other rows, and its predictions."""
        self._predictions.keep(f"{number}-{where}", evaluation.predictions)
        predicts = evaluation.predictions is not None
        self._write({"judged": number, "where": where, "predicts": predicts, **evaluation.record()})

    def elsewhere(self, where: Where, number: int) -> Evaluation | None:
        """The stored evaluation; None if there is none or its predictions are damaged."""
        evaluation, predicts = self._elsewhere.get((where, number), (None, False))
        if evaluation is None or not predicts:
            return evaluation
        predictions = self._predictions.read(f"{number}-{where}")
        return None if predictions is None else replace(evaluation, predictions=predictions)

    def keep_ensemble(self, question: str, weights: Mapping[int, float]) -> None:
        """Store the weights of trials in an ensemble; `question` identifies its inputs."""
        self._write({"ensemble": question, "weights": list(weights.items())})

    def ensemble(self, question: str) -> dict[int, float] | None:
        """The stored weights; None if there are none."""
        return self._ensembles.get(question)

    # ---- records ------------------------------------------------------------------------------------

    def _write(self, record: dict[str, Any]) -> None:
        self._journal.append(record)
        self._apply(json.loads(json.dumps(record)))

    def _read(self) -> None:
        records = self._journal.records()
        first = next(records, None)
        if first is None:
            self._journal.append({"format": FORMAT, "search": self._search})
            return
        self._check(first)
        for record in records:
            # A record that is damaged says nothing: the trial counts as not begun, or as under way.
            with suppress(KeyError, TypeError, ValueError):
                self._apply(record)
        self._left = [trial for trial in self.trials if trial.evaluation is None]

    def _check(self, first: Mapping[str, Any]) -> None:
        if first.get("format") != FORMAT:
            raise UnreadableInput(
                f"{self.folder}: its history.jsonl is not a history of this version; choose another folder"
            )
        different = _differences(first.get("search", {}), self._search)
        if different:
            raise BadOption(
                f"{self.folder} holds the history of another search (other {', '.join(different)}): choose "
                f"another folder, or give the earlier settings"
            )

    def _apply(self, record: dict[str, Any]) -> None:
        if record.get("begun") == len(self.trials):
            configuration = Configuration(record["flow"], record["hyperparameters"])
            share = float(record.get("share", ALL_ROWS))
            if not 0 < share <= ALL_ROWS:
                raise ValueError(share)
            self.trials.append(Trial(record["begun"], configuration, record["origin"], share=share))
        elif "stopped" in record:
            self._trial(record["stopped"]).stopped = _STOPPED[record["why"]]
        elif "ended" in record:
            trial, evaluation = self._trial(record["ended"]), Evaluation.from_record(record)
            if trial.evaluation is None:  # what was run twice counts once
                trial.evaluation = evaluation
        elif "judged" in record:
            evaluation = Evaluation.from_record(record)
            self._elsewhere[record["where"], int(record["judged"])] = evaluation, bool(record["predicts"])
        elif "ensemble" in record:
            weights = {int(number): float(weight) for number, weight in record["weights"]}
            self._ensembles[str(record["ensemble"])] = weights

    def _trial(self, number: Any) -> Trial:
        """The trial with this number.

        Raises:
            ValueError: there is none.
        """
        if number not in range(len(self.trials)):
            raise ValueError(number)
        return self.trials[int(number)]


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
