"""Strategies by name, and the promises of each."""

from collections.abc import Sequence

import numpy as np
import pytest

from recommend.bo.candidates import TableCandidates
from recommend.bo.optimizer import AskTell, Proposal
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import DEFAULT_STRATEGY, SearchInputs, all_strategies, get_strategy
from recommend.bo.surrogates import all_surrogates
from tests.recommend.bo.toys import Recorder, grid, hill, keys, of
from warehouse.support.errors import BadInput

STRATEGIES = all_strategies()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown strategy 'luck'; known are joint"):
        get_strategy("luck")


@pytest.mark.parametrize("name", STRATEGIES)
def test_names_of_strategies_and_surrogates_are_distinct(name: str) -> None:
    """So a method may be named by either alone."""
    assert name not in all_surrogates()
    assert STRATEGIES[name].surrogate in all_surrogates()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_search_tries_its_starts_and_then_everything_once(name: str) -> None:
    candidates = TableCandidates(grid(3))
    starts = [candidates.row(7), candidates.row(2)]
    search = get_strategy(name).new(
        SearchInputs(candidates, lambda: CandidateScorer(Recorder("ei")), starts=starts)
    )
    tried: list[Proposal] = []
    while (proposal := search.ask()) is not None:
        assert proposal.number == len(tried)
        tried.append(proposal)
        search.tell(proposal.number, hill(of(proposal.candidate.configuration)))
    on_all_rows = [proposal for proposal in tried if proposal.share == 1]
    assert sorted(map(int, keys(on_all_rows))) == list(range(9))  # type: ignore[call-overload]
    assert len(tried) == 9 or STRATEGIES[name].shares
    if name == DEFAULT_STRATEGY or STRATEGIES[name].shares:
        assert keys(tried)[:2] == [7, 2]


def new(name: str) -> AskTell:
    """A search with two starts and an anchor."""
    candidates = TableCandidates(grid(6))
    starts, anchors = [candidates.row(7), candidates.row(2)], [candidates.row(5)]
    inputs = SearchInputs(candidates, lambda: CandidateScorer(Recorder("ei")), starts, anchors, seed=3)
    return get_strategy(name).new(inputs)


def value(proposal: Proposal) -> float | None:
    row = int(str(proposal.candidate.key))
    return None if row % 5 == 0 else hill(of(proposal.candidate.configuration))


@pytest.mark.parametrize("late", [0, 2])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_resumed_search_equals_an_uninterrupted_one(name: str, late: int) -> None:
    """Even if it stopped during its starts, some trials failed, and results come two trials late."""

    def proposals(stops: Sequence[int]) -> list[Proposal]:
        search, asked = new(name), list[Proposal]()
        for number in range(18):
            if number in stops:
                search = new(name)
                for proposal in asked:
                    search.recall(proposal)
                for proposal in asked[: max(number - late, 0)]:
                    search.tell(proposal.number, value(proposal))
            found = search.ask()
            assert found is not None
            asked.append(found)
            if number >= late:
                search.tell(number - late, value(asked[number - late]))
        return asked

    whole, stopped = proposals([]), proposals([1, 8, 15])
    assert keys(stopped) == keys(whole)
    assert [one.share for one in stopped] == [one.share for one in whole]


@pytest.mark.parametrize("name", [DEFAULT_STRATEGY, "ucb1"])
def test_invalid_values_and_settings_are_refused(name: str) -> None:
    search = new(name)
    candidate = TableCandidates(grid(6)).row(0)
    with pytest.raises(BadInput, match="expected trial 0, not 1"):
        search.recall(Proposal(1, candidate, "start"))
    assert search.ask() is not None
    for number in (-1, 1, 99):
        with pytest.raises(BadInput, match=f"trial {number} is not running"):
            search.tell(number, 0.5)
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(BadInput, match="can't have the value"):
            search.tell(0, wrong)
    for seconds in (np.nan, np.inf, -1.0):
        with pytest.raises(BadInput, match="can't have taken"):
            search.tell(0, 0.5, seconds)
    search.tell(0, 0.5)
    for again in (0.6, None):
        with pytest.raises(BadInput, match="trial 0 is not running"):
            search.tell(0, again)
