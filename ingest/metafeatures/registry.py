"""Every meta-feature that we compute: its name, group, cost, definition and source.

Names are OpenML's. Where OpenML publishes one name in several units or by several rules (its engine
changed over the years), the definition here says which one is ours; `warehouse.published` brings
published values to it.
"""

from dataclasses import dataclass
from typing import Literal

from warehouse.qualities import STATISTICAL

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


def _counted(name: str, definition: str) -> MetaFeature:
    if name in STATISTICAL:
        return MetaFeature(name, "statistical", "counting", definition, _TABLE)
    return MetaFeature(name, "simple", "counting", definition, _ENGINE)


# "Feature" includes the target, as OpenML counts; "nominal feature" and "cell" do not.
METAFEATURES: tuple[MetaFeature, ...] = (
    _counted("NumberOfInstances", "rows with a target value"),
    _counted("NumberOfFeatures", "columns, the target included"),
    _counted("NumberOfClasses", "distinct values that the target takes"),
    _counted("NumberOfMissingValues", "missing cells"),
    _counted("NumberOfInstancesWithMissingValues", "rows with at least one missing cell"),
    _counted("NumberOfNumericFeatures", "numeric columns, a numeric target included"),
    _counted("NumberOfSymbolicFeatures", "categorical and boolean columns, a target of classes included"),
    _counted("Dimensionality", "NumberOfFeatures / NumberOfInstances"),
    _counted("MajorityClassPercentage", "rows of the most frequent class, in percent"),
    _counted("MinorityClassPercentage", "rows of the least frequent class, in percent"),
    _counted(
        "MaxNominalAttDistinctValues",
        "most distinct values that a nominal feature takes; identifiers left out",
    ),
    _counted("MinNominalAttDistinctValues", "fewest distinct values that a nominal feature takes"),
    _counted("MeanNominalAttDistinctValues", "mean number of distinct values of the nominal features"),
    _counted(
        "StdvNominalAttDistinctValues",
        "sample standard deviation of the nominal features' numbers of distinct values; 0 for a single one",
    ),
    _counted("NumberOfBinaryFeatures", "symbolic columns with two distinct values, the target included"),
    _counted("PercentageOfBinaryFeatures", "NumberOfBinaryFeatures / NumberOfFeatures, in percent"),
    _counted("PercentageOfNumericFeatures", "NumberOfNumericFeatures / NumberOfFeatures, in percent"),
    _counted("PercentageOfSymbolicFeatures", "NumberOfSymbolicFeatures / NumberOfFeatures, in percent"),
    _counted(
        "PercentageOfMissingValues", "missing cells / (NumberOfInstances * NumberOfFeatures), in percent"
    ),
    _counted("PercentageOfInstancesWithMissingValues", "rows with a missing cell, in percent"),
    _counted("MajorityClassSize", "rows of the most frequent class"),
    _counted("MinorityClassSize", "rows of the least frequent class"),
    _counted("ClassEntropy", "entropy of the class distribution, in bits"),
    _counted(
        "AutoCorrelation",
        "share of rows, the first left out, with the class of the row before; depends on the order of rows",
    ),
)


def metafeature_names(group: Group | None = None) -> list[str]:
    """Names in registry order, of one group or of all."""
    return [feature.name for feature in METAFEATURES if group in (None, feature.group)]
