"""`recommend` at the command line: its output, and one line for every bad input."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from ConfigSpace import ConfigurationSpace

import recommend.ranges
from ingest.flows import get_flow
from recommend.bo.tuning import deadline
from recommend.cli import main
from recommend.seeds import read_seeds
from tests.commands import Run, handled
from tests.recommend.code.scripts import run_scripts
from tests.recommend.conftest import copy_of, numbers
from tests.recommend.verified import say, trees_lose
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.configuration import Configuration


@pytest.fixture
def run(small_world: Path, run_command: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `recommend` on the small world, in a terminal so wide that no sentence is wrapped."""
    monkeypatch.setenv("COLUMNS", "400")
    return partial(run_command, main, "--warehouse", small_world)


def test_three_configurations_are_printed_with_reasons(run: Run, csv: Path) -> None:
    code, out, err = run("--dataset", csv, "--top", "3")
    assert (code, err) == (0, "")
    assert "mine: 900 rows, 2 features (2 numeric)\n'class' is the target" in out
    assert ": 2 classes, the largest with 50.0% of the rows\n" in out
    assert "Learned from 128 runs on 8 datasets" in out
    assert "\n1  Decision tree" in out
    assert "\n1  the best expected accuracy of 16 configurations" in out
    assert "Next: " in out
    assert "Most similar known datasets" not in out


def test_why_has_all_hyperparameters_and_the_known_datasets(run: Run, csv: Path) -> None:
    _, out, _ = run(csv, "--why")
    assert out.count("max_depth=") == out.count("min_samples_leaf=") > 0
    assert "Most similar known datasets: world" in out


def test_columns_are_explained_on_request(run: Run, csv: Path) -> None:
    assert "\nfit " not in run(csv)[1]
    _, out, _ = run(csv, "--legend")
    assert "\n#  " in out
    assert "order to try them in" in out


def test_the_warehouse_is_named_with_its_difference_from_the_starter(
    run: Run, csv: Path, small_world: Path
) -> None:
    origins = Warehouse.open(small_world).origins()
    assert origins.in_words().startswith(f"the warehouse {small_world} (128 runs, none of the starter's")
    assert f"on 8 datasets of {origins.in_words()}." in run(csv)[1]
    document = json.loads(run(csv, "--format", "json")[1])["warehouse"]
    assert document["path"] == str(small_world)
    assert (document["is_starter"], document["starter_runs"], document["own_runs"]) == (False, 0, 128)
    assert document["last_own_run"] == str(origins.last)
    of_starter = json.loads(run(csv, "--warehouse", STARTER, "--format", "json")[1])["warehouse"]
    assert (of_starter["is_starter"], of_starter["own_runs"], of_starter["last_own_run"]) == (True, 0, None)


