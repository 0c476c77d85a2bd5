"""The command line `metalearners`."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metalearners.cli import main
from tests.cases import each
from tests.commands import Run
from warehouse.store import Warehouse


@pytest.fixture
def metalearners(toy_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, run_command: Run) -> Run:
    """Run a command on the toy warehouse."""
    monkeypatch.setenv("HEADSTART_WAREHOUSE", str(toy_warehouse.path))
    return partial(run_command, main)


def test_evaluate_prints_the_contracted_json(metalearners: Run, tmp_path: Path) -> None:
    command = "evaluate --learner lightgbm --flow toy --tasks toy:0/cv3,toy:1/cv3,toy:2/cv3 --set trees=20"
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
    assert set(result["per_dataset"][0]) == {
        "dataset",
        "runs",
        "tau",
        "error",
        "regret",
        "choices",
        "coverage",
        "shots",
    }
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_evaluate_prints_a_table_for_people(metalearners: Run) -> None:
    code, out, err = metalearners("evaluate", "--tasks", "toy:0/cv3")
    assert (code, err) == (0, "")
    assert out.startswith(
        "functional-pca, all flows, predictive_accuracy: 1 dataset, one dataset left out at a time"
    )
    assert "regret of top 3" in out


def test_train_says_where_the_model_is(metalearners: Run, toy_warehouse: Warehouse) -> None:
    code, out, _ = metalearners("train", "--learner", "lightgbm", "--set", "trees=20")
    summary, path = out.splitlines()
    assert code == 0
    assert summary == "Learned from 240 runs on 12 datasets (lightgbm, warehouse version 1)"
    assert Path(path).parent == toy_warehouse.path / "models"
    assert metalearners("train", "--learner", "lightgbm", "--set", "trees=20")[1] == out


def test_a_model_of_a_flow_is_listed_by_its_algorithm(metalearners: Run) -> None:
    assert metalearners("train", "--learner", "average-rank", "--flow", "toy")[0] == 0
    assert "warehouse version 1), forest, predictive_accuracy" in metalearners("models")[1]
    (model,) = json.loads(metalearners("models", "--format", "json")[1])
    assert model["only"] == ["forest"]


def test_models_are_listed_with_their_training_data(metalearners: Run) -> None:
    assert "No model yet" in metalearners("models")[1]
    path = metalearners("train", "--learner", "lightgbm", "--set", "trees=20")[1].splitlines()[1]
    assert metalearners("models")[1].splitlines()[1].strip() == path
    (model,) = json.loads(metalearners("models", "--format", "json")[1])
    assert (model["learner"], model["settings"]["trees"], model["runs"]) == ("lightgbm", 20, 240)


def test_models_are_listed_with_their_warehouse_version(
    metalearners: Run, toy_warehouse: Warehouse, toy_tables: dict[str, Any], tmp_path: Path
) -> None:
    other = Warehouse.create(tmp_path / "other")
    other.write(toy_tables, source="another toy")
    place = ("--warehouse", str(other.path))
    for arguments in ((), place):
        metalearners("train", "--learner", "average-rank", *arguments)
    toy_warehouse.write({"evaluations": toy_tables["evaluations"].assign(value=0.5)}, source="corrected")
    (model,) = (other.path / "models").iterdir()
    shutil.copytree(model, toy_warehouse.path / "models" / model.name)
    listed = [line for line in metalearners("models")[1].splitlines() if line.startswith("Learned")]
    whose = [line.partition("predictive_accuracy; ")[2] for line in listed]
    assert sorted(whose) == ["of an earlier version", "of another warehouse"]


def test_list_names_learners_and_groups_of_metafeatures(metalearners: Run) -> None:
    code, out, _ = metalearners("list")
    assert code == 0
    assert "lightgbm" in out
    listed = json.loads(metalearners("list", "--format", "json")[1])
    assert len(listed["metafeatures"]["shape"]) == 11
    assert len(listed["metafeatures"]["landmarkers"]) == 45


@each(
    ("command", "message"),
    [
        ("evaluate --learner oracle", "unknown learner 'oracle'; known are functional-pca"),
        ("evaluate --shots 3,many", "not 'many'"),
        ("evaluate --set colour=blue", "unknown setting 'colour'; known are groups"),
        ("compare nowhere.json", "two evaluations or more"),
        ("compare nowhere.json neither.json", "nowhere.json: can't be read"),
        ("compare a.json b.json --by beauty", "can't compare by 'beauty'; known are tau"),
        ("evaluate --flow unheard", "unknown flow 'unheard'"),
        ("evaluate --measure beauty", "unknown measure 'beauty'; known are predictive_accuracy, balanced"),
        (
            "train --measure logloss",
            "no run has the measure 'log_loss'; the warehouse has: predictive_accuracy",
        ),
        ("evaluate --tasks 3", "no run on task 'openml:3'"),
        ("evaluate --tasks ,", "two datasets or more"),
        ("evaluate --metafeatures Beauty", "has a meta-feature 'Beauty'"),
        ("evaluate --metafeatures ,", "no meta-features named"),
        ("evaluate --learner lightgbm --set leaves=1", "leaves must be from 2 to 64"),
        ("evaluate --format xml", "'xml' is not one of 'table', 'json'"),
        ("evaluate --jobs 0", "--jobs"),
        ("train --warehouse nowhere", "there is no warehouse at"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(metalearners: Run, command: str, message: str) -> None:
    code, out, err = metalearners(*command.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_an_output_that_cannot_be_written_is_one_line(metalearners: Run, tmp_path: Path) -> None:
    code, _, err = metalearners(
        "evaluate", "--tasks", "toy:0/cv3", "--output", str(tmp_path / "no" / "x.json")
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "can't be written" in err
    table = tmp_path / "table.csv"
    table.write_text("a,b\n")
    code, _, err = metalearners("evaluate", "--tasks", "toy:0/cv3", "--output", table)
    assert (code, err) == (2, f"error: {table}: --output needs the name of a .json file\n")
    assert table.read_text() == "a,b\n"


def test_evaluations_are_compared_dataset_by_dataset(metalearners: Run, tmp_path: Path) -> None:
    files = []
    tasks = ",".join(f"toy:{number}/cv3" for number in range(6))
    for learner in ("average-rank", "portfolio", "nearest-portfolio"):
        files.append(str(tmp_path / f"{learner}.json"))
        assert metalearners("evaluate", "--learner", learner, "--tasks", tasks, "--output", files[-1])[0] == 0
    plot = tmp_path / "ranks.png"
    code, out, err = metalearners("compare", *files, "--by", "tau", "--plot", str(plot))
    assert (code, err) == (0, "")
    assert out.startswith("tau on 6 datasets; p against ")
    assert "Friedman" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    document = json.loads(metalearners("compare", *files, "--format", "json")[1])
    assert document["wilcoxon_holm"]["portfolio"].keys() == {"average-rank", "nearest-portfolio"}


def test_trials_on_the_left_out_dataset_are_reported(metalearners: Run) -> None:
    _, out, _ = metalearners("evaluate", "--tasks", "toy:0/cv3", "--shots", "0,5", "--format", "json")
    shots = json.loads(out)["shots"]
    assert set(shots) == {"random", "chosen"}
    assert set(shots["random"]) == {"0", "5"}
    assert "tau, 5 random" in metalearners("evaluate", "--tasks", "toy:0/cv3", "--shots", "0,5")[1]


def test_a_stopped_evaluation_continues(
    metalearners: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal keeps finished parts; a truncated line is computed again."""
    import metalearners.evaluation.protocol as evaluation

    file, whole = tmp_path / "result.json", tmp_path / "whole.json"
    quick = ("evaluate", "--learner", "average-rank", "--output")
    metalearners(*quick, whole)
    folds = evaluation._fold
    done: list[str] = []

    def stopping(*arguments: Any) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.extend(arguments[-1])
        return folds(*arguments)

    monkeypatch.setattr(evaluation, "_fold", stopping)
    metalearners(*quick, file)
    journal = tmp_path / "result.json.partial"
    assert len(journal.read_text().strip().splitlines()) == 4
    with journal.open("a") as lines:
        lines.write('\n{"dataset": "toy:3", "ta')
    done.clear()
    monkeypatch.setattr(
        evaluation, "_fold", lambda *arguments: (done.extend(arguments[-1]), folds(*arguments))[1]
    )
    metalearners(*quick, file)
    assert done == [f"toy:{number}" for number in range(3, 12)]
    assert json.loads(file.read_text()) == json.loads(whole.read_text())
    assert not journal.exists()


