"""A bank of what is known of each dataset, denoised, and a guess at the entry of a new one.

Each dataset's runs are smoothed by a Gaussian process over configurations, so the few hundred noisy runs that
a dataset has become a function of all configurations. Datasets differ in a few ways only: the functions'
principal components. Where a new dataset stands on each is predicted from its meta-features, and what that
prediction missed on the datasets that are known, left out one by one, says how far it may be off. Together
that is a Gaussian prior over the new dataset's function, which trials on it turn into a posterior.

Notation
    d, K      training datasets, components
    Phi       (n, G) features of configurations; a function is Phi w (`metalearners.kernel`)
    W         (d, G) weights of each dataset's function
    S, V      (d, K) standing of each dataset on the components, (K, G) the components: W = mean + S V + rest
    u, D      descriptions of datasets and distances between them by group (`metalearners.descriptions`)
    kappa     exp(-sum over groups of weight D), alike = 1
    R         (d, K) what the prediction of S from the other datasets misses
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from metalearners.base import (
    SIZES,
    Z80,
    Observations,
    Prediction,
    TrainingData,
    arrays_of,
    standard_scores,
    training_data,
)
from metalearners.descriptions import FEATURE_GROUPS, QUALITIES, Descriptions, describe
from metalearners.kernel import ConfigurationKernel, learn_kernel
from metalearners.trials import Conditioned, Prior, best_together
from warehouse.configurations.table import ConfigurationTable
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, DamagedModel, UnknownName

_NOISES = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 2.0)
"""Variance of a run's noise over that of the function, of which each dataset takes the likeliest."""
_RESTS = (0.1, 0.2, 0.4)
"""Variance that the components leave out, of which the likeliest is taken."""
_NOISES_OF_RUNS = (0.05, 0.1, 0.2, 0.4)  # variance, of which the likeliest is taken; each step doubles
_SAMPLE = 50
"""Runs of each dataset that uncertainty is learned from."""
_GRID = 1500
"""Runs at whose configurations the functions are compared."""
_BLOCKS = (1, 1, 1, 5)
"""Components whose standing is predicted together; the rest is the last block."""
_WEIGHTS = (0.0, 0.15, 0.3, 0.6, 1.2, 2.5, 5.0)
"""Weights of a group's distances, from no influence on; each step doubles."""
_RIDGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # added to the kernel's diagonal; each step doubles
_ROUNDS = 2  # over all groups; set by hand
_LEVEL_VARIANCE = 100.0  # of a dataset's level, which no meta-feature tells: as good as unknown


@dataclass(frozen=True)
class Expectations:
    """What a bank expects of the runs that it learned from, each without the runs on its dataset.

    Of datasets on which all runs are equal there is nothing here.
    """

    rows: Positions
    """(e,) positions of runs"""
    targets: Floats
    """(e,) what was to be predicted."""
    expected: Floats
    """(e,)"""


