"""Posterior sampling of each algorithm's maximum, from one surrogate of all algorithms.

The idea is from posterior sampling for bandits of maxima (PS-PFN, Balef and Eggensperger), where the
posterior comes from a neural network. Here it comes from the surrogate, which learns from all trials
together.

At each trial:
    1. a random sample of configurations is drawn for each algorithm
    2. their values and those of the trials are drawn from the joint posterior (`CandidateScorer.draw`); a
       surrogate with marginal distributions only draws them independently, which makes maxima look higher
    3. the algorithm is chosen whose highest drawn value of an untried configuration exceeds that of the
       trials most, divided by its cost; if none exceeds it, the one with the highest value
    4. its configuration with the highest acquisition function is proposed
The cost is the geometric mean of the seconds of the algorithm's trials, with the mean of the search as an
additional trial; without seconds all costs are equal. Starts, anchors and the first random trials are as in
`Optimizer`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from recommend.bo.candidates import Candidate
from recommend.bo.optimizer import Optimizer
from recommend.bo.published.strategies.arms import algorithm_of, sources
from recommend.bo.strategies import SearchInputs
from recommend.space import Configurations
from warehouse.support.errors import BadOption

SAMPLE = 100
"""Sampled configurations per algorithm; set by hand."""
SHORTEST = 1e-3
"""Least cost of a trial in seconds."""


class MaxSampling(Optimizer):
    """An optimizer that chooses the algorithm first."""

    def __init__(self, inputs: SearchInputs) -> None:
        """A search without a trial.

        Raises:
            BadInput: the surrogate has no uncertainty.
        """
        super().__init__(**inputs.optimizer_arguments())
        if not self._scorer.states_uncertainty:
            raise BadOption("max-sampling needs a surrogate with uncertainty")
        self._sources = sources(inputs.candidates)

    def _favourite(
        self,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],
        number: int,
        random: np.random.Generator,
    ) -> Candidate | None:
        worth = self._worth(tried, random)
        for arm in sorted(worth, key=lambda arm: worth[arm], reverse=True):
            found = self._sources[arm].best(self._scorer.score, taken, tried, number, random)
            if found is not None:
                return found
        return self._candidates.best(self._scorer.score, taken, tried, number, random)

    def _worth(self, tried: Sequence[Configurations], random: np.random.Generator) -> dict[str, list[float]]:
        """Arm -> its gain per second and its highest value, for arms with candidates left."""
        before = {one.vectors.tobytes() for one in tried}
        samples = {arm: source.sample(SAMPLE, random) for arm, source in self._sources.items()}
        drawn = self._scorer.draw([*tried, *samples.values()], random)
        incumbent, place = float(drawn[: len(tried)].max()), len(tried)
        costs, worth = self._costs(), {}
        for arm, sample in samples.items():
            new = [vector.tobytes() not in before for vector in sample.vectors]
            if any(new):
                top = float(drawn[place : place + len(sample)][new].max())
                worth[arm] = [max(top - incumbent, 0.0) / costs[arm], top]
            place += len(sample)
        return worth

    def _costs(self) -> dict[str, float]:
        """Arm -> expected seconds of a trial."""
        logs = [
            (algorithm_of(trial.proposal.candidate), np.log(max(trial.seconds, SHORTEST)))
            for trial in self._proposed
            if trial.seconds is not None
        ]
        usual = float(np.mean([log for _, log in logs])) if logs else 0.0
        return {
            arm: float(np.exp(np.mean([usual, *(log for own, log in logs if own == arm)])))
            for arm in self._sources
        }
