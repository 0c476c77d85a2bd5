"""Scores of candidates: a surrogate's predictions through an acquisition function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from recommend.bo.acquisition import TIMED, UNCERTAIN, XI, Situation, get_acquisition
from recommend.bo.surrogates.base import Draws, Surrogate
from recommend.space import Configurations
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption
from warehouse.vocabulary.table import ConfigurationTable

E = TypeVar("E")


class CandidateScorer:
    """Learns from trials, and scores candidates.

    Encodings and predicted times are cached as long as their configurations exist, so that candidates of many
    trials are encoded once.
    """

    def __init__(
        self,
        surrogate: Surrogate[Any],
        *,
        acquisition: str | None = None,
        seconds: Callable[[ConfigurationTable], Floats] | None = None,
    ) -> None:
        """A scorer that has not seen a trial.

        Args:
            acquisition: name of the acquisition function; None = the surrogate's default.
            seconds: predicts the seconds of a trial of each configuration, NaN = unknown, for acquisition
                functions that need them.

        Raises:
            BadInput: an unknown acquisition function, or one that lacks `seconds` or a standard deviation.
        """
        name = acquisition or surrogate.acquisition
        self._acquisition = get_acquisition(name)
        if name in TIMED and seconds is None:
            raise BadOption(f"the acquisition function {name} needs predicted running times")
        self._surrogate = surrogate
        if name in UNCERTAIN and not self.states_uncertainty:
            raise BadOption(f"the acquisition function {name} needs a surrogate with uncertainty")
        self._encoded = _Kept(surrogate.encode, _concatenated)
        self._seconds = None if seconds is None else _Kept(lambda one: seconds(one.table), np.concatenate)
        self._best = 0.0
        self._usual: float | None = None
        self._usual_seconds = 1.0

    @property
    def states_uncertainty(self) -> bool:
        """Whether the surrogate has uncertainty, which `draw` needs."""
        return self._surrogate.acquisition in UNCERTAIN

    def learn(self, tried: Sequence[Configurations], scores: Floats, random: np.random.Generator) -> None:
        """Learn from one or more trials, and forget earlier ones.

        Args:
            scores: (t,) values of the trials in standard scores, larger is better.
        """
        X = self._encoded.of(tried)
        self._surrogate.fit(X, scores, random)
        self._best = float(self._surrogate.predict(X).mean.max())
        self._usual = None

    def expect(self, candidates: Sequence[Configurations]) -> Floats:
        """(n,) the surrogate's predictions for candidates, in standard scores, one group after the other."""
        return self._surrogate.predict(self._encoded.of(candidates)).mean

    def score(self, candidates: Sequence[Configurations]) -> Floats:
        """(n,) the acquisition function of each candidate, one group after the other.

        The first candidates after learning should not have been selected by score: they define the typical
        score (c in `recommend.bo.acquisition`), and the typical time of a trial, which replaces unknown
        times.
        """
        predicted = self._surrogate.predict(self._encoded.of(candidates))
        seconds = None if self._seconds is None else self._seconds.of(candidates)
        if self._usual is None:
            self._usual = float(np.median(predicted.mean))
            if seconds is not None and not np.isnan(seconds).all():
                self._usual_seconds = float(np.nanmedian(seconds))
        if seconds is not None:
            seconds = np.nan_to_num(seconds, nan=self._usual_seconds)
        return self._acquisition(predicted, Situation(self._best, XI, seconds, self._usual))

    def draw(self, candidates: Sequence[Configurations], random: np.random.Generator) -> Floats:
        """(n,) one draw of the candidates' values from the posterior after the trials.

        From the joint distribution if the surrogate has it (`Draws`), else independently. The surrogate needs
        uncertainty (`states_uncertainty`).
        """
        X = self._encoded.of(candidates)
        if isinstance(self._surrogate, Draws):
            return self._surrogate.draw(X, random)
        predicted = self._surrogate.predict(X)
        assert predicted.std is not None
        return predicted.mean + predicted.std * random.standard_normal(len(predicted.mean))


class _Kept(Generic[E]):
    """Cache of rows computed for configurations, kept as long as these exist."""

    def __init__(self, compute: Callable[[Configurations], E], join: Callable[[list[E]], E]) -> None:
        self._compute = compute
        self._join = join
        self._known: WeakKeyDictionary[Configurations, E] = WeakKeyDictionary()

    def of(self, several: Sequence[Configurations]) -> E:
        """The rows of all of these, one group after the other."""
        for configurations in several:
            if configurations not in self._known:
                self._known[configurations] = self._compute(configurations)
        rows = [self._known[configurations] for configurations in several]
        return rows[0] if len(rows) == 1 else self._join(rows)


def _concatenated(several: list[Any]) -> Any:
    """Concatenate encodings (`Rows`) of one class."""
    return type(several[0]).concatenated(several)
