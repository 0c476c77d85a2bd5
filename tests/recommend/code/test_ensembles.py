"""Scripts of ensembles predict the weighted average of Headstart's pipelines."""

import ast
import warnings
from pathlib import Path

import pytest
from sklearn.ensemble import VotingClassifier, VotingRegressor
from threadpoolctl import threadpool_limits

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from recommend.calibration import with_probabilities
from recommend.code import script
from tests.recommend.code.cases import configuration, task_of
from tests.recommend.code.conftest import Tables
from tests.recommend.code.scripts import ORIGIN, assert_same_predictions, predictions, run_scripts
from warehouse.support.errors import BadInput
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

ENSEMBLES = {
    "of two": {"lightgbm": 0.25, "logistic_regression": 0.75},
    # One encodes some categories differently, and one needs classes as numbers.
    "of one flow twice": {
        "lightgbm that stops early": 0.5,
        "lightgbm": 0.2,
        "naive Bayes with indicators, flagged, minmax": 0.3,
    },
    "of a calibrated one": {"svm": 0.5, "decision_tree": 0.5},
    "of regressors": {"lightgbm_regressor of quantile_normal": 0.25, "ridge": 0.5, "gaussian_process": 0.25},
}


@pytest.fixture(scope="module")
def written(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of scripts and their predictions, and their error output."""
    folder = tmp_path_factory.mktemp("ensembles")
    calls = []
    for name, members in ENSEMBLES.items():
        csv, dataset = tables[task_of(next(iter(members)))]
        code = script({configuration(one): w for one, w in members.items()}, dataset, ORIGIN)
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        calls.append((f"{name}.py", csv, "--predict", csv, "--output", f"{name}.csv"))
    for name, task_type in (("of one flow twice", CLASSIFICATION), ("of regressors", REGRESSION)):
        csv, _ = tables[task_type]
        calls.append((f"{name}.py", csv, "--save", "model.joblib"))
        calls.append((f"{name}.py", csv))
    out, complaints = run_scripts(calls, folder)
    (folder / "out.txt").write_text(out, encoding="utf-8")
    return folder, complaints


def pipeline(name: str, dataset: Dataset) -> object:
    one = configuration(name)
    return with_probabilities(get_flow(one.algorithm).pipeline(one.values, dataset.roles))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_a_script_predicts_the_average_of_headstarts_pipelines(
    name: str, tables: Tables, written: tuple[Path, str]
) -> None:
    folder, complaints = written
    assert (folder / f"{name}.csv").is_file(), complaints
    weights = [*ENSEMBLES[name].values()]
    task_type = task_of(next(iter(ENSEMBLES[name])))
    _, dataset = tables[task_type]
    members = [(one, pipeline(one, dataset)) for one in ENSEMBLES[name]]
    if task_type == CLASSIFICATION:
        average = VotingClassifier(members, voting="soft", weights=weights)
    else:
        average = VotingRegressor(members, weights=weights)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        expected = predictions(average, dataset)
    assert_same_predictions(folder / f"{name}.csv", expected)


def test_a_script_of_an_ensemble_cross_validates_and_saves(written: tuple[Path, str]) -> None:
    folder, complaints = written
    assert complaints == ""
    *_, saved, scores, saved_too, errors = (folder / "out.txt").read_text(encoding="utf-8").splitlines()
    assert saved == saved_too == "model.joblib: the model, for joblib.load"
    assert scores.startswith("accuracy: 0.")
    assert errors.startswith("neg_root_mean_squared_error: -")


def test_the_head_names_the_members_and_functions_are_numbered(written: tuple[Path, str]) -> None:
    code = (written[0] / "of one flow twice.py").read_text(encoding="utf-8")
    tree = ast.parse(code)
    head = ast.get_docstring(tree) or ""
    assert head.startswith("The average of 3 configurations (2 of LightGBM, 1 of Gaussian naive Bayes), to\n")
    assert "Needs pandas, scikit-learn and lightgbm; nothing else." in head
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [name for name in functions if name.startswith("fit")] == [
        "fit_lightgbm_1",
        "fit_lightgbm_2",
        "fit_naive_bayes",
        "fit",
    ]


def test_a_member_that_is_not_an_estimator_before_fitting_is_refused(dataset: Dataset) -> None:
    members = {configuration("svm with weights"): 0.5, configuration("decision_tree"): 0.5}
    with pytest.raises(BadInput, match="no script can calibrate Support vector machine"):
        script(members, dataset, ORIGIN)
