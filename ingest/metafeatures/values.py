"""Values of meta-features: a number for each name, or the reason why it is missing."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Values = dict[str, float | str]

_QUARTILES = {"Quartile1": 0.25, "Quartile2": 0.5, "Quartile3": 0.75}  # by definition


def summaries(values: npt.NDArray[np.floating], what: str, reason: str) -> Values:
    """Minimum, quartiles, mean and maximum of `values`, (k,), ignoring NaN.

    Quartiles are OpenML's (Apache Commons Math): the value at position p (k + 1) in sorted order.

    Args:
        what: second half of the names, for example `MeansOfNumericAtts`.
        reason: the reason to return if all are missing.
    """
    present = values[~np.isnan(values)]
    names = ["Min", *_QUARTILES, "Mean", "Max"]
    if not present.size:
        return dict.fromkeys((f"{name}{what}" for name in names), reason)
    quartiles = np.quantile(present, list(_QUARTILES.values()), method="weibull")
    numbers = [present.min(), *quartiles, present.mean(), present.max()]
    return {f"{name}{what}": float(number) for name, number in zip(names, numbers, strict=True)}


def extent(values: npt.NDArray[np.number], names: Sequence[str], reason: str) -> Values:
    """Minimum, maximum, mean and sample standard deviation of `values`, (k,), under these four names.

    The deviation of a single value is 0, as at OpenML. Without values, all have this reason.
    """
    if not len(values):
        return dict.fromkeys(names, reason)
    deviation = values.std(ddof=1) if len(values) > 1 else 0.0
    numbers = (values.min(), values.max(), values.mean(), deviation)
    return {name: float(number) for name, number in zip(names, numbers, strict=True)}
