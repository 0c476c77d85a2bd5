"""Scores of candidates: a surrogate's predictions through an acquisition function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from recommend.bo.acquisition import TIMED, UNCERTAIN, XI, Situation, get_acquisition
from recommend.bo.runtime import RunningTimes
from recommend.bo.surrogates.base import Draws, Surrogate
from recommend.space import Configurations
from warehouse.support.arrays import Floats, Rows
from warehouse.support.errors import BadOption

E = TypeVar("E", bound=Rows)


class CandidateScorer:
    """Learns from trials, and scores candidates.

    What the surrogate makes of configurations is kept as long as they are, so that those which are candidates
    at many trials are encoded once.
    """

    def __init__(
        self,
        surrogate: Surrogate[Any],
        *,
        acquisition: str | None = None,
        times: RunningTimes | None = None,
        xi: float = XI,
    ) -> None:
        """A scorer that has not seen a trial.

        Args:
            acquisition: name of the criterion; None = the one that the surrogate was proposed with.
            times: predicts running times, for the criteria that weigh them.
            xi: see `recommend.bo.acquisition`.

        Raises:
            BadInput: an unknown criterion, or one that needs `times` or a standard deviation without them.
        """
        name = acquisition or surrogate.acquisition
        self._acquisition = get_acquisition(name)
        if name in TIMED and times is None:
            raise BadOption(f"the acquisition function {name} needs predicted running times")
        self._surrogate = surrogate
        if name in UNCERTAIN and not self.states_uncertainty:
            raise BadOption(f"the acquisition function {name} needs a surrogate with uncertainty")
        self._xi = xi
        self._encoded = _Encodings(surrogate.encode)
        self._times = None if times is None else (times, _Encodings(times.encode))
        self._best = 0.0
        self._usual: float | None = None

    @property
    def states_uncertainty(self) -> bool:
        """Whether the surrogate does, so that `draw` can be asked."""
        return self._surrogate.acquisition in UNCERTAIN

    def learn(self, tried: Sequence[Configurations], scores: Floats, random: np.random.Generator) -> None:
        """Learn from trials, one or more; forgets those before.

        Args:
            scores: (t,) values of the trials in standard scores, larger is better.
        """
        X = self._encoded.of(tried)
        self._surrogate.fit(X, scores, random)
        self._best = float(self._surrogate.predict(X).mean.max())
        self._usual = None

    def expect(self, candidates: Sequence[Configurations]) -> Floats:
        """(n,) what the surrogate predicts of candidates, in standard scores, one group after the other."""
        return self._surrogate.predict(self._encoded.of(candidates)).mean

    def score(self, candidates: Sequence[Configurations]) -> Floats:
        """(n,) how much it is worth to try each of the candidates, one group after the other.

        The candidates that are asked about first after learning should not have been chosen by score: they
        say what a usual score is (c in `recommend.bo.acquisition`).
        """
        predicted = self._surrogate.predict(self._encoded.of(candidates))
        log_seconds = None
        if self._times is not None:
            times, encoded = self._times
            log_seconds = times.log_seconds(encoded.of(candidates))
        if self._usual is None:
            self._usual = float(np.median(predicted.mean))
        return self._acquisition(predicted, Situation(self._best, self._xi, log_seconds, self._usual))

    def draw(self, candidates: Sequence[Configurations], random: np.random.Generator) -> Floats:
        """(n,) one draw of the candidates' values from what is expected after the trials.

        From the joint distribution where the surrogate knows it (`Draws`), else of each for itself.

        Raises:
            BadInput: the surrogate states no uncertainty.
        """
        X = self._encoded.of(candidates)
        if isinstance(self._surrogate, Draws):
            return self._surrogate.draw(X, random)
        predicted = self._surrogate.predict(X)
        if predicted.std is None:
            raise BadOption("this surrogate has no uncertainty, so no values can be drawn")
        return predicted.mean + predicted.std * random.standard_normal(len(predicted.mean))


class _Encodings(Generic[E]):
    """Encodings of configurations by a model, kept as long as the configurations."""

    def __init__(self, encode: Callable[[Configurations], E]) -> None:
        self._encode = encode
        self._known: WeakKeyDictionary[Configurations, E] = WeakKeyDictionary()

    def of(self, several: Sequence[Configurations]) -> E:
        """All of these, one group after the other."""
        encoded = []
        for configurations in several:
            if configurations not in self._known:
                self._known[configurations] = self._encode(configurations)
            encoded.append(self._known[configurations])
        return encoded[0] if len(encoded) == 1 else type(encoded[0]).concatenated(encoded)