class BankLearner:
    """Gaussian processes per dataset, whose components meta-features predict; for one flow or all."""

    def __init__(
        self,
        *,
        groups: Sequence[str] = tuple(FEATURE_GROUPS),
        components: int = 25,
        worst: float = -2.0,
        normal: float = 0.5,
        size: int = 256,
        seed: int = 0,
    ) -> None:
        """Settings of the training.

        Args:
            groups: what datasets are compared by (`metalearners.descriptions`); those that the training
                datasets lack are left out.
            components: most principal components that tell datasets apart.
            worst: score below which runs count the same: how bad a bad configuration is says nothing.
            normal: share of the normal scores of the ranks in what is learned, from 0 to 1; the rest are
                standard scores.
            size: most configurations that the kernel's features are built on.
            seed: of the choice of runs that kernel, components and uncertainty are learned from.

        Raises:
            BadInput: an unknown group, or a number out of range.
        """
        unknown = [group for group in groups if group not in FEATURE_GROUPS]
        if unknown:
            raise UnknownName(f"unknown group {unknown[0]!r}; known are {', '.join(FEATURE_GROUPS)}")
        if components < 1 or size < 1 or not 0 <= normal <= 1 or worst >= 0:
            raise BadOption("components and size must be positive, normal from 0 to 1, worst negative")
        self.groups = tuple(groups)
        self.components = components
        self.worst = worst
        self.normal = normal
        self.size = size
        self.seed = seed

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # the matrices are small: threads would wait for one another
            self.learn(runs, metafeatures)
        return self

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> Expectations:
        """As `fit`; returns what is expected of the runs themselves."""
        data = training_data(runs, metafeatures)
        targets = self.targets(data)
        self.kernel_, phi = learn_kernel(data, targets, size=self.size, seed=self.seed)
        rows = [np.flatnonzero(data.dataset == d) for d in range(len(data.metafeatures))]
        varied = np.array([np.ptp(targets[own]) > 0 for own in rows], dtype=bool)
        rows = [own for own, keep in zip(rows, varied, strict=True) if keep]
        G = phi.shape[1]
        W = np.array([_weights(phi[own], targets[own]) for own in rows]).reshape(-1, G)
        self.mean_ = W.mean(axis=0) if len(W) else np.zeros(G)
        random = np.random.default_rng(self.seed)
        grid = phi[random.permutation(len(phi))[:_GRID]]
        S, self.V_ = _components(W - self.mean_, grid, self.components)
        self.descriptions_ = describe(data.metafeatures[varied], self.groups)
        R = self._learn_standings(S)
        expected = self.mean_ + (S - R) @ self.V_  # (d, G), each without its own runs
        of_datasets = [(phi[own], targets[own], data.scores[own]) for own in rows]
        self._learn_uncertainty(of_datasets, expected, R, random)
        of_runs = [phi[own] @ w for own, w in zip(rows, expected, strict=True)]
        self._learned()
        chosen = np.concatenate([*rows, np.empty(0, np.intp)])
        return Expectations(chosen, targets[chosen], np.concatenate([*of_runs, np.empty(0)]))

    def targets(self, data: TrainingData) -> Floats:
        """(m,) scores that are clipped below, mixed with normal scores of the ranks: the top counts more."""
        clipped = standard_scores(np.maximum(data.scores, self.worst), data.dataset)
        ranked = _normal_scores(data.scores, data.dataset)
        return standard_scores((1 - self.normal) * clipped + self.normal * ranked, data.dataset)

    def targets_of(self, values: Floats) -> Floats:
        """As `metalearners.trials.HasPrior.targets_of`; few values are not clipped."""
        return (1 - self.normal) * standard_scores(values) + self.normal * _normal_scores(values)

    def _learn_standings(self, S: Floats) -> Floats:
        """How descriptions predict S, block by block; returns R."""
        D = self.descriptions_.own_distances()
        ends = np.minimum(np.cumsum([*_BLOCKS, S.shape[1]]), S.shape[1])
        self.blocks_ = np.column_stack([np.concatenate([[0], ends[:-1]]), ends])
        self.block_weights_ = np.zeros((len(ends), len(D)))
        self.coefficients_, missed = np.zeros_like(S), S.copy()
        for block, (start, end) in enumerate(self.blocks_):
            if start < end and len(D):
                of_block = _best_weights(D, S[:, start:end])
                self.block_weights_[block] = of_block[0]
                self.coefficients_[:, start:end], missed[:, start:end] = of_block[1:]
        return missed

    def _learn_uncertainty(
        self,
        of_datasets: list[tuple[Floats, Floats, Floats]],
        expected: Floats,
        R: Floats,
        random: np.random.Generator,
    ) -> None:
        """How much the components leave out, noise, and a factor that makes 80 % intervals hold 80 %."""
        samples = []
        for w, (phi, targets, scores) in zip(expected, of_datasets, strict=True):
            some = random.permutation(len(targets))[:_SAMPLE]
            samples.append((phi[some], targets[some] - phi[some] @ w, scores[some] - phi[some] @ w))
        spread = R @ self.V_ / np.sqrt(max(len(R), 1))  # (d, G)
        likelihoods = {
            (rest, noise): sum(_likelihood(phi, missed, spread, rest, noise) for phi, missed, _ in samples)
            for rest in _RESTS
            for noise in _NOISES_OF_RUNS
        }
        self.rest_, self.noise_ = max(likelihoods, key=likelihoods.__getitem__)
        self.factor_ = spread
        sizes = [np.abs(missed) / np.sqrt(self._variance(phi) + self.noise_) for phi, _, missed in samples]
        self.calibration_ = float(np.quantile(np.concatenate(sizes), 0.8)) / Z80 if sizes else 1.0

    def _learned(self) -> None:
        """What follows from the learned numbers, and is not stored."""
        of_weights = self.factor_.T @ self.factor_ + self.rest_ * np.eye(self.factor_.shape[1])
        self._root = np.linalg.cholesky(of_weights)  # (G, G), of the covariance of w
        self._last_expected: tuple[object, Floats] | None = None

    def _variance(self, phi: Floats) -> Floats:
        variance: Floats = ((phi @ self.factor_.T) ** 2).sum(axis=1) + self.rest_ * (phi**2).sum(axis=1)
        return variance

    def _expected_weights(self, metafeatures: pd.Series) -> Floats:
        """(G,) of the new dataset's function; a search asks for those of one dataset again and again."""
        asked = (tuple(metafeatures.index), metafeatures.to_numpy().tobytes())
        if self._last_expected is None or self._last_expected[0] != asked:
            self._last_expected = asked, self._predicted_weights(metafeatures)
        return self._last_expected[1]

    def _predicted_weights(self, metafeatures: pd.Series) -> Floats:
        D = self.descriptions_.distances(self.descriptions_.place(metafeatures))
        s = np.zeros(self.coefficients_.shape[1])
        for w, (start, end) in zip(self.block_weights_, self.blocks_, strict=True):
            s[start:end] = np.exp(-w @ D) @ self.coefficients_[:, start:end]
        return self.mean_ + s @ self.V_

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        phi = self.kernel_.features(configurations, metafeatures)
        std = self.calibration_ * np.sqrt(self._variance(phi) + self.noise_)
        return Prediction(phi @ self._expected_weights(metafeatures), std)

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """What trials are weighed against; see `metalearners.trials`."""
        points = self.kernel_.points(configurations, metafeatures)
        phi = self.kernel_.features_at(points)
        return Prior(phi @ self._expected_weights(metafeatures), phi @ self._root, points)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """As `MetaLearner.choose`: those of which the best is expected to score most."""
        phi = self.kernel_.features(configurations, metafeatures)
        # What the components leave out differs for each configuration: they have nothing of it in common.
        return best_together(Prior(phi @ self._expected_weights(metafeatures), phi @ self.factor_.T), n)

    def condition(self, observations: Observations) -> Conditioned:
        return Conditioned(self, observations)

    @property
    def qualities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*SIZES, *QUALITIES]))

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "groups": list(self.groups),
            "components": self.components,
            "worst": self.worst,
            "normal": self.normal,
            "size": self.size,
            "seed": self.seed,
        }

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        kernel_facts, kernel_arrays = self.kernel_.state()
        place_facts, place_arrays = self.descriptions_.state()
        facts = {
            "kernel": kernel_facts,
            "descriptions": place_facts,
            **{name: getattr(self, f"{name}_") for name in _NUMBERS},
        }
        arrays = {name: getattr(self, f"{name}_") for name in _ARRAYS}
        arrays |= {f"kernel.{name}": array for name, array in kernel_arrays.items()}
        arrays |= {f"descriptions.{name}": array for name, array in place_arrays.items()}
        return facts, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        try:
            self.kernel_ = ConfigurationKernel.restored(facts["kernel"], arrays_of("kernel", arrays))
            self.descriptions_ = Descriptions.restored(
                facts["descriptions"], arrays_of("descriptions", arrays)
            )
            for name in _NUMBERS:
                setattr(self, f"{name}_", float(facts[name]))
            for name in _ARRAYS:
                setattr(self, f"{name}_", arrays[name].astype(np.intp if name == "blocks" else np.float64))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        G, K = len(self.kernel_.Z), len(self.V_)
        d = len(self.descriptions_.points)
        shapes = {
            "mean": (G,),
            "V": (K, G),
            "coefficients": (d, K),
            "factor": (d, G),
            "blocks": (len(_BLOCKS) + 1, 2),
            "block_weights": (len(_BLOCKS) + 1, len(self.descriptions_.groups)),
        }
        for name, shape in shapes.items():
            if getattr(self, f"{name}_").shape != shape:
                raise DamagedModel(f"the stored learner is damaged: {name} has another shape than the rest")
        try:
            self._learned()
        except np.linalg.LinAlgError as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        return self


