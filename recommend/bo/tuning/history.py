"""The trials of one search on disk, written before and after each of them.

A folder holds `history.jsonl`: first what is searched and how, then a record when a trial begins and one when
it ends. A search that was killed goes on from it: trials that ended are told to the optimizer again, those
that had begun are run again, and which come next follows from (seed, number). `probabilities` has what each
trial predicted of rows that it was not fitted on, which ensembles are chosen by; a search can do without.
What came of the leaders on other folds and on the rows held out is kept as well: a search that is over is not
judged twice.

Records are JSON objects, one a line, told apart by their first key:

    format    name and version of the format; `search` has the settings, which those of the next search must
              equal
    begun     number of the trial; `flow`, `hyperparameters`, `origin` (start, anchor, random or model), and
              `share` of the training rows where that is not all of them
    ended     number of the trial; `outcome` (success, timeout, memout or crash), `message`, `seconds`, and
              `result` with its values by measure
    judged    number of the trial; `where` (again: other folds; held-out: the rows held out), `predicts`, and
              what `ended` has
    ensemble  what the choice rests on; `weights` has pairs of trial and weight
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from filelock import FileLock, Timeout

from ingest.running.limits import Trial
from recommend.bo.optimizer import ALL_ROWS, Origin
from warehouse.configurations.configuration import Configuration
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, Failed, UnreadableInput
from warehouse.support.files import write_bytes
from warehouse.support.journal import Journal

FORMAT = "headstart-history/1"

Where = Literal["again", "held-out"]
"""Rows that a configuration was tested on beside those of its trial: other folds, the rows held out."""


@dataclass
class Entry:
    """One trial."""

    number: int
    configuration: Configuration
    origin: Origin
    trial: Trial | None = None
    """Outcome; None while the trial is under way."""
    share: float = ALL_ROWS
    """Share of the training rows of each split that it is fitted on."""


class TrialHistory:
    """The trials so far, in the order of their numbers. Used as a context, which keeps others out."""

    def __init__(self, folder: Path, search: Mapping[str, Any]) -> None:
        """Go on with the history in `folder`, or begin one.

        Args:
            search: JSON values that say what is searched and how; a history belongs to one search.

        Raises:
            BadInput: the folder holds the history of another search.
            Failed: it can't be written.
        """
        self.folder = folder
        self.entries: list[Entry] = []
        self._judged: dict[tuple[Where, int], tuple[Trial, bool]] = {}
        self._ensembles: dict[str, dict[int, float]] = {}
        self._search = json.loads(json.dumps(dict(search)))
        self._journal = Journal(folder / "history.jsonl")
        self._lock = FileLock(folder / ".lock")

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise BadOption(f"{self.folder} is in use: another `tune` works on this history") from error
        except OSError as error:
            raise Failed(f"{self.folder} can't be written: {error.strerror or error}") from error
        try:
            self._read()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def begin(self, entry: Entry) -> None:
        """Remember a trial before it runs."""
        record = {
            "begun": entry.number,
            "flow": entry.configuration.algorithm,
            "hyperparameters": dict(entry.configuration.values),
            "origin": entry.origin,
        }
        self._journal.append(record if entry.share == ALL_ROWS else {**record, "share": entry.share})
        self.entries.append(entry)

    def end(self, number: int, trial: Trial, probabilities: Floats | None = None) -> None:
        """Remember what came of a trial, and what it predicted, (rows, classes)."""
        if probabilities is not None:
            self._keep_array(str(number), probabilities)
        self._journal.append({"ended": number, **asdict(trial)})
        self.entries[number].trial = trial

    def probabilities(self, number: int) -> Floats | None:
        """What a trial predicted; None where that was not kept, or is damaged."""
        return self._array(str(number))

    def keep_judged(self, where: Where, number: int, trial: Trial, probabilities: Floats | None) -> None:
        """Remember what came of a trial's configuration elsewhere, and what it predicted there."""
        if probabilities is not None:
            self._keep_array(f"{number}-{where}", probabilities)
        predicts = probabilities is not None
        self._journal.append({"judged": number, "where": where, "predicts": predicts, **asdict(trial)})
        self._judged[where, number] = trial, predicts

    def judged(self, where: Where, number: int) -> tuple[Trial, Floats | None] | None:
        """What was kept of it; None where nothing was, or what it predicted is damaged."""
        trial, predicts = self._judged.get((where, number), (None, False))
        if trial is None:
            return None
        probabilities = self._array(f"{number}-{where}") if predicts else None
        return None if predicts and probabilities is None else (trial, probabilities)

    def keep_ensemble(self, question: str, weights: Mapping[int, float]) -> None:
        """Remember the weights of trials in an ensemble; `question` names all that it rests on."""
        self._journal.append({"ensemble": question, "weights": list(weights.items())})
        self._ensembles[question] = dict(weights)

    def ensemble(self, question: str) -> dict[int, float] | None:
        """The weights that were kept; None where none were."""
        return self._ensembles.get(question)

    def _keep_array(self, name: str, array: Floats) -> None:
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        path = self._path_of_array(name)
        path.parent.mkdir(exist_ok=True)
        write_bytes(path, content.getvalue())

    def _array(self, name: str) -> Floats | None:
        try:
            # Mapped, since an array that says it is larger than its file is refused then.
            return np.array(np.load(self._path_of_array(name), mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None

    def _path_of_array(self, name: str) -> Path:
        return self.folder / "probabilities" / f"{name}.npy"

    def _read(self) -> None:
        records = list(self._journal.records())
        if not records:
            self._journal.append({"format": FORMAT, "search": self._search})
            return
        if records[0].get("format") != FORMAT:
            raise UnreadableInput(
                f"{self.folder}: its history.jsonl is no history of this version; choose another"
            )
        different = _differences(records[0].get("search", {}), self._search)
        if different:
            raise BadOption(
                f"{self.folder} holds the history of another search (other {', '.join(different)}): choose "
                "another folder, or search as before"
            )
        for record in records[1:]:
            # A record that is damaged says nothing: the trial counts as not begun, or as under way.
            with suppress(KeyError, TypeError, ValueError):
                self._take(record)

    def _take(self, record: dict[str, Any]) -> None:
        if record.get("begun") == len(self.entries):
            configuration = Configuration(record["flow"], record["hyperparameters"])
            share = float(record.get("share", ALL_ROWS))
            if not 0 < share <= ALL_ROWS:
                raise ValueError(share)
            self.entries.append(Entry(record["begun"], configuration, record["origin"], share=share))
        elif "ended" in record and record["ended"] < len(self.entries):
            number = record.pop("ended")
            trial = Trial.from_record(record)
            if self.entries[number].trial is None:  # what was run twice counts once
                self.entries[number].trial = trial
        elif "judged" in record:
            number, where = int(record.pop("judged")), record.pop("where")
            predicts = bool(record.pop("predicts"))
            self._judged[where, number] = Trial.from_record(record), predicts
        elif "ensemble" in record:
            weights = {int(number): float(weight) for number, weight in record["weights"]}
            self._ensembles[str(record["ensemble"])] = weights


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
