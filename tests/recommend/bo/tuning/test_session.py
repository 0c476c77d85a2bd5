"""Sessions on a simulated machine use their time, keep it, and always have a model."""

import math
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation
from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import Resampling
from recommend.bo.tuning.model_fits import LEAST
from recommend.bo.tuning.proposals import Proposed
from recommend.bo.tuning.resampling import choose_resampling
from recommend.bo.tuning.running import Task
from recommend.bo.tuning.trials import Trial
from tests.commands import handled
from tests.recommend.bo.tuning.searches import noisy
from tests.recommend.bo.tuning.simulated import (
    ROWS,
    SEARCH,
    Listed,
    Machine,
    booster,
    configuration,
    run,
    told_seconds,
    unknown_seconds,
)
from warehouse.support.errors import Failed
from warehouse.vocabulary.configuration import Configuration

PART = noisy(ROWS)
MANY = noisy(8000)
FIRST, SECOND, QUICK = configuration(0, 0.5, 0.7), configuration(1, 0.3, 0.6), configuration(9, 0.05, 0.5)
OTHERS = [configuration(n, 0.02 * n, 0.5 + 0.005 * n) for n in range(10, 40)]


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Handle Ctrl-C as usual; a shell's background ignores it."""
    with handled(dict.fromkeys((signal.SIGINT, signal.SIGTERM), signal.default_int_handler)):
        yield


# ---- there is a model, in time -------------------------------------------------------------------


def configurations(first: int) -> st.SearchStrategy[Configuration]:
    seconds = st.floats(0.01, 100.0)
    return st.builds(configuration, st.integers(first, first + 99), seconds, fails=st.booleans())


