"""Registry of meta-features (OpenML: qualities): name, group, cost, definition and source.

The only registry of meta-features. `ingest.metafeatures` computes them by group; learners choose by group or
name. Names are OpenML's if OpenML has the quality, computed by the rules of its engine, except where
`ingest/metafeatures/README.md` gives reasons not to. An undefined value is missing, never 0.

In the definitions, a *feature* is a column, including the target, as at OpenML; an *attribute* is a column
other than the target. Statistics over attributes ignore identifiers and missing cells.

Qualities of a numeric target do not change when it is shifted, or multiplied by a positive number.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from warehouse.support.errors import BadOption
from warehouse.support.text import comma_separated
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

Group = Literal[
    "simple",
    "class",
    "target",
    "cardinality",
    "statistical",
    "information",
    "pca",
    "target_correlations",
    "model",
    "landmarkers",
    "target_landmarkers",
    "relative",
]
Cost = Literal["pass", "sort", "sample", "fits"]


@dataclass(frozen=True)
class Quality:
    """One meta-feature.

    `cost` is the effort: pass = one pass over all cells; sort = sorting every attribute; sample = linear
    algebra or one tree on a sample of the rows; fits = cross-validated learners on that sample.
    """

    name: str
    group: Group
    cost: Cost
    definition: str
    source: str
    depends_on_order: bool
    """Whether it depends on the order of the rows."""
    task_type: TaskType | None
    """Task type for which it is defined; None = any."""

    def is_defined_for(self, task_type: TaskType) -> bool:
        """Whether it is defined for datasets of this task type."""
        return self.task_type is None or self.task_type == task_type


_ENGINE = "OpenML EvaluationEngine"
_OWN = "Headstart"
_ROWS, _ALL = "NumberOfInstances", "NumberOfFeatures"


_SIMPLE = {
    _ROWS: "rows with a target value",
    _ALL: "columns, the target included",
    "NumberOfMissingValues": "missing cells",
    "NumberOfInstancesWithMissingValues": "rows with at least one missing cell",
    "NumberOfNumericFeatures": "numeric columns, a numeric target included",
    "NumberOfSymbolicFeatures": "categorical and boolean columns, a target of classes included",
    "Dimensionality": f"{_ALL} / {_ROWS}",
    "MaxNominalAttDistinctValues": "most distinct values that a nominal attribute has or declares",
    "MinNominalAttDistinctValues": "fewest distinct values that a nominal attribute has or declares",
    "MeanNominalAttDistinctValues": "mean number of distinct values of the nominal attributes",
    "StdvNominalAttDistinctValues": (
        "sample standard deviation of the nominal attributes' numbers of values; 0 for one attribute"
    ),
    "NumberOfBinaryFeatures": "symbolic columns with two distinct values, the target included",
    "PercentageOfBinaryFeatures": f"NumberOfBinaryFeatures / {_ALL}, in percent",
    "PercentageOfNumericFeatures": f"NumberOfNumericFeatures / {_ALL}, in percent",
    "PercentageOfSymbolicFeatures": f"NumberOfSymbolicFeatures / {_ALL}, in percent",
    "PercentageOfMissingValues": f"missing cells / ({_ROWS} * {_ALL}), in percent",
    "PercentageOfInstancesWithMissingValues": "rows with a missing cell, in percent",
}
_CLASSES = {"NumberOfClasses": "distinct values that the target takes; 0 for a numeric target"}
_CLASS = {
    "MajorityClassSize": "rows of the most frequent class",
    "MinorityClassSize": "rows of the least frequent class",
    "MajorityClassPercentage": "rows of the most frequent class, in percent",
    "MinorityClassPercentage": "rows of the least frequent class, in percent",
    "DefaultAccuracy": "share of the most frequent class: the accuracy of always predicting it",
    "ClassEntropy": "entropy of the class distribution, in bits",
    "AutoCorrelation": "share of rows, the first left out, with the class of the row before",
}
_LOG = "of log1p(d / u), where d is the target less its lowest value and u the median of the d above 0"
_TARGET = {
    "TargetSkewness": "sample skewness G1 of the target",
    "TargetKurtosis": "sample excess kurtosis G2 of the target",
    "TargetLogSkewness": f"sample skewness G1 {_LOG}",
    "TargetLogKurtosis": f"sample excess kurtosis G2 {_LOG}",
    "TargetShareOfMostFrequent": "share of the rows with the target's most frequent value",
    "TargetShareOfLowest": "share of the rows with the target's lowest value, such as 0 of a count",
    "TargetDistinctValuesPerRow": "distinct values of the target / rows",
    "TargetIsWhole": (
        "1 where all differences between values of the target are multiples of one step, as those between"
        " whole numbers are, and at most 10,000 steps lie between the lowest and the highest; else 0"
    ),
    "TargetShareOfOutliers": "share of the rows more than 1.5 interquartile ranges beyond a quartile",
    "TargetShareOfFarOutliers": "share of the rows more than 3 interquartile ranges beyond a quartile",
    "TargetEntropy": "entropy, in bits, of ten quantile bins, equal values in one bin",
}
_CARDINALITY = {
    f"{statistic}CardinalityOf{kind}Attributes": f"{word} distinct values that occur in {columns}"
    for kind, columns in {
        "Nominal": "a nominal feature (the target included)",
        "Numeric": "a numeric attribute",
    }.items()
    for statistic, word in {
        "Min": "fewest",
        "Max": "most",
        "Mean": "mean number of",
        "Stdev": "sample standard deviation of the numbers of",
    }.items()
} | {
    f"CardinalityAt{count}": (
        f"product of the {count.lower()} largest numbers of distinct values among all features"
    )
    for count in ("Two", "Three", "Four")
}
_SUMMARIES = {
    "Min": "smallest",
    "Quartile1": "first quartile of the",
    "Quartile2": "median",
    "Mean": "mean",
    "Quartile3": "third quartile of the",
    "Max": "largest",
}


_STATISTICAL = {
    f"{summary}{what}OfNumericAtts": f"{word} {words} of the numeric attributes"
    for what, words in {
        "Means": "mean",
        "StdDev": "sample standard deviation",
        "Skewness": "sample skewness G1",
        "Kurtosis": "sample excess kurtosis G2",
    }.items()
    for summary, word in _SUMMARIES.items()
}
_ENTROPIES = {
    f"{summary}AttributeEntropy": f"{word} entropy, in bits, of the nominal attributes"
    for summary, word in _SUMMARIES.items()
}
_INFORMATION = {
    f"{summary}MutualInformation": (
        f"{word} mutual information, in bits, of the nominal attributes with the class"
    )
    for summary, word in _SUMMARIES.items()
} | {
    "EquivalentNumberOfAtts": (
        "ClassEntropy / MeanMutualInformation: how many such attributes it would take to tell the class"
    ),
    "MeanNoiseToSignalRatio": "(MeanAttributeEntropy - MeanMutualInformation) / MeanMutualInformation",
}
_PCA = {
    "PCAComponentsFor95Percent": (
        "principal components that explain 95 % of the variance of the standardized columns, over columns"
    ),
    "PCASkewnessFirstComponent": "sample skewness G1 of the first principal component, sign ignored",
    "PCAKurtosisFirstComponent": "sample excess kurtosis G2 of the rows' first principal component",
    "PCAVarianceOfFirstComponent": "share of the variance that the first principal component explains",
}
_TARGET_CORRELATIONS = {
    f"{statistic}Target{what}": f"{word} {words}"
    for what, words in {
        "Pearson": "size of Pearson's correlation of a numeric attribute with the target",
        "Spearman": "size of Spearman's rank correlation of a numeric attribute with the target",
        "CorrelationRatio": (
            "correlation ratio of a nominal attribute with the target: square root of the share of variance"
            " between categories, adjusted for their number (Kelley's epsilon squared)"
        ),
    }.items()
    for statistic, word in {"Max": "largest", "Mean": "mean"}.items()
}
_MODEL = {
    "TreeLeavesPerClass": "leaves of a fully grown decision tree / classes",
    "TreeLeavesPerRow": "leaves of that tree / rows",
    "TreeDepth": "longest branch of that tree",
    "MeanTreeBranchLength": "mean of: steps from the tree's root to a leaf",
    "StdevTreeBranchLength": "population standard deviation of: steps from the tree's root to a leaf",
    "MaxTreeAttributeUse": "largest of: splits of the tree on an attribute / splits",
    "StdevTreeAttributeUse": (
        "population standard deviation of: splits of the tree on an attribute / splits"
    ),
    "TreeAttributesUsed": "share of the attributes that the tree splits on",
}
LANDMARKER_LEARNERS = {
    "DecisionStump": "a tree of one split",
    "J48.00001.": "a tree pruned by C4.5's pessimistic error with confidence 0.00001",
    "J48.0001.": "a tree pruned by C4.5's pessimistic error with confidence 0.0001",
    "J48.001.": "a tree pruned by C4.5's pessimistic error with confidence 0.001",
    "NaiveBayes": "naive Bayes with Gaussian numbers and Laplace-smoothed categories",
    "kNN1N": "the nearest neighbour on columns scaled to [0, 1]",
    "REPTreeDepth1": "a tree of depth 1 with reduced-error pruning",
    "REPTreeDepth2": "a tree of depth 2 with reduced-error pruning",
    "REPTreeDepth3": "a tree of depth 3 with reduced-error pruning",
    "RandomTreeDepth1": "a random tree of depth 1",
    "RandomTreeDepth2": "a random tree of depth 2",
    "RandomTreeDepth3": "a random tree of depth 3",
    "CfsSubsetEval_DecisionStump": "DecisionStump on the attributes that CFS selects",
    "CfsSubsetEval_NaiveBayes": "NaiveBayes on the attributes that CFS selects",
    "CfsSubsetEval_kNN1N": "kNN1N on the attributes that CFS selects",
}
"""Landmarkers of van Hoof's thesis, Table B.1: Weka's learners there, scikit-learn's equivalents here."""

