"""The benchmark at equal time: its jobs and its report."""

import numpy as np
import pandas as pd
import pytest

from tests.benchmarks.contenders import contenders_of
from tests.benchmarks.equal_time import all_jobs, by_table, compared, times
from tests.benchmarks.held_out import TableFile
from tests.benchmarks.task_kinds import KINDS, TaskKind

ANY = KINDS["classification"]


def records(**scores: list[float]) -> pd.DataFrame:
    """Two splits of each table with values a tenth apart."""
    return pd.DataFrame(
        {
            "table": f"t{table}",
            "contender": name,
            "split": split,
            "measures": dict.fromkeys(ANY.judged, value + split / 10),
            "took": 30.0,
            "processor": 15.0,
        }
        for name, values in scores.items()
        for table, value in enumerate(values)
        for split in (0, 1)
    )


def test_splits_count_as_one_table_and_equal_values_as_neither_won_nor_lost() -> None:
    measure = ANY.told
    table = by_table(records(tune=[0.5, 0.6, 0.7], flaml=[0.4, 0.6, 0.8]), measure, ["tune", "flaml"])
    ours, theirs = compared(measure, table)
    assert ours["mean"] == "0.6500"
    assert (theirs["tables"], theirs["won"]) == (3, "1 - 1 (50%)")
    assert ours["mean rank"] == theirs["mean rank"] == "1.50"


def test_a_smaller_loss_is_better() -> None:
    table = by_table(records(tune=[0.3, 0.4], flaml=[0.5, 0.6]), "log_loss", ["tune", "flaml"])
    _, theirs = compared("log_loss", table)
    assert theirs["won"] == "2 - 0 (100%)"


def test_times_are_shares_of_what_was_asked() -> None:
    flaml = {"flaml": contenders_of(ANY)["flaml"]}
    (row,) = times(records(flaml=[0.5]), flaml, 60.0).to_dict("records")
    assert (row["time"], row["busy"], row["without a model"]) == ("0.50 to 0.50 to 0.50", "0.50", 0)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_contenders_without_a_time_run_once_and_smac_from_ten_minutes_on(kind: TaskKind) -> None:
    contenders = contenders_of(kind)
    jobs = [*all_jobs([TableFile("a.csv", "y", "a")], [0], [10.0, 600.0], contenders, kind, kind.told)]
    number = {name: sum(job.contender == name for job in jobs) for name in contenders}
    assert number == {name: 2 if one.is_timed and name != "smac" else 1 for name, one in contenders.items()}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_peers_have_a_name_for_each_measure(kind: TaskKind) -> None:
    for measure in kind.judged:
        assert np.char.islower([kind.peer_metric(measure, 2), kind.peer_metric(measure, 3)]).all()
