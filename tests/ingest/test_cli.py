"""`ingest` at the command line."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ingest.cli import main
from ingest.reading.datasets import load_dataset
from ingest.running.rows import dataset_row, is_sketched
from tests.cases import each
from warehouse.store import Warehouse

Run = Callable[..., tuple[int, str, str]]

RUNS = """\
% {"flow_id": 6969, "col_measures": ["predictive_accuracy"]}
@RELATION runs
@ATTRIBUTE randomforestclassifier__bootstrap {True, False}
@ATTRIBUTE randomforestclassifier__max_depth {None}
@ATTRIBUTE randomforestclassifier__min_samples_leaf {1, 20}
@ATTRIBUTE predictive_accuracy NUMERIC
@ATTRIBUTE task_id NUMERIC
@DATA
True,None,1,0.9,3
False,None,20,0.8,3
True,None,20,0.7,6
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `ingest`; returns exit code, stdout and stderr."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ingest", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "datasets" / "small.csv"
    path.parent.mkdir()
    pd.DataFrame({"x": range(40), "colour": ["red", None] * 20, "class": ["a", "b", "b", "a"] * 10}).to_csv(
        path, index=False
    )
    return path


def test_run_file_is_read_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs.arff").write_text(RUNS)
    (tmp_path / "qualities.json").write_text('{"3": {"NumberOfInstances": 3196.0}}')
    command = ("file", tmp_path / "runs.arff", "--flow", "6969", "--warehouse", tmp_path / "warehouse")
    code, out, err = run(*command, "--qualities", tmp_path / "qualities.json")
    assert (code, err) == (0, "")
    assert "3 runs" in out
    assert "warehouse version 1" in out
    code, out, _ = run(*command, "--format", "json")
    assert (code, json.loads(out)["version"]) == (0, 1)
    assert "nothing added; nothing changed" in run(*command)[1]


@pytest.mark.parametrize("measure", ["predictive_accuracy", "rmse"])
def test_the_use_of_other_flows_depends_on_their_space(run: Run, tmp_path: Path, measure: str) -> None:
    pd.DataFrame({"task_id": [3, 31], "depth": [2, 5], measure: [0.9, 0.7]}).to_csv(
        tmp_path / "runs.csv", index=False
    )
    place = ("--warehouse", tmp_path / "warehouse")
    out = run("file", tmp_path / "runs.csv", "--flow", "own-trees", *place)[1]
    assert "its configurations can be recommended and searched, but not trained.\n" in out
    assert "Its space, inferred from its runs:" in out
    pd.DataFrame({"task_id": [3, 31], measure: [0.9, 0.7]}).to_csv(tmp_path / "runs.csv", index=False)
    out = run("file", tmp_path / "runs.csv", "--flow", "own-plain", *place)[1]
    assert out.endswith("own-plain, which has one configuration, without hyperparameters.\n")