_NUMBERS = ("rest", "noise", "calibration")
_ARRAYS = ("mean", "V", "coefficients", "factor", "blocks", "block_weights")


def _normal_scores(values: Floats, dataset: Positions | None = None) -> Floats:
    """(m,) normal scores of the ranks of `values` within each dataset (None: of one), standardized."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    if dataset is None:
        return standard_scores(ndtri((rankdata(values) - 0.5) / len(values)))
    groups = pd.Series(values).groupby(dataset)
    share = (groups.rank().to_numpy() - 0.5) / groups.transform("size").to_numpy()
    return standard_scores(ndtri(share), dataset)


def _components(W: Floats, grid: Floats, most: int) -> tuple[Floats, Floats]:
    """Principal components of functions, as values on a grid: S (d, K), V (K, G) with W nearly S V."""
    U, s, _ = np.linalg.svd(W @ grid.T, full_matrices=False)
    K = int((s[:most] > 1e-9 * max(s.max(initial=0), 1e-300)).sum())
    S = U[:, :K] * s[:K] / np.sqrt(len(grid))
    return S, np.linalg.pinv(S) @ W


def _likelihood(phi: Floats, missed: Floats, spread: Floats, rest: float, noise: float) -> float:
    """Log density of what a prediction missed on some runs of a dataset, whose level is unknown."""
    factor = phi @ spread.T
    C = factor @ factor.T + rest * (phi @ phi.T) + _LEVEL_VARIANCE
    C[np.diag_indices_from(C)] += noise
    L = np.linalg.cholesky(C)
    whitened = np.linalg.solve(L, missed)
    return float(-0.5 * whitened @ whitened - np.log(np.diag(L)).sum())


def _weights(phi: Floats, y: Floats) -> Floats:
    """(G,) the likeliest function of these runs: the Gaussian process's posterior mean."""
    from scipy.linalg import cho_factor, cho_solve

    gram, target = phi.T @ phi, phi.T @ y
    diagonal = np.diag_indices(len(gram))
    best, best_likelihood = np.zeros(len(gram)), -np.inf
    for noise in _NOISES:
        C = gram.copy()
        C[diagonal] += noise
        factor = cho_factor(C, lower=True, check_finite=False)
        w = cho_solve(factor, target, check_finite=False)
        fit = float(y @ (y - phi @ w)) / noise
        log_det = 2 * np.log(np.diag(factor[0])).sum() + (len(y) - len(gram)) * np.log(noise)
        likelihood = -0.5 * (len(y) * np.log(max(fit, 1e-12)) + log_det)
        if likelihood > best_likelihood:
            best, best_likelihood = w, likelihood
    return best


