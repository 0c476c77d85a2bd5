"""Configurations to write code for, and a table with every kind of column and two targets."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ingest.flows import FLOWS, get_flow
from ingest.flows.pipelines import PREPROCESSORS
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.task_types import TaskType

QUICK: dict[str, dict[str, Value]] = {
    "lightgbm": {"n_estimators": 20, "min_child_samples": 5},
    "xgboost": {"n_estimators": 20},
    "catboost": {"iterations": 20, "depth": 2},
    "hist_gradient_boosting": {"max_iter": 20},
    "mlp": {"hidden_units": 8, "early_stopping": True},
}
QUICK |= {f"{flow}_regressor": values for flow, values in QUICK.items()}
BOOSTERS = ("lightgbm", "xgboost", "catboost")


def cases() -> dict[str, tuple[str, Mapping[str, Value]]]:
    """Name -> flow and values: each flow, and each preprocessing choice at least once."""
    found: dict[str, tuple[str, Mapping[str, Value]]] = {name: (name, {}) for name in FLOWS}
    for name in BOOSTERS:
        found[f"{name} that stops early"] = (name, {"early_stopping": True, "class_weight": "balanced"})
        absolute = {"early_stopping": True, "loss": "absolute", "target_transformation": "log1p"}
        found[f"{name} of absolute errors that stops early"] = (f"{name}_regressor", absolute)
    for name in ("lightgbm", "xgboost"):
        found[f"{name} with an absolute penalty"] = (f"{name}_regressor", {"reg_alpha": 0.5})
    for transformation, names in {
        "log1p": ("kernel_ridge", "xgboost_regressor"),
        "quantile_normal": ("lightgbm_regressor", "svm_regressor", "mlp_regressor"),
    }.items():
        for name in names:
            found[f"{name} of {transformation}"] = (name, {"target_transformation": transformation})
    smooth = {"kernel": "rbf", "length_scales": "separate"}
    found["gaussian_process of separate scales"] = ("gaussian_process", smooth)
    found["catboost of components"] = ("catboost", {"preprocessor": "pca", "scaling": "minmax"})
    found["xgboost oversampled"] = ("xgboost", {"balancing": "oversampling", "early_stopping": True})
    for name in PREPROCESSORS:
        found[f"logistic regression of {name}"] = ("logistic_regression", {"preprocessor": name})
    for name in ("weights", "oversampling", "undersampling"):
        found[f"svm with {name}"] = ("svm", {"balancing": name})
    for encoding, imputation, scaling in (
        ("ordinal", "mean", "standard"),
        ("target", "most_frequent", "quantile"),
        ("indicators", "flagged", "minmax"),
        ("ordinal", "median", "robust"),
        ("target", "flagged", "normalize"),
        ("indicators", "mean", "none"),
    ):
        values = {"encoding": encoding, "imputation": imputation, "scaling": scaling}
        found[f"naive Bayes with {', '.join(values.values())}"] = ("naive_bayes", values)
    return {
        name: (flow, get_flow(flow).default() | QUICK.get(flow, {}) | values)
        for name, (flow, values) in found.items()
        if get_flow(flow).installed
    }


CASES = cases()


def task_of(name: str) -> TaskType:
    """The task type of a case."""
    return get_flow(CASES[name][0]).task_type


def mixed_table(rows: int = 108) -> pd.DataFrame:
    """Every kind of column, with missing values, and a target of classes."""
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 2))
    label = np.array(["low", "middle", "high"])[np.digitize(x.sum(axis=1), [-0.6, 0.9])]
    since = pd.Timestamp("2024-01-01 12:00") + pd.to_timedelta(random.integers(0, 500, rows), unit="h")
    table = pd.DataFrame(
        {
            "number": random.permutation(rows) + 1000,
            "x": x[:, 0].round(4),
            "z": x[:, 1],
            "few": random.choice(["p", "q", "r"], rows),
            "many": random.permutation([f"town {number % 60}" for number in range(rows)]),
            "yes": random.choice(["yes", "no"], rows),
            "since": since.strftime("%d.%m.%Y %H:%M"),
            "remark": [
                f"customer {i % 90} wrote a rather long remark about {w}" for i, w in enumerate(label)
            ],
            "same": 1,
            "class": label,
        }
    ).astype({"x": "object"})
    for position, name in enumerate(["x", "few", "yes", "since", "remark"]):
        table.loc[position::9, name] = None
    return table


def numbers_table() -> pd.DataFrame:
    """The same columns with a target of numbers, some of them negative."""
    table = mixed_table()
    label = table.pop("class")
    noise = np.random.default_rng(3).normal(size=len(table))
    return table.assign(cost=(label.map({"low": 0.0, "middle": 3.0, "high": 12.0}) + noise).round(3))


ROLES = {"many": "categorical", "number": "identifier"}


def configuration(name: str) -> Configuration:
    """The configuration of a case, with complete current values."""
    flow, values = CASES[name]
    return Configuration(flow, get_flow(flow).current(values))
