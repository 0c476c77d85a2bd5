"""Racing of configurations whose runs are noisy: ROAR's Intensify, which SMAC and Hyperboost use, too.

Hutter, Hoos and Leyton-Brown, "Sequential model-based optimization for general algorithm configuration"
(2011), Procedure 2 (van Hoof's thesis, section 2.5.2; Hyperboost, section 6.4). With challengers at random it
is ROAR; with those that a surrogate chooses after the runs so far it is SMAC.

Notation
    key          number of a run from 0 on: what a configuration is run with, such as a seed or a fold, which
                 is the same for all configurations
    incumbent    the configuration that is named as the best
    challenger   a new configuration, which may become the incumbent
    most         runs that a configuration may have (maxR; 5 in Hyperboost)
    N            runs of a challenger from one comparison to the next: 1, 2, 4, ...
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
    """A run that is to be made."""

    candidate: Candidate
    key: int


class Intensification:
    """Asks for one run after the other, and knows the incumbent.

    `ask` leaves everything as it is; `tell` takes the value of the run that was asked for. After ask, tell,
    ask, ask, tell: two runs are done.
    """

    def __init__(
        self,
        propose: Callable[[Sequence[RacedConfiguration]], Candidate | None],
        most: int,
        random: np.random.Generator,
    ) -> None:
        """A race without a run.

        Args:
            propose: the next challenger, a configuration that has not raced yet; None
                ends the race. The first one becomes the incumbent with its first run.
            most: runs that a configuration may have.

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
        """The next run; None where there is no further challenger."""
        return self._asked

    def tell(self, value: float) -> None:
        """Take the value of the last proposed run; -inf = it failed.

        Raises:
            BadInput: it is not a number, or no run was asked for.
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
            # The incumbent has one run more at each challenge.
            untried = [key for key in range(self._most) if key not in self.incumbent.values]
            yield from self._run(self.incumbent, self._some(untried, 1))
            yield from self._challenge(self.incumbent, challenger)

    def _challenge(
        self, incumbent: RacedConfiguration, challenger: RacedConfiguration
    ) -> Generator[RequestedRun, float, None]:
        """Run a challenger until it is worse, or has all the runs of the incumbent, whose place it takes."""
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
        """So many of the keys, or all, at random."""
        return [keys[place] for place in self._random.permutation(len(keys))[:n]]

    @staticmethod
    def _run(raced: RacedConfiguration, keys: Sequence[int]) -> Generator[RequestedRun, float, None]:
        for key in keys:
            raced.values[key] = yield RequestedRun(raced.candidate, key)
