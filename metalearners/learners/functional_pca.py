"""Functional principal components of the datasets' performance functions, predicted for a new dataset.

The runs of each dataset become a function of all configurations, and the functions differ in a few ways only:
their principal components (`metalearners.learners.dataset_functions`). A new dataset's coordinates on them
are predicted from its meta-features. Errors of this prediction on the known datasets, with families held out,
measure its uncertainty. The result is a Gaussian prior over the new dataset's function; trials on it give a
posterior.

Notation
    d, K      training datasets, components
    Phi       (n, G) features of configurations; a function is Phi w (`ConfigurationKernel`)
    W         (d, G) weights of each dataset's function
    S, V      (d, K) coordinates of each dataset on the components, (K, G) the components:
              W = mean + S V + rest
    u, D      descriptions of datasets and distances between them by group (`Descriptions`)
    kappa     exp(-sum over groups of weight D), 1 for equal datasets
    R         (d, K) error of the prediction of S from the datasets of other families
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from metalearners.encoding.scores import standard_scores
from metalearners.encoding.training_data import SIZES, TrainingData, size_of, training_data
from metalearners.gp.choice import best_together
from metalearners.gp.conditioned import Conditioned
from metalearners.gp.posterior import Prior
from metalearners.learners.base import MetaLearner
from metalearners.learners.configuration_kernel import ConfigurationKernel, learn_kernel
from metalearners.learners.dataset_features import (
    FEATURE_GROUPS,
    Descriptions,
    describe,
    with_number_groups,
)
from metalearners.learners.dataset_functions import Runs, centred, learn_functions
from metalearners.learners.improvement_probability import (
    REFERENCE,
    GainSpread,
    first_choices_beside,
    place_of_reference,
    usual_rows_of,
)
from metalearners.learners.kernel_regression import KernelRegression, regress, regress_as
from metalearners.learners.measure_scale import OwnUnit, learn_own_unit
from metalearners.learners.uncertainty import (
    factor_of,
    learn_spread_of_gains,
    learn_uncertainty,
    std_of_gain,
    variance_of,
)
from metalearners.predictions import Observations, Prediction, ValueInterval, key_of
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, UnknownName
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.table import ConfigurationTable

_GRID = 1500
"""Number of runs at whose configurations the functions are compared."""
_MOST_BEHIND = 0.5
"""Largest expected deficit of a choice behind the best, in scores: long shots succeed less than expected."""
_MOST_LEFT_OUT = 0.1
"""Largest share of training datasets that can be removed without a training; with more, too much of what
stays would be learned from removed datasets."""


@dataclass(frozen=True)
class ExpectedRuns:
    """Predictions for the training runs, each without the runs on its family.

    Datasets on which all runs are equal are omitted.
    """

    rows: Positions
    """(e,) positions of runs."""
    targets: Floats
    """(e,) targets of the prediction."""
    expected: Floats
    """(e,)"""


@dataclass(frozen=True, kw_only=True)
class FunctionalPCA:
    """A Gaussian prior over the function of a new dataset, given its meta-features."""

    kernel: ConfigurationKernel
    descriptions: Descriptions
    datasets: Annotated[tuple[str, ...], "d"]
    """Keys of the training datasets."""
    families: Annotated[Positions, "d"]
    """Number of each dataset's family; near copies have the same."""
    W: Annotated[npt.NDArray[np.float32], "d G"]
    S: Annotated[Floats, "d K"]
    mean: Annotated[Floats, "G"]
    """Weights of the mean function."""
    V: Annotated[Floats, "K G"]
    blocks: Annotated[Positions, "blocks 2"]
    """First component of each block, and the one after its last."""
    block_weights: Annotated[Floats, "blocks groups"]
    """Weights of the groups' distances, for each block."""
    coefficients: Annotated[Floats, "d K"]
    """Coefficients such that S of a new dataset is kappa coefficients."""
    ridges: Annotated[Floats, "blocks"]
    """Added to the diagonal of kappa, for each block."""
    missed: Annotated[Floats, "d K"]
    """R"""
    rest: float
    """Variance of a weight around the components."""
    noise: float
    """Variance of a run."""
    calibration: float
    """Factor of standard deviations with which 80 % intervals cover 80 %."""
    normal: float
    """See `FunctionalPCALearner`."""
    gain_spread: GainSpread
    """Maximum-likelihood factor of standard deviations in probabilities of beating another configuration."""
    own_unit: OwnUnit | None
    """Model of scores in the unit of the measure, if enough datasets are known."""
    _asked: dict[tuple[object, bytes], Floats] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cache of the expected weights of the last dataset, which a search needs repeatedly."""

    def __post_init__(self) -> None:
        if not self.rest > 0 or not self.noise > 0:
            raise ValueError("a variance is not positive")

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features used by predictions; see `Model.qualities`."""
        own = () if self.own_unit is None else self.own_unit.qualities
        return tuple(dict.fromkeys([*SIZES, *self.descriptions.qualities, *own]))

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict scores, as `Model.predict` does."""
        phi = self.kernel.features(configurations, metafeatures)
        std = self.calibration * np.sqrt(variance_of(phi, self.factor, self.rest) + self.noise)
        return Prediction(phi @ self._expected_weights(metafeatures), std)

    def expect(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> ValueInterval | None:
        """Expected values in the measure's own unit; see `Predictor.expect`."""
        if self.own_unit is None:
            return None
        with one_thread():
            return self.own_unit.expect(self.predict(configurations, metafeatures).mean, metafeatures, rows)

    def beats(
        self,
        configurations: ConfigurationTable,
        other: ConfigurationTable,
        metafeatures: pd.Series,
        rows: float | None = None,
    ) -> Floats:
        """Probabilities of beating another configuration; see `Predictor.beats`."""
        from scipy.special import ndtr

        phi = self.kernel.features(configurations.followed_by(other), metafeatures)
        apart = phi[:-1] - phi[-1]
        fitted_on = size_of(metafeatures).rows if rows is None else rows
        std = self.gain_spread.at(float(fitted_on)) * std_of_gain(apart, self.factor, self.rest, self.noise)
        probability: Floats = ndtr(apart @ self._expected_weights(metafeatures) / std)
        return probability

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """The prior before trials; see `metalearners.gp.posterior`."""
        points = self.kernel.points(configurations, metafeatures)
        phi = self.kernel.features_at(points)
        return Prior(phi @ self._expected_weights(metafeatures), phi @ self._root, points)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose the set with the highest expected maximum, then configurations with much lower predictions.

        The errors on the training datasets are the possible errors on this one.
        """
        phi = self.kernel.features(configurations, metafeatures)
        mean = phi @ self._expected_weights(metafeatures)
        by_mean = np.argsort(-mean, kind="stable")
        near = by_mean[mean[by_mean] >= mean.max(initial=-np.inf) - _MOST_BEHIND]
        # The rest around the components is independent for each configuration, so it is left out.
        missed = self.missed @ (self.V @ phi[near].T)
        together = near[best_together(mean[near], missed, n)]
        return np.concatenate([together, by_mean[len(near) :]])[:n]

    def condition(self, observations: Observations) -> Conditioned:
        """Condition on trials, as `Model.condition` does."""
        return Conditioned(self, observations)

    def targets_of(self, values: Floats) -> Floats:
        """Targets of values, without clipping; see `metalearners.gp.posterior.HasPrior.targets_of`."""
        return (1 - self.normal) * standard_scores(values) + self.normal * _normal_scores(values)

    def without(self, datasets: Collection[str]) -> FunctionalPCA | None:
        """The model without the runs on these datasets; None if that needs training.

        Mean, components, their coefficients and errors, and level and spread in the measure's own unit are
        computed from the other datasets. These stay as learned from all datasets: the kernel of
        configurations and the points of its features, the choice of coordinates, the weights of meta-feature
        groups, the ridges, three variances, factors of all runs; and the other datasets' functions, which
        were smoothed towards those of all.
        """
        kept = np.array([name not in datasets for name in self.datasets], dtype=bool)
        if (~kept).sum() > _MOST_LEFT_OUT * len(kept):
            return None
        if kept.all():
            return self
        mean, S, V = centred(self.W[kept].astype(np.float64), self.S[kept])
        descriptions, families = self.descriptions.of(kept), self.families[kept]
        before = KernelRegression(
            self.blocks, self.block_weights, self.coefficients, self.missed, self.ridges
        )
        with one_thread():
            regression = regress_as(before, descriptions.own_distances(), S, families)
        return replace(
            self,
            descriptions=descriptions,
            datasets=tuple(name for name in self.datasets if name not in datasets),
            families=families,
            W=self.W[kept],
            S=S,
            mean=mean,
            V=V,
            coefficients=regression.coefficients,
            missed=regression.missed,
            own_unit=None if self.own_unit is None else self.own_unit.without(datasets),
        )

    @cached_property
    def factor(self) -> Floats:
        """(at most K, G) such that factor' factor is the covariance of the prediction errors of the training
        datasets' weights, within the components."""
        return factor_of(self.missed, self.V)

    @cached_property
    def _root(self) -> Floats:
        """(G, G) Cholesky factor of the covariance of w."""
        of_weights = self.factor.T @ self.factor + self.rest * np.eye(self.factor.shape[1])
        root: Floats = np.asarray(np.linalg.cholesky(of_weights), np.float64)
        return root

    def _expected_weights(self, metafeatures: pd.Series) -> Floats:
        """(G,) expected weights of the new dataset's function."""
        asked = key_of(metafeatures)
        if asked not in self._asked:
            weights = self.weights_at(self.descriptions.place(metafeatures))
            self._asked.clear()
            self._asked[asked] = weights
        return self._asked[asked]

    def weights_at(self, u: Floats) -> Floats:
        """(G,) expected weights of the function of a dataset with the description `u`."""
        D = self.descriptions.distances(u)
        s: Floats = np.zeros(self.coefficients.shape[1])
        for w, (start, end) in zip(self.block_weights, self.blocks, strict=True):
            s[start:end] = np.exp(-w @ D) @ self.coefficients[:, start:end]
        return self.mean + s @ self.V


