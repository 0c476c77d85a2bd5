"""Searches with an optimizer per algorithm: numbers, starts, failures, and exhausted arms."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from recommend.bo.candidates import Candidate, TableCandidates
from recommend.bo.optimizer import Proposal
from recommend.bo.published.strategies import policies
from recommend.bo.published.strategies.arms import Bandit
from recommend.bo.published.strategies.policies import Pulls
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import SearchInputs, get_strategy
from recommend.space import configurations_of_table
from tests.recommend.bo.toys import Recorder
from tests.tables import joint_table
from warehouse.support.errors import BadInput

EACH = 8
ALGORITHMS = ("knn", "mlp", "svm")


def three_algorithms(order: Sequence[str] = ALGORITHMS) -> TableCandidates:
    """Eight configurations of each algorithm; rows 0 to 7 are knn's, and so on."""
    numbers = pd.DataFrame({f"{name}:x": np.tile(np.arange(EACH), 3) for name in ALGORITHMS})
    table = joint_table(numbers, [name for name in ALGORITHMS for _ in range(EACH)])
    rows = np.array([ALGORITHMS.index(name) * EACH + place for name in order for place in range(EACH)])
    return TableCandidates(configurations_of_table(table, {}).take(rows), rows)


def algorithm(candidate: Candidate) -> str:
    return ALGORITHMS[row(candidate) // EACH]


def row(candidate: Candidate) -> int:
    assert isinstance(candidate.key, int)
    return candidate.key


def inputs(candidates: TableCandidates | None = None, **others: object) -> SearchInputs:
    made = SearchInputs(candidates or three_algorithms(), lambda: CandidateScorer(Recorder()))
    return SearchInputs(**{**vars(made), **others})  # type: ignore[arg-type]


def asked(search: Bandit) -> Proposal:
    proposal = search.ask()
    assert proposal is not None
    return proposal


def svm_is_best(candidate: Candidate) -> float:
    return 0.9 if algorithm(candidate) == "svm" else 0.1


def run(
    search: Bandit, trials: int, value: Callable[[Candidate], float | None] = svm_is_best
) -> list[Proposal]:
    proposals = []
    for _ in range(trials):
        proposals.append(asked(search))
        search.tell(proposals[-1].number, value(proposals[-1].candidate))
    return proposals


def algorithms_of(proposals: Sequence[Proposal]) -> list[str]:
    return [algorithm(proposal.candidate) for proposal in proposals]


class Spy:
    """A policy that records its input, and pulls the first arm."""

    def __init__(self) -> None:
        self.shown: list[Pulls] = []

    def __call__(self, pulls: Pulls, random: np.random.Generator) -> str:  # noqa: ARG002
        self.shown.append(pulls)
        return pulls.arms[0]


# ---- whose turn it is ---------------------------------------------------------------------------


def test_each_arm_learns_only_from_its_own_trials() -> None:
    made: list[Recorder] = []

    def new_scorer() -> CandidateScorer:
        made.append(Recorder())
        return CandidateScorer(made[-1])

    run(Bandit(inputs(new_scorer=new_scorer), policies.in_turn), 12)
    assert len(made) == 3
    assert [len(y) for recorder in made for _, y in recorder.told] == [3, 3, 3]


def test_starts_and_anchors_come_in_the_given_order_whatever_the_policy() -> None:
    """The policy would only pull knn."""
    candidates, spy = three_algorithms(), Spy()
    starts = [candidates.row(place) for place in (17, 2, 9)]
    anchors = [candidates.row(place) for place in (9, 20, 11)]
    proposals = run(Bandit(inputs(candidates, starts=starts, anchors=anchors), spy), 16)
    of_starts = [(row(one.candidate), one.origin) for one in proposals[:3]]
    assert of_starts == [(17, "start"), (2, "start"), (9, "start")]
    of_anchors = [(one.number, row(one.candidate)) for one in proposals if one.origin == "anchor"]
    assert of_anchors == [(9, 20), (14, 11)]
    assert spy.shown[0].history == [("svm", 0.9), ("knn", 0.1), ("mlp", 0.1)]


def test_an_arm_that_is_exhausted_is_left_out_until_nothing_is_left() -> None:
    spy = Spy()
    search = Bandit(inputs(), spy)
    assert algorithms_of(run(search, 24)) == ["knn"] * 8 + ["mlp"] * 8 + ["svm"] * 8
    assert search.ask() is None
    assert [list(pulls.arms) for pulls in spy.shown[7:9]] == [["knn", "mlp", "svm"], ["mlp", "svm"]]


# ---- rewards ------------------------------------------------------------------------------------


def test_a_pending_trial_counts_as_the_mean_of_its_arm_or_of_all() -> None:
    candidates, spy = three_algorithms(), Spy()
    starts = [candidates.row(place) for place in (0, 1, 2, 8)]
    search = Bandit(inputs(candidates, starts=starts), spy)
    for _ in starts:
        asked(search)
    asked(search)
    assert [reward for _, reward in spy.shown[-1].history] == [0.0] * 4
    search.tell(2, 0.8)
    search.tell(0, 0.4)
    asked(search)
    history = [("knn", 0.4), ("knn", 0.6), ("knn", 0.8), ("mlp", 0.6), ("knn", 0.6)]
    assert [arm for arm, _ in spy.shown[-1].history] == [arm for arm, _ in history]
    assert [reward for _, reward in spy.shown[-1].history] == pytest.approx([reward for _, reward in history])


# ---- several at a time, and later ---------------------------------------------------------------


# ---- by name ------------------------------------------------------------------------------------


def test_always_tries_the_named_algorithm_or_that_of_the_first_start() -> None:
    candidates = three_algorithms()
    starts = [candidates.row(place) for place in (12, 3, 9)]
    for name, of_starts, first in (("always@knn", [3], "knn"), ("always", [12, 9], "mlp")):
        search = get_strategy(name).new(inputs(candidates, starts=starts))
        proposals = []
        while (proposal := search.ask()) is not None:
            search.tell(proposal.number, 0.5)
            proposals.append(proposal)
        assert algorithms_of(proposals) == [first] * EACH
        assert [row(one.candidate) for one in proposals][: len(of_starts)] == of_starts
    with pytest.raises(BadInput, match="no configuration of 'sgd'; the algorithms are knn, mlp, svm"):
        get_strategy("always@sgd").new(inputs())


def test_epsilon_may_be_given() -> None:
    random = get_strategy("epsilon-greedy@1").new(inputs(seed=1))
    greedy = get_strategy("epsilon-greedy@0").new(inputs(seed=1))
    assert isinstance(random, Bandit)
    assert isinstance(greedy, Bandit)
    assert set(algorithms_of(run(greedy, 10))[3:]) == {"svm"}
    assert len(set(algorithms_of(run(random, 10))[3:])) > 1
    for wrong in ("2", "much", "nan", ""):
        with pytest.raises(BadInput, match="epsilon must be a number from 0 to 1"):
            get_strategy(f"epsilon-greedy@{wrong}")
    with pytest.raises(BadInput, match="the strategy ucb1 takes no argument"):
        get_strategy("ucb1@2")


def test_epsilon_decreases_over_the_planned_trials() -> None:
    """The last of eight trials are greedy; of a thousand, half of the first ten are not."""
    short, long = (get_strategy("decreasing-epsilon").new(inputs(trials=trials)) for trials in (8, 1000))
    assert isinstance(short, Bandit)
    assert isinstance(long, Bandit)
    assert set(algorithms_of(run(short, 10))[-2:]) == {"svm"}
    assert len(set(algorithms_of(run(long, 10))[-5:])) > 1
