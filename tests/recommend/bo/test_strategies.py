"""Strategies by name."""

import numpy as np
import pytest

from recommend.bo.candidates import TableCandidates
from recommend.bo.optimizer import Proposal
from recommend.bo.scoring import Scorer
from recommend.bo.strategies import DEFAULT_STRATEGY, SearchInputs, all_strategies, get_strategy
from recommend.bo.surrogates import all_surrogates
from tests.recommend.bo.toys import Recorder, grid, hill, keys, of
from warehouse.support.errors import BadInput

STRATEGIES = all_strategies()


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown strategy 'luck'; known are joint"):
        get_strategy("luck")


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_name_is_no_surrogate_and_its_own_surrogate_is_one(name: str) -> None:
    """A method may be called by the one or the other alone."""
    assert name not in all_surrogates()
    assert STRATEGIES[name].surrogate in all_surrogates()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_search_tries_its_starts_and_then_everything_once(name: str) -> None:
    candidates = TableCandidates(grid(3))
    starts = [candidates.row(7), candidates.row(2)]
    search = get_strategy(name).new(SearchInputs(candidates, lambda: Scorer(Recorder("ei")), starts=starts))
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


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_search_goes_on_as_if_it_had_not_stopped(name: str) -> None:
    candidates = TableCandidates(grid(4))
    inputs = SearchInputs(candidates, lambda: Scorer(Recorder("ei")), seed=3)
    whole, first, again = (get_strategy(name).new(inputs) for _ in range(3))
    proposals = []
    for search, trials in ((whole, 10), (first, 6)):
        for _ in range(trials):
            proposal = search.ask()
            assert proposal is not None
            search.tell(proposal.number, hill(of(proposal.candidate.configuration)))
            proposals.append(proposal)
    for proposal in proposals[:6]:
        again.recall(proposal)
        again.tell(proposal.number, hill(of(proposal.candidate.configuration)))
    for expected in proposals[6:10]:
        proposal = again.ask()
        assert proposal is not None
        assert (proposal.candidate.key, proposal.share) == (expected.candidate.key, expected.share)
        again.tell(proposal.number, hill(of(proposal.candidate.configuration)))
    np.testing.assert_array_equal([p.number for p in proposals[:10]], range(10))
