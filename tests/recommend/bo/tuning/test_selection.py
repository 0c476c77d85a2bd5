"""Selecting a model from trials: ensembles by hand, the weight of the start, unbiased values."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.running.classification import ClassScorer
from recommend.bo.tuning.selection import (
    LEAST_ROWS,
    MOST_NUMBERS,
    PATIENCE,
    PULL,
    Ballot,
    estimate,
    select_ensemble,
    select_single,
    votes_of,
    voting_rows,
)
from warehouse.support.arrays import Floats, Positions

TRUTH = np.array([0, 0, 1, 1])


def of_two(second: Sequence[float] | Floats) -> Floats:
    """(n, 2) probabilities, from those of the second class."""
    return np.column_stack([1 - np.asarray(second), second])


def ballot(*predictions: Floats, truth: np.ndarray = TRUTH, measure: str = "predictive_accuracy") -> Ballot:
    return Ballot(predictions, truth, ClassScorer(), measure)


def endless() -> float:
    return np.inf


# ---- ensembles -----------------------------------------------------------------------------------


def test_complementary_members_are_picked() -> None:
    """Each is clearly right on two rows and narrowly wrong on two; together they are right on all four."""
    one, other = of_two([0.1, 0.6, 0.4, 0.9]), of_two([0.6, 0.1, 0.9, 0.4])
    useless = of_two([0.9, 0.9, 0.4, 0.9])
    assert select_ensemble(ballot(useless, one, other), [], 10) == {1: 0.5, 2: 0.5}


def test_a_member_may_be_picked_again() -> None:
    """With replacement: by hand, the log loss of (2a + b) / 3 is below those of a, b and (a + b) / 2."""
    a, b = of_two([0.1, 0.7, 0.8, 0.9]), of_two([0.7, 0.2, 0.7, 0.6])
    losses = {
        share: -np.log((share * a + (1 - share) * b)[range(4), TRUTH]).mean() for share in (1, 2 / 3, 0.5, 0)
    }
    weights = select_ensemble(ballot(a, b, measure="log_loss"), [], 3)
    assert weights[0] == pytest.approx(min(losses, key=losses.__getitem__)) == pytest.approx(2 / 3)


def test_the_start_weighs_as_much_as_several_picks_of_each_of_its_members() -> None:
    """A better configuration gets the weight 1/7; one that is not better gets 0."""
    start, other = of_two([0.4, 0.4, 0.6, 0.45]), of_two([0.45, 0.45, 0.55, 0.45])
    better = of_two([0.1, 0.1, 0.9, 0.9])
    assert select_ensemble(ballot(start, other), [0, 1], 10) == {0: 0.5, 1: 0.5}
    weights = select_ensemble(ballot(start, other, better), [0, 1], 10)
    # The first pick corrects the last row: (6 x .45 + .9) / 7 > .5.
    assert weights == pytest.approx({0: PULL / 7, 1: PULL / 7, 2: 1 / 7})


def test_without_time_a_few_picks_are_made_so_that_the_start_can_be_outweighed() -> None:
    wrong = of_two([0.6, 0.5, 0.4, 0.5])
    weights = select_ensemble(ballot(wrong, 1 - wrong, measure="log_loss"), [0], 50, left=lambda: 0.0)
    assert weights == {0: PULL / (PULL + PATIENCE), 1: PATIENCE / (PULL + PATIENCE)}


def test_a_start_that_is_certainly_worse_than_the_best_trial_has_no_weight() -> None:
    """The best is better on each row by the same, so that the standard error is 0."""
    wrong = of_two([0.6, 0.6, 0.4, 0.4])
    assert select_ensemble(ballot(wrong, 1 - wrong, measure="log_loss"), [0], 50) == {1: 1.0}


def test_ties_between_picks_go_to_the_best_configuration() -> None:
    """The average decides as before until the third pick: (3 x .4 + 3 x .65) / 6 > .5."""
    start, better = of_two([0.4, 0.4, 0.4, 0.6]), of_two([0.35, 0.35, 0.65, 0.65])
    assert select_ensemble(ballot(start, better), [0], 10) == {0: 0.5, 1: 0.5}


@settings(max_examples=40)
@given(
    members=st.integers(1, 5),
    start=st.integers(0, 5),
    picks=st.integers(1, 12),
    measure=st.sampled_from(["predictive_accuracy", "log_loss", "kappa", "area_under_roc_curve"]),
)
def test_weights_are_shares_and_the_average_is_no_worse_than_its_start(
    members: int, start: int, picks: int, measure: str
) -> None:
    random = np.random.default_rng(members)
    p = [random.dirichlet(np.ones(3), 40) for _ in range(members)]
    votes = ballot(*p, truth=random.integers(0, 3, 40), measure=measure)
    begun_with = [*range(min(start, members))]
    weights = select_ensemble(votes, begun_with, picks)
    assert sum(weights.values()) == pytest.approx(1)
    assert len(weights) <= len(begun_with) + picks
    candidates = [{place: 1.0} for place in range(members)] if not begun_with else []
    candidates += [dict.fromkeys(begun_with, 1.0)] if begun_with else []
    score = votes.score(votes.average(weights))
    assert all(score >= votes.score(votes.average(one)) - 1e-12 for one in candidates)


def test_if_the_measure_is_undefined_the_first_is_selected() -> None:
    """The area is undefined for a single class."""
    p = [of_two([0.1, 0.1, 0.9, 0.9]), of_two([0.9, 0.9, 0.1, 0.1])]
    votes = ballot(*p, truth=np.zeros(4, np.intp), measure="area_under_roc_curve")
    assert select_ensemble(votes, [], 3) == {0: 1.0}


# ---- single configurations -------------------------------------------------------------------------


def right_on(right: range) -> Floats:
    """Predictions for 100 rows of the second class that are right on these."""
    order = np.random.default_rng(0).permutation(100)
    return of_two(np.where(np.isin(np.arange(100), [*right]), 0.9, 0.1)[order])


ONES = np.ones(100, np.intp)


@pytest.mark.parametrize(
    ("right", "chosen"),
    [
        (range(1, 72), 0),  # two rows won and one lost: .01, with a standard error of about .017
        (range(75), 1),  # five rows won: .05, with one of about .022
    ],
)
def test_only_gains_above_the_noise_replace_a_single_configuration(right: range, chosen: int) -> None:
    votes = ballot(right_on(range(70)), right_on(right), truth=ONES)
    scores = [votes.score(p) for p in votes.predictions]
    assert scores == [0.7, len(right) / 100]
    assert select_single(votes, scores, first=0) == chosen


def test_the_first_is_kept_where_it_is_the_best() -> None:
    votes = ballot(right_on(range(70)), right_on(range(60)), truth=ONES)
    assert select_single(votes, [0.7, 0.6], first=0) == 0


# ---- expected value ------------------------------------------------------------------------------


def test_the_expected_value_of_many_random_trials_is_near_chance() -> None:
    """The best of 300 guesses is right on nearly 60 % of 200 rows, and on half of new rows."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 200)
    votes = ballot(*(of_two(random.random(200)) for _ in range(300)), truth=truth)

    def best(rows: Positions) -> dict[int, float]:
        return {int(np.argmax([votes.score(p, rows) for p in votes.predictions])): 1.0}

    def ensemble(rows: Positions) -> dict[int, float]:
        return select_ensemble(votes, [], 5, rows)

    for select in (best, ensemble):
        chosen = votes.average(select(np.arange(200)))
        assert votes.score(chosen) >= 0.59
        expected = estimate(votes, select, endless)
        assert expected is not None
        assert expected < 0.55