def test_a_file_of_many_flows_names_them_in_a_column(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("task_id,learner,accuracy\n3,weka.J48,0.9\n3,weka.OneR,0.7\n")
    command = ("file", tmp_path / "runs.csv", "--warehouse", tmp_path / "warehouse")
    out = run(*command, "--flow-column", "learner")[1]
    assert "does not build 2 of the 2 flows: their configurations can be recommended, but not trained" in out
    for wrong in ((), ("--flow", "a", "--flow-column", "learner")):
        code, out, err = run(*command, *wrong)
        assert (code, out) == (2, "")
        assert "--flow FLOW, or --flow-column COLUMN" in err


def test_a_search_space_is_declared_in_object_storage(
    run: Run, tmp_path: Path, s3_url: str, on_machine: Callable[[str], None]
) -> None:
    (tmp_path / "runs.arff").write_text(RUNS.replace("6969", "1234"))
    (tmp_path / "space.toml").write_text(
        "[hyperparameters.min_samples_leaf]\nlow = 1\nhigh = 20\nlog = true\n"
    )
    place = ("--flow", "1234", "--warehouse", s3_url)
    assert run("file", tmp_path / "runs.arff", *place)[0] == 0
    on_machine("second machine")
    code, out, err = run("space", tmp_path / "space.toml", *place)
    assert (code, err) == (0, "")
    assert "added 1 scale;" in out
    on_machine("first machine")
    assert Warehouse.open(s3_url).sql("SELECT scale FROM scales")["scale"].tolist() == ["log"]


def test_a_search_space_declares_the_scales_of_numbers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs.arff").write_text(RUNS.replace("6969", "1234"))
    place = ("--flow", "1234", "--warehouse", tmp_path / "warehouse")
    assert run("file", tmp_path / "runs.arff", *place)[0] == 0
    leaf = {"type": "uniform_int", "name": "min_samples_leaf", "lower": 1, "upper": 20, "log": True}
    space = {"hyperparameters": [{**leaf, "default_value": 1, "meta": None}], "format_version": 0.4}
    (tmp_path / "space.json").write_text(json.dumps({**space, "conditions": [], "forbiddens": []}))
    code, out, err = run("space", tmp_path / "space.json", *place)
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == ["warehouse version 2"]
    assert "added 1 scale;" in out
    again, out, _ = run("space", tmp_path / "space.json", *place, "--format", "json")
    assert (again, json.loads(out)["added"]) == (0, {"scales": 0})
    code, out, err = run("space", tmp_path / "space.json", "--flow", "1", "--warehouse", tmp_path / "none")
    assert (code, out) == (2, "")
    assert not (tmp_path / "none").exists()


def test_experiments_are_run_and_counted(run: Run, dataset: Path, tmp_path: Path) -> None:
    command = (
        *("experiments", "--datasets", dataset.parent, "--flows", "decision_tree,naive_bayes"),
        *("--configurations", "1", "--folds", "2", "--jobs", "2", "--quiet"),
        *("--warehouse", tmp_path / "warehouse"),
    )
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert "4 success" in out
    assert "4 skipped" in run(*command)[1]
    assert len(Warehouse.open(tmp_path / "warehouse").sql("SELECT * FROM runs")) == 4


def test_metafeatures_are_printed_with_null_where_undefined(run: Run, dataset: Path) -> None:
    dataset.write_text("x,z,class\n" + "1,2,a\n2,3,b\n" * 9)
    values = json.loads(run("metafeatures", dataset, "--format", "json")[1])
    assert values["NumberOfInstances"] == 18
    assert values["MaxNominalAttDistinctValues"] is None
    code, out, _ = run("metafeatures", dataset)
    assert code == 0
    assert "missing" in out


def test_metafeatures_have_a_definition_or_a_reason(run: Run, dataset: Path) -> None:
    dataset.write_text("x,z,class\n" + "1,2,a\n2,3,b\n" * 9)
    _, out, err = run("metafeatures", dataset, "--groups", "class,information,NumberOfInstances")
    assert err == ""
    assert re.search(r"NumberOfInstances +18  rows with a target value", out)
    assert "AutoCorrelation" in out
    assert "depends on the order of rows" in out
    assert "information: missing, because no attribute is nominal" in out
    assert "kNN1NErrRate" not in out


def test_metafeatures_beyond_the_budget_are_null(run: Run, dataset: Path) -> None:
    dataset.write_text("x,z,class\n" + "1,2,a\n2,3,b\n" * 9)
    values = json.loads(run("metafeatures", dataset, "--time", "0", "--format", "json")[1])
    assert values["NumberOfInstances"] == 18
    assert values["kNN1NErrRate"] is None
    assert "time budget" in run("metafeatures", dataset, "--time", "0")[1]


@each(
    ("arguments", "reason"),
    [
        (("file", "nowhere.arff", "--flow", "6969"), "nowhere.arff"),
        (("file", "{csv}", "--flow", "6969"), "task_id"),
        (("experiments", "--datasets", "nowhere"), "nowhere"),
        (("experiments", "--datasets", "{folder}", "--flows", "perceptron"), "perceptron"),
        (("experiments", "--datasets", "{folder}", "--folds", "1"), "--folds"),
        (("metafeatures", "{csv}", "--target", "kind"), "kind"),
        (("metafeatures", "{csv}", "--format", "xml"), "xml"),
        (("metafeatures", "{csv}", "--groups", "simple,Beauty"), "Beauty"),
        (("metafeatures", "{csv}", "--groups", ","), "no meta-features named"),
        (("metafeatures", "{csv}", "--time", "-1"), "--time"),
        (("swallow", "{csv}"), "swallow"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    run: Run,
    dataset: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.setenv("HEADSTART_WAREHOUSE", str(tmp_path / "warehouse"))
    filled = [argument.format(csv=dataset, folder=dataset.parent) for argument in arguments]
    code, out, err = run(*filled)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert reason in err


def test_sketches_are_added_to_a_warehouse_without_any(run: Run, dataset: Path, tmp_path: Path) -> None:
    known = load_dataset(dataset)
    Warehouse.create(tmp_path / "older").write(dataset_row(known), source="test")
    command = ("sketches", "--datasets", dataset.parent, "--warehouse", tmp_path / "older", "--quiet")
    assert run(*command)[:2] == (0, "1 dataset sketched\nwarehouse version 2\n")
    assert run(*command)[:2] == (0, "0 datasets sketched\nwarehouse version 2\n")
    assert is_sketched(Warehouse.open(tmp_path / "older"), known)