def test_the_dataset_is_named_by_place_or_by_option(run: Run, csv: Path) -> None:
    assert run(csv, "--top", "1") == run("--dataset", csv, "--top", "1")
    for arguments, complaint in (
        ((csv, "--dataset", csv), "exclude each other"),
        (("--top", "1"), "give a dataset"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert complaint in err


def test_the_first_configuration_is_written_as_a_script(run: Run, csv: Path, tmp_path: Path) -> None:
    code, out, err = run(csv, "--code", tmp_path / "first.py")
    assert (code, err) == (0, "")
    assert "first.py: the first configuration as a script" in out
    predicted = tmp_path / "predicted.csv"
    run_scripts([(tmp_path / "first.py", csv, "--predict", csv, "--output", predicted)], tmp_path)
    assert len(pd.read_csv(predicted)) == 900


def test_the_average_is_the_last_line_and_is_written_as_one_script(
    run: Run, csv: Path, tmp_path: Path
) -> None:
    code, out, err = run(csv, "--code", tmp_path / "three.py", "--average")
    assert (code, err) == (0, "")
    assert "\n   average of 1 to 3" in out
    assert "three.py: the average as a script" in out
    predicted = tmp_path / "predicted.csv"
    run_scripts([(tmp_path / "three.py", csv, "--predict", csv, "--output", predicted)], tmp_path)
    assert len(pd.read_csv(predicted)) == 900


@pytest.fixture
def run_on_numbers(world_of_numbers: Path, run_command: Run) -> Run:
    """Run `recommend` on the regression warehouse."""
    return partial(run_command, main, "--warehouse", world_of_numbers)


def test_the_output_for_regression_does_not_mention_classes(run_on_numbers: Run, price_csv: Path) -> None:
    code, out, err = run_on_numbers(price_csv, "--explain")
    assert (code, err) == (0, "")
    assert "homes: 900 rows, 2 features" in out
    assert ": a number from -" in out
    assert "'price' is the target because of its name; regression because it has" in out
    assert "Learned from 128 runs on 8 datasets" in out
    assert "\n1  Decision tree" in out
    assert "R2" in out
    assert not re.search("class(?!ification makes)|probabilit|accurac", out)


def test_the_json_of_a_number_follows_its_schema(run_on_numbers: Run, price_csv: Path) -> None:
    code, out, _ = run_on_numbers(price_csv, "--format", "json", "--explain", "--measure", "mae")
    assert code == 0
    document = json.loads(out)
    schema = json.loads(Path(recommend.ranges.__file__).with_name("seeds.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert document["measure"] == "mean_absolute_error"
    assert "classes" not in document["dataset"]
    assert document["dataset"]["target_mean"] == pytest.approx(100, abs=10)


def test_the_name_of_an_algorithm_means_its_regressor_for_numbers(
    run_on_numbers: Run, price_csv: Path
) -> None:
    code, out, _ = run_on_numbers(price_csv, "--flow", "decision_tree", "--format", "json")
    assert code == 0
    names = {item["algorithm"] for item in json.loads(out)["configurations"]}
    assert names == {"decision_tree_regressor"}


@pytest.mark.parametrize("measure", ["rmse", "mae", "r2", "rrse", "rae"])
def test_measures_of_regression_order_configurations_alike(
    run_on_numbers: Run, price_csv: Path, measure: str
) -> None:
    """In the regression warehouse, squared and absolute errors are related."""
    code, out, _ = run_on_numbers(price_csv, "--measure", measure, "--top", "1")
    assert code == 0
    assert "\n1  Decision tree" in out


@pytest.mark.parametrize(
    ("measure", "complaint"),
    [
        (
            "accuracy",
            "is for classes, but the target 'price' is a number; use one of root_mean_squared_error",
        ),
        ("rmsle", "takes logarithms of 1 + the target, and 'price' has negative numbers"),
    ],
)
def test_a_measure_undefined_for_the_target_is_one_line_and_exit_code_2(
    run_on_numbers: Run, price_csv: Path, measure: str, complaint: str
) -> None:
    code, out, err = run_on_numbers(price_csv, "--measure", measure)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


def test_learned_ranges_follow_their_schema(run: Run, csv: Path, tmp_path: Path) -> None:
    code, out, err = run(csv, "--ranges", tmp_path / "ranges.json")
    assert (code, err) == (0, "")
    assert "ranges.json: ranges of good hyperparameter values.\n" in out
    document = json.loads((tmp_path / "ranges.json").read_text())
    schema = json.loads(Path(recommend.ranges.__file__).with_name("ranges.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    for name, own in document["flows"].items():
        space = ConfigurationSpace.from_serialized_dict(own["configspace"])
        assert set(space) == set(own["hyperparameters"])
        for drawn in space.sample_configuration(5):
            assert get_flow(name).fit(dict(drawn)) == dict(drawn)


def test_the_json_counts_roles_and_names_ignored_columns(run: Run, tmp_path: Path) -> None:
    rows = 100
    columns = {"row": range(1, rows + 1), "x": [n * 7 % 13 for n in range(rows)], "class": ["a", "b"] * 50}
    pd.DataFrame(columns).to_csv(tmp_path / "my.csv", index=False)
    dataset = json.loads(run(tmp_path / "my.csv", "--format", "json")[1])["dataset"]
    assert dataset["roles"] == {"identifier": 1, "numeric": 1}
    assert dataset["ignored"] == {"row": "identifier"}
    assert dataset["majority_share"] == 0.5


def test_the_user_is_told_if_one_class_has_nearly_all_rows(run: Run, tmp_path: Path) -> None:
    """These runs have only accuracy."""
    path = tmp_path / "rare.csv"
    columns = {"x": [n * 7 % 13 for n in range(100)], "class": ["no"] * 95 + ["yes"] * 5}
    pd.DataFrame(columns).to_csv(path, index=False)
    code, out, _ = run(path)
    assert code == 0
    assert "Measure: accuracy, though 95.0% of the rows are of class 'no'" in out
    assert "Measure:" not in run(path, "--measure", "acc")[1]


def test_the_task_type_of_numbers_is_stated_with_the_option_for_the_other(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    numbers(600, seed=1).assign(stars=lambda rows: np.arange(len(rows)) % 5).to_csv(path, index=False)
    line = run(path, "--target", "stars")[1].splitlines()[1]
    assert line.startswith(
        "'stars' is the target because it was given; classification because its numbers are whole and few "
        "(--task regression predicts the number): 5 classes"
    )
    assert "classification because" not in run(path, "--target", "class")[1]


def test_seeds_file_is_the_printed_json(run: Run, csv: Path, tmp_path: Path) -> None:
    path = tmp_path / "seeds.json"
    _, out, _ = run("--dataset", csv, "--strategy", "delta", "--seeds", path, "--format", "json")
    assert read_seeds(path) == json.loads(out)


def test_runs_on_a_known_dataset_count_and_the_output_says_so(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "renamed.csv"
    numbers(800, seed=6).to_csv(path, sep=";", index=False)
    _, out, _ = run("--dataset", path)
    assert " and 16 runs on this dataset (--leave-out ignores them)." in out
    assert "1  accuracy of 0.9000 measured on this dataset\n" in out
    document = json.loads(run("--dataset", path, "--format", "json")[1])
    assert document["warehouse"]["trials"] == 16
    assert document["configurations"][0]["on_dataset"] == 0.9


def test_runs_on_a_known_dataset_can_be_left_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "renamed.csv"
    numbers(800, seed=6).to_csv(path, sep=";", index=False)
    _, out, _ = run("--dataset", path, "--leave-out")
    assert "This dataset is in the warehouse; its runs were left out of the model." in out
    assert "measured" not in out


def test_role_can_be_overridden(run: Run, csv: Path) -> None:
    code, out, _ = run("--dataset", csv, "--role", "z=categorical", "--format", "json")
    assert code == 0
    assert json.loads(out)["dataset"]["metafeatures"]["NumberOfSymbolicFeatures"] == 2


def test_the_help_shows_an_example(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "recommend my.csv --code first.py" in out


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content, encoding="utf-8") and None


def table(frame: pd.DataFrame) -> Callable[[Path], None]:
    return lambda path: frame.to_csv(path, index=False)


def columns(**changed: object) -> pd.DataFrame:
    return numbers(60).assign(**changed)  # type: ignore[arg-type]


REFUSED: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "missing file": (lambda path: None, (), "no file"),  # noqa: ARG005
    "directory": (lambda path: path.mkdir(), (), "directory"),
    "empty file": (text(""), (), "empty"),
    "target absent": (table(numbers(60)), ("--target", "clas"), "clas"),
    "binary garbage": (
        lambda path: path.write_bytes(np.random.default_rng(0).bytes(5000)),
        (),
        "",
    ),
    "role of no column": (table(numbers(60)), ("--role", "w=numeric"), "w"),
    "role that does not exist": (table(numbers(60)), ("--role", "x=number"), "number"),
    "role without a value": (table(numbers(60)), ("--role", "x"), "NAME=VALUE"),
    "only useless columns": (text("same,class\n" + "1,a\n1,b\n" * 30), (), "no column to learn from"),
    "task that the target does not allow": (
        table(numbers(60)),
        ("--task", "regression"),
        "can't be predicted as numbers",
    ),
    "unknown task": (table(numbers(60)), ("--task", "clustering"), "'classification', 'regression'"),
    "unknown flow": (table(numbers(60)), ("--flow", "perceptron"), "random_forest"),
    "unknown strategy": (table(numbers(60)), ("--strategy", "best"), "delta"),
    "unknown measure": (
        table(numbers(60)),
        ("--measure", "beauty"),
        "unknown measure 'beauty'; known are predictive_accuracy, balanced_accuracy, area_under_roc_curve",
    ),
    "measure of numbers": (
        table(numbers(60)),
        ("--measure", "r2"),
        "is for numbers, but the target 'class' has classes; use one of predictive_accuracy",
    ),
    "unknown format": (
        table(numbers(60)),
        ("--format", "yaml"),
        "'--format': 'yaml' is not one of 'table', 'json'",
    ),
    "unknown option": (table(numbers(60)), ("--tops", "3"), "--tops"),
    "no number": (table(numbers(60)), ("--top", "three"), "--top"),
    "no configuration": (table(numbers(60)), ("--top", "0"), "--top"),
    "no warehouse": (table(numbers(60)), ("--warehouse", "nowhere/at/all"), "nowhere"),
    "average without a file": (
        table(numbers(60)),
        ("--average",),
        "--average needs --code FILE",
    ),
    "average of one": (
        table(numbers(60)),
        ("--average", "--top", "1", "--code", "one.py"),
        "there is no average to write",
    ),
    "code that is no Python": (
        table(numbers(60)),
        ("--code", "first.txt"),
        "--code needs the name of a .py file",
    ),
    "a page in place of the table": (
        table(numbers(60)),
        ("--report", "table.csv"),
        "table.csv: --report needs the name of a .html file",
    ),
    "seeds in place of a table": (
        table(numbers(60)),
        ("--seeds", "table.csv"),
        "table.csv: --seeds needs the name of a .json file",
    ),
    "ranges in place of a table": (
        table(numbers(60)),
        ("--ranges", "table.csv"),
        "table.csv: --ranges needs the name of a .json file",
    ),
    "no time to verify in": (table(numbers(60)), ("--verify", "soon"), "is not a time"),
    "verified and left out": (
        table(numbers(60)),
        ("--verify", "9s", "--leave-out", "--no-record"),
        "exclude each other",
    ),
    "nothing to record": (table(numbers(60)), ("--record",), "--record needs --verify"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_line_and_exit_code_2(run: Run, tmp_path: Path, case: str) -> None:
    write, options, reason = REFUSED[case]
    path = tmp_path / "input.csv"
    write(path)
    code, out, err = run("--dataset", path, *options)
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    assert reason in err


ACCEPTED: dict[str, Callable[[Path], object]] = {
    "class with one example": table(columns(**{"class": ["a"] * 30 + ["b"] * 29 + ["rare"]})),
    "all-missing column": table(columns(empty=np.nan)),
    "duplicate columns": text("x,x,class\n" + "1,2,a\n3,4,b\n" * 30),
    "infinities": table(columns(x=[np.inf, -np.inf] * 30)),
    "300 columns": lambda path: (
        pd.DataFrame(np.random.default_rng(0).integers(0, 9, (40, 300)))
        .assign(label=["a", "b"] * 20)
        .to_csv(path, index=False)
    ),
    "dates": table(columns(day=pd.date_range("2024-01-01", periods=60).astype(str))),
    "missing target values": table(columns(**{"class": ["a", "b", None] * 20})),
    "two rows of each class": table(numbers(4)),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_awkward_input_works(run: Run, tmp_path: Path, case: str) -> None:
    path = tmp_path / "input.csv"
    ACCEPTED[case](path)
    code, out, err = run("--dataset", path)
    assert code == 0, err
    assert "\n1  the best expected accuracy" in out


def test_a_closed_pipe_is_no_error_and_files_are_written(
    small_world: Path, csv: Path, tmp_path: Path
) -> None:
    code = tmp_path / "first.py"
    options = f"--dataset '{csv}' --warehouse '{small_world}' --code '{code}'"
    command = f"'{sys.executable}' -m recommend {options} | true"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert code.is_file()


def test_all_recommendations_fit_into_the_budget(run: Run, csv: Path) -> None:
    """The bundled starter has times of fits."""
    options = ("--warehouse", STARTER, "--format", "json")
    free = json.loads(run(csv, *options)[1])["configurations"]
    budget = sum(item["fit_seconds"] for item in free) / 3
    code, out, _ = run(csv, *options, "--budget", f"{budget:.3f}s")
    assert code == 0
    assert sum(item["fit_seconds"] for item in json.loads(out)["configurations"]) <= budget


def test_a_verification_is_printed_and_recorded_on_request(
    run: Run, csv: Path, small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_lose)
    own = copy_of(small_world, tmp_path / "own").path
    options = ("--dataset", csv, "--warehouse", own, "--verify", "600s", "--jobs", "1", "--quiet")
    code, out, err = run(*options)
    assert (code, err) == (0, "")
    assert "\ntried " in out
    assert "Tried for " in out
    assert "Logistic regression (default)" in out
    assert "runs on this dataset" not in run("--dataset", csv, "--warehouse", own)[1]
    assert " runs on this dataset (below)." in out
    _, out, _ = run(*options, "--record")
    assert f"The next recommendation learns from the trials: their runs are in {own}." in out
    assert "runs on this dataset (--leave-out ignores them)" in run("--dataset", csv, "--warehouse", own)[1]


def test_an_interrupted_verification_is_printed_with_exit_code_130(
    run: Run, csv: Path, small_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Configuration] = []

    def press(one: Configuration) -> float:
        tried.append(one)
        if len(tried) > 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return trees_lose(one)

    say(monkeypatch, press)
    options = ("--dataset", csv, "--warehouse", small_world, "--verify", "600s", "--jobs", "1", "--quiet")
    with handled():
        code, out, err = run(*options)
    assert (code, err) == (130, "")
    assert "then interrupted" in out


def test_a_verification_ends_in_time(run: Run, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there is no time for any trial, it says so."""
    monkeypatch.setattr(deadline, "LEAST_LIMIT", 600.0)  # cut off by the end, not failed
    code, out, _ = run("--dataset", csv, "--verify", "1s", "--format", "json", "--quiet")
    assert code == 0
    assert json.loads(out)["verification"]["seconds"] < 300, "on a busy machine, too"
    _, out, _ = run("--dataset", csv, "--verify", "0.01s", "--quiet")
    assert "nothing was compared on the data" in out
    assert "\ntried " not in out


def test_if_all_trials_fail_the_cause_is_printed_and_nothing_is_learned(
    run: Run, csv: Path, small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, lambda _: "ValueError: no")
    own = copy_of(small_world, tmp_path / "own")
    options = ("--warehouse", own.path, "--verify", "600s", "--jobs", "1", "--record", "--quiet")
    code, out, err = run("--dataset", csv, *options)
    assert code == 1
    assert "\ntried " in out
    assert "learns from the trials" not in out
    assert err.endswith("no trial succeeded, and none was written to the warehouse: ValueError: no\n")
    assert Warehouse.open(own.path).version == own.version
