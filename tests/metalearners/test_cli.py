"""The command line `metalearners`."""

import json
from pathlib import Path
from typing import Any

import pytest

from metalearners.cli import main
from warehouse.store import Warehouse


@pytest.fixture
def metalearners(
    toy_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Run a command on the toy warehouse; gives (exit code, stdout, stderr)."""
    monkeypatch.setenv("HEADSTART_WAREHOUSE", str(toy_warehouse.path))

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr("sys.argv", ["metalearners", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return exit_.value.code, out, err

    return run


def test_evaluate_prints_the_contracted_json(metalearners: Any, tmp_path: Path) -> None:
    command = "evaluate --learner lightgbm --flow toy --tasks toy:0/cv3,toy:1/cv3,toy:2/cv3 --leaves 4"
    code, out, err = metalearners(
        *command.split(), "--format", "json", "--output", str(tmp_path / "result.json")
    )
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert (result["learner"], result["flow"], result["measure"]) == (
        "lightgbm",
        "toy",
        "predictive_accuracy",
    )
    assert set(result["tau"]) == {"mean", "low", "high"}
    assert all(set(result["regret"][top]) == {"mean", "low", "high"} for top in ("1", "3", "5"))
    assert result["regret"]["mean"] == result["regret"]["1"]["mean"]
    assert [one["dataset"] for one in result["per_dataset"]] == ["toy:0", "toy:1", "toy:2"]
    assert set(result["per_dataset"][0]) == {"dataset", "runs", "tau", "regret"}
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_evaluate_prints_a_table_for_people(metalearners: Any) -> None:
    code, out, err = metalearners("evaluate", "--tasks", "toy:0/cv3", "--leaves", "4")
    assert (code, err) == (0, "")
    assert out.startswith("lightgbm, all flows, predictive_accuracy: 1 datasets left out in turn")
    assert "regret of top 3" in out


def test_one_dataset_has_null_limits(metalearners: Any) -> None:
    _, out, _ = metalearners("evaluate", "--tasks", "toy:0/cv3", "--leaves", "4", "--format", "json")
    assert json.loads(out)["tau"]["low"] is None


def test_train_says_where_the_model_is(metalearners: Any, toy_warehouse: Warehouse) -> None:
    code, out, _ = metalearners("train", "--leaves", "4")
    summary, path = out.splitlines()
    assert code == 0
    assert summary == "Learned from 240 runs on 12 datasets (lightgbm, warehouse version 1)"
    assert Path(path).parent == toy_warehouse.path / "models"
    assert metalearners("train", "--leaves", "4")[1] == out


def test_list_names_learners_and_groups_of_metafeatures(metalearners: Any) -> None:
    code, out, _ = metalearners("list")
    assert code == 0
    assert "lightgbm" in out
    listed = json.loads(metalearners("list", "--format", "json")[1])
    assert len(listed["metafeatures"]["shape"]) == 11
    assert len(listed["metafeatures"]["landmarkers"]) == 45


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("evaluate --learner oracle", "unknown learner 'oracle'; known are lightgbm"),
        ("evaluate --flow unheard", "unknown flow 'unheard'"),
        ("evaluate --measure beauty", "no run has the measure 'beauty'"),
        ("evaluate --tasks 3", "no run on task 'openml:3'"),
        ("evaluate --tasks ,", "two datasets or more"),
        ("evaluate --metafeatures Beauty", "has a meta-feature 'Beauty'"),
        ("evaluate --metafeatures ,", "no meta-features named"),
        ("evaluate --leaves 1", "leaves must be from 2 to 64"),
        ("evaluate --format xml", "unknown --format 'xml'"),
        ("evaluate --jobs 0", "--jobs"),
        ("train --warehouse nowhere", "there is no warehouse at"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(metalearners: Any, command: str, message: str) -> None:
    code, out, err = metalearners(*command.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_an_output_that_cannot_be_written_is_one_line(metalearners: Any, tmp_path: Path) -> None:
    code, _, err = metalearners(
        "evaluate", "--tasks", "toy:0/cv3", "--output", str(tmp_path / "no" / "x.json")
    )
    assert (code, err.count("\n")) == (1, 1)
    assert "can't be written" in err
