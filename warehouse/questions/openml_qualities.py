"""OpenML's published qualities in one unit and by one rule, so that they stand beside computed ones.

OpenML's engine changed over the years and old values stayed: shares are fractions for some datasets and
percent for others (`MinorityClassPercentage` is often a fraction where all others are percent), a negative
number stands for "does not exist", old statistics of nominal features count the target as one, and for a time
the moments of numeric features were those of several datasets at once. A numeric target counts as a numeric
feature, so its unit is in the moments and its values in the cardinalities; `AutoCorrelation` is
1 - (first - last) / (rows - 1) of its values.
"""

import pandas as pd

from warehouse.vocabulary.qualities import GROUPS, QUALITIES
from warehouse.vocabulary.task_types import REGRESSION

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
_NOT_OF_NUMERIC_TARGETS = {
    *GROUPS["statistical"],
    *(name for name in GROUPS["cardinality"] if name.endswith("OfNumericAttributes")),
    *(quality.name for quality in QUALITIES if not quality.is_defined_for(REGRESSION)),
}
"""Qualities whose published values, where the target is numeric, depend on its unit or do not exist."""

# Regular expression for the names of qualities that count, measure a spread, an entropy, a share or an
# error: everything but means, skewness, kurtosis and kappas.
_NEVER_NEGATIVE = (
    "^NumberOf|^PercentageOf|^(?:Majority|Minority)Class|^Dimensionality$|^DefaultAccuracy$|^AutoCorrelation$"
    "|^EquivalentNumberOfAtts$|^MeanNoiseToSignalRatio$|^Cardinality|CardinalityOf|DistinctValues"
    "|StdDevOf|Entropy|MutualInformation|ErrRate$|AUC$"
)


def harmonized(published: pd.DataFrame) -> pd.DataFrame:
    """Published qualities, datasets x qualities, as our extractor would write them; NaN where undefined.

    A negative value of a quality that can't be negative does not exist. Shares are computed again from the
    counts published beside them, in percent. Statistics of nominal features do not exist where the target is
    the only symbolic column, moments where no column is numeric or where they are of other datasets, too.
    Where the target is numeric, neither qualities of classes exist nor those that count it as an attribute.
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
    """(datasets,) whether a dataset's moments repeat those of another dataset.

    OpenML's engine for a time kept the attributes of the datasets that it had described before. It shows
    where an extreme is equal, to the last digit, for datasets with different numbers of rows.
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
    """Put `computed` where it exists; elsewhere the published value is all there is."""
    usable = computed.notna() & values[name].notna()
    values[name] = values[name].mask(usable, computed)
