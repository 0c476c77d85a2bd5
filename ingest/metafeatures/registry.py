"""Every meta-feature that we compute: its name, group, cost, definition and source.

Names are OpenML's. Where OpenML publishes one name in several units or by several rules (its engine
changed over the years), the definition here says which one is ours; `warehouse.published` brings
published values to it.
"""

from dataclasses import dataclass
from typing import Literal

EXTRACTOR = "headstart-1"  # version of the definitions; changes whenever a value may change

Group = Literal["statistical", "simple"]
Cost = Literal["counting"]

_ENGINE = "OpenML EvaluationEngine"
_TABLE = "OpenML EvaluationEngine; our reading of the statistical ones in van Hoof's thesis, Table 6.3"


@dataclass(frozen=True)
class MetaFeature:
    """One meta-feature. `cost` says what it takes: counting = one pass over the cells."""

    name: str
    group: Group
    cost: Cost
    definition: str
    source: str


def _statistical(name: str, definition: str) -> MetaFeature:
    return MetaFeature(name, "statistical", "counting", definition, _TABLE)


def _simple(name: str, definition: str) -> MetaFeature:
    return MetaFeature(name, "simple", "counting", definition, _ENGINE)


# "Feature" includes the target, as OpenML counts; "nominal feature" and "cell" do not.
METAFEATURES: tuple[MetaFeature, ...] = (
    _statistical("NumberOfInstances", "rows with a target value"),
    _statistical("NumberOfFeatures", "columns, the target included"),
    _statistical("NumberOfClasses", "distinct values that the target takes"),
    _statistical("NumberOfMissingValues", "missing cells"),
    _statistical("NumberOfInstancesWithMissingValues", "rows with at least one missing cell"),
    _statistical("NumberOfNumericFeatures", "numeric columns, a numeric target included"),
    _statistical("NumberOfSymbolicFeatures", "categorical and boolean columns, a target of classes included"),
    _statistical("Dimensionality", "NumberOfFeatures / NumberOfInstances"),
    _statistical("MajorityClassPercentage", "rows of the most frequent class, in percent"),
    _statistical("MinorityClassPercentage", "rows of the least frequent class, in percent"),
    _statistical(
        "MaxNominalAttDistinctValues",
        "most distinct values that a nominal feature takes; identifiers left out",
    ),
    _simple("MinNominalAttDistinctValues", "fewest distinct values that a nominal feature takes"),
    _simple("MeanNominalAttDistinctValues", "mean number of distinct values of the nominal features"),
    _simple(
        "StdvNominalAttDistinctValues",
        "sample standard deviation of the nominal features' numbers of distinct values; 0 for a single one",
    ),
    _simple("NumberOfBinaryFeatures", "symbolic columns with two distinct values, the target included"),
    _simple("PercentageOfBinaryFeatures", "NumberOfBinaryFeatures / NumberOfFeatures, in percent"),
    _simple("PercentageOfNumericFeatures", "NumberOfNumericFeatures / NumberOfFeatures, in percent"),
    _simple("PercentageOfSymbolicFeatures", "NumberOfSymbolicFeatures / NumberOfFeatures, in percent"),
    _simple(
        "PercentageOfMissingValues", "missing cells / (NumberOfInstances * NumberOfFeatures), in percent"
    ),
    _simple("PercentageOfInstancesWithMissingValues", "rows with a missing cell, in percent"),
    _simple("MajorityClassSize", "rows of the most frequent class"),
    _simple("MinorityClassSize", "rows of the least frequent class"),
    _simple("ClassEntropy", "entropy of the class distribution, in bits"),
    _simple(
        "AutoCorrelation",
        "share of rows, the first left out, with the class of the row before; depends on the order of rows",
    ),
)


def metafeature_names(group: Group | None = None) -> list[str]:
    """Names in registry order, of one group or of all."""
    return [feature.name for feature in METAFEATURES if group in (None, feature.group)]