def test_a_journal_of_another_evaluation_is_not_mixed_in(metalearners: Run, tmp_path: Path) -> None:
    (tmp_path / "result.json.partial").write_text('{"learner": "other"}\n')
    code, _, err = metalearners("evaluate", "--output", str(tmp_path / "result.json"))
    assert code == 2
    assert "belongs to another evaluation" in err


QUICK = ("--set", "steps=100", "--quiet")


def test_a_factorization_is_updated_with_new_runs(
    metalearners: Run, toy_warehouse: Warehouse, toy_tables: dict[str, Any]
) -> None:
    """Trained, then updated after a commit; from then on it is the model of these runs."""
    pytest.importorskip("torch", reason="training needs the extra `pmf`")
    code, out, err = metalearners("train", "--learner", "pmf", *QUICK)
    assert (code, err) == (0, "")
    before = out.splitlines()[-1]
    evaluations = toy_tables["evaluations"].assign(value=1 - toy_tables["evaluations"]["value"])
    toy_warehouse.write({"evaluations": evaluations}, source="corrected")
    code, out, err = metalearners("update", before, "--quiet")
    assert (code, err) == (0, "")
    updated = out.splitlines()[-1]
    assert updated != before
    assert json.loads((Path(updated) / "model.json").read_text())["updated_from"] == Path(before).name
    assert metalearners("train", "--learner", "pmf", *QUICK)[1].splitlines()[-1] == updated
    assert metalearners("update", updated)[1].splitlines()[-1] == updated  # nothing new


def test_quickly_trained_learners_are_not_updated(metalearners: Run) -> None:
    model = metalearners("train", "--learner", "knn")[1].splitlines()[-1]
    code, _, err = metalearners("update", model)
    assert code == 2
    assert "can't be updated" in err


def test_the_latent_space_is_drawn(metalearners: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the extra `pmf`")
    file = tmp_path / "latent.svg"
    code, out, err = metalearners("plot-latent", str(file), "--dataset", "toy:3", *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("20 configurations, 20 of them run on toy:3")
    assert file.stat().st_size > 5000


@each(
    ("arguments", "message"),
    [
        (["latent.png", "--dataset", "nowhere"], "no dataset 'nowhere' has runs"),
        (["latent.tiff0"], "can't be written"),
        (["latent.png", "--set", "steps=0"], "1 or more"),
    ],
)
def test_a_latent_space_that_cannot_be_drawn(
    metalearners: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    pytest.importorskip("torch", reason="training needs the extra `pmf`")
    file, *others = arguments
    code, out, err = metalearners("plot-latent", str(tmp_path / file), *QUICK, *others)
    assert code in (1, 2)
    assert message in err
    assert (len(err.splitlines()), out) == (1, "")
