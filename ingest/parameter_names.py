"""OpenML's parameter names: which are hyperparameters, and their names in the warehouse."""

import re

_UNTUNED = frozenset({
    "n_jobs", "nthread", "nthreads", "n_threads", "num_threads", "num.threads", "number_of_threads",
    "thread_count", "num_workers", "verbose", "verbosity", "silent", "logging_level", "train_dir",
    "tmp_folder", "output_folder", "copy", "copy_X", "warm_start", "memory", "cache_size",
    "categorical_features", "steps", "transformers", "estimators",
    "num-slots", "num-decimal-places", "batch-size", "output-debug-info", "do-not-check-capabilities",
})  # fmt: skip
_SEED = re.compile(r"(?<![a-z])seed(?![a-z])|Seed(?![a-z])|SEED|[Rr]andom[_. ]?[Ss]tate")

_WEKA_S = (
    "AdaBoostM1", "ADTree", "Bagging", "BFTree", "ClassBalancedND", "ConjunctiveRule",
    "CVParameterSelection", "Dagging", "DataNearBalancedND", "Decorate", "EM", "END", "EnsembleSelection",
    "ExtraTree", "FilteredClassifier", "FURIA", "Grading", "GridSearch", "JRip", "LogitBoost", "MetaCost",
    "MLPClassifier", "MLPRegressor", "MultiBoostAB", "MultiClassClassifier", "MultilayerPerceptron",
    "MultiScheme", "ND", "RacedIncrementalLogitBoost", "RandomCommittee", "RandomForest",
    "RandomizableFilteredClassifier", "RandomSubSpace", "RandomTree", "RBFClassifier", "RBFNetwork",
    "RBFRegressor", "RealAdaBoost", "REPTree", "Resample", "RotationForest", "SGD", "SGDText", "SimpleCart",
    "SimpleKMeans", "SMOTE", "Stacking", "StackingC", "ThresholdSelector", "Vote", "VotedPerceptron",
)  # fmt: skip
_WEKA_SEEDS = {**dict.fromkeys(_WEKA_S, "S"), "J48": "Q", "PART": "Q", "SMO": "W", "LeastMedSq": "G"}
"""Class of Weka -> its option that is a seed. In other classes the same letter is a setting: `S` of J48
switches subtree raising off, that of LibSVM and LibLINEAR chooses the kind of machine."""


def plain_parameter_name(raw: str) -> str:
    """Name of a hyperparameter without the pipeline steps and versions that OpenML puts in front.

    The imputer's strategy is called `imputation`, since `strategy` alone says nothing.

    >>> plain_parameter_name("randomforestclassifier__max_features")
    'max_features'
    >>> plain_parameter_name("sklearn.ensemble.forest.RandomForestClassifier(27)_max_features")
    'max_features'
    >>> plain_parameter_name("columntransformer__numeric__imputer__strategy")
    'imputation'
    """
    *steps, name = re.sub(r"\(\d+\)_+", "__", raw).strip("_").split("__")
    if name == "strategy" and steps and "imput" in steps[-1].lower():
        return "imputation"
    return name


def is_tunable(name: str, component: str = "", description: str = "") -> bool:
    """Whether a parameter belongs to a configuration: not a seed, resource, message or list of columns.

    >>> is_tunable("S", "weka.J48(1)"), is_tunable("S", "weka.RandomTree"), is_tunable("openml.seed")
    (True, False, False)
    >>> is_tunable("classif.ranger.num.threads"), is_tunable("classif.ranger.num.trees")
    (False, True)

    Args:
        name: in its component.
        component: name of the flow that has it, with the library in front; empty if unknown.
        description: as the flow gives it.
    """
    # mlr3 puts the learner in front, and mlr's interface adds the state of R's generator as openml.*.
    ends = {name[place:] for place in range(len(name)) if place == 0 or name[place - 1] == "."}
    if not ends.isdisjoint(_UNTUNED) or _SEED.search(name) or name.startswith("openml."):
        return False
    if not component.startswith("weka."):
        return True
    # weka.AdaBoostM1_J48(3) is AdaBoostM1 over J48, and weka.classifiers.trees.J48 is J48.
    weka_class = re.split(r"[_(]", component)[0].rsplit(".", 1)[-1]
    return name != _WEKA_SEEDS.get(weka_class) and not re.search(r"\bseed\b", description, re.IGNORECASE)
