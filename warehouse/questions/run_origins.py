"""Origins of a warehouse's runs: how many are the bundled starter's, and how many are others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.questions.sampling import Ask
from warehouse.support.text import counted
from warehouse.vocabulary.schema import TABLES

Whose = Literal["starter", "user", "other"]
"""The bundled starter, the user's own warehouse (the default of commands), or another."""
# In a copy of the starter, its rows keep the ids of the starter's ingests.
_FROM_STARTER = "SELECT count(*) AS n FROM runs WHERE outcome = 'success' AND list_contains($ingests, ingest)"
_WRITTEN_SINCE = """
SELECT r.run, i.finished FROM runs r LEFT JOIN ingests i USING (ingest)
WHERE r.outcome = 'success' AND NOT list_contains($ingests, r.ingest)
"""


@dataclass(frozen=True)
class RunOrigins:
    """How the successful runs of a warehouse differ from those of the bundled starter."""

    location: str
    """Path or URL of the warehouse."""
    whose: Whose
    starter: int
    """Number of the bundled starter's runs."""
    of_starter: int
    """Number of the starter's runs in the warehouse."""
    others: int
    """Number of the other runs in the warehouse."""
    last: date | None
    """Day on which the newest of the other runs were written (UTC); None if there are none."""

    def document(self) -> dict[str, Any]:
        """The origins as JSON values."""
        return {
            "path": self.location,
            "is_starter": self.whose == "starter",
            "starter_runs": self.of_starter,
            "own_runs": self.others,
            "last_own_run": None if self.last is None else self.last.isoformat(),
        }

    def in_words(self) -> str:
        """The warehouse in words, to follow "Learned from ... of".

        >>> RunOrigins("/home/me/runs", "user", 48_000, 48_000, 42, date(2026, 11, 20)).in_words()
        'your warehouse /home/me/runs (the starter and 42 runs of yours, last on 2026-11-20)'
        """
        if self.whose == "starter":
            return "the bundled starter"
        last = f"last on {self.last}"
        if not self.of_starter:
            runs = f"{counted(self.others, 'runs')}, none of the starter's, {last}"
        else:
            runs = "the starter"
            if self.of_starter < self.starter:
                runs = f"{self.of_starter:,} of the starter's {self.starter:,} runs"
            more = "runs of yours" if self.whose == "user" else "other runs"
            runs += f" and {counted(self.others, more)}, {last}" if self.others else " and nothing else"
        whose = "your" if self.whose == "user" else "the"
        return f"{whose} warehouse {self.location} ({runs})"


def run_origins(
    ask: Ask, starter_ingests: Sequence[str], starter_files: Sequence[str], location: str, whose: Whose
) -> RunOrigins:
    """Compare the runs of a warehouse with those of the starter, by their keys.

    Args:
        ask: queries the warehouse, at one version.
        starter_ingests: ids of the ingests that wrote the bundled starter.
        starter_files: files of the starter's table `runs`, read directly: opening a connection for a query
            takes several times as long.
        location: path or URL of the warehouse.
        whose: whose warehouse it is; not the starter.
    """
    tables = [pq.ParquetFile(file).read(columns=["run", "outcome"]) for file in starter_files]
    starter = pa.concat_tables([TABLES["runs"].schema.empty_table().select(["run", "outcome"]), *tables])
    keys = starter.filter(pc.equal(starter["outcome"], "success"))["run"]
    known = ask(_FROM_STARTER, {"ingests": starter_ingests})["n"][0].as_py()
    since = ask(_WRITTEN_SINCE, {"ingests": starter_ingests})
    others = since.filter(pc.invert(pc.is_in(since["run"], keys)))
    last = pc.max(others["finished"]).as_py()
    return RunOrigins(
        location=location,
        whose=whose,
        starter=len(keys),
        of_starter=known + len(since) - len(others),
        others=len(others),
        last=None if last is None else last.date(),
    )
