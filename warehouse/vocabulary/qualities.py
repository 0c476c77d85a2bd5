"""Registry of meta-features (OpenML: qualities): name, group, cost, definition and source.

The one registry. `ingest.metafeatures` computes a group at a time; learners choose by group or by name.
Names are OpenML's where OpenML has the quality, and its engine's rules are kept but for the exceptions that
`ingest/metafeatures/README.md` lists with their reasons. A value that does not exist is missing, never 0.

Words of the definitions: a *feature* is a column, the target included, as OpenML counts; an *attribute* is a
column other than the target. Statistics over attributes leave identifiers out. Missing cells are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from warehouse.support.errors import BadOption
from warehouse.support.text import comma_separated

Group = Literal[
    "simple", "class", "cardinality", "statistical", "information", "pca", "model", "landmarkers", "relative"
]
Cost = Literal["pass", "sort", "sample", "fits"]


@dataclass(frozen=True)
class Quality:
    """One meta-feature.

    `cost` says what it takes: pass = one pass over all cells; sort = sorting every attribute; sample = linear
    algebra or one tree on a sample of the rows; fits = cross-validated learners on that sample.
    """

    name: str
    group: Group
    cost: Cost
    definition: str
    source: str
    depends_on_order: bool = False
    """Whether another order of the rows gives another value."""


_ENGINE = "OpenML EvaluationEngine"
_ROWS, _ALL = "NumberOfInstances", "NumberOfFeatures"


def _simple() -> Iterator[Quality]:
    definitions = {
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
    for name, definition in definitions.items():
        yield Quality(name, "simple", "pass", definition, _ENGINE)


def _class() -> Iterator[Quality]:
    definitions = {
        "NumberOfClasses": "distinct values that the target takes; 0 for a numeric target",
        "MajorityClassSize": "rows of the most frequent class",
        "MinorityClassSize": "rows of the least frequent class",
        "MajorityClassPercentage": "rows of the most frequent class, in percent",
        "MinorityClassPercentage": "rows of the least frequent class, in percent",
        "DefaultAccuracy": "share of the most frequent class: the accuracy of always predicting it",
        "ClassEntropy": "entropy of the class distribution, in bits",
        "AutoCorrelation": "share of rows, the first left out, with the class of the row before",
    }
    for name, definition in definitions.items():
        yield Quality(name, "class", "pass", definition, _ENGINE, depends_on_order=name == "AutoCorrelation")


def _cardinality() -> Iterator[Quality]:
    statistics = {"Min": "fewest", "Max": "most", "Mean": "mean number of"}
    for kind, columns in (
        ("Nominal", "a nominal feature (the target included)"),
        ("Numeric", "a numeric attribute"),
    ):
        for statistic, word in statistics.items():
            definition = f"{word} distinct values that occur in {columns}"
            yield Quality(
                f"{statistic}CardinalityOf{kind}Attributes", "cardinality", "sort", definition, _ENGINE
            )
        definition = f"sample standard deviation of the numbers of distinct values that occur in {columns}"
        yield Quality(f"StdevCardinalityOf{kind}Attributes", "cardinality", "sort", definition, _ENGINE)
    for count in ("Two", "Three", "Four"):
        definition = f"product of the {count.lower()} largest numbers of distinct values among all features"
        yield Quality(f"CardinalityAt{count}", "cardinality", "sort", definition, _ENGINE)


_SUMMARIES = {
    "Min": "smallest",
    "Quartile1": "first quartile of the",
    "Quartile2": "median",
    "Mean": "mean",
    "Quartile3": "third quartile of the",
    "Max": "largest",
}


def _statistical() -> Iterator[Quality]:
    of_numeric = {
        "MeansOfNumericAtts": "mean of the numeric attributes",
        "StdDevOfNumericAtts": "sample standard deviation of the numeric attributes",
        "SkewnessOfNumericAtts": "sample skewness G1 of the numeric attributes",
        "KurtosisOfNumericAtts": "sample excess kurtosis G2 of the numeric attributes",
    }
    for what, words in of_numeric.items():
        for summary, word in _SUMMARIES.items():
            yield Quality(f"{summary}{what}", "statistical", "pass", f"{word} {words}", _ENGINE)


def _information() -> Iterator[Quality]:
    of_nominal = {
        "AttributeEntropy": "entropy, in bits, of the nominal attributes",
        "MutualInformation": "mutual information, in bits, of the nominal attributes with the class",
    }
    for what, words in of_nominal.items():
        for summary, word in _SUMMARIES.items():
            yield Quality(f"{summary}{what}", "information", "pass", f"{word} {words}", _ENGINE)
    yield Quality(
        "EquivalentNumberOfAtts",
        "information",
        "pass",
        "ClassEntropy / MeanMutualInformation: how many such attributes it would take to tell the class",
        _ENGINE,
    )
    yield Quality(
        "MeanNoiseToSignalRatio",
        "information",
        "pass",
        "(MeanAttributeEntropy - MeanMutualInformation) / MeanMutualInformation",
        _ENGINE,
    )


def _pca() -> Iterator[Quality]:
    source = "Feurer et al. 2015, supplement, Table 1"
    definitions = {
        "PCAComponentsFor95Percent": (
            "principal components that explain 95 % of the variance of the standardized columns, over columns"
        ),
        "PCASkewnessFirstComponent": "sample skewness G1 of the first principal component, sign ignored",
        "PCAKurtosisFirstComponent": "sample excess kurtosis G2 of the rows' first principal component",
        "PCAVarianceOfFirstComponent": "share of the variance that the first principal component explains",
    }
    for name, definition in definitions.items():
        yield Quality(name, "pca", "sample", definition, source)


def _model() -> Iterator[Quality]:
    source = "Peng et al. 2002"
    yield Quality(
        "TreeLeavesPerClass", "model", "sample", "leaves of a fully grown decision tree / classes", source
    )
    yield Quality("TreeLeavesPerRow", "model", "sample", "leaves of that tree / rows", source)
    yield Quality("TreeDepth", "model", "sample", "longest branch of that tree", source)
    for what, words in {
        "BranchLength": "steps from the tree's root to a leaf",
        "AttributeUse": "splits of the tree on an attribute / splits",
    }.items():
        for statistic, word in {
            "Mean": "mean",
            "Max": "largest",
            "Stdev": "population standard deviation",
        }.items():
            if (statistic, what) not in {("Max", "BranchLength"), ("Mean", "AttributeUse")}:
                yield Quality(f"{statistic}Tree{what}", "model", "sample", f"{word} of: {words}", source)
    yield Quality(
        "TreeAttributesUsed", "model", "sample", "share of the attributes that the tree splits on", source
    )


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


def _landmarkers() -> Iterator[Quality]:
    for learner, words in LANDMARKER_LEARNERS.items():
        for score, name in _SCORES.items():
            yield Quality(
                f"{learner}{score}",
                "landmarkers",
                "fits",
                f"{name} in 5-fold cross-validation of {words}",
                f"{_ENGINE}; van Hoof's thesis, Table B.1",
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


def _relative() -> Iterator[Quality]:
    for name, words in RELATIVE_PAIRS.items():
        definition = (
            f"gain in accuracy of {words} (3 folds of at most 500 rows; fewer are dealt up to 4 times)"
        )
        yield Quality(name, "relative", "fits", definition, "Headstart; idea: Fuernkranz and Petrak 2001")


QUALITIES: tuple[Quality, ...] = (
    *_simple(),
    *_class(),
    *_cardinality(),
    *_statistical(),
    *_information(),
    *_pca(),
    *_model(),
    *_landmarkers(),
    *_relative(),
)

GROUPS: dict[str, tuple[str, ...]] = {}
"""Names by group, the cheapest group first."""
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
"""Sizes and counts that datasets are compared by: a selection across groups.