_SCORES = {
    "AUC": "area under the ROC curve, classes weighted by size,",
    "ErrRate": "error rate",
    "Kappa": "kappa",
}


_LANDMARKERS = {
    f"{learner}{score}": f"{name} in 5-fold cross-validation of {words}"
    for learner, words in LANDMARKER_LEARNERS.items()
    for score, name in _SCORES.items()
}
TARGET_LANDMARKERS = {
    "Ridge": "ridge regression (penalty 1) on standardized columns",
    "Stump": "a tree of one split",
    "TreeDepth3": "a tree of depth 3",
    "Tree": "a tree with five rows a leaf",
    "NearestNeighbour": "the nearest neighbour on columns scaled to [0, 1]",
}
"""Landmarkers for numeric targets."""

TARGET_LANDMARKER_PAIRS = {
    "RidgeAgainstTree": ("Ridge", "Tree"),
    "TreeAgainstDepth3": ("Tree", "TreeDepth3"),
    "TreeDepth3AgainstStump": ("TreeDepth3", "Stump"),
    "NearestNeighbourAgainstRidge": ("NearestNeighbour", "Ridge"),
    "NearestNeighbourAgainstTree": ("NearestNeighbour", "Tree"),
}
"""Differences of two landmarkers for numeric targets."""


_FOLDS = "in 5-fold cross-validation"
_LOG_RIDGE = "ridge regression on log1p of the target, as for TargetLogSkewness, over ridge regression"
_TARGET_LANDMARKERS = (
    {f"{learner}R2": f"R2, at least -1, {_FOLDS} of {words}" for learner, words in TARGET_LANDMARKERS.items()}
    | {pair: f"{better}R2 - {worse}R2" for pair, (better, worse) in TARGET_LANDMARKER_PAIRS.items()}
    | {
        "LogRidgeGain": f"gain in R2 {_FOLDS} of {_LOG_RIDGE}",
        "LogRidgeGainOfAbsoluteError": (
            f"reduction of the mean absolute error, over that of the training mean, {_FOLDS} by {_LOG_RIDGE}"
        ),
    }
)

