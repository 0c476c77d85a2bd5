"""The warehouse's names of hyperparameters, from those of OpenML."""

import re


def plain_parameter_name(raw: str) -> str:
    """Name of a hyperparameter without the pipeline steps and versions that OpenML puts in front.

    The imputer's strategy is called `imputation`, which says what it is the strategy of.

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
