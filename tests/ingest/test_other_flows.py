"""Flows that Headstart does not build: from a file to a recommendation, a search and another tool."""

import json
import logging
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.reading.datasets import load_dataset
from ingest.run_files import flow_key, ingest_run_file
from ingest.spaces import read_space
from recommend.bo.simulation.tasks import ModelTask
from recommend.export import export_document, suggest_configuration
from recommend.recommender import recommend
from tests.cases import each
from tests.other_flows import SPACE, write_world
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.declaration import declaration, read_declaration

NAME, KEY = "yahpo-xgboost", "other:yahpo-xgboost"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_world(tmp_path)
    return tmp_path


def ingested(folder: Path, space: str | None = "space.json") -> Warehouse:
    warehouse = Warehouse.create(folder / "runs")
    declared = None if space is None else folder / space
    ingest_run_file(warehouse, folder / "runs.csv", NAME, qualities=folder / "qualities.json", space=declared)
    return warehouse


def test_any_valid_name_is_a_flow() -> None:
    assert [flow_key(name) for name in (NAME, KEY, "rpart.v2")] == [KEY, KEY, "other:rpart.v2"]


def test_the_best_of_many_algorithms_without_hyperparameters_are_recommended(tmp_path: Path) -> None:
    """A forest is best on large datasets, a rule on small ones; no hyperparameters are invented."""
    write_world(tmp_path)
    learners = {"weka.J48": 0.0, "weka.Forest": 0.002, "weka.OneR": 0.012, "weka.Zero": -0.2}
    lines = [
        f"{task},{name},{0.8 + rise * (task if name == 'weka.Forest' else 1)}"
        for task in range(1, 13)
        for name, rise in learners.items()
    ]
    (tmp_path / "runs.csv").write_text("\n".join(["task_id,algorithm,accuracy", *lines]))
    warehouse = Warehouse.create(tmp_path / "runs")
    ingest_run_file(
        warehouse, tmp_path / "runs.csv", flow_column="algorithm", qualities=tmp_path / "qualities.json"
    )
    found = recommend(load_dataset(tmp_path / "my.csv"), warehouse=warehouse, top=3)
    assert {one.flow.title for one in found.configurations} == {"weka.J48", "weka.Forest", "weka.OneR"}
    assert all(dict(one.configuration.values) == {} for one in found.configurations)
    with pytest.raises(BadInput, match=r"does not build weka\.\w+, so it has no script"):
        found.code()
    points = json.dumps(export_document(found.document(), "smac"))
    assert all(f"other:weka.{name}" in points for name in ("J48", "Forest", "OneR"))


@each("name", ["../x", "a b", "Random-Forest", "x" * 129, "-x", "a:b", "é", "a\n"])
def test_hostile_names_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(BadInput) as refusal:
        flow_key(name)
    assert "\n" not in str(refusal.value)


def test_reading_the_same_file_again_changes_nothing(folder: Path) -> None:
    ingested(folder)
    assert ingested(folder).version == 1


def test_a_declaration_is_read_back(folder: Path) -> None:
    flow = ingested(folder).run_table(NAME, "predictive_accuracy").searched_flow(KEY)
    assert flow == read_space(folder / "space.json", KEY)
    assert read_declaration(flow.name, flow.title, json.loads(json.dumps(declaration(flow)))) == flow


def test_ranges_scales_and_conditions_are_inferred(folder: Path) -> None:
    flow = ingested(folder, None).run_table(NAME, "predictive_accuracy").searched_flow(KEY)
    found = {own.name: own for own in flow.hyperparameters}
    assert flow.scales == {"eta": "log", "max_depth": "linear", "rate_drop": "linear"}
    assert (found["max_depth"].low, found["max_depth"].high) == (1, 12)  # type: ignore[union-attr]
    assert found["max_depth"].when == {"booster": ("dart", "gbtree")}
    assert found["rate_drop"].when == {"booster": ("dart",)}


@pytest.mark.parametrize("space", ["space.json", None])
def test_a_model_of_the_runs_keeps_the_conditions(folder: Path, space: str | None) -> None:
    warehouse = ingested(folder, space)
    runs = warehouse.run_table(NAME, "predictive_accuracy")
    task = ModelTask(runs, warehouse.metafeatures(), runs.runs["dataset"][0])
    table = task.known.table.parameters
    assert (table["rate_drop"].notna() == (table["booster"] == "dart")).all()


@pytest.mark.parametrize("tool", ["optuna", "smac"])
def test_recommendations_are_exported_to_other_tools(folder: Path, tool: str) -> None:
    found = recommend(load_dataset(folder / "my.csv"), warehouse=ingested(folder), flows=[NAME])
    exported = export_document(found.document(), tool)
    assert "booster" in json.dumps(exported)


def test_a_tool_with_its_own_algorithms_has_no_equivalent(folder: Path) -> None:
    found = recommend(load_dataset(folder / "my.csv"), warehouse=ingested(folder), flows=[NAME])
    with pytest.raises(BadInput, match="FLAML has no equivalent"):
        export_document(found.document(), "flaml")


def test_optuna_searches_a_space_with_conditions(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It learns from trials without the hyperparameters of other choices, without a warning."""
    optuna = pytest.importorskip("optuna")
    from recommend.bo.optuna_sampler import headstart_sampler

    sampler = headstart_sampler(load_dataset(folder / "my.csv"), [NAME], warehouse=ingested(folder))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(
        lambda trial: -abs(math.log10(suggest_configuration(trial, sampler.space).values["eta"]) + 2),
        n_trials=6,
    )
    tried = [suggest_configuration(trial, sampler.space).values for trial in study.trials]
    assert all(("rate_drop" in values) == (values["booster"] == "dart") for values in tried)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def narrowed(change: Callable[[dict[str, dict[str, object]]], object]) -> str:
    content = json.loads(json.dumps(SPACE))
    change(content["hyperparameters"])
    return json.dumps(content)


@each(
    ("content", "reason"),
    [
        ("[]", "an object `hyperparameters`"),
        (narrowed(lambda own: own["eta"].update(high=0.5)), "eta can't be"),
        (narrowed(lambda own: own.pop("eta")), "no hyperparameter eta"),
        (narrowed(lambda own: own["max_depth"].update(when={"booster": "dart"})), "only where booster"),
        (narrowed(lambda own: own["eta"].update(low=0)), "log scale begins above 0"),
        (narrowed(lambda own: own["booster"].update(when={"rate_drop": 0.5})), "circle"),
        (narrowed(lambda own: own["rate_drop"].update(when={"boost": "dart"})), "'boost'"),
        (
            '{"hyperparameters": [{"type": "uniform_int", "name": "a", "lower": -1e999, "upper": 3}]}',
            "not a search space in ConfigSpace's JSON",
        ),
    ],
)
def test_spaces_that_do_not_fit_are_refused(folder: Path, content: str, reason: str) -> None:
    (folder / "space.json").write_text(content)
    with pytest.raises(BadInput, match=reason):
        ingested(folder)
