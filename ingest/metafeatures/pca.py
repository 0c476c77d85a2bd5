"""Group `pca`: the shape of the sample along its principal components.

Notation
    Z         (m, q) encoded columns, standardized
    lambda    variances along the components, the largest first
"""

import numpy as np

from ingest.metafeatures.columns import skewness_and_kurtosis
from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.values import Values
from warehouse.support.eigen import symmetric_eigen
from warehouse.vocabulary.qualities import GROUPS

_SHARE = 0.95  # of the variance, as the quality's definition says


def pca(prepared: Prepared) -> Values:
    """Principal components of the standardized columns, indicators of categories included."""
    X = prepared.sample.encoded.astype(np.float64)
    if not X.shape[1] or len(X) < 2:
        return dict.fromkeys(GROUPS["pca"], "fewer than two rows" if len(X) < 2 else "no attribute varies")
    std = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(std > 0, std, 1)
    # The smaller of the two Gram matrices has the same nonzero eigenvalues.
    is_wide = Z.shape[1] > Z.shape[0]
    variances, vectors = symmetric_eigen(Z @ Z.T if is_wide else Z.T @ Z)
    first = vectors[:, -1] if is_wide else Z @ vectors[:, -1]
    shares = np.maximum(variances[::-1], 0)
    shares /= shares.sum()
    needed = int(np.searchsorted(np.cumsum(shares), _SHARE - 1e-12)) + 1
    skewness, kurtosis = skewness_and_kurtosis(first)
    few = "there are too few rows"
    return {
        "PCAComponentsFor95Percent": needed / Z.shape[1],
        "PCASkewnessFirstComponent": abs(skewness) if len(Z) > 2 else few,
        "PCAKurtosisFirstComponent": kurtosis if len(Z) > 3 else few,
        "PCAVarianceOfFirstComponent": float(shares[0]),
    }
