"""Scores of candidates: training data, the score to beat, and encoding."""

import numpy as np
import pytest

from metalearners.predictions import Prediction
from recommend.bo.acquisition import ACQUISITIONS, Situation
from recommend.bo.scoring import CandidateScorer
from recommend.bo.surrogates.base import Matrix
from recommend.space import Configurations
from tests.recommend.bo.toys import Recorder, grid
from warehouse.support.arrays import Floats


class Counting(Recorder):
    """A recorder that counts the configurations it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[int] = []

    def encode(self, configurations: Configurations) -> Matrix:
        self.encoded.append(len(configurations))
        return super().encode(configurations)


def learn(scorer: CandidateScorer, tried: list[Configurations], scores: list[float]) -> None:
    scorer.learn(tried, np.array(scores), np.random.default_rng(0))


def test_configurations_are_encoded_once_while_they_are_candidates() -> None:
    surrogate, known = Counting(), grid(3)
    trials = [known.take([0]), known.take([8])]
    scorer = CandidateScorer(surrogate)
    for _ in range(3):
        learn(scorer, trials, [0.0, 1.0])
        scorer.score([known])
        scorer.score(trials)
    assert surrogate.encoded == [1, 1, 9]
    scorer.score([grid(3)])  # equal, and others
    assert surrogate.encoded == [1, 1, 9, 9]


def test_the_score_to_beat_is_the_highest_predicted_for_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the highest value, which may have been lucky."""
    seen: list[Situation] = []

    def spy(predicted: Prediction, situation: Situation) -> Floats:
        seen.append(situation)
        return predicted.mean

    monkeypatch.setitem(ACQUISITIONS, "spy", spy)
    scorer, known = CandidateScorer(Recorder(), acquisition="spy"), grid()
    learn(scorer, [known.take([row]) for row in (0, 30, 2)], [1.0, -1.0, 0.0])
    scorer.score([known])
    assert [situation.best for situation in seen] == [known.vectors[30, 0]]
