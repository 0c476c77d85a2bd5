"""Recommendations: the ranking, its evidence, and the document."""

import ast
import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import recommend
from ingest.flows import FLOWS, get_flow
from ingest.reading.datasets import load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.rows import Run, description_tables, run_tables
from metalearners import DEFAULT_LEARNER, model_store, new_learner
from metalearners.encoding.training_data import without_datasets
from metalearners.model_store import trained_model
from metalearners.stored_model import StoredModel
from recommend.recommender import recommend as rank
from recommend.seeds import build_pipeline
from tests.recommend.code.scripts import run_scripts
from tests.recommend.conftest import PLAN, copy_of, numbers
from warehouse.questions import sampling
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Number
from warehouse.vocabulary.searched_flow import SearchedFlow

TREES = [one for one in PLAN.pool if one.algorithm == "decision_tree"]
SCHEMA = json.loads((Path(recommend.__file__).parent / "seeds.schema.json").read_text(encoding="utf-8"))


def success(accuracy: float) -> Evaluation:
    return Evaluation(Outcome.success, 0.1, {"predictive_accuracy": accuracy})


@pytest.mark.parametrize(("rows", "algorithm"), [(900, "decision_tree"), (70, "logistic_regression")])
def test_algorithm_that_wins_on_similar_datasets_comes_first(
    small_world: Path, rows: int, algorithm: str
) -> None:
    result = rank(load_dataset(numbers(rows, seed=50)), warehouse=Warehouse.open(small_world))
    assert [item.rank for item in result.configurations] == [1, 2, 3]
    first, *others = result.configurations
    assert first.flow.name == algorithm
    assert first.predicted == max(item.predicted for item in result.configurations)
    assert all(item.std is not None and item.std > 0 for item in others)


def test_another_learner_ranks_by_its_predictions(small_world: Path) -> None:
    warehouse = Warehouse.open(small_world)
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=warehouse, metalearner="lightgbm")
    assert {item.flow.name for item in result.configurations} == {"decision_tree"}
    predicted = [item.predicted for item in result.configurations]
    assert predicted == sorted(predicted, reverse=True)
    assert result.model.origin.learner == "lightgbm"


def test_only_wanted_flows_are_ranked(small_world: Path) -> None:
    result = rank(
        load_dataset(numbers(900, seed=50)),
        warehouse=Warehouse.open(small_world),
        flows=["logistic_regression"],
        top=4,
    )
    assert {item.flow.name for item in result.configurations} == {"logistic_regression"}
    assert len(result.configurations) == 4
    assert result.candidates == 8


def test_a_model_trained_for_a_flow_is_used_for_it(small_world: Path, tmp_path: Path) -> None:
    warehouse = copy_of(small_world, tmp_path / "world")
    of_flow = trained_model(warehouse, only=("logistic_regression",))

    def model(*flows: str) -> StoredModel:
        dataset = load_dataset(numbers(900, seed=50))
        return rank(dataset, warehouse=warehouse, flows=flows).model

    assert model("logistic_regression").path == of_flow.path
    assert model().runs > of_flow.runs
    assert model("decision_tree", "logistic_regression").runs > of_flow.runs


def test_delta_spreads_and_states_its_deltas(small_world: Path) -> None:
    result = rank(
        load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), strategy="delta"
    )
    deltas = [item.delta for item in result.configurations]
    assert deltas[0] == 0.0
    assert len({item.configuration for item in result.configurations}) == 3
    gains = {item.rank: item.expectation.gain for item in result.configurations if item.expectation}
    weak = [str(number) for number, gain in gains.items() if gain is not None and gain < 0]
    said = [caution.text for caution in result.cautions if caution.kind == "seeds"]
    assert said == [f"expected to be worse than LightGBM's default: number {' and '.join(weak)}"][: len(weak)]


