"""OpenML's published qualities in the units and by the rules of our registry.

OpenML's engine changed over the years and old values stayed: shares are fractions for some datasets and
percent for others (`MinorityClassPercentage` is often a fraction where all others are percent), -1 stands
for "does not exist", and old statistics of nominal features count the target as one.
"""

import math
from collections.abc import Mapping

# Share -> (part, whole): all are in percent here.
_SHARES = {
    "MajorityClassPercentage": ("MajorityClassSize", "NumberOfInstances"),
    "MinorityClassPercentage": ("MinorityClassSize", "NumberOfInstances"),
    "PercentageOfBinaryFeatures": ("NumberOfBinaryFeatures", "NumberOfFeatures"),
    "PercentageOfNumericFeatures": ("NumberOfNumericFeatures", "NumberOfFeatures"),
    "PercentageOfSymbolicFeatures": ("NumberOfSymbolicFeatures", "NumberOfFeatures"),
    "PercentageOfInstancesWithMissingValues": ("NumberOfInstancesWithMissingValues", "NumberOfInstances"),
}
_OF_NOMINAL = "NominalAttDistinctValues"
# Statistics that cannot be negative: -1 there says that the value does not exist.
_NEVER_NEGATIVE = (_OF_NOMINAL, "AttributeEntropy", "MutualInformation", "EquivalentNumberOfAtts", "NumberOf")


def harmonized(published: Mapping[str, float]) -> dict[str, float]:
    """Published qualities of one dataset as our extractor would write them; NaN where undefined.

    Shares are computed again from the counts published beside them, in percent. Statistics of nominal
    features are NaN where the target is the only symbolic column.
    """
    values = {name: _existing(name, value) for name, value in published.items()}
    for share, (part, whole) in _SHARES.items():
        if share in values and values.get(whole, math.nan) > 0 and part in values:
            values[share] = 100 * values[part] / values[whole]
    cells = values.get("NumberOfInstances", math.nan) * values.get("NumberOfFeatures", math.nan)
    if "PercentageOfMissingValues" in values and cells > 0 and "NumberOfMissingValues" in values:
        values["PercentageOfMissingValues"] = 100 * values["NumberOfMissingValues"] / cells
    if values.get("NumberOfSymbolicFeatures") == 1:
        values |= {name: math.nan for name in values if name.endswith(_OF_NOMINAL)}
    return values


def _existing(name: str, value: float | None) -> float:
    if value is None or (value < 0 and any(part in name for part in _NEVER_NEGATIVE)):
        return math.nan
    return float(value)
