"""Racing of configurations with noisy runs: Intensify of ROAR, SMAC and Hyperboost.

Hutter, Hoos and Leyton-Brown, "Sequential model-based optimization for general algorithm configuration"
(2011), Procedure 2 (van Hoof's thesis, section 2.5.2; Hyperboost, section 6.4). With random challengers it is
ROAR; with challengers chosen by a surrogate of the runs so far it is SMAC.

Notation
    key          number of a run, from 0: the seed or fold of the run, common to all configurations
    incumbent    the best configuration so far
    challenger   a new configuration, which may become the incumbent
    most         most runs of a configuration (maxR; 5 in Hyperboost)
    N            runs of a challenger between two comparisons: 1, 2, 4, ...
    values       larger is better
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recommend.bo.candidates import Candidate
from warehouse.support.errors import BadOption


@dataclass(frozen=True, eq=False)
class RacedConfiguration:
    """A configuration with its runs so far."""

    candidate: Candidate
    values: dict[int, float] = field(default_factory=dict)
    """Key of a run -> its value."""

    @property
    def mean(self) -> float:
        """Mean of all values."""
        return self.mean_of(self.values)

    def mean_of(self, keys: Iterable[int]) -> float:
        """Mean of the values of these runs."""
        return float(np.mean([self.values[key] for key in keys]))


@dataclass(frozen=True)
class RequestedRun:
    """A requested run."""

    candidate: Candidate
    key: int


class Intensification:
    """Requests runs one after the other, and keeps the incumbent.

    `ask` does not change the state; `tell` takes the value of the requested run. After ask, tell, ask, ask,
    tell: two runs are done.
    """

    def __init__(
        self,
        propose: Callable[[Sequence[RacedConfiguration]], Candidate | None],
        most: int,
        random: np.random.Generator,
    ) -> None:
        """A race without a run.

        Args:
            propose: returns the next challenger, a configuration that has not raced yet; None ends the race.
                The first one becomes the incumbent with its first run.
            most: most runs of a configuration.

        Raises:
            BadInput: `most` is less than 1.
        """
        if most < 1:
            raise BadOption(f"a configuration needs a run or more, not {most}")
        self.raced: list[RacedConfiguration] = []
        """Configurations in the order in which they were proposed."""
        self.incumbent: RacedConfiguration | None = None
        self._propose = propose
        self._most = most
        self._random = random
        self._steps = self._race()
        self._asked = next(self._steps, None)

    def ask(self) -> RequestedRun | None:
        """The next run; None if there is no further challenger."""
        return self._asked

    def tell(self, value: float) -> None:
        """Take the value of the last proposed run; -inf = it failed.

        Raises:
            BadInput: it is not a number, or no run was requested.
        """
        if self._asked is None or np.isnan(value):
            raise BadOption(f"{value} is not the value of a proposed run")
        try:
            self._asked = self._steps.send(value)
        except StopIteration:
            self._asked = None

    def _race(self) -> Generator[RequestedRun, float, None]:
        while (candidate := self._propose(self.raced)) is not None:
            challenger = RacedConfiguration(candidate)
            self.raced.append(challenger)
            if self.incumbent is None:
                yield from self._run(challenger, [int(self._random.integers(self._most))])
                self.incumbent = challenger
                continue
            # The incumbent gets one more run at each challenge.
            untried = [key for key in range(self._most) if key not in self.incumbent.values]
            yield from self._run(self.incumbent, self._some(untried, 1))
            yield from self._challenge(self.incumbent, challenger)

    def _challenge(
        self, incumbent: RacedConfiguration, challenger: RacedConfiguration
    ) -> Generator[RequestedRun, float, None]:
        """Run a challenger until it is worse, or has all runs of the incumbent and replaces it."""
        n = 1
        while True:
            missing = [key for key in incumbent.values if key not in challenger.values]
            yield from self._run(challenger, self._some(missing, n))
            if challenger.mean < incumbent.mean_of(challenger.values):
                return
            if len(missing) <= n:
                self.incumbent = challenger
                return
            n *= 2

    def _some(self, keys: Sequence[int], n: int) -> list[int]:
        """`n` random keys, or all."""
        return [keys[place] for place in self._random.permutation(len(keys))[:n]]

    @staticmethod
    def _run(raced: RacedConfiguration, keys: Sequence[int]) -> Generator[RequestedRun, float, None]:
        for key in keys:
            raced.values[key] = yield RequestedRun(raced.candidate, key)
