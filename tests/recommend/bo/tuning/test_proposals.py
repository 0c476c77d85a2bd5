"""Proposals of an optimizer that learns from a history's trials."""

from dataclasses import dataclass, field

import pytest

from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import AskTell, Optimizer, Proposal
from recommend.bo.scoring import CandidateScorer
from recommend.bo.tuning.proposals import OptimizerProposer, Proposed
from recommend.bo.tuning.trials import Trial
from recommend.space import Space
from tests.recommend.bo.toys import PLANE, Recorder, of

CANDIDATES = SpaceCandidates(Space([PLANE]))


@dataclass
class Noting:
    """An optimizer that records the told trials by number."""

    inner: Optimizer
    recalled: list[int] = field(default_factory=list)
    told: dict[int, float | None] = field(default_factory=dict)

    def ask(self) -> Proposal | None:
        return self.inner.ask()

    def recall(self, proposal: Proposal) -> None:
        self.recalled.append(proposal.number)
        self.inner.recall(proposal)

    def tell(self, number: int, value: float | None, seconds: float | None = None) -> None:
        assert number not in self.told, "each trial is told once"
        self.told[number] = value
        self.inner.tell(number, value, seconds)


def new(measure: str = "predictive_accuracy") -> tuple[OptimizerProposer, Noting]:
    optimizer = Noting(Optimizer(CANDIDATES, CandidateScorer(Recorder())))

    def made() -> tuple[AskTell, SpaceCandidates]:
        return optimizer, CANDIDATES

    return OptimizerProposer(made, measure), optimizer


def proposed(proposer: OptimizerProposer, trials: list[Trial]) -> Proposed:
    found = proposer.propose(trials)
    assert found is not None
    return found


def ended(trial: Trial, value: float | None, measure: str = "predictive_accuracy") -> Trial:
    outcome = Outcome.crash if value is None else Outcome.success
    trial.evaluations.append(Evaluation(outcome, 1.0, {} if value is None else {measure: value}))
    return trial


def u(one: Proposed) -> float:
    """A hyperparameter of which the optimizer prefers large values."""
    return float(of(CANDIDATES.of(one.configuration).configuration)[0])


def search(proposer: OptimizerProposer, trials: list[Trial], n: int) -> list[Trial]:
    """This many more trials, each of which ends before the next begins."""
    for _ in range(n):
        one = proposed(proposer, trials)
        trials.append(ended(Trial(len(trials), one.configuration, one.origin, share=one.share), u(one)))
    return trials


def test_trials_are_told_once_with_their_first_value() -> None:
    proposer, optimizer = new()
    trials = search(proposer, [], 4)
    ended(trials[1], 0.0)
    proposer.propose(trials)
    assert optimizer.told == {
        trial.number: pytest.approx(trial.evaluations[0].value("predictive_accuracy")) for trial in trials
    }
    assert optimizer.recalled == []


@pytest.mark.parametrize(("measure", "score"), [("predictive_accuracy", 0.25), ("log_loss", -0.25)])
def test_larger_is_better_for_the_optimizer(measure: str, score: float) -> None:
    proposer, optimizer = new(measure)
    one = proposed(proposer, [])
    trial = Trial(0, one.configuration, one.origin)
    proposed(proposer, [trial])
    assert optimizer.told == {}, "it has not ended"
    proposer.propose([ended(trial, 0.25, measure)])
    assert optimizer.told[0] == score


def test_a_failure_is_told_as_one() -> None:
    proposer, optimizer = new()
    one = proposed(proposer, [])
    proposer.propose([ended(Trial(0, one.configuration, one.origin), None)])
    assert optimizer.told == {0: None}


def test_skipped_proposals_count_as_failed_and_shift_no_numbers() -> None:
    """The second of three proposals is skipped for its time; the third trial is the fourth proposal."""
    proposer, optimizer = new()
    trials = search(proposer, [], 1)
    proposed(proposer, trials)
    trials = search(proposer, trials, 2)
    proposer.propose(trials)
    values = [trial.value("predictive_accuracy") for trial in trials]
    assert optimizer.told == {0: values[0], 1: None, 2: values[1], 3: values[2]}
    assert len({trial.configuration for trial in trials}) == 3


def test_trials_of_an_earlier_session_are_recalled_and_continued_alike() -> None:
    whole = search(new()[0], [], 8)
    proposer, optimizer = new()
    parts = search(proposer, whole[:5], 3)
    assert optimizer.recalled == [*range(5)]
    assert [trial.configuration for trial in parts] == [trial.configuration for trial in whole]