def _best_weights(D: Floats, S: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights of groups that predict S best when left out; then as `_left_out`, without the share."""
    weights = np.full(len(D), 0.6)
    best = _left_out(np.tensordot(weights, D, 1), S)
    for _ in range(_ROUNDS):
        for group in range(len(D)):
            for weight in _WEIGHTS:
                other = weights.copy()
                other[group] = weight
                if weight == weights[group] or not other.any():
                    continue
                result = _left_out(np.tensordot(other, D, 1), S)
                if result[0] < best[0] - 1e-4:
                    best, weights = result, other
    return weights, best[1], best[2]


def _left_out(D: Floats, S: Floats) -> tuple[float, Floats, Floats]:
    """Kernel ridge regression: share of squares missed by leaving out each row, coefficients, residuals."""
    w, Q = np.linalg.eigh(np.exp(-D))
    projected = Q.T @ S
    total = max(float((S**2).sum()), 1e-300)
    best: tuple[float, Floats, Floats] = (np.inf, np.zeros_like(S), S)
    for ridge in _RIDGES:
        inverse = 1 / (np.maximum(w, 0) + ridge)
        c = Q @ (inverse[:, None] * projected)
        missed = c / ((Q**2) @ inverse)[:, None]
        loss = float((missed**2).sum()) / total
        if loss < best[0]:
            best = (loss, c, missed)
    return best
