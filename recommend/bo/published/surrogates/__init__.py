"""Published surrogates by name.

A new one is a class in a module of this package (see `recommend.bo.surrogates.base`) and an entry in
`SURROGATES`.
"""

from __future__ import annotations

from recommend.bo.published.surrogates.boosting import (
    HyperboostSurrogate,
    QuantileSurrogate,
    QuantileTripleSurrogate,
)
from recommend.bo.published.surrogates.forest import ExtraTreesSurrogate, ForestSurrogate
from recommend.bo.published.surrogates.gaussian_process import GaussianProcessSurrogate
from recommend.bo.published.transfer import weights
from recommend.bo.published.transfer.ensemble import EnsembleSurrogate, TwoStageSurrogate
from recommend.bo.published.transfer.prior_tasks import PriorTasks
from recommend.bo.published.transfer.weights import Weighting
from recommend.bo.surrogates import SurrogateInputs, SurrogateMethod
from recommend.bo.surrogates.blend import LearnedSurrogate
from warehouse.support.errors import BadOption


def _tasks(given: SurrogateInputs) -> PriorTasks:
    if not isinstance(given.transferred, PriorTasks):
        raise BadOption("this surrogate needs runs on other datasets")
    return given.transferred


def _ensemble(weighting: Weighting, summary: str) -> SurrogateMethod:
    return SurrogateMethod(
        lambda given: EnsembleSurrogate(_tasks(given), given.metafeatures, weighting),
        summary,
        transfer=PriorTasks,
    )


_RLGP_FDIFF = _ensemble(
    weights.rlgp_fdiff,
    "`rlgp`, each pair by how far the predicted difference exceeds the true one (Manolache, equations 16 and"
    " 17, which coincide)",
)

SURROGATES: dict[str, SurrogateMethod] = {
    "pmf": SurrogateMethod(
        lambda given: LearnedSurrogate(given.prior, given.metafeatures),
        "the posterior of probabilistic matrix factorization (Fusi et al. 2018, extended)",
        learner="pmf",
    ),
    "gbqr": SurrogateMethod(
        lambda given: QuantileSurrogate(given.known, given.metafeatures),
        "the 90 % quantile by gradient boosting (van Hoof's thesis, section 5.3)",
    ),
    "quantile-triple": SurrogateMethod(
        lambda given: QuantileTripleSurrogate(given.known, given.metafeatures),
        "the 16, 50 and 84 % quantiles by gradient boosting (thesis, equation 5.1)",
    ),
    "hyperboost": SurrogateMethod(
        lambda given: HyperboostSurrogate(given.known, given.metafeatures),
        "the 90 % quantile plus the distance to the trials (van Hoof and Vanschoren, equations 7 and 8)",
    ),
    "forest": SurrogateMethod(
        lambda _: ForestSurrogate(),
        "SMAC's random forest with the uncertainty of leaves (thesis, equations 3.1 and 3.2)",
    ),
    "forest-of-trees": SurrogateMethod(
        lambda _: ForestSurrogate(of_leaves=False),
        "the same forest with only the uncertainty between trees (thesis, section 3.2.1)",
    ),
    "extra-trees": SurrogateMethod(
        lambda _: ExtraTreesSurrogate(), "extremely randomized trees (thesis, section 4.1.2)"
    ),
    "gp": SurrogateMethod(
        lambda _: GaussianProcessSurrogate(), "a Gaussian process with a Matern 5/2 kernel"
    ),
    "rgpe": _ensemble(
        weights.rgpe,
        "Gaussian processes of the trials and of each other dataset, weighted by how rarely another one ranks"
        " the trials better (Manolache, equation 9)",
    ),
    "rgpe-undiluted": _ensemble(
        weights.rgpe_undiluted,
        "`rgpe` without datasets that rank worse than the trials themselves (Feurer et al. 2018)",
    ),
    "rlgp": _ensemble(
        weights.rlgp,
        "the same ensemble weighted by pairs in the right order (Manolache, equations 13 and 14)",
    ),
    "rlgp-diff": _ensemble(
        weights.rlgp_diff, "`rlgp`, each pair by its predicted difference (Manolache, equation 15)"
    ),
    "rlgp-fdiff": _RLGP_FDIFF,
    "rlgp-mudiff": _RLGP_FDIFF,
    "sim": _ensemble(
        weights.sim,
        "the same ensemble weighted by pairs that a model orders as the trials' own does (Manolache,"
        " equation 18)",
    ),
    "tst-r": SurrogateMethod(
        lambda given: TwoStageSurrogate(_tasks(given), given.metafeatures),
        "the two-stage transfer surrogate (Wistuba et al. 2016)",
        transfer=PriorTasks,
    ),
    "rgpe-learned": SurrogateMethod(
        lambda given: EnsembleSurrogate(
            _tasks(given), given.metafeatures, weights.rgpe_undiluted, given.prior
        ),
        "`rgpe-undiluted` with the meta-learner's prior as an additional member",
        learner="functional-pca",
        transfer=PriorTasks,
    ),
}
