"""Scripts predict what our pipelines predict, for every flow and every decision of preprocessing."""

import ast
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from ingest.flows import FLOWS, get_flow
from ingest.flows.pipelines import PREPROCESSORS
from ingest.reading.datasets import Dataset, load_dataset
from tests.recommend.code.scripts import (
    assert_same_predictions,
    code_of,
    our_predictions,
    run_scripts,
)
from warehouse.configurations.parameters import Value

QUICK: dict[str, dict[str, Value]] = {
    "lightgbm": {"n_estimators": 8, "min_child_samples": 5},
    "xgboost": {"n_estimators": 8},
    "catboost": {"iterations": 8, "depth": 2},
    "hist_gradient_boosting": {"max_iter": 5},
    "mlp": {"hidden_units": 8, "early_stopping": True},
}
BOOSTERS = ("lightgbm", "xgboost", "catboost")


def cases() -> dict[str, tuple[str, Mapping[str, Value]]]:
    """Name -> flow and values: each flow, each preprocessor, and each other decision at least once."""
    found: dict[str, tuple[str, Mapping[str, Value]]] = {name: (name, {}) for name in FLOWS}
    for name in BOOSTERS:
        found[f"{name} that stops early"] = (name, {"early_stopping": True, "class_weight": "balanced"})
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


def mixed_table(rows: int = 108) -> pd.DataFrame:
    """Every kind of column, with missing values."""
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


ROLES = {"many": "categorical", "number": "identifier"}


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mixed.csv"
    mixed_table().to_csv(path, index=False, na_rep="NA")
    return path


@pytest.fixture(scope="module")
def dataset(csv: Path) -> Dataset:
    return load_dataset(csv, roles=ROLES)


@pytest.fixture(scope="module")
def codes(dataset: Dataset) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: code_of(flow, values, dataset) for name, (flow, values) in CASES.items()}


@pytest.fixture(scope="module")
def outputs(
    csv: Path, codes: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Path], str]:
    """Case -> the file of what its script predicted; and what all of them complained of."""
    folder = tmp_path_factory.mktemp("scripts")
    calls: list[tuple[Path | str, ...]] = []
    written = {}
    for number, (name, code) in enumerate(codes.items()):
        path, written[name] = folder / f"{number}.py", folder / f"{number}.csv"
        path.write_text(code, encoding="utf-8")
        calls.append((path, csv, "--predict", csv, "--output", written[name]))
    empty = tmp_path_factory.mktemp("empty")
    return written, run_scripts(calls, empty)[1]


@pytest.mark.parametrize("name", CASES)
def test_a_script_predicts_what_our_pipeline_predicts(
    name: str, dataset: Dataset, outputs: tuple[dict[str, Path], str]
) -> None:
    files, complaints = outputs
    assert files[name].is_file(), complaints
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        expected = our_predictions(*CASES[name], dataset)
    assert_same_predictions(files[name], expected)


def test_scripts_are_formatted_and_import_what_they_use(codes: dict[str, str], tmp_path: Path) -> None:
    for number, code in enumerate(codes.values()):
        (tmp_path / f"{number}.py").write_text(code, encoding="utf-8")
    for command in (["format", "--check", "--diff"], ["check", "--select", "E,F,I,B,UP"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


LOAD = """
import joblib, sys
model = joblib.load(sys.argv[1])
print([type(step).__module__.split(".")[0] for _, step in model.steps])
"""


def test_a_script_cross_validates_and_saves_what_is_loaded_without_it(
    csv: Path, codes: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "fit.py").write_text(codes["lightgbm that stops early"], encoding="utf-8")
    (tmp_path / "load.py").write_text(LOAD, encoding="utf-8")
    calls = [("fit.py", csv), ("fit.py", csv, "--save", "model.joblib"), ("load.py", "model.joblib")]
    out, complaints = run_scripts(calls, tmp_path)
    assert complaints == ""
    scores, saved, loaded = out.splitlines()
    assert scores.startswith("accuracy: 0.")
    assert scores.endswith("over 5 folds")
    assert saved == "model.joblib: the model, for joblib.load"
    assert loaded == "['sklearn', 'lightgbm']"


def test_the_head_says_what_the_script_is_and_where_it_comes_from(codes: dict[str, str]) -> None:
    head = ast.get_docstring(ast.parse(codes["catboost"])) or ""
    assert head.startswith(
        "CatBoost, to predict 'class' of 'mixed'.\n\nmixed.csv: 108 rows, 9 features, 3 classes."
    )
    assert "Chosen by a test.\nExpected: nothing in particular." in head
    assert "Needs pandas, scikit-learn and catboost; nothing else." in head


def test_scripts_import_what_they_say_alone(codes: dict[str, str]) -> None:
    for name, code in codes.items():
        flow = CASES[name][0]
        imported = {
            module.partition(".")[0]
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for module in (
                [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            )
            if module
        }
        allowed = {"numpy", "pandas", "sklearn", "joblib", *([flow] if flow in BOOSTERS else [])}
        assert imported - sys.stdlib_module_names <= allowed
