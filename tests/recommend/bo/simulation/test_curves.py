"""Regret and rank of searches, computed by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recommend.bo.simulation.curves import Curves, curves_of, draw
from recommend.bo.simulation.runner import SimulatedSearch
from warehouse.support.errors import BadInput, MissingPackage

# Regret of a: one  0.5 0.25 0    and 0.75 0.75 0.25,   two  1 0.5 0.5  and 0.5 0.5 0
# Regret of b: one  0.5 0.5  0.5  and 0    (0    0),    two  0.2 (3x)   and 0.5 (3x)
SEARCHES = [
    SimulatedSearch("one", "a", 0, [0.5, 0.75, 1.0], 1.0, 0.0, 6.0),
    SimulatedSearch("one", "a", 1, [0.25, 0.25, 0.75], 1.0, 0.0, 6.0),
    SimulatedSearch("one", "b", 0, [0.5, 0.5, 0.5], 1.0, 0.0, 6.0),
    SimulatedSearch("one", "b", 1, [1.0], 1.0, 0.0, 2.0),
    SimulatedSearch("two", "a", 0, [-10.0, -5.0, -5.0], 0.0, -10.0, 3.0),
    SimulatedSearch("two", "a", 1, [-5.0, -5.0, 0.0], 0.0, -10.0, 3.0),
    SimulatedSearch("two", "b", 0, [-2.0, -2.0, -2.0], 0.0, -10.0, 6.0),
    SimulatedSearch("two", "b", 1, [-5.0, -5.0, -5.0], 0.0, -10.0, 6.0),
]


@pytest.fixture
def curves() -> Curves:
    return curves_of(SEARCHES)


def test_the_table_has_a_row_per_trial_and_short_searches_keep_their_last_value(
    curves: Curves,
) -> None:
    frame = curves.frame()
    assert list(frame) == ["dataset", "method", "seed", "trial", "best_so_far", "regret", "rank"]
    assert len(frame) == 2 * 2 * 2 * 3
    short = frame.query("dataset == 'one' and method == 'b' and seed == 1")
    assert short["trial"].tolist() == [1, 2, 3]
    assert short["best_so_far"].tolist() == [1.0, 1.0, 1.0]
    falling = frame.query("dataset == 'two' and method == 'a' and seed == 0")
    assert falling["regret"].tolist() == [1.0, 0.5, 0.5]


def test_summaries_average_over_seeds_and_then_over_datasets(curves: Curves) -> None:
    """b has 0.25 on dataset one after every number of trials, 0.35 on two; t(1) at 97.5 % is 12.7062."""
    document = curves.document()
    b, a = document["methods"]
    assert (document["datasets"], document["seeds"], document["trials"]) == (2, 2, 3)
    assert (b["method"], a["method"]) == ("b", "a")  # 0.3 against 0.46 over all trials
    assert [after["trials"] for after in a["after"]] == [1, 3]
    means = [[after["regret"]["mean"] for after in one["after"]] for one in (a, b)]
    assert means[0] == pytest.approx([(0.625 + 0.75) / 2, (0.125 + 0.25) / 2])
    assert means[1] == pytest.approx([0.3, 0.3])
    assert b["after"][0]["regret"]["high"] - 0.3 == pytest.approx(12.7062 * 0.05, rel=1e-5)


def test_ranks_are_within_dataset_and_seed_and_ties_share_a_rank(curves: Curves) -> None:
    """a has 1.5 (tie), 2, 2 and 1.5 (tie) after one trial; 1, 2, 2 and 1 after three."""
    b, a = curves.document()["methods"]
    assert [after["rank"] for after in a["after"]] == [1.75, 1.5]
    assert [after["rank"] for after in b["after"]] == [1.25, 1.5]


def test_a_search_may_raise_the_best_known_value_for_all(curves: Curves) -> None:
    better = [*SEARCHES[:-1], replace(SEARCHES[-1], best_so_far=[-5.0, -5.0, 10.0])]
    regret = curves_of(better).frame().query("dataset == 'two' and trial == 3").set_index(["method", "seed"])
    assert regret["regret"].to_dict() == pytest.approx(
        {("a", 0): 0.75, ("a", 1): 0.5, ("b", 0): 0.6, ("b", 1): 0.0}
    )
    np.testing.assert_array_equal(
        curves_of(better).frame().query("dataset == 'one'"), curves.frame().query("dataset == 'one'")
    )


def test_methods_are_compared_after_some_trials_or_over_all(curves: Curves) -> None:
    assert {name: mean.mean for name, mean in curves.compare(1).means.items()} == pytest.approx(
        {"a": 0.6875, "b": 0.3}
    )
    over_all = curves.compare()
    assert over_all.means["a"].mean == pytest.approx((0.6875 + 0.5 + 0.1875) / 3)
    assert over_all.learners == ("b", "a")
    assert over_all.datasets == 2


def test_a_missing_search_is_named() -> None:
    with pytest.raises(BadInput, match="b was not run on one with seed 1"):
        curves_of([*SEARCHES[:3], *SEARCHES[4:]])


def test_the_table_shows_regret_interval_rank_and_seconds(curves: Curves) -> None:
    lines = curves.table().splitlines()
    assert lines[2].split() == ["b", "0.3000", "±0.6353", "0.3000", "±0.6353"]
    assert lines[-1].split() == ["a", "1.75", "1.50", "1.5000"]
    assert "±" not in curves_of(SEARCHES[:4]).table()


def test_plots_are_written_even_if_all_regrets_are_0(curves: Curves, tmp_path: Path) -> None:
    draw(curves, tmp_path / "curves.png", "toy")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    optimal = [replace(one, best_so_far=[one.best]) for one in SEARCHES]
    draw(curves_of(optimal), tmp_path / "optimal.svg", "toy")
    assert "<svg" in (tmp_path / "optimal.svg").read_text()


def test_an_impossible_plot_is_one_line(
    curves: Curves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="can't be written"):
        draw(curves, tmp_path / "curves.docx", "toy")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match=r"pip install '\S*matplotlib|compare'"):
        draw(curves, tmp_path / "curves.png", "toy")


# The usual time is 2 s: within 2, 4 and 6 s quick ends 2, 3 and 3, slow 0, 1 and 1.
TIMED = [
    SimulatedSearch("one", "quick", 0, [0.25, 0.5, 0.75], 1.0, 0.0, 3.0, [1.0, 1.0, 2.0], 2.0),
    SimulatedSearch("one", "slow", 0, [0.5, 1.0], 1.0, 0.0, 2.0, [3.0, 4.0], 2.0),
]


def test_by_seconds_only_finished_trials_count() -> None:
    """Before the first trial has ended, the worst value counts."""
    curves = curves_of(TIMED, "seconds", usual_times=3)
    frame = curves.frame().set_index("method")
    assert list(frame) == ["dataset", "seed", "usual_times", "best_so_far", "regret", "rank"]
    assert frame.loc["quick", "regret"].tolist() == [0.5, 0.25, 0.25]
    assert frame.loc["slow", "regret"].tolist() == [1.0, 0.5, 0.5]
    assert frame.loc["slow", "rank"].tolist() == [2.0, 2.0, 2.0]


def test_a_trial_on_a_share_of_the_rows_counts_as_that_share() -> None:
    """Three on a third of the rows count as one, without a value; the trial on all rows is the second."""
    thirds = SimulatedSearch("one", "a", 0, [0.0, 0.0, 0.0, 0.75], 1.0, 0.0, 1.0, shares=[1 / 3] * 3 + [1.0])
    whole = SimulatedSearch("one", "b", 0, [0.5, 0.5], 1.0, 0.0, 1.0)
    curves = curves_of([thirds, whole])
    assert curves.trials == 2
    frame = curves.frame().set_index("method")
    assert frame.loc["a", "regret"].tolist() == [1.0, 0.25]
    assert frame.loc["b", "regret"].tolist() == [0.5, 0.5]
