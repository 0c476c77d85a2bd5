"""Naive Bayes for all folds at once: a fold's training counts are the sample's total minus its own.

Numbers are Gaussian within a class, categories multinomial with Laplace smoothing; missing cells are ignored.
As in Weka, a standard deviation is at least a sixth of the mean gap between neighbouring values.

Notation
    m, F, C, p, k   rows, folds, classes, numeric attributes, indicators of categories
    z               (m, p) standardized numbers, 0 where missing; w: (m, p) 1 where present
    in_group        (m, F * C) 1 at the number of a row's fold and class: fold * C + class
"""

from __future__ import annotations

import numpy as np

from ingest.metafeatures.prepared import RowSample
from warehouse.support.arrays import Flags, Floats, Positions


class NaiveBayes:
    """Counts of a sample by fold and class, from which each fold's model is computed."""

    def __init__(self, sample: RowSample) -> None:
        self.sample = sample
        present = ~np.isnan(sample.numbers)
        self._w = present.astype(np.float64)
        deviation = np.where(present, sample.numbers - sample.numbers.mean(axis=0, where=present), 0.0)
        # No column of a sample is constant.
        scale = np.sqrt(np.einsum("ij,ij->j", deviation, deviation) / present.sum(axis=0))
        self._z = deviation / scale
        self._least_variance = (_mean_gaps(sample.ordered) / scale / 6) ** 2
        self._indicators, self._attribute = sample.indicators
        folds, classes = int(sample.fold.max()) + 1, sample.n_classes
        in_group = np.eye(folds * classes)[sample.fold * classes + sample.y]
        by_group = [
            (in_group.T @ values).reshape(folds, classes, -1)
            for values in (self._w, self._z, self._z**2, self._indicators)
        ]
        # Training rows of a fold: all rows but the fold's own.
        self._n, self._s1, self._s2, self._counts = (sums.sum(axis=0) - sums for sums in by_group)
        sizes = in_group.sum(axis=0).reshape(folds, classes)
        self._class_sizes = sizes.sum(axis=0) - sizes

    def probabilities(self, fold: int, attributes: Positions | None = None) -> Floats:
        """(test rows, C) class probabilities by the model of `fold`, from `attributes` alone if given."""
        test = self.sample.fold == fold
        sizes = self._class_sizes[fold]
        score = self._of_numbers(fold, test, attributes) + self._of_categories(fold, test, attributes)
        score += np.log((sizes + 1) / (sizes.sum() + len(sizes)))
        likelihood = np.exp(score - score.max(axis=1, keepdims=True))
        probabilities: Floats = likelihood / likelihood.sum(axis=1, keepdims=True)
        return probabilities

    def _of_numbers(self, fold: int, test: Flags, attributes: Positions | None) -> Floats:
        used = slice(None) if attributes is None else attributes[attributes < self._z.shape[1]]
        n, s1, s2 = self._n[fold][:, used], self._s1[fold][:, used], self._s2[fold][:, used]
        # A class without values gets the mean and spread of the whole column.
        mean = np.where(n > 0, s1 / np.maximum(n, 1), 0.0)
        variance = np.where(n > 0, s2 / np.maximum(n, 1) - mean**2, 1.0)
        variance = np.maximum(variance, self._least_variance[used])
        z, w = self._z[test][:, used], self._w[test][:, used]
        constant = mean**2 / variance + np.log(variance)
        log_density: Floats = z @ (mean / variance).T - 0.5 * (z**2 @ (1 / variance).T + w @ constant.T)
        return log_density

    def _of_categories(self, fold: int, test: Flags, attributes: Positions | None) -> Floats:
        position = self._attribute + self._z.shape[1]
        used = np.ones(len(position), dtype=bool) if attributes is None else np.isin(position, attributes)
        counts = self._counts[fold][:, used]
        # Indicators of one attribute are adjacent.
        _, starts, sizes = np.unique(position[used], return_index=True, return_counts=True)
        if not len(starts):
            return np.zeros((np.count_nonzero(test), len(counts)))
        totals = np.repeat(np.add.reduceat(counts, starts, axis=1), sizes, axis=1)
        shares = (counts + 1) / (totals + np.repeat(sizes, sizes))
        log_likelihood: Floats = self._indicators[test][:, used] @ np.log(shares).T
        return log_likelihood


def _mean_gaps(ordered: Floats) -> Floats:
    """(p,) mean distance between neighbouring distinct values of the rows of `ordered`, (p, m)."""
    gaps = np.diff(ordered, axis=1)
    mean: Floats = gaps.sum(axis=1) / np.maximum(np.count_nonzero(gaps, axis=1), 1)
    return mean
