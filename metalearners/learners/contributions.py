"""A prediction as a sum of contributions: of training datasets, of meta-features or of hyperparameters.

The expected coordinates of a new dataset are weighted sums of those of the training datasets. So a prediction
is the expected score on any dataset plus a contribution of each training dataset: its weight times how much
better or worse than usual the configuration does there. Contributions of meta-features and hyperparameters
are Shapley values: the effect of changing each one, averaged over all orders of changes. Contributions of
each kind add up to the prediction.

Notation
    d, K, b   training datasets, components, blocks of components
    Phi       (n, G) features of configurations
    S, V      (d, K) coordinates of the training datasets, (K, G) the components
    kappa     (b, d) kernel between the new dataset and the training datasets
    h         (b, d) weights of the training datasets: S of the new dataset is h S, block by block
    v         value of a coalition of players, to be attributed to them
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd

from metalearners.gp.kernels import squared_distances
from metalearners.learners.dataset_features import Descriptions
from metalearners.learners.functional_pca import FunctionalPCA
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable, split_name

MOST_PLAYERS = 14
"""Most players, as all 2^players coalitions are evaluated; the least important others are merged into one."""


@dataclass(frozen=True)
class ContributionParts:
    """A number as a sum of contributions."""

    base: float
    """Value without any contribution."""
    parts: dict[str, float]

    @property
    def total(self) -> float:
        """The number."""
        return self.base + sum(self.parts.values())

    @property
    def best_first(self) -> list[tuple[str, float]]:
        """Name and value of each contribution, the largest positive one first."""
        return sorted(self.parts.items(), key=lambda part: -part[1])

    @property
    def largest_first(self) -> list[tuple[str, float]]:
        """Name and value of each contribution, the largest absolute one first."""
        return sorted(self.parts.items(), key=lambda part: -abs(part[1]))


@dataclass(frozen=True)
class Contributions:
    """Contributions to predictions for one dataset, before any trial on it."""

    model: FunctionalPCA
    metafeatures: pd.Series

    @cached_property
    def block_weights(self) -> Floats:
        """h: kappa (K + ridge I)^-1, where K is the kernel between the training datasets."""
        from scipy.linalg import solve

        descriptions = self.model.descriptions
        new = descriptions.distances(descriptions.place(self.metafeatures))
        h = np.zeros((len(self.model.blocks), len(descriptions.points)))
        for block, (start, end) in enumerate(self.model.blocks):
            if self.model.coefficients[:, start:end].any():
                weights = self.model.block_weights[block]
                scaled = descriptions.points * np.sqrt(_weights_of_features(descriptions, weights))
                A = np.exp(-squared_distances(scaled, scaled))
                A[np.diag_indices_from(A)] += self.model.ridges[block]
                h[block] = solve(A, np.exp(-weights @ new), assume_a="pos")
        return h

    @cached_property
    def weights(self) -> Floats:
        """(d,) h, averaged over the blocks by their share of the variation between datasets."""
        weights: Floats = self._importance @ self.block_weights
        return weights

    def of_datasets(self, configurations: ConfigurationTable) -> tuple[Floats, Floats]:
        """(n,) expected score on any dataset, and (n, d) contribution of each training dataset."""
        phi = self.model.kernel.features(configurations, self.metafeatures)
        return phi @ self.model.mean, self._of_datasets(phi)

    def of_groups(self, configurations: ConfigurationTable) -> list[ContributionParts]:
        """Contribution of each group of meta-features, compared with a typical dataset.

        A typical dataset has the median meta-features of the training datasets. Sizes that hyperparameters
        depend on stay those of the dataset.
        """
        phi = self.model.kernel.features(configurations, self.metafeatures)
        descriptions = self.model.descriptions
        here = descriptions.place(self.metafeatures)

        def value(coalition: frozenset[int]) -> Floats:
            known = np.isin(descriptions.group_of, list(coalition))
            return phi @ self.model.weights_at(np.where(known, here, 0.0))

        parts = shapley_values(value, len(descriptions.groups))
        base = value(frozenset())
        return [
            ContributionParts(float(base[place]), dict(zip(descriptions.groups, own.tolist(), strict=True)))
            for place, own in enumerate(parts.T)
        ]

    def of_hyperparameters(
        self, configuration: ConfigurationTable, start: ConfigurationTable
    ) -> ContributionParts:
        """Contribution of each hyperparameter that differs from `start`, added to the prediction of `start`.

        Args:
            configuration: a single one.
            start: one of the same algorithm, such as its default.
        """
        kernel = self.model.kernel
        points = kernel.points(start.followed_by(configuration), self.metafeatures)
        owner = np.array(_parameters_of(self.model))
        differ = np.abs(points[1] - points[0]) > 0
        names = sorted(set(owner[differ].tolist()))
        w = self.model.weights_at(self.model.descriptions.place(self.metafeatures))
        if len(names) > MOST_PLAYERS:
            names = self._most_important(points, owner, names, w)
        players = [np.flatnonzero(owner == name) for name in names[:MOST_PLAYERS]]
        others = np.flatnonzero(differ & ~np.isin(owner, names[:MOST_PLAYERS]))
        if len(others):
            players[-1] = np.concatenate([players[-1], others])
            names = [*names[: MOST_PLAYERS - 1], "others"]
        changed = _coalitions(len(players))
        x = np.repeat(points[:1], len(changed), axis=0)
        for number, columns in enumerate(players):
            rows = np.flatnonzero([number in coalition for coalition in changed])
            x[np.ix_(rows, columns)] = points[1, columns]
        values = dict(zip(changed, kernel.features_at(x) @ w, strict=True))
        parts = shapley_values(lambda coalition: np.array([values[coalition]]), len(players))
        shown = [split_name(name)[1] if configuration.joint else name for name in names]
        return ContributionParts(
            float(values[frozenset()]), dict(zip(shown, parts[:, 0].tolist(), strict=True))
        )

    def _most_important(self, points: Floats, owner: np.ndarray, names: list[str], w: Floats) -> list[str]:
        """Hyperparameters, sorted by how much changing each one alone changes the prediction, descending."""
        x = np.array([np.where(owner == name, points[1], points[0]) for name in names])
        change = np.abs(self.model.kernel.features_at(np.vstack([points[:1], x])) @ w)
        change = np.abs(change[1:] - change[0])
        return [names[place] for place in np.argsort(-change, kind="stable")]

    def trait_distances(self) -> Floats:
        """(d, q) contribution of each meta-feature to -log kappa, averaged over blocks as `weights`.

        kappa is exp(-sum over meta-features of weight of their group times squared difference / number of
        meta-features in the group), so the contributions are exact.
        """
        descriptions = self.model.descriptions
        apart = (descriptions.points - descriptions.place(self.metafeatures)) ** 2
        distances: Floats = apart * self.trait_weights
        return distances

    @cached_property
    def trait_weights(self) -> Floats:
        """(q,) weight of a squared difference in each meta-feature, averaged over blocks."""
        return _weights_of_features(self.model.descriptions, self._importance @ self.model.block_weights)

    @cached_property
    def _importance(self) -> Floats:
        """(b,) share of the squares of S in each block."""
        squares = np.array([(self.model.S[:, start:end] ** 2).sum() for start, end in self.model.blocks])
        shares: Floats = squares / max(squares.sum(), 1e-300)
        return shares

    def _of_datasets(self, phi: Floats) -> Floats:
        model = self.model
        added = np.zeros((len(phi), len(model.coefficients)))
        for h, (start, end) in zip(self.block_weights, model.blocks, strict=True):
            added += (phi @ model.V[start:end].T) @ model.S[:, start:end].T * h
        return added


def shapley_values(value: Callable[[frozenset[int]], Floats], players: int) -> Floats:
    """(players, any) contribution of each player to `value`, averaged over all orders of joining.

    Shapley (1953): the sum over coalitions s without i of
    |s|! (p - |s| - 1)! / p! (v(s + i) - v(s)).
    """
    values = {coalition: value(coalition) for coalition in _coalitions(players)}
    added = np.zeros((players, *np.shape(values[frozenset()])))
    for coalition, before in values.items():
        for player in set(range(players)) - coalition:
            share = factorial(len(coalition)) * factorial(players - len(coalition) - 1) / factorial(players)
            added[player] += share * (values[coalition | {player}] - before)
    return added


def _coalitions(players: int) -> list[frozenset[int]]:
    return [
        frozenset(members) for size in range(players + 1) for members in combinations(range(players), size)
    ]


def _weights_of_features(descriptions: Descriptions, of_groups: Floats) -> Floats:
    """(q,) weight of each meta-feature's squared difference, from the weights of groups' mean differences."""
    sizes = np.bincount(descriptions.group_of, minlength=len(descriptions.groups))
    weights: Floats = (of_groups / np.maximum(sizes, 1))[descriptions.group_of]
    return weights


def _parameters_of(model: FunctionalPCA) -> list[str]:
    """The hyperparameter of each column of the model's encoding."""
    encoding = model.kernel.encoding
    owners = encoding.parameter_of_numbers()
    for parameter in encoding.types:
        owners.setdefault(parameter, parameter)
        for label in encoding.categories.get(parameter, ()):
            owners.setdefault(f"{parameter}_{label}", parameter)
            owners.setdefault(f"{parameter}_nom_{label}", parameter)
    return [owners[column] for column in encoding.columns]
