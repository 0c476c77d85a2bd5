"""Scripts predict like Headstart's pipelines, for every flow and every preprocessing choice."""

import ast
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from ingest.reading.datasets import load_dataset
from ingest.reading.target.strata import strata_of
from recommend.code import Origin, script
from recommend.code.snippets import strata
from tests.recommend.code.cases import BOOSTERS, CASES, configuration, task_of
from tests.recommend.code.conftest import Tables
from tests.recommend.code.scripts import (
    assert_same_predictions,
    code_of,
    our_predictions,
    run_scripts,
)
from warehouse.vocabulary.task_types import REGRESSION


@pytest.fixture(scope="module")
def codes(tables: Tables) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: code_of(*CASES[name], tables[task_of(name)][1]) for name in CASES}


@pytest.fixture(scope="module")
def outputs(
    tables: Tables, codes: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Path], str]:
    """Case -> the file with its script's predictions; and the error output of all."""
    folder = tmp_path_factory.mktemp("scripts")
    calls: list[tuple[Path | str, ...]] = []
    written = {}
    for number, (name, code) in enumerate(codes.items()):
        path, written[name] = folder / f"{number}.py", folder / f"{number}.csv"
        path.write_text(code, encoding="utf-8")
        csv = tables[task_of(name)][0]
        calls.append((path, csv, "--predict", csv, "--output", written[name]))
    empty = tmp_path_factory.mktemp("empty")
    return written, run_scripts(calls, empty)[1]


@pytest.mark.parametrize("name", CASES)
def test_a_script_predicts_like_headstarts_pipeline(
    name: str, tables: Tables, outputs: tuple[dict[str, Path], str]
) -> None:
    files, complaints = outputs
    assert files[name].is_file(), complaints
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        expected = our_predictions(*CASES[name], tables[task_of(name)][1])
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


@pytest.mark.parametrize(
    ("name", "score", "library"),
    [
        ("lightgbm that stops early", "accuracy: 0.", "lightgbm"),
        ("kernel_ridge of log1p", "neg_root_mean_squared_error: -", "sklearn"),
        ("gaussian_process", "neg_root_mean_squared_error: -", "sklearn"),
        ("lightgbm of absolute errors that stops early", "neg_root_mean_squared_error: -", "sklearn"),
    ],
)
def test_a_script_cross_validates_and_saves_a_model_that_is_loaded_without_it(
    name: str, score: str, library: str, tables: Tables, codes: dict[str, str], tmp_path: Path
) -> None:
    csv, _ = tables[task_of(name)]
    (tmp_path / "fit.py").write_text(codes[name], encoding="utf-8")
    (tmp_path / "load.py").write_text(LOAD, encoding="utf-8")
    calls = [("fit.py", csv), ("fit.py", csv, "--save", "model.joblib"), ("load.py", "model.joblib")]
    out, complaints = run_scripts(calls, tmp_path)
    assert complaints == ""
    scores, saved, loaded = out.splitlines()
    assert scores.startswith(score)
    assert scores.endswith("over 5 folds")
    assert saved == "model.joblib: the model, for joblib.load"
    assert loaded == f"['sklearn', '{library}']"


@pytest.mark.parametrize("name", [f"{booster} that stops early" for booster in BOOSTERS])
def test_a_script_cross_validates_without_the_classes_that_have_one_row(name: str, tmp_path: Path) -> None:
    labels = np.tile(["a", "c"], 30)
    table = pd.DataFrame({"x": (labels == "c") + np.linspace(0, 0.5, 60), "class": labels})
    table.loc[60] = [2.0, "b"]
    table.to_csv(tmp_path / "data.csv", index=False)
    dataset = load_dataset(tmp_path / "data.csv", target="class")
    (tmp_path / "fit.py").write_text(code_of(*CASES[name], dataset), encoding="utf-8")
    out, complaints = run_scripts([("fit.py", "data.csv")], tmp_path)
    assert complaints == ""
    accuracy = re.fullmatch(r"accuracy: (\S+) ± \S+ over 5 folds\n", out)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.9


def test_the_head_describes_the_script_and_its_origin(codes: dict[str, str]) -> None:
    head = ast.get_docstring(ast.parse(codes["lightgbm"])) or ""
    assert head.startswith(
        "LightGBM, to predict 'class' of 'mixed'.\n\nmixed.csv: 108 rows, 9 features, 3 classes."
    )
    assert "Chosen by a test.\nExpected: nothing in particular." in head
    assert "Needs pandas, scikit-learn and lightgbm; nothing else." in head


def test_scripts_import_only_what_they_state(codes: dict[str, str]) -> None:
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
        library = flow.removesuffix("_regressor")
        allowed = {"numpy", "pandas", "scipy", "sklearn", "joblib"}
        allowed |= {library} if library in BOOSTERS else set()
        assert imported - sys.stdlib_module_names <= allowed
        (needs,) = re.findall("Needs (.*); nothing else", code)
        assert {one for one in BOOSTERS if one in needs} == {*BOOSTERS} & imported


def test_a_script_of_a_regressor_has_the_folds_of_trials(tables: Tables) -> None:
    target = tables[REGRESSION][1].target
    ours, theirs = strata_of(target), strata(target.to_numpy())
    assert ours.tolist() == theirs.tolist()
    ties = target.round(-1)
    assert strata_of(ties).tolist() == strata(ties.to_numpy()).tolist()


@pytest.mark.parametrize(
    ("measure", "scorer"),
    [("mean_absolute_error", "neg_mean_absolute_error"), ("r2", "r2"), ("root_mean_squared_log_error", None)],
)
def test_a_script_of_a_regressor_scores_by_the_measure_or_the_root_mean_squared_error(
    measure: str, scorer: str | None, tables: Tables
) -> None:
    code = script({configuration("ridge"): 1.0}, tables[REGRESSION][1], Origin("", "", measure))
    assert f'SCORER = "{scorer or "neg_root_mean_squared_error"}"' in code