@given(
    firsts=st.lists(configurations(100), min_size=1, max_size=3, unique=True),
    proposed=st.lists(configurations(200), max_size=12, unique=True),
    seconds=st.floats(0.01, 600.0),
    slower=st.floats(0.1, 20.0),
    is_told=st.booleans(),
    jobs=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_there_is_a_model_in_time_whatever_is_slow_or_fails(
    firsts: list[Configuration],
    proposed: list[Configuration],
    seconds: float,
    slower: float,
    is_told: bool,
    jobs: int,
) -> None:
    """The fallback can be fitted within the seconds that a fit always has. Whether fits take the expected
    time or up to twenty times as long, the session ends at its time, or those seconds later."""
    machine = Machine(PART, slower)
    expected = told_seconds if is_told else unknown_seconds
    done = run(machine, firsts, *proposed, fallbacks=[QUICK], seconds=seconds, expected=expected, jobs=jobs)
    assert done.fitted
    assert machine.now <= seconds + LEAST + 1e-6
    fits = [task.configuration for _, task in machine.of("fit")]
    assert len(fits) == len(set(fits)), "nothing is fitted twice on all rows"


@given(
    proposed=st.lists(configurations(200), max_size=30, unique=True),
    seconds=st.floats(5.0, 600.0),
    jobs=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_nothing_is_cut_off_by_the_end_if_times_are_as_expected(
    proposed: list[Configuration], seconds: float, jobs: int
) -> None:
    machine = Machine(PART)
    done = run(machine, [QUICK], *proposed, seconds=seconds, jobs=jobs)
    assert done.history.unfinished() == {}
    assert machine.now <= seconds


@dataclass
class Slow(Listed):
    """Propose the first ones as starts, after a second for the model, and others as slowly."""

    machine: Machine = field(kw_only=True)
    starts: Collection[Configuration] = field(kw_only=True)
    seconds: float = field(kw_only=True)

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        self.machine.now += 0.0 if self.proposed else 1.0
        proposed = super().propose(trials)
        if proposed is None or proposed.configuration in self.starts:
            return proposed and replace(proposed, origin="start")
        self.machine.now += self.seconds
        return proposed


@given(proposing=st.floats(0.0, 4.0), seconds=st.floats(10.0, 60.0))
@settings(max_examples=20, deadline=None)
def test_slow_proposals_take_no_time_from_the_last_fits(proposing: float, seconds: float) -> None:
    machine = Machine(PART)
    slow = Slow([FIRST, SECOND, *OTHERS], machine=machine, starts=[FIRST, SECOND], seconds=proposing)
    done = run(machine, [FIRST, SECOND], seconds=seconds, proposer=slow)
    assert machine.now <= seconds
    assert {one.values["n"] for one in done.session.selection.weights} == {*done.fitted}


def test_nothing_is_proposed_if_there_is_hardly_time_for_a_trial() -> None:
    """The first proposal creates the optimizer, which takes as long as a short trial."""
    proposer = Listed(members := [configuration(0, 1.0), configuration(1, 1.0)])
    done = run(Machine(PART), members, seconds=3.6, proposer=proposer)
    assert not proposer.proposed
    assert done.fitted == [0, 1]


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("seconds", [10.0, 200.0])
def test_all_time_is_used_while_there_are_candidates(seconds: float, jobs: int) -> None:
    many = [configuration(n, 0.05 * (n % 40), 0.5 + 0.0001 * n) for n in range(10, 900)]
    machine = Machine(PART)
    run(machine, [FIRST, SECOND], *many, fallbacks=[QUICK], seconds=seconds, jobs=jobs)
    assert machine.now >= 0.9 * seconds


def test_the_first_is_fitted_before_any_trial_and_the_other_members_follow() -> None:
    machine = Machine(PART)
    run(machine, [FIRST, SECOND], *OTHERS, fallbacks=[QUICK], seconds=60.0)
    assert [task.configuration for _, task in machine.begun[:3]] == [FIRST, SECOND, FIRST]
    assert [task.kind for _, task in machine.begun[:3]] == ["fit", "fit", "trial"]


def test_slow_other_members_are_tried_before_they_are_fitted() -> None:
    """25 of 60 s are more than is reserved for the last fits, so the others are tried first."""
    slow = configuration(1, 25.0, 0.9)
    machine = Machine(PART)
    done = run(machine, [FIRST, slow], *OTHERS[:5], seconds=60.0)
    assert [task.kind for _, task in machine.begun[:2]] == ["fit", "trial"]
    assert done.fitted == [0]


@pytest.mark.parametrize("trouble", [configuration(0, 0.5, fails=True), configuration(0, 500.0)])
def test_a_first_fit_that_fails_or_is_slow_is_replaced(trouble: Configuration) -> None:
    machine = Machine(PART)
    done = run(machine, [trouble, SECOND], fallbacks=[QUICK], seconds=20.0, expected=unknown_seconds)
    fits = machine.of("fit")
    assert [task.configuration for _, task in fits][:2] == [trouble, SECOND]
    assert fits[1][0] <= 10.0
    assert 0 not in done.fitted


def test_if_nothing_can_be_fitted_one_line_says_why() -> None:
    broken = [configuration(n, fails=True) for n in range(2)]
    done = run(Machine(PART), broken[:1], fallbacks=broken[1:], seconds=20.0)
    assert done.session.model is None
    assert "No configuration could be fitted: ValueError: no." in done.remarks
    assert not done.progress  # what can't be fitted is not tried


def on_many_rows(one: Configuration, rows: int) -> float:
    """Seconds of a fit on so many of the `MANY` rows."""
    return told_seconds(one) * rows / len(MANY.features)


def rows_of_fits(machine: Machine) -> list[tuple[object, int]]:
    """Number and training rows of each fitted configuration."""
    return [(task.configuration.values["n"], task.rows) for _, task in machine.of("fit")]


def test_if_all_rows_take_too_long_the_first_is_fitted_on_as_many_as_fit_into_the_time() -> None:
    """500 rows take 2.5 s, 2,000 take 10, and 4,000 fit into the 24 s reserved for the end."""
    machine = Machine(MANY)
    done = run(machine, [configuration(0, 40.0)], *OTHERS, seconds=60.0, expected=on_many_rows)
    assert rows_of_fits(machine)[:2] == [(0, 500), (0, 2000)]
    assert done.session.model is not None
    fewest = min(done.session.model.rows.values())
    assert 2000 <= fewest < 8000
    assert done.remarks[-1].endswith(f"could not be fitted in time on all 8,000 rows: fitted on {fewest:,}.")
    assert machine.now <= 60.0


def test_the_time_of_a_quick_fit_determines_the_rows_of_the_next() -> None:
    """All rows were expected to take 6 s but take 72: a quarter of them already takes 18."""
    machine = Machine(MANY, slower=12.0)
    done = run(machine, [configuration(0, 6.0)], fallbacks=[QUICK], seconds=60.0, expected=on_many_rows)
    assert rows_of_fits(machine)[0] == (0, 2000)
    assert done.fitted == [0]
    assert machine.now <= 60.0


def test_the_first_is_fitted_on_more_rows_in_steps() -> None:
    """All rows take 8 s."""
    machine = Machine(MANY)
    run(machine, [configuration(0, 8.0)], seconds=60.0, expected=on_many_rows)
    assert rows_of_fits(machine) == [(0, 500), (0, 2000), (0, 8000)]


def test_a_booster_that_takes_too_long_has_fewer_rounds_on_all_rows() -> None:
    """All rounds take 100 s, 20 times as long as expected."""
    machine = Machine(MANY, slower=20.0)
    done = run(machine, [booster(0, 5.0)], fallbacks=[QUICK], seconds=60.0, expected=on_many_rows)
    assert [task.configuration.values["n_estimators"] for _, task in machine.of("fit")] == [50, 100]
    assert done.session.model is not None
    assert set(done.session.model.rows.values()) == {len(MANY.features)}
    assert "1 member of the model got fewer rounds of boosting than recommended" in done.remarks[-1]
    assert machine.now <= 60.0


@pytest.mark.parametrize(("seconds", "trials"), [(None, 3), (600.0, None)])
def test_a_booster_keeps_its_rounds_if_there_is_time(seconds: float | None, trials: int | None) -> None:
    one = booster(0, 5.0)
    done = run(Machine(MANY), [one], *OTHERS[:2], seconds=seconds, trials=trials, expected=on_many_rows)
    assert one in done.session.fits.fitted


def test_a_booster_of_the_user_keeps_its_rounds() -> None:
    one = booster(0, 100.0)
    search = replace(SEARCH, seeds=(one,))
    done = run(Machine(MANY), [one], *OTHERS[:2], seconds=60.0, search=search, expected=on_many_rows)
    assert {
        fitted.values["n_estimators"] for fitted in done.session.fits.fitted if fitted.algorithm == "lightgbm"
    } == {1600}


def test_a_fit_ended_by_its_limit_is_repeated_on_fewer_rows() -> None:
    """It is unknown that all rows take 100 s: 500 of them take 6."""
    machine = Machine(MANY)
    slow = configuration(0, 100.0)
    done = run(machine, [slow], fallbacks=[QUICK], seconds=120.0, expected=unknown_seconds)
    fits = rows_of_fits(machine)
    assert fits[0] == (0, 8000)
    assert fits[1][0] == 0
    assert 500 <= fits[1][1] < 1000
    assert done.fitted == [0]


def test_a_fit_that_takes_too_long_on_the_fewest_rows_is_replaced_by_the_quickest() -> None:
    machine = Machine(MANY, slower=100.0)
    done = run(machine, [configuration(0, 40.0)], fallbacks=[QUICK], seconds=60.0, expected=on_many_rows)
    assert rows_of_fits(machine)[0] == (0, 500)
    assert done.fitted == [9]
    assert machine.now <= 60.0


def test_without_time_the_quickest_is_the_model_and_omissions_are_reported() -> None:
    done = run(Machine(PART), [FIRST, SECOND], fallbacks=[configuration(8, 0.2), QUICK], seconds=0.01)
    assert done.fitted == [9]
    assert done.remarks == [
        "No trial ended, because the time was up: nothing was compared on the data.",
        "2 members of the model could not be fitted in time.",
    ]


def test_trials_that_all_exceed_their_limit_are_reported() -> None:
    done = run(Machine(PART), [configuration(0, 40.0)], trials=3)
    assert done.history.trials == []
    assert done.remarks == [
        "No trial ended, because none was expected to end within the time limit of a trial, 60 s: nothing was"
        " compared on the data."
    ]


def test_reasons_of_failures_are_reported() -> None:
    class Small(Machine):
        def _outcome(self, task: Task, splits: Sequence[Split], took: float) -> Any:
            if task.kind == "fit" and task.rows <= 2000:
                return super()._outcome(task, splits, took)
            message = "needed more than 4096 MiB"
            if task.kind == "fit":
                return LimitedCall(Outcome.memout, None, message, took)
            return Evaluation(Outcome.memout, took, message=message)

    done = run(Small(MANY), [configuration(0, 8.0)], seconds=60.0)
    assert done.remarks[-2:] == [
        "No trial succeeded: needed more than 4096 MiB.",
        "1 member of the model could not be fitted (needed more than 4096 MiB) on all 8,000 rows: fitted on"
        " 2,000.",
    ]


def test_fitted_members_stay_even_if_a_proposal_took_all_the_time() -> None:
    machine = Machine(PART)

    class Slow(Listed):
        def propose(self, trials: Sequence[Trial]) -> Proposed | None:
            proposed = super().propose(trials)
            machine.now += 60.0 if proposed is None else 0.0
            return proposed

    done = run(machine, [FIRST, SECOND], seconds=20.0, proposer=Slow([]))
    assert sorted(done.fitted) == [0, 1]


def test_no_model_is_fitted_if_none_is_wanted() -> None:
    machine = Machine(PART)
    done = run(machine, [FIRST, SECOND], seconds=20.0, wants_model=False)
    assert done.session.model is None
    assert machine.of("fit") == []
    assert done.remarks == []


# ---- interrupts ----------------------------------------------------------------------------------


@given(moment=st.floats(0.0, 55.0), jobs=st.integers(1, 3), with_term=st.booleans())
@settings(max_examples=40, deadline=None)
def test_an_interrupt_keeps_the_fits_and_gives_running_trials_no_outcome(
    moment: float, jobs: int, with_term: bool
) -> None:
    machine = Machine(PART, interrupt_at=moment)
    machine.interrupt_with = signal.SIGTERM if with_term else signal.SIGINT
    done = run(machine, [FIRST, SECOND], *OTHERS, fallbacks=[QUICK], seconds=60.0, jobs=jobs)
    first_ended = machine.seconds(machine.of("fit")[0][1])
    assert done.session.interrupted
    assert machine.now == moment
    assert bool(done.fitted) or moment <= first_ended
    assert all(why == "ended by us when interrupted" for why in done.history.unfinished().values())
    assert {*done.outcomes} <= {None, Outcome.success}


def test_interrupted_trials_are_run_first_by_the_next_session(tmp_path: Path) -> None:
    cut = run(
        Machine(PART, interrupt_at=12.0), [FIRST, SECOND], *OTHERS, seconds=60.0, jobs=2, folder=tmp_path
    )
    left = [cut.history.trials[number].configuration for number in cut.history.unfinished()]
    assert left
    machine = Machine(PART)
    done = run(machine, [FIRST, SECOND], *OTHERS, seconds=60.0, jobs=2, folder=tmp_path)
    again = [task.configuration for _, task in machine.of("trial")]
    assert again[: len(left)] == left
    assert done.history.unfinished() == {}


def test_a_search_that_can_no_longer_start_processes_ends_with_its_results() -> None:
    class Full(Machine):
        def wait(self, running: Collection[Future[Any]]) -> Collection[Future[Any]]:
            if len(self.begun) < 5:
                return super().wait(running)
            for future in running:
                future.set_exception(Failed("no process can be started: too many"))
            return running

    done = run(Full(PART), [FIRST, SECOND], *OTHERS, seconds=60.0)
    assert done.session.model is not None
    assert "The search ended early: no process can be started: too many." in done.remarks


# ---- trials --------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 3, 9])
def test_no_more_trials_are_started_than_the_budget_allows(jobs: int) -> None:
    machine = Machine(PART)
    done = run(machine, [FIRST], *OTHERS, trials=5, jobs=jobs)
    assert [trial.number for trial in done.history.trials] == [*range(5)]
    assert {task.limit for _, task in machine.of("trial")} == {60.0}


def test_a_proposer_may_wait_for_running_trials() -> None:
    """As successive halving does, whose promotions depend on them."""

    class Waiting(Listed):
        def propose(self, trials: Sequence[Trial]) -> Proposed | None:
            if any(trial.evaluation is None for trial in trials):
                return None
            return super().propose(trials)

    done = run(Machine(PART), [FIRST], trials=6, jobs=2, proposer=Waiting([FIRST, *OTHERS]))
    assert done.outcomes == [Outcome.success] * 6


def test_a_trial_that_the_end_cut_off_has_no_outcome_and_is_run_again(tmp_path: Path) -> None:
    """Its duration is unknown, so it is started too late."""
    slow = configuration(5, 4.0, 0.9)
    search = replace(SEARCH, folds=2, trial_seconds=50.0)
    done = run(
        Machine(PART), [QUICK], slow, seconds=4.0, expected=unknown_seconds, search=search, folder=tmp_path
    )
    assert done.history.unfinished() == {1: "ended by us when the time was up"}
    assert [one.done for one in done.progress] == [1]
    again = run(
        Machine(PART), [QUICK], slow, seconds=40.0, expected=unknown_seconds, search=search, folder=tmp_path
    )
    assert again.outcomes == [Outcome.success] * 2
    assert again.fitted == [5]


def test_a_trial_that_exceeds_its_own_limit_has_failed() -> None:
    search = replace(SEARCH, trial_seconds=1.0)
    slow = configuration(5, 4.0)
    done = run(Machine(PART), [QUICK], slow, trials=2, search=search, expected=unknown_seconds)
    assert done.outcomes == [Outcome.success, Outcome.timeout]
    assert done.progress[-1].failed == 1
    assert done.progress[-1].best == "accuracy 0.5000 (decision_tree)"


def test_a_trial_with_an_expected_time_above_its_limit_is_skipped() -> None:
    search = replace(SEARCH, trial_seconds=1.0)
    machine = Machine(PART)
    quick = configuration(6, 0.1)
    run(machine, [QUICK], configuration(5, 4.0), quick, trials=2, search=search)
    assert [task.configuration for _, task in machine.of("trial")] == [QUICK, quick]


def test_an_unfinished_trial_without_enough_time_is_left_to_another_session(tmp_path: Path) -> None:
    search = replace(SEARCH, folds=3)
    long = configuration(5, 10.0)
    run(Machine(PART, interrupt_at=5.0), [QUICK], long, seconds=600.0, search=search, folder=tmp_path)
    machine = Machine(PART)
    done = run(machine, [QUICK], long, *OTHERS[:3], seconds=20.0, search=search, folder=tmp_path)
    assert [*done.history.unfinished()] == [1]
    assert [task.number for _, task in machine.of("trial")] == [2, 3, 4]


def test_progress_has_trials_failures_and_the_best() -> None:
    values = [configuration(n, 0.1, value, fails=n == 1) for n, value in enumerate((0.5, 0.9, 0.7, 0.6))]
    done = run(Machine(PART), values[:1], *values[1:], trials=4)
    assert [(one.done, one.failed, (one.best or "").split()[1]) for one in done.progress] == [
        (1, 0, "0.5000"),
        (2, 1, "0.5000"),
        (3, 1, "0.7000"),
        (4, 1, "0.7000"),
    ]
    assert done.progress[-1].line() == ("trial 4 of 4, 1 failed, best accuracy 0.7000 (decision_tree)")


def test_leaders_are_reevaluated_on_other_folds_and_count_by_their_mean() -> None:
    machine = Machine(PART)
    done = run(machine, [FIRST], *OTHERS[:8], seconds=600.0)
    times = {trial.number: len(trial.evaluations) for trial in done.history.trials}
    best = sorted(done.history.trials, key=lambda trial: -trial.configuration.values["accuracy"])  # type: ignore[operator]
    assert {trial.number for trial in best[:5]} == {number for number, n in times.items() if n == 5}
    for number, n in times.items():
        splits = [machine.splits[number, repetition] for repetition in range(n)]
        assert len({tuple(test.tolist()) for own in splits for _, test in own}) == n * len(splits[0])


# ---- as many folds and rows as the time allows ---------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "fit_seconds", "seconds", "folds", "train_rows"),
    [
        (160, 0.01, 10.0, 10, None),  # ten fits of 0.0117 s are 0.12 s, of the 0.5 s of each of 20 trials
        (160, 0.1, 10.0, 3, None),  # five take 0.52 s, three 0.26
        (160, 1.0, 10.0, 1, None),  # one takes 0.87 s, but with so few rows all are used
        (4000, 0.05, 10.0, 5, None),  # 0.26 s
        (4000, 2.0, 10.0, 1, 666),  # 2667 rows take 1.73 s, half of them .87, a quarter .43
        (4000, 200.0, 10.0, 1, 666),  # no fewer than 500
        (160, math.nan, 10.0, 5, None),
        (4000, 2.0, None, 3, None),
    ],
)
def test_trials_have_as_many_folds_and_rows_as_there_is_time_for_in_twenty_trials(
    rows: int, fit_seconds: float, seconds: float | None, folds: int, train_rows: int | None
) -> None:
    def taking(fitted_on: int) -> float:
        return fit_seconds * fitted_on / rows

    assert choose_resampling(noisy(rows), None, taking, seconds) == Resampling(folds, train_rows=train_rows)


def test_trials_of_quick_configurations_have_as_many_rows_as_the_model_may_have() -> None:
    """A fit of the first on all rows takes 40 s, fits of the others less than a second."""
    machine = Machine(MANY)
    done = run(machine, [configuration(0, 40.0)], *OTHERS, seconds=60.0, expected=on_many_rows)
    first, *others = [len(train) for ((train, _),) in machine.splits.values()]
    assert first == done.session.splits.resampling.train_rows
    assert {*others} == {5334}
    assert "Trials were fitted on 666 rows or more, since" in done.remarks[0]


def test_requested_folds_are_kept() -> None:
    assert choose_resampling(PART, 7, lambda _: 100.0, 1.0) == Resampling(7)


def test_a_history_keeps_its_resampling_whatever_the_time_of_the_next_session(tmp_path: Path) -> None:
    hurried = run(Machine(PART), [FIRST], *OTHERS[:2], seconds=5.0, folder=tmp_path)
    unhurried = run(Machine(PART), [FIRST], *OTHERS, seconds=900.0, folder=tmp_path)
    assert hurried.session.splits.resampling.folds == 1
    assert unhurried.session.splits.resampling == hurried.session.splits.resampling


def test_a_slow_machine_has_fewer_folds() -> None:
    usual, slow = (run(Machine(PART, slower), [FIRST], seconds=60.0) for slower in (1.0, 8.0))
    assert usual.session.splits.resampling.folds > slow.session.splits.resampling.folds


# ---- the model -----------------------------------------------------------------------------------


def test_the_model_is_an_average_that_starts_with_the_recommendations() -> None:
    first, second = configuration(0, 0.1, 0.8, right=0.5), configuration(1, 0.1, 0.8, right=0.5)
    noise = [configuration(n, 0.1, 0.6, right=0.01) for n in range(2, 8)]
    done = run(Machine(PART), [first, second], *noise, seconds=60.0)
    weights = done.session.selection.weights
    assert {first, second} <= weights.keys()
    assert weights[first] + weights[second] > 0.5
    assert sum(weights.values()) == pytest.approx(1)
    assert done.session.model is not None
    assert done.session.model.weights == pytest.approx(weights)


def test_a_search_for_the_accuracy_selects_its_members_by_the_log_loss() -> None:
    members = [configuration(n, 0.1, 0.8 - 0.01 * n, right=0.5) for n in range(8)]

    def weights(measure: str) -> Mapping[Configuration, float]:
        search = replace(SEARCH, measure=measure)
        return run(
            Machine(PART), members[-2:], *members, seconds=60.0, search=search
        ).session.selection.weights

    assert weights("predictive_accuracy") == weights("log_loss") != weights("kappa")


def test_a_first_member_without_time_for_a_trial_stays_in_the_average() -> None:
    """Its fit is long, and its trial would take more than a quarter of the time."""
    untried = configuration(0, 8.0, 0.9, right=0.9)
    noise = [configuration(n, 0.1, 0.6, right=0.1) for n in range(2, 8)]
    search = replace(SEARCH, folds=3)
    done = run(Machine(PART), [untried], *noise, seconds=60.0, search=search)
    weights = done.session.selection.weights
    assert weights[untried] == 0.5
    assert len(weights) > 1
    assert done.session.selection.value is None
    alone = run(Machine(PART), [untried], *noise, seconds=60.0, search=replace(search, ensemble=0))
    assert alone.fitted == [0]


def test_members_whose_fit_failed_or_has_no_time_are_not_selected() -> None:
    """The fourth predicts all rows, but fitting it would take 20 of the remaining 8 s."""
    members = [configuration(n, 0.1, 0.7, right=0.4) for n in range(3)]
    perfect = configuration(5, 20.0, 0.99, right=1.0)
    search = replace(SEARCH, folds=1, trial_seconds=50.0)
    done = run(Machine(PART), members, perfect, seconds=26.0, search=search, expected=unknown_seconds)
    assert done.outcomes == [Outcome.success] * 4
    assert 5 not in done.fitted
    assert done.fitted


def test_a_single_configuration_is_replaced_only_by_a_clearly_better_one() -> None:
    search = replace(SEARCH, ensemble=0)
    first = configuration(0, 0.1, 0.750, right=0.5)
    hardly = configuration(1, 0.1, 0.755, right=0.5)
    clearly = configuration(2, 0.1, 0.95, right=0.9)
    assert run(Machine(PART), [first], hardly, seconds=20.0, search=search).fitted == [0]
    assert run(Machine(PART), [first], hardly, clearly, seconds=20.0, search=search).fitted == [2]


def test_if_averaging_is_impossible_the_best_trial_is_the_model() -> None:
    done = run(Machine(PART), [FIRST], *OTHERS[:5], seconds=60.0)
    best = max([FIRST, *OTHERS[:5]], key=lambda one: float(np.float64(one.values["accuracy"])))
    assert done.fitted == [best.values["n"]]
    assert done.session.selection.value == best.values["accuracy"]


def test_a_session_ends_if_nothing_more_is_proposed() -> None:
    done = run(Machine(PART), [FIRST], seconds=60.0)
    assert done.fitted == [0]
    assert done.machine.now < 5


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        (2, "mosaic chose 3 of 5 trials, the first after 2 of the others: starts, anchors and random ones."),
        (5, "mosaic chose none of the 5 trials: they were starts, anchors and random ones."),
    ],
)
def test_the_number_of_a_strategys_trials_is_reported(starts: int, said: str) -> None:
    class Begins(Listed):
        def propose(self, trials: Sequence[Trial]) -> Proposed | None:
            proposed = super().propose(trials)
            return proposed and replace(proposed, origin="start" if len(trials) < starts else "model")

    search = replace(SEARCH, strategy="mosaic")
    done = run(Machine(PART), [FIRST, SECOND], trials=5, search=search, proposer=Begins(OTHERS))
    assert done.remarks[0] == said