def test_the_model_is_not_trained_on_the_dataset_whatever_its_order(small_world: Path) -> None:
    known = numbers(800, seed=6).sample(frac=1, random_state=1)[["z", "class", "x"]]
    result = rank(load_dataset(known), warehouse=Warehouse.open(small_world))
    assert (result.left_out, result.near_copies) == (["world800"], [])
    assert result.model.datasets == 7
    assert "world800" not in dict(result.nearest)


def test_runs_on_the_dataset_itself_are_the_strongest_evidence(small_world: Path, tmp_path: Path) -> None:
    """Trees are best on all large datasets; on this one it is a linear model that was not run elsewhere."""
    world = copy_of(small_world, tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    default = get_flow("logistic_regression").default()
    best = Configuration("logistic_regression", default | {"C": 0.01})
    tried = {best: 0.95, Configuration("logistic_regression", default): 0.6} | dict.fromkeys(TREES, 0.8)
    results = [
        (Run(configuration, "mine/cv3", f"run {place}"), success(value))
        for place, (configuration, value) in enumerate(tried.items())
    ]
    assert rank(dataset, warehouse=world).configurations[0].flow.name == "decision_tree"
    world.write(description_tables(dataset) | run_tables(dataset, results, "cv3"), source="tune")
    result = rank(dataset, warehouse=world)
    first = result.configurations[0]
    assert result.trials == len(tried)
    assert first.configuration == best
    assert first.on_dataset is not None and first.on_dataset.value == 0.95
    assert result.model.datasets == 8  # all of the world
    ignored = rank(dataset, warehouse=world, leave_out=True)
    assert ignored.trials == 0
    assert ignored.configurations[0].flow.name == "decision_tree"
    assert ignored.configurations[0].on_dataset is None
    assert best not in {item.configuration for item in ignored.configurations}


def test_runs_on_the_dataset_itself_need_no_training_and_change_no_prior(
    small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = copy_of(small_world, tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    model = trained_model(world)
    results = [(Run(TREES[0], "mine/cv3", "run"), success(0.95))]
    world.write(description_tables(dataset) | run_tables(dataset, results, "cv3"), source="tune")
    with monkeypatch.context() as patched:
        patched.setattr(model_store, "_train", lambda *_: pytest.fail("trained again"))
        result = rank(dataset, warehouse=world)
    assert (result.trials, result.model.path) == (1, model.path)
    others = without_datasets(world.run_table(None, "predictive_accuracy"), [dataset.key])
    metafeatures = world.metafeatures().drop(index=dataset.key)
    anew = new_learner(DEFAULT_LEARNER).fit(others, metafeatures)
    found, expected = (
        one.predict(others.configurations, result.metafeatures) for one in (result.model.fitted, anew)
    )
    assert np.array_equal(found.mean, expected.mean)
    assert np.array_equal(found.std, expected.std)


def test_configurations_that_only_failed_on_the_dataset_are_not_recommended(
    small_world: Path, tmp_path: Path
) -> None:
    world = copy_of(small_world, tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    before = rank(dataset, warehouse=world)
    first, second, _ = (item.configuration for item in before.configurations)
    timeout = Evaluation(Outcome.timeout, 60.0, message="took more than 60 s")
    results = [
        (Run(first, "mine/cv3", "run 1"), timeout),
        (Run(second, "mine/cv3", "run 2"), timeout),
        (Run(second, "mine/cv5", "run 3"), success(0.9)),  # so it failed by chance
    ]
    for run in results:
        world.write(description_tables(dataset) | run_tables(dataset, [run], "cv3"), source="tune")
    result = rank(dataset, warehouse=world)
    assert result.failed == {"timeout": 1}
    assert result.candidates == before.candidates - 1
    assert first not in {item.configuration for item in result.configurations}
    assert result.document()["warehouse"]["failed"] == {"timeout": 1}
    assert rank(dataset, warehouse=world, leave_out=True).configurations[0].configuration == first


def test_a_dataset_on_which_everything_failed_is_reported(small_world: Path, tmp_path: Path) -> None:
    world = copy_of(small_world, tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    results = [
        (Run(tree, "mine/cv3", f"run {place}"), Evaluation(Outcome.crash, 0.1, message="no tree here"))
        for place, tree in enumerate(TREES)
    ]
    world.write(description_tables(dataset) | run_tables(dataset, results, "cv3"), source="tune")
    with pytest.raises(BadInput, match="failed on this dataset"):
        rank(dataset, warehouse=world, flows=["decision_tree"])


def test_the_task_with_the_most_runs_on_the_dataset_counts(small_world: Path, tmp_path: Path) -> None:
    """Values on other rows are not comparable."""
    world = copy_of(small_world, tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    for task, runs in (("mine/cv3", 2), ("mine/cv10", 3)):
        results = [
            (Run(configuration, task, f"{task} {place}"), success(0.5 + 0.1 * place))
            for place, configuration in enumerate(TREES[:runs])
        ]
        world.write(description_tables(dataset) | run_tables(dataset, results, task), source="tune")
    assert rank(dataset, warehouse=world).trials == 3


def test_slow_flows_are_recommended_only_by_name(small_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees win on 900 rows; here they count as slow from 500 rows on."""
    monkeypatch.setitem(FLOWS, "decision_tree", replace(FLOWS["decision_tree"], most_rows=500))
    dataset, warehouse = load_dataset(numbers(900, seed=50)), Warehouse.open(small_world)
    for flows, expected in (((), "logistic_regression"), (("decision_tree",), "decision_tree")):
        found = rank(dataset, warehouse=warehouse, flows=flows)
        assert {item.flow.name for item in found.configurations} == {expected}


def test_a_frame_and_an_alias_of_the_measure_give_the_same_recommendation(small_world: Path) -> None:
    frame, warehouse = numbers(900, seed=50), Warehouse.open(small_world)
    assert (
        rank(frame, warehouse=warehouse, measure="Acc").document()
        == rank(load_dataset(frame), warehouse=warehouse).document()
    )


@pytest.mark.parametrize("strategy", ["top", "delta"])
def test_document_keeps_its_published_schema(small_world: Path, strategy: str) -> None:
    result = rank(
        load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), strategy=strategy
    )
    document = json.loads(json.dumps(result.document(), allow_nan=False))
    jsonschema.validate(document, SCHEMA)
    if strategy == "delta":
        assert document["average"] is None
    else:
        weights = [(member["rank"], member["weight"]) for member in document["average"]["members"]]
        assert weights == [(1, 0.5), (2, 0.25), (3, 0.25)]


def test_every_recommended_configuration_builds_and_fits(small_world: Path) -> None:
    dataset = load_dataset(numbers(900, seed=50))
    result = rank(dataset, warehouse=Warehouse.open(small_world))
    for configuration in result.document()["configurations"]:
        pipeline = build_pipeline(configuration, dataset).fit(dataset.features, dataset.target)
        assert pipeline.score(dataset.features, dataset.target) > 0.5


def test_every_pipeline_gives_probabilities() -> None:
    dataset = load_dataset(numbers(60, seed=50))
    entry = {"flow": "svm", "hyperparameters": get_flow("svm").default()}
    pipeline = build_pipeline(entry, dataset).fit(dataset.features, dataset.target)
    assert pipeline.predict_proba(dataset.features).sum(axis=1) == pytest.approx(np.ones(60))


@pytest.mark.parametrize("place", [0, -1, 4])
def test_there_is_code_only_for_ranked_configurations(small_world: Path, place: int) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=3)
    with pytest.raises(BadInput, match=f"no configuration has rank {place}; the ranks are 1 to 3"):
        result.code(place)


def test_a_flow_that_headstart_does_not_build_has_no_code(small_world: Path) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=1)
    foreign = SearchedFlow("other:my-boosting", "my-boosting", (Number("eta", 0.001, 1.0, default=0.3),))
    others = [replace(result.configurations[0], flow=foreign)]
    with pytest.raises(BadInput, match="Headstart does not build my-boosting, so it has no script"):
        replace(result, configurations=others).code()


def test_code_for_a_dataset_without_a_file_asks_for_one(small_world: Path, tmp_path: Path) -> None:
    frame = numbers(900, seed=50)
    result = rank(load_dataset(frame), warehouse=Warehouse.open(small_world), top=1)
    code = result.code()
    head = ast.get_docstring(ast.parse(code)) or ""
    assert "give it a CSV file of the same table" in " ".join(head.split())
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "code.py").write_text(code, encoding="utf-8")
    calls = [("code.py", "table.csv", "--predict", "table.csv"), ("code.py", "absent.csv")]
    out, complaints = run_scripts(calls, tmp_path)
    assert out == "predictions.csv: 900 predictions\n"
    assert complaints == "absent.csv: No such file or directory\nexit code 2\n"


def test_same_warehouse_gives_the_same_recommendation(small_world: Path) -> None:
    dataset = load_dataset(numbers(900, seed=50))
    first, second = (rank(dataset, warehouse=Warehouse.open(small_world)).document() for _ in range(2))
    assert first == second


@pytest.fixture
def larger_than_a_sample(small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """The small world, with decision trees only in its sample of all flows."""
    monkeypatch.setattr(sampling, "MOST_LEARNED", 50)
    monkeypatch.setattr(sampling, "SAMPLED_RUNS", 40)
    monkeypatch.setattr(sampling, "SAMPLED_CELLS", 1)
    shutil.copytree(small_world, tmp_path / "large", ignore=shutil.ignore_patterns("models"))
    return Warehouse.open(tmp_path / "large")


def test_a_flow_missing_from_the_sample_of_a_large_warehouse_is_learned_separately(
    larger_than_a_sample: Warehouse,
) -> None:
    dataset = load_dataset(numbers(900, seed=50))
    assert {item.flow.name for item in rank(dataset, warehouse=larger_than_a_sample).configurations} == {
        "decision_tree"
    }
    result = rank(dataset, warehouse=larger_than_a_sample, flows=["logistic_regression"])
    assert [item.flow.name for item in result.configurations] == ["logistic_regression"] * 3
    assert result.model.origin.only == ("logistic_regression",)
    jsonschema.validate(result.document(), SCHEMA)
    again = rank(dataset, warehouse=larger_than_a_sample, flows=["logistic_regression"])
    assert again.document() == result.document()


def test_a_flow_missing_from_the_sample_is_named_if_another_is_in_it(
    larger_than_a_sample: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    flows = ["logistic_regression", "decision_tree"]
    with caplog.at_level(logging.INFO):
        result = rank(load_dataset(numbers(900, seed=50)), warehouse=larger_than_a_sample, flows=flows)
    assert {item.flow.name for item in result.configurations} == {"decision_tree"}
    assert "logistic_regression is not in the sample of runs: select it with --flow" in caplog.text


def test_a_flow_without_runs_is_refused_with_a_sample(larger_than_a_sample: Warehouse) -> None:
    with pytest.raises(BadInput, match="no configuration of svm that Headstart can build"):
        rank(load_dataset(numbers(900, seed=50)), warehouse=larger_than_a_sample, flows=["svm"])


def test_own_experiments_on_the_dataset_count_even_if_missing_from_the_sample(
    larger_than_a_sample: Warehouse,
) -> None:
    same = load_dataset(numbers(1000, seed=7))
    drawn = larger_than_a_sample.run_table(None, "predictive_accuracy").runs["dataset"].value_counts()
    assert set(drawn) == {40 // 8}
    assert rank(same, warehouse=larger_than_a_sample).trials == len(TREES)


def test_empty_warehouse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.create(tmp_path / "empty"))


def test_evidence_is_the_scores_on_the_most_similar_datasets(small_world: Path) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=16)
    by_algorithm: dict[str, list[float]] = {"decision_tree": [], "logistic_regression": []}
    for item in result.configurations:
        assert item.on_nearest is not None
        by_algorithm[item.flow.name].append(item.on_nearest)
    assert min(by_algorithm["decision_tree"]) > 0 > max(by_algorithm["logistic_regression"])
