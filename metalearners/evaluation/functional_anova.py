"""Functional analysis of variance: how much of a score's variance each hyperparameter explains by itself.

After Hutter, Hoos and Leyton-Brown (ICML 2014), as van Rijn and Hutter (KDD 2018) use it across datasets: a
model predicts the score of any configuration in the space, and its variance over the space is decomposed.
They use forests, whose integrals are exact; this works for any model, by its predictions for random
configurations and for the same with one hyperparameter changed.

Notation
    Z    (n, p) random configurations: numbers in [0, 1] on the scale of the search, choices as codes; NaN if
         the configuration lacks the hyperparameter
    v    (g,) levels of one hyperparameter, equally likely
    a    (g,) marginal: mean score of the configurations of Z that have the hyperparameter, set to each level
    V    variance of the scores of Z
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.support.arrays import Floats

LEVELS = 8
"""Levels of a number: the midpoints of this many equal parts of its range."""


@dataclass(frozen=True)
class Effect:
    """Main effect of one hyperparameter."""

    share: float
    """Variance of the marginal over V, times the share of configurations with the hyperparameter."""
    marginal: Floats
    """a minus the mean score of Z."""


@dataclass(frozen=True)
class Design:
    """The configurations to be scored by a model, and the effects computed from their scores."""

    vectors: Floats
    """(m, p) Z, then Z at each level of each hyperparameter."""
    levels: tuple[Floats, ...]
    """(p,) v of each hyperparameter."""
    n: int

    @classmethod
    def around(cls, Z: Floats, categories: Sequence[int]) -> Design:
        """The design around random configurations.

        Args:
            categories: (p,) number of choices; 0 = a number in [0, 1].
        """
        middles = (np.arange(LEVELS) + 0.5) / LEVELS
        levels = tuple(np.arange(float(size)) if size else middles for size in categories)
        changed = [Z]
        for column, own in enumerate(levels):
            active = Z[~np.isnan(Z[:, column])]
            for level in own:
                at_level = active.copy()
                at_level[:, column] = level
                changed.append(at_level)
        return cls(np.vstack(changed), levels, len(Z))

    def effects(self, scores: Floats) -> list[Effect]:
        """The effect of each hyperparameter, (p,).

        Args:
            scores: (m,) the model's scores of `vectors`.
        """
        of_Z = scores[: self.n]
        V = float(of_Z.var())
        found, start = [], self.n
        for column, own in enumerate(self.levels):
            active = int((~np.isnan(self.vectors[: self.n, column])).sum())
            stop = start + active * len(own)
            at_levels = scores[start:stop].reshape(len(own), active)
            start = stop
            if not active:
                found.append(Effect(0.0, np.full(len(own), np.nan)))
                continue
            marginal = at_levels.mean(axis=1)
            explained = float(marginal.var()) * active / self.n
            found.append(Effect(explained / V if V > 0 else 0.0, marginal - of_Z.mean()))
        return found
