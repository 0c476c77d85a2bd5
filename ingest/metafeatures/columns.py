"""Groups `cardinality`, `statistical` and `information`: statistics of attributes, summarized; and `pca`.

Notation
    x        (n,) values of an attribute, missing ones left out; n may differ between attributes
    mean     of x; d = x - mean; S_k = sum of d^k
    std      sqrt(S_2 / (n - 1))
    G1       sample skewness sqrt(n (n - 1)) / (n - 2) * g1, with g1 = (S_3 / n) / (S_2 / n)^1.5
    G2       sample excess kurtosis (n - 1) / ((n - 2) (n - 3)) * ((n + 1) g2 + 6), with
             g2 = (S_4 / n) / (S_2 / n)^2 - 3        (Joanes and Gill 1998)
    H        entropy in bits
    Z        (m, q) encoded columns of the sample, standardized
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.values import Values, extent, summaries
from warehouse.support.arrays import Floats, Positions
from warehouse.support.eigen import symmetric_eigen
from warehouse.support.text import counted
from warehouse.vocabulary.qualities import GROUPS

_NO_NUMERIC = "no attribute is numeric"
_NO_NOMINAL = "no attribute is nominal"
_TOO_FEW = "no numeric attribute varies over enough rows"
_SHARE = 0.95  # of the variance, as the definition of `PCAComponentsFor95Percent` says


def cardinality(prepared: Prepared) -> Values:
    """Numbers of distinct values of the nominal features and the numeric attributes."""
    nominal = np.array(
        [len(np.unique(codes[codes >= 0])) for codes in prepared.nominal_codes()]
        + [prepared.dataset.n_classes] * prepared.has_classes,
        dtype=np.float64,
    )
    with ThreadPoolExecutor(2) as pool:  # sorting releases the lock; two leave room for others
        numeric = np.concatenate([np.empty(0), *pool.map(_distinct, prepared.numeric_chunks())])
    of_target = [] if prepared.has_classes else [len(np.unique(prepared.t))]  # classes are counted above
    largest = np.sort(np.concatenate([nominal, numeric, of_target]))[::-1]
    products = {
        f"CardinalityAt{name}": float(np.prod(largest[:count]))
        if len(largest) >= count
        else f"there are fewer than {counted(count, 'features')}"
        for count, name in ((2, "Two"), (3, "Three"), (4, "Four"))
    }
    return (
        _of_cardinalities(nominal, "Nominal", "no feature is nominal")
        | _of_cardinalities(numeric, "Numeric", _NO_NUMERIC)
        | products
    )


def statistical(prepared: Prepared) -> Values:
    """Moments of the numeric attributes."""
    chunks = [_moments(chunk) for chunk in prepared.numeric_chunks()]
    mean, std, skewness, kurtosis = np.hstack(chunks) if chunks else np.empty((4, 0))
    reason = _TOO_FEW if len(std) else _NO_NUMERIC
    return (
        summaries(mean, "MeansOfNumericAtts", _NO_NUMERIC)
        | summaries(std, "StdDevOfNumericAtts", reason)
        | summaries(skewness, "SkewnessOfNumericAtts", reason)
        | summaries(kurtosis, "KurtosisOfNumericAtts", reason)
    )


def information(prepared: Prepared) -> Values:
    """Entropy of the nominal attributes and their information about the class."""
    if not prepared.nominal:
        return dict.fromkeys(GROUPS["information"], _NO_NOMINAL)
    tables = [
        _contingency(codes, prepared.y if prepared.has_classes else np.zeros_like(codes))
        for codes in prepared.nominal_codes()
    ]
    entropies = np.array([entropy(table.sum(axis=1)) for table in tables])
    values = summaries(entropies, "AttributeEntropy", "all nominal attributes are empty")
    if not prepared.has_classes:
        return values
    shared = np.array(
        [
            max(own + entropy(table.sum(axis=0)) - entropy(table.ravel()), 0.0)
            for own, table in zip(entropies, tables, strict=True)
        ]
    )
    values |= summaries(shared, "MutualInformation", "all nominal attributes are empty")
    mean = float(np.nanmean(shared)) if np.isfinite(shared).any() else 0.0
    if mean < 1e-12:  # rounding alone gives about 1e-16
        reason = "the nominal attributes tell nothing about the class"
        return values | {"EquivalentNumberOfAtts": reason, "MeanNoiseToSignalRatio": reason}
    class_entropy = entropy(np.bincount(prepared.y).astype(float))
    return values | {
        "EquivalentNumberOfAtts": class_entropy / mean,
        "MeanNoiseToSignalRatio": (float(np.nanmean(entropies)) - mean) / mean,
    }


def skewness_and_kurtosis(x: Floats) -> tuple[float, float]:
    """G1 and G2 of `x`, (n,) without missing values; NaN where undefined."""
    _, _, skewness, kurtosis = _moments(x[None, :].copy())
    return float(skewness[0]), float(kurtosis[0])


def entropy(counts: npt.NDArray[np.number]) -> float:
    """Entropy in bits; NaN if all counts are 0."""
    total = counts.sum()
    if not total:
        return float("nan")
    shares = counts[counts > 0] / total
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _moments(chunk: Floats) -> Floats:
    """(4, k) mean, std, G1, G2 of the rows of `chunk`, (k, n) with NaN where missing; it is overwritten."""
    missing = np.isnan(chunk)
    n = (chunk.shape[1] - missing.sum(axis=1)).astype(np.float64)
    chunk[missing] = 0.0
    # Scaled to at most 1, so that no power overflows.
    scale = np.maximum(np.abs(chunk).max(axis=1, initial=0.0), np.finfo(float).tiny)
    chunk /= scale[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = chunk.sum(axis=1) / n
        chunk -= mean[:, None]
        chunk[missing] = 0.0
        squares = chunk * chunk
        s2 = squares.sum(axis=1)
        # Ignore the spread that only comes from rounding of the mean.
        varies = s2 > n * (1e-12 * np.maximum(np.abs(mean), 1e-290)) ** 2
        s2 = np.where(varies, s2, 0.0)
        s3 = np.einsum("ij,ij->i", squares, chunk)
        s4 = np.einsum("ij,ij->i", squares, squares)
        std = np.sqrt(s2 / (n - 1))
        g1 = (s3 / n) / (s2 / n) ** 1.5
        g2 = (s4 / n) / (s2 / n) ** 2 - 3
        skewness = np.sqrt(n * (n - 1)) / (n - 2) * g1
        kurtosis = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * g2 + 6)
    return np.vstack(
        [
            np.where(n > 0, mean * scale, np.nan),
            np.where(n > 1, std * scale, np.nan),
            np.where((n > 2) & varies, skewness, np.nan),
            np.where((n > 3) & varies, kurtosis, np.nan),
        ]
    )


def _distinct(chunk: Floats) -> Floats:
    """(k,) numbers of distinct values in the rows of `chunk`, (k, n), without NaN; it is sorted in place."""
    chunk.sort(axis=1)  # NaN comes last
    is_new = chunk[:, 1:] > chunk[:, :-1]
    count = is_new.sum(axis=1) + ~np.isnan(chunk[:, 0])
    counts: Floats = count.astype(np.float64)
    return counts


def _of_cardinalities(counts: Floats, kind: str, reason: str) -> Values:
    names = [f"{statistic}CardinalityOf{kind}Attributes" for statistic in ("Min", "Max", "Mean", "Stdev")]
    return extent(counts, names, reason)


def _contingency(codes: Positions, y: Positions) -> Floats:
    """(categories, classes) counts of rows; rows without a value of the attribute are left out."""
    present = codes >= 0
    classes = int(y.max()) + 1
    cells = codes[present] * classes + y[present]
    rows = int(codes.max(initial=-1)) + 1
    return np.bincount(cells, minlength=rows * classes).reshape(rows, classes).astype(np.float64)


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
