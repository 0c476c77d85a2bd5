"""Successive halving, Hyperband and BOHB: brackets, promotions, failures, and resumed searches."""

from collections import Counter
from collections.abc import Callable

from recommend.bo.candidates import Candidate, TableCandidates
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.published.strategies.halving import Halving, brackets
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import SearchInputs, get_strategy
from tests.recommend.bo.toys import Recorder, grid, keys

NINTH, THIRD = 1 / 9, 1 / 3
TABLE = TableCandidates(grid(12))


def search(name: str, surrogate: Recorder | None = None, **others: object) -> Halving:
    made = SearchInputs(TABLE, lambda: CandidateScorer(surrogate or Recorder()))
    found = get_strategy(name).new(SearchInputs(**{**vars(made), **others}))  # type: ignore[arg-type]
    assert isinstance(found, Halving)
    return found


def rows(*numbers: int) -> list[Candidate]:
    return [TABLE.row(number) for number in numbers]


def key(proposal: Proposal) -> int:
    assert isinstance(proposal.candidate.key, int)
    return proposal.candidate.key


def row_number(proposal: Proposal) -> float:
    """A value that increases with the row, on any share of the data."""
    return float(key(proposal))


def run(of: Optimizer, trials: int, value: Callable[[Proposal], float | None] = row_number) -> list[Proposal]:
    """This many trials, one after the other; fewer if the candidates are exhausted."""
    proposals: list[Proposal] = []
    while len(proposals) < trials and (proposal := of.ask()) is not None:
        of.tell(proposal.number, value(proposal))
        proposals.append(proposal)
    return proposals


def shares(proposals: list[Proposal]) -> list[float]:
    return [proposal.share for proposal in proposals]


def test_brackets_equal_those_of_li_and_others() -> None:
    """With s_max = 4 and eta = 3 they print 81, 34, 15, 8 and 5 configurations (R = 81, table 1)."""
    assert [(one.n, one.shares) for one in brackets()] == [(9, (NINTH, THIRD, 1)), (5, (THIRD, 1)), (3, (1,))]
    assert [one.n for one in brackets(4)] == [81, 34, 15, 8, 5]
    assert brackets(4)[0].shares == (1 / 81, 1 / 27, NINTH, THIRD, 1)


def test_nine_configurations_become_three_and_then_one() -> None:
    starts = rows(3, 8, 1, 5, 9, 2, 7, 4, 6)
    proposals = run(search("successive-halving", starts=starts), 14)
    assert keys(proposals)[:9] == [3, 8, 1, 5, 9, 2, 7, 4, 6]
    assert keys(proposals)[9:13] == [9, 8, 7, 9]
    assert shares(proposals) == [NINTH] * 9 + [THIRD] * 3 + [1] + [NINTH]
    assert [one.origin for one in proposals[9:]] == ["start"] * 4 + ["random"]


def test_hyperband_cycles_through_its_brackets() -> None:
    proposals = run(search("hyperband"), 24)
    first, second, third = [NINTH] * 9 + [THIRD] * 3 + [1], [THIRD] * 5 + [1], [1] * 3
    assert shares(proposals) == [*first, *second, *third, NINTH, NINTH]
    assert key(proposals[18]) == max(map(key, proposals[13:18]))
    assert len({*keys(proposals)}) == 9 + 5 + 3 + 2


def test_values_are_only_compared_on_equally_many_rows() -> None:
    """On more rows, all values are lower and in a different order."""
    starts = rows(*range(9))
    value = {NINTH: lambda place: place, THIRD: lambda place: -place, 1: lambda place: -100 - place}
    of = search("successive-halving", starts=starts)
    proposals = run(of, 13, lambda one: float(value[one.share](key(one))))
    assert keys(proposals)[9:] == [8, 7, 6, 6]
    best = of.best
    assert best is not None
    assert (best.number, best.share) == (12, 1)


def test_failed_trials_are_not_promoted() -> None:
    """Two of nine succeed, so two are promoted instead of three; one of these fails."""
    starts = rows(*range(9))
    failing = {NINTH: {0, 1, 2, 4, 5, 6, 7}, THIRD: {8}, 1: set()}
    proposals = run(
        search("successive-halving", starts=starts),
        13,
        lambda one: None if key(one) in failing.get(one.share, ()) else row_number(one),
    )
    assert keys(proposals)[9:12] == [8, 3, 3]
    assert shares(proposals)[9:] == [THIRD, THIRD, 1, NINTH]


def test_proposals_do_not_wait_for_pending_trials() -> None:
    """With twelve at a time the next bracket begins, and is left for promotions once they are known."""
    of = search("hyperband", starts=rows(*range(9)))
    asked = [of.ask() for _ in range(12)]
    assert [one.share for one in asked if one] == [NINTH] * 9 + [THIRD] * 3
    for number in range(8):
        of.tell(number, float(number))
    still = of.ask()
    assert still is not None
    assert still.share == THIRD
    assert key(still) not in range(9)  # from the second bracket, since trial 8 may be better
    of.tell(8, 8.0)
    assert [(key(one), one.share) for one in (of.ask() for _ in range(3)) if one] == [
        (8, THIRD),
        (7, THIRD),
        (6, THIRD),
    ]


def test_anchors_are_tried_on_all_rows_outside_of_brackets() -> None:
    """The first anchor is trial 9; the three best of the nine, without it, are still promoted."""
    proposals = run(search("successive-halving", starts=rows(*range(9)), anchors=rows(100)), 14)
    assert (key(proposals[9]), proposals[9].origin, proposals[9].share) == (100, "anchor", 1)
    assert keys(proposals)[10:] == [8, 7, 6, 8]


def test_the_surrogate_of_bohb_learns_from_the_largest_share_with_three_trials() -> None:
    surrogate = Recorder()
    proposals = run(search("bohb", surrogate, starts=rows(*range(9))), 43)
    new = [one for place, one in enumerate(proposals) if one.candidate.key not in keys(proposals[:place])]
    expected = []
    for one in new:
        if one.origin == "model":
            before = Counter(shares(proposals[: one.number]))
            expected.append(before[1] if before[1] >= 3 else before[THIRD])
    assert [len(y) for _, y in surrogate.told] == expected
    assert expected[0] == 3  # those of the first bracket's second rung
    assert expected[-1] > 3  # those on all rows