@dataclass(frozen=True, kw_only=True)
class FunctionalPCALearner(MetaLearner):
    """Gaussian processes per dataset, whose components meta-features predict; for one flow or all.

    Raises:
        BadInput: an unknown group, or a number out of range.
    """

    model: ClassVar[type[FunctionalPCA]] = FunctionalPCA

    groups: tuple[str, ...] = tuple(FEATURE_GROUPS)
    """Groups of features that datasets are compared by (`metalearners.learners.dataset_features`), with their
    counterparts for numeric targets; groups that the training datasets lack are dropped."""
    components: int = 25
    """Most principal components of the datasets' functions."""
    rounds: int = 3
    """Number of rounds in which level, spread and function of each dataset are learned from those of all."""
    worst: float = -2.0
    """Score below which runs count the same, since the degree of failure is uninformative."""
    normal: float = 0.5
    """Share of normal scores of the ranks in the targets, 0 to 1; the rest are standard scores."""
    related: float = 0.5
    """Weight of each related measure in the targets, relative to the measure itself. On some hundred rows,
    related measures of a run's predictions depend less on chance than its accuracy."""
    size: int = 256
    """Most configurations on which the kernel's features are based."""
    seed: int = 0
    """Seed of the choice of runs that kernel, components and uncertainty are learned from."""
    reference: str = REFERENCE
    """Setup that first choices are compared with, to learn the probability that they are better. If it was
    run on too few datasets, they are compared with random other configurations."""

    def __post_init__(self) -> None:
        unknown = [group for group in self.groups if group not in FEATURE_GROUPS]
        if unknown:
            raise UnknownName(f"unknown group {unknown[0]!r}; known are {', '.join(FEATURE_GROUPS)}")
        if (
            min(self.components, self.size) < 1
            or self.rounds < 0
            or not 0 <= self.normal <= 1
            or not 0 <= self.related < np.inf
            or self.worst >= 0
        ):
            raise BadOption(
                "components and size must be positive, rounds and related 0 or more, normal from 0 to 1,"
                " worst negative"
            )

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> FunctionalPCA:
        """Learn from runs, as `MetaLearner.fit` does."""
        return self.learn(runs, metafeatures)[0]

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> tuple[FunctionalPCA, ExpectedRuns]:
        """Learn from runs as `fit` does, and return the held-out predictions of the runs, too."""
        setups = runs.configurations.setups
        with one_thread():
            return self._learn(training_data(runs, metafeatures), place_of_reference(setups, self.reference))

    def _learn(self, data: TrainingData, reference: int) -> tuple[FunctionalPCA, ExpectedRuns]:
        targets = self._targets(data.scores, data.dataset)
        learned = self._with_related(targets, data)
        kernel, phi = learn_kernel(data, learned, size=self.size, seed=self.seed)
        rows = [np.flatnonzero(data.dataset == d) for d in range(len(data.metafeatures))]
        varied = np.array([np.ptp(targets[own]) > 0 for own in rows], dtype=bool)
        rows = [own for own, keep in zip(rows, varied, strict=True) if keep]
        random = np.random.default_rng(self.seed)
        grid = phi[random.permutation(len(phi))[:_GRID]]
        functions = learn_functions(
            [Runs(phi[own], learned[own]) for own in rows],
            grid,
            components=self.components,
            rounds=self.rounds,
        )
        mean, S, V = functions.mean, functions.S, functions.V
        descriptions = describe(data.metafeatures[varied], with_number_groups(self.groups))
        regression = regress(descriptions.own_distances(), S, data.families[varied])
        expected = mean + (S - regression.missed) @ V  # (d, G), each without its family's runs
        factor = factor_of(regression.missed, V)
        of_datasets = [
            (phi[own], scale.apply(targets[own]), scale.apply(data.scores[own]))
            for own, scale in zip(rows, functions.scales, strict=True)
        ]
        uncertainty = learn_uncertainty(of_datasets, expected, factor, random)
        of_runs = [phi[own] @ w for own, w in zip(rows, expected, strict=True)]
        comparisons = first_choices_beside(reference, data, rows, of_runs, random)
        gain_spread = learn_spread_of_gains(
            comparisons, of_datasets, expected, uncertainty, factor, usual_rows_of(data, rows)
        )
        chosen = np.concatenate([*rows, np.empty(0, np.intp)])
        comparable = np.concatenate([*(own for _, own, _ in of_datasets), np.empty(0)])
        expectations = ExpectedRuns(chosen, comparable, np.concatenate([*of_runs, np.empty(0)]))
        model = FunctionalPCA(
            kernel=kernel,
            descriptions=descriptions,
            datasets=tuple(data.metafeatures.index[varied]),
            families=data.families[varied],
            W=functions.W.astype(np.float32),
            S=S,
            mean=mean,
            V=V,
            blocks=regression.blocks,
            block_weights=regression.block_weights,
            coefficients=regression.coefficients,
            ridges=regression.ridges,
            missed=regression.missed,
            rest=uncertainty.rest,
            noise=uncertainty.noise,
            calibration=uncertainty.calibration,
            normal=self.normal,
            gain_spread=gain_spread,
            own_unit=learn_own_unit(data, chosen, comparable, expectations.expected),
        )
        return model, expectations

    def _targets(self, scores: Floats, dataset: Positions) -> Floats:
        """(m,) scores, clipped below and mixed with normal scores of the ranks, to emphasize the top."""
        clipped = standard_scores(np.maximum(scores, self.worst), dataset)
        ranked = _normal_scores(scores, dataset)
        return standard_scores((1 - self.normal) * clipped + self.normal * ranked, dataset)

    def _with_related(self, targets: Floats, data: TrainingData) -> Floats:
        """(m,) weighted means of the targets and those of the run's related measures."""
        of_related = [
            self._targets(standard_scores(values, data.dataset), data.dataset) for values in data.related.T
        ]
        known = np.column_stack([targets, *of_related])
        weights = np.array([1.0, *[self.related] * len(of_related)]) * ~np.isnan(known)
        return standard_scores(np.nansum(weights * known, axis=1) / weights.sum(axis=1), data.dataset)


def _normal_scores(values: Floats, dataset: Positions | None = None) -> Floats:
    """(m,) normal scores of the ranks of `values` within each dataset (None: a single one), standardized."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    if dataset is None:
        return standard_scores(ndtri((rankdata(values) - 0.5) / len(values)))
    groups = pd.Series(values).groupby(dataset)
    share = (groups.rank().to_numpy() - 0.5) / groups.transform("count").to_numpy()
    return standard_scores(ndtri(share), dataset)
