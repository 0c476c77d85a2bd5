"""Posterior sampling of each algorithm's maximum, from one surrogate of all algorithms.

The idea is that of posterior sampling for bandits of maxima (PS-PFN, Balef and Eggensperger), whose posterior
is a neural network's. Here it is the surrogate's, which learns from all trials together.

At each trial:
    1. some configurations of each algorithm are taken at random
    2. the values of them and of the trials are drawn from the posterior together (`Scorer.draw`); a surrogate
       that only states each one's distribution draws them one by one, which makes maxima look higher
    3. the algorithm whose highest drawn value of a configuration that was not tried exceeds that of the
       trials most, by its cost, is chosen; where none exceeds it, the one with the highest value
    4. its configuration with the highest acquisition function is proposed
The cost is the geometric mean of the seconds of the algorithm's trials and of the search's mean, as one more
trial; without seconds all cost the same. Starts, anchors and the first random trials are as in `Optimizer`.
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
"""Configurations of each algorithm whose values are drawn; set by hand."""
SHORTEST = 1e-3
"""Seconds that a trial costs at least."""


class MaxSampling(Optimizer):
    """An optimizer that chooses the algorithm first."""

    def __init__(self, inputs: SearchInputs) -> None:
        """A search without a trial.

        Raises:
            BadInput: the surrogate states no uncertainty.
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