def test_each_block_is_predicted_by_the_selection_on_the_others() -> None:
    """Rows of a block have no influence on its selection."""
    seen: list[set[int]] = []

    def select(rows: Positions) -> dict[int, float]:
        seen.append({*rows.tolist()})
        return {0: 1.0}

    votes = ballot(right_on(range(70)), truth=ONES)
    assert estimate(votes, select, endless) == pytest.approx(0.7)
    assert [len(rows) for rows in seen] == [66, 67, 67]
    assert {*range(100)} == set.union(*({*range(100)} - rows for rows in seen))


def test_without_time_there_is_no_expected_value() -> None:
    assert estimate(ballot(right_on(range(70)), truth=ONES), lambda _: {0: 1.0}, lambda: 0.0) is None


# ---- rows for the selection ----------------------------------------------------------------------


def test_votes_are_in_the_order_of_the_rows_whatever_the_folds() -> None:
    one = [(np.array([1, 3]), np.array([2, 0])), (np.array([0, 2]), np.array([3, 1]))]
    other = [(np.array([1, 2]), np.array([0, 3])), (np.array([0, 3]), np.array([2, 1]))]
    rows = voting_rows(one, 2)
    assert rows.tolist() == [0, 1, 2, 3]
    for splits in (one, other):
        tested = np.concatenate([test for _, test in splits])
        votes = votes_of(of_two(tested / 10), splits, rows)
        assert votes is not None
        assert votes[:, 1] == pytest.approx([0, 0.1, 0.2, 0.3])


def test_a_repetition_that_tested_other_rows_has_no_votes() -> None:
    splits = [(np.array([0, 1]), np.array([2, 3]))]
    assert votes_of(of_two([0.5, 0.5]), splits, np.array([1, 2])) is None


@pytest.mark.parametrize(
    ("classes", "most"), [(2, MOST_NUMBERS // 2), (4, MOST_NUMBERS // 4), (99, LEAST_ROWS)]
)
def test_with_many_rows_a_sample_votes_which_is_smaller_with_more_classes(classes: int, most: int) -> None:
    rows = voting_rows([(np.arange(3), np.arange(20_000))], classes)
    assert len(rows) == len(set(rows.tolist())) == most
    assert rows.tolist() == sorted(rows.tolist())