Models that are stored rest on it. Five of the eleven are in `TABLE_6_3`, too.
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
"""Landmarkers of van Hoof's thesis, Table B.1, with the two others that its experiments have."""

THESIS = (*TABLE_6_3, *TABLE_B_1)
"""All meta-features of van Hoof's thesis, section 6.1.3: 13 statistical ones and 45 of landmarkers."""

DEFAULT = (*SHAPE, *GROUPS["landmarkers"], *GROUPS["relative"])
"""The learners' default; `ingest/metafeatures/README.md` has the figures behind it."""

SELECTIONS = {
    "default": DEFAULT,
    "shape": SHAPE,
    "thesis-6.3": TABLE_6_3,
    "thesis-b.1": TABLE_B_1,
    "thesis": THESIS,
    **GROUPS,
}
"""Names of selections that a list of meta-features may hold besides single names."""


def names_in(selection: str) -> tuple[str, ...]:
    """Qualities that a comma-separated list of selections and names stands for, each once, in order.

    >>> names_in("ClassEntropy,shape")[:2]
    ('ClassEntropy', 'NumberOfInstances')

    Raises:
        BadInput: the list names nothing.
    """
    words = comma_separated(selection)
    if not words:
        raise BadOption(
            f"no meta-features named: give names of qualities or groups ({', '.join(SELECTIONS)})"
        )
    names = [name for word in words for name in SELECTIONS.get(word, (word,))]
    return tuple(dict.fromkeys(names))