RELATIVE_PAIRS = {
    "ForestLeaf1Against20": "a random forest with min_samples_leaf 1 over 20",
    "ForestFewAgainstManyFeatures": "a random forest with max_features 0.1 over 0.9",
    "ForestAgainstTree": "a random forest over a single tree",
    "BoostingDepth1Against6": "AdaBoost over trees of depth 1 over depth 6",
    "SVMGammaLowAgainstHigh": "an RBF support vector machine with gamma 0.1 over 10 times its default",
    "SVMLinearAgainstRBF": "a linear support vector machine over an RBF one",
    "KNNScaledAgainstUnscaled": "five nearest neighbours on standardized over original columns",
    "KNN1Against15": "the nearest neighbour over fifteen",
}


_RELATIVE = {
    name: f"gain in accuracy, for a numeric target in R2, of {words} (3 folds of at most 500 rows; fewer are"
    " dealt up to 4 times)"
    for name, words in RELATIVE_PAIRS.items()
}


def _qualities(
    group: Group,
    cost: Cost,
    definitions: Mapping[str, str],
    source: str,
    task_type: TaskType | None = None,
    on_order: Collection[str] = (),
) -> Iterator[Quality]:
    """The qualities of a group with the same source and task type."""
    for name, definition in definitions.items():
        yield Quality(name, group, cost, definition, source, name in on_order, task_type)


