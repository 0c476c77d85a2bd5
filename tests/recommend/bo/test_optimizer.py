"""Asking and telling: the order of proposals, the surrogate's training data, and resumed searches."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS
from recommend.bo.candidates import SpaceCandidates, TableCandidates
from recommend.bo.optimizer import FEWEST, Optimizer, Proposal
from recommend.bo.scoring import CandidateScorer
from recommend.bo.surrogates import Surrogate, SurrogateInputs, get_surrogate
from recommend.space import Configurations, Space
from tests.recommend.bo.toys import SIX, Recorder, best_value, grid, hill, keys, run
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput

METAFEATURES = pd.Series({"NumberOfInstances": 300.0, "NumberOfFeatures": 10.0})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few random configurations, and a short local search from few of them."""
    for name, number in {"RANDOM": 100, "STARTS": 3, "STEPS": 3}.items():
        monkeypatch.setattr(f"recommend.bo.candidates.{name}", number)
    monkeypatch.setattr("recommend.bo.published.surrogates.gaussian_process.RESTARTS", 0)


def asked(optimizer: Optimizer) -> Proposal:
    proposal = optimizer.ask()
    assert proposal is not None
    return proposal


def over_grid(
    surrogate: Surrogate[Any] | None = None, *, starts: Sequence[int] = (), **settings: Any
) -> Optimizer:
    """A search among 144 configurations that begins with the rows `starts`."""
    candidates = TableCandidates(grid())
    first = [candidates.row(row) for row in starts]
    return Optimizer(candidates, CandidateScorer(surrogate or Recorder()), starts=first, **settings)


def own_surrogate(name: str, known: Configurations) -> Surrogate[Any]:
    return get_surrogate(name).new(SurrogateInputs(known, METAFEATURES))


# ---- what comes first ---------------------------------------------------------------------------


def test_starts_come_first_in_their_order_each_of_them_once() -> None:
    proposals = run(over_grid(starts=[70, 3, 70, 20, 3]), 5)
    assert keys(proposals)[:3] == [70, 3, 20]
    assert [proposal.origin for proposal in proposals] == ["start"] * 3 + ["model"] * 2
    assert [proposal.number for proposal in proposals] == list(range(5))


@pytest.mark.parametrize("starts", [0, 1, 2, 3])
def test_random_configurations_follow_until_there_are_enough_trials(starts: int) -> None:
    proposals = run(over_grid(starts=list(range(starts))), 6)
    expected = ["start"] * starts + ["random"] * (FEWEST - starts) + ["model"] * 3
    assert [proposal.origin for proposal in proposals] == expected


@pytest.mark.parametrize("every", [1, 2, 3])
def test_proposals_are_random_at_regular_intervals(every: int) -> None:
    origins = [proposal.origin for proposal in run(over_grid(starts=[0, 1, 2], random_every=every), 12)]
    for number in range(3, 12):
        assert origins[number] == ("random" if number % every == every - 1 else "model")


def test_from_the_tenth_trial_on_every_fifth_is_an_anchor() -> None:
    candidates = TableCandidates(grid())
    anchors = [candidates.row(row) for row in (10, 3, 11)]  # 3 is a start, so it was tried
    proposals = run(over_grid(starts=[0, 3, 2], anchors=anchors), 25)
    of_anchors = [proposal.number for proposal in proposals if proposal.origin == "anchor"]
    assert of_anchors == [9, 14]
    assert [keys(proposals)[number] for number in of_anchors] == [10, 11]


def test_random_proposals_depend_only_on_seed_and_number() -> None:
    one, other, foreign = (over_grid(random_every=1, seed=seed) for seed in (1, 1, 2))
    run(one, 20, value=lambda _: 0.0)
    run(other, 20, value=hill)
    run(foreign, 20)
    assert keys(run(one, 5)) == keys(run(other, 5))
    assert keys(run(one, 5)) != keys(run(foreign, 5))


# ---- each configuration once --------------------------------------------------------------------


@pytest.mark.parametrize("under_way", [1, 4])
def test_nothing_is_proposed_twice(under_way: int) -> None:
    """Even if results come late."""
    spaces = [
        over_grid(starts=[5], random_every=3),
        Optimizer(
            SpaceCandidates(Space([FLOWS["k_nearest_neighbors"]], joint=False)), CandidateScorer(Recorder())
        ),
    ]
    for optimizer in spaces:
        proposals: list[Proposal] = []
        for number in range(40):
            proposals.append(asked(optimizer))
            if number >= under_way:
                optimizer.tell(number - under_way, number / 40)
        assert len(set(keys(proposals))) == 40


