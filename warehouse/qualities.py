"""Names of OpenML's qualities by group, so that all packages mean the same by a group's name."""

from warehouse.errors import BadInput

STATISTICAL = (
    "NumberOfInstances",
    "NumberOfFeatures",
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
"""Shape of the dataset and its classes (van Hoof's thesis, Table 6.3): exact, and cheap to compute."""

_SCORES = ("AUC", "ErrRate", "Kappa")
_J48 = ("J48.00001.", "J48.0001.", "J48.001.")
_SIMPLE = ("DecisionStump", *_J48, "NaiveBayes", "kNN1N")
_TREES = tuple(f"{tree}Depth{depth}" for tree in ("REPTree", "RandomTree") for depth in (1, 2, 3))
_ON_SELECTED_FEATURES = tuple(
    f"CfsSubsetEval_{learner}" for learner in ("DecisionStump", "NaiveBayes", "kNN1N")
)

LANDMARKERS = tuple(
    f"{learner}{score}" for learner in (*_SIMPLE, *_TREES, *_ON_SELECTED_FEATURES) for score in _SCORES
)
"""Scores of simple learners on the dataset (van Hoof's thesis, Table B.1)."""

GROUPS = {"statistical": STATISTICAL, "landmarkers": LANDMARKERS}


def names_in(selection: str) -> tuple[str, ...]:
    """Qualities that a comma-separated list of groups and names stands for, each once, in order.

    >>> names_in("ClassEntropy,statistical")[:2]
    ('ClassEntropy', 'NumberOfInstances')

    Raises:
        BadInput: the list names nothing.
    """
    words = [word.strip() for word in selection.split(",") if word.strip()]
    if not words:
        raise BadInput(f"no meta-features named: give names of qualities or groups ({', '.join(GROUPS)})")
    names = [name for word in words for name in GROUPS.get(word, (word,))]
    return tuple(dict.fromkeys(names))