QUALITIES: tuple[Quality, ...] = (
    *_qualities("simple", "pass", _SIMPLE, _ENGINE),
    *_qualities("class", "pass", _CLASSES, _ENGINE),
    *_qualities("class", "pass", _CLASS, _ENGINE, CLASSIFICATION, on_order=("AutoCorrelation",)),
    *_qualities("target", "sort", _TARGET, _OWN, REGRESSION),
    *_qualities("cardinality", "sort", _CARDINALITY, _ENGINE),
    *_qualities("statistical", "pass", _STATISTICAL, _ENGINE),
    *_qualities("information", "pass", _ENTROPIES, _ENGINE),
    *_qualities("information", "pass", _INFORMATION, _ENGINE, CLASSIFICATION),
    *_qualities("pca", "sample", _PCA, "Feurer et al. 2015, supplement, Table 1"),
    *_qualities("target_correlations", "sample", _TARGET_CORRELATIONS, _OWN, REGRESSION),
    *_qualities("model", "sample", _MODEL, "Peng et al. 2002", CLASSIFICATION),
    *_qualities(
        "landmarkers", "fits", _LANDMARKERS, f"{_ENGINE}; van Hoof's thesis, Table B.1", CLASSIFICATION
    ),
    *_qualities("target_landmarkers", "fits", _TARGET_LANDMARKERS, _OWN, REGRESSION),
    *_qualities("relative", "fits", _RELATIVE, f"{_OWN}; idea: Fuernkranz and Petrak 2001"),
)

GROUPS: dict[str, tuple[str, ...]] = {}
"""Names by group, cheapest group first."""
for _quality in QUALITIES:
    GROUPS[_quality.group] = (*GROUPS.get(_quality.group, ()), _quality.name)

SHAPE = (
    _ROWS,
    _ALL,
    "NumberOfClasses",
    "NumberOfMissingValues",
    "NumberOfInstancesWithMissingValues",
    "NumberOfNumericFeatures",
    "NumberOfSymbolicFeatures",
    "Dimensionality",
    "MajorityClassPercentage",
    "MinorityClassPercentage",
    "MaxNominalAttDistinctValues",
)
"""Sizes and counts for comparing datasets, selected across groups.

Stored models depend on it. Five of the eleven are also in `TABLE_6_3`.
"""

TABLE_6_3 = (
    _ROWS,
    _ALL,
    "NumberOfClasses",
    "Dimensionality",
    "ClassEntropy",
    "PercentageOfBinaryFeatures",
    "PercentageOfInstancesWithMissingValues",
    "PercentageOfMissingValues",
    "PercentageOfNumericFeatures",
    "PercentageOfSymbolicFeatures",
    "MajorityClassPercentage",
)
"""Statistical meta-features of van Hoof's thesis, Table 6.3."""

TABLE_B_1 = ("AutoCorrelation", *GROUPS["landmarkers"], "StdvNominalAttDistinctValues")
"""Landmarkers of van Hoof's thesis, Table B.1, and two others used in its experiments."""

THESIS = (*TABLE_6_3, *TABLE_B_1)
"""All meta-features of van Hoof's thesis, section 6.1.3: 13 statistical ones and 45 of landmarkers."""

_DEFAULT_GROUPS = ("landmarkers", "target", "target_correlations", "target_landmarkers", "relative")


def default_for(task_type: TaskType) -> tuple[str, ...]:
    """The learners' default selection for datasets of a task type.

    The figures behind it are in `ingest/metafeatures/README.md`.

    >>> "RidgeR2" in default_for(REGRESSION), "RidgeR2" in default_for(CLASSIFICATION)
    (True, False)
    """
    defined = {quality.name for quality in QUALITIES if quality.is_defined_for(task_type)}
    names = [*SHAPE, *(name for group in _DEFAULT_GROUPS for name in GROUPS[group])]
    return tuple(name for name in names if name in defined)


DEFAULT = default_for(CLASSIFICATION)

SELECTIONS = {
    "default": tuple(dict.fromkeys((*DEFAULT, *default_for(REGRESSION)))),
    "shape": SHAPE,
    "thesis-6.3": TABLE_6_3,
    "thesis-b.1": TABLE_B_1,
    "thesis": THESIS,
    **GROUPS,
}
"""Names of selections that may be used in a list of meta-features, besides single names."""


def names_in(selection: str) -> tuple[str, ...]:
    """Qualities in a comma-separated list of selections and names, each once, in order.

    >>> names_in("ClassEntropy,shape")[:2]
    ('ClassEntropy', 'NumberOfInstances')

    Raises:
        BadInput: the list is empty.
    """
    words = comma_separated(selection)
    if not words:
        raise BadOption(
            f"no meta-features named: give names of qualities or groups ({', '.join(SELECTIONS)})"
        )
    names = [name for word in words for name in SELECTIONS.get(word, (word,))]
    return tuple(dict.fromkeys(names))