def test_a_small_space_is_exhausted() -> None:
    optimizer = Optimizer(SpaceCandidates(Space([SIX], joint=False)), CandidateScorer(Recorder()))
    assert len(set(keys(run(optimizer, 20)))) == 6
    assert optimizer.ask() is None


# ---- training data ----------------------------------------------------------------------------


def test_a_failed_trial_counts_as_the_worst_and_a_pending_one_as_the_mean() -> None:
    """Values 0.2, 0.8, failed and pending: the last two count as 0.2 and 0.5."""
    surrogate = Recorder()
    optimizer = over_grid(surrogate, starts=[0, 1, 2, 3])
    for value in (0.2, 0.8, None):
        optimizer.tell(asked(optimizer).number, value)
    asked(optimizer)
    assert asked(optimizer).origin == "model"
    X, y = surrogate.told[-1]
    np.testing.assert_array_equal(X, grid().vectors[:4])
    stands_for = np.array([0.2, 0.8, 0.2, 0.5])
    np.testing.assert_allclose(y, (stands_for - stands_for.mean()) / stands_for.std())


def test_a_search_continues_if_all_trials_failed() -> None:
    surrogate = Recorder()
    optimizer = over_grid(surrogate)
    for _ in range(8):
        proposal = asked(optimizer)
        assert proposal.origin == "random"
        optimizer.tell(proposal.number, None)
    assert optimizer.best is None
    optimizer.tell(asked(optimizer).number, 0.5)
    assert asked(optimizer).origin == "model"
    assert len(surrogate.told[-1][1]) == 9


def test_the_order_of_telling_does_not_matter() -> None:
    told = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        surrogate = Recorder()
        optimizer = over_grid(surrogate, starts=[9, 8, 7, 6])
        for _ in range(4):
            asked(optimizer)
        for number in order:
            optimizer.tell(number, number / 10)
        told.append((asked(optimizer).candidate.key, surrogate.told[-1][1].tolist()))
    assert told[0] == told[1]


def test_the_best_is_the_first_of_those_with_the_highest_value() -> None:
    optimizer = over_grid(starts=[4, 5, 6, 7])
    best_so_far = []
    for value in (None, -2.0, -1.0, -1.0):
        optimizer.tell(asked(optimizer).number, value)
        best_so_far.append(optimizer.best.candidate.key if optimizer.best else None)
    assert best_so_far == [None, 5, 6, 6]


@pytest.mark.parametrize("name", ["gp", "forest"])
def test_the_unit_of_the_measure_changes_no_proposal(name: str) -> None:
    """Accuracies that differ by thousandths are searched like those that differ by tenths: xi is in standard
    scores."""

    def small(vector: Floats) -> float:
        return 2.0**-10 * hill(vector)

    proposed = [
        keys(run(over_grid(own_surrogate(name, grid()), seed=4), 8, value)) for value in (hill, small)
    ]
    assert proposed[0] == proposed[1]


# ---- refusals -----------------------------------------------------------------------------------


def test_a_period_of_random_proposals_is_one_or_more() -> None:
    with pytest.raises(BadInput, match="random_every must be 1 or more"):
        over_grid(random_every=0)


# ---- running times ------------------------------------------------------------------------------


def test_how_long_trials_took_changes_no_proposal() -> None:
    """The same search has the same trials on a slower machine."""
    proposed = []
    for seconds in (0.1, 20.0):
        scorer = CandidateScorer(
            Recorder(), acquisition="value-per-second", seconds=lambda table: np.ones(len(table))
        )
        proposed.append(keys(run(Optimizer(TableCandidates(grid()), scorer), 6, seconds=seconds)))
    assert proposed[0] == proposed[1]


# ---- resumed searches ------------------------------------------------------------------


# ---- performance -----------------------------------------------------------------------------


def test_a_gaussian_process_finds_a_maximum_sooner_than_chance() -> None:
    """On a smooth hill of 400 configurations, with 13 trials, averaged over three searches."""
    found: dict[str, list[float]] = {"process": [], "chance": []}
    known = grid(20)
    for seed in range(3):
        process = Optimizer(TableCandidates(known), CandidateScorer(own_surrogate("gp", known)), seed=seed)
        chance = Optimizer(TableCandidates(known), CandidateScorer(Recorder()), random_every=1, seed=seed)
        found["process"].append(best_value(run(process, 13)))
        found["chance"].append(best_value(run(chance, 13)))
    top = max(map(hill, known.vectors))
    missed = {name: top - np.mean(values) for name, values in found.items()}
    assert missed["process"] < 0.1 * missed["chance"]
