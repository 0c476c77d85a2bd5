"""OpenML's published qualities with one unit and one rule each, comparable with computed ones.

OpenML's engine changed over the years, but old values stayed. Shares are fractions for some datasets and
percent for others (`MinorityClassPercentage` is often a fraction where all others are percent); a negative
number means "does not exist"; old statistics of nominal features include the target; and for a time the
moments of numeric features were those of several datasets at once. A numeric target counts as a numeric
feature, so its unit affects the moments and its values the cardinalities; `AutoCorrelation` is 1 - (first -
last) / (rows - 1) of its values.
"""

import pandas as pd

from warehouse.vocabulary.qualities import GROUPS, QUALITIES
from warehouse.vocabulary.task_types import REGRESSION

# Share -> (part, whole); all shares become percent.
_SHARES = {
    "MajorityClassPercentage": ("MajorityClassSize", "NumberOfInstances"),
    "MinorityClassPercentage": ("MinorityClassSize", "NumberOfInstances"),
    "PercentageOfBinaryFeatures": ("NumberOfBinaryFeatures", "NumberOfFeatures"),
    "PercentageOfNumericFeatures": ("NumberOfNumericFeatures", "NumberOfFeatures"),
    "PercentageOfSymbolicFeatures": ("NumberOfSymbolicFeatures", "NumberOfFeatures"),
    "PercentageOfInstancesWithMissingValues": ("NumberOfInstancesWithMissingValues", "NumberOfInstances"),
}
_OF_NOMINAL = "NominalAttDistinctValues"
_NOT_OF_NUMERIC_TARGETS = {
    *GROUPS["statistical"],
    *(name for name in GROUPS["cardinality"] if name.endswith("OfNumericAttributes")),
    *(quality.name for quality in QUALITIES if not quality.is_defined_for(REGRESSION)),
}
"""Qualities whose published values depend on the unit of a numeric target, or do not exist for one."""
# Regular expression for the names of qualities that are counts, spreads, entropies, shares or errors:
# everything but means, skewness, kurtosis and kappas.
_NEVER_NEGATIVE = (
    "^NumberOf|^PercentageOf|^(?:Majority|Minority)Class|^Dimensionality$|^DefaultAccuracy$|^AutoCorrelation$"
    "|^EquivalentNumberOfAtts$|^MeanNoiseToSignalRatio$|^Cardinality|CardinalityOf|DistinctValues"
    "|StdDevOf|Entropy|MutualInformation|ErrRate$|AUC$"
)


def harmonized(published: pd.DataFrame) -> pd.DataFrame:
    """Published qualities, datasets x qualities, as computed by our extractor; NaN where undefined.

    Negative values of nonnegative qualities become NaN. Shares are computed again from the published counts,
    in percent. Statistics of nominal features become NaN if the target is the only symbolic column; so do
    moments without numeric columns or with values of other datasets; so do, for numeric targets, qualities of
    classes and those that include the target as an attribute.
    """
    never_negative = published.columns.str.contains(_NEVER_NEGATIVE)
    is_rounding = published.lt(0) & published.gt(-1e-9)
    values = published.mask(is_rounding, 0.0).mask(published.lt(0) & ~is_rounding & never_negative)
    for share, (part, whole) in _SHARES.items():
        if {share, part, whole} <= set(values):
            _replace(values, share, 100 * values[part] / values[whole])
    if {"PercentageOfMissingValues", "NumberOfMissingValues", "NumberOfInstances", "NumberOfFeatures"} <= set(
        values
    ):
        cells = values["NumberOfInstances"] * values["NumberOfFeatures"]
        _replace(values, "PercentageOfMissingValues", 100 * values["NumberOfMissingValues"] / cells)
    if "NumberOfSymbolicFeatures" in values:
        of_nominal = values.columns[values.columns.str.endswith(_OF_NOMINAL)]
        values.loc[values["NumberOfSymbolicFeatures"] == 1, of_nominal] = float("nan")
    moments = [name for name in GROUPS["statistical"] if name in values]
    values.loc[carried_over(published), moments] = float("nan")
    if "NumberOfNumericFeatures" in values:
        values.loc[values["NumberOfNumericFeatures"] == 0, moments] = float("nan")
    if "NumberOfClasses" in values:
        others = values.columns.intersection(list(_NOT_OF_NUMERIC_TARGETS))
        values.loc[values["NumberOfClasses"] == 0, others] = float("nan")
    return values


def carried_over(published: pd.DataFrame) -> pd.Series:
    """(datasets,) whether a dataset's moments include those of another dataset.

    For a time OpenML's engine kept the attributes of previous datasets. This shows if an extreme is exactly
    equal for datasets with different numbers of rows.
    """
    if "NumberOfInstances" not in published:
        return pd.Series(False, index=published.index)
    rows = published["NumberOfInstances"]
    extremes = [
        name for name in GROUPS["statistical"] if name in published and name.startswith(("Min", "Max"))
    ]
    found = pd.Series(False, index=published.index)
    for name in extremes:
        values = published[name].mask(published[name].isin([0.0, -1.0]))
        found |= values.notna() & (rows.groupby(values).transform("nunique") > 1)
    return found


def _replace(values: pd.DataFrame, name: str, computed: pd.Series) -> None:
    """Replace values by `computed` where it exists, and keep the published value elsewhere."""
    usable = computed.notna() & values[name].notna()
    values[name] = values[name].mask(usable, computed)
