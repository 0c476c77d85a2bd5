"""Own experiments: runs, storage, and resuming after a stop."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingest import flows
from ingest.flows import get_flow
from ingest.reading.dataset_files import DatasetFile, find_datasets
from ingest.reading.datasets import Dataset
from ingest.running import evaluation, experiments
from ingest.running.blocks import Split
from ingest.running.evaluation import TIMES, Evaluation, Limits
from ingest.running.experiments import ExperimentProgress, run_experiments
from ingest.running.limits import Outcome, Processes
from ingest.running.plan import Plan, SplitRule, Tier, design_plan
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

FLOWS = ("decision_tree", "naive_bayes")
RUNS_PER_DATASET = 2 * (2 + 1)


def write_dataset(path: Path, rows: int, target: str = "kind") -> None:
    rng = np.random.default_rng(rows)
    kind = np.arange(rows) % 2
    pd.DataFrame(
        {"x": kind + rng.normal(0, 0.3, rows), "z": rng.normal(size=rows), target: np.where(kind, "b", "a")}
    ).to_csv(path, index=False)


def plan(source: Path, configurations: int = 2) -> Plan:
    """Every dataset of a directory, with this many configurations of each flow besides its default."""
    return design_plan(find_datasets(source), FLOWS, configurations)


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    folder = tmp_path / "datasets"
    folder.mkdir()
    write_dataset(folder / "large.csv", 120)
    write_dataset(folder / "small.csv", 60)
    (folder / "index.csv").write_text("name,target\nlarge,kind\nsmall.csv,kind\n")
    return folder


def test_every_dataset_gets_the_same_configurations(datasets: Path, warehouse: Warehouse) -> None:
    counts = run_experiments(warehouse, plan(datasets), jobs=2)
    assert counts["success"] == 2 * RUNS_PER_DATASET
    runs = warehouse.run_table(None, "predictive_accuracy").runs
    assert (runs["setup"].nunique(), runs["dataset"].nunique(), len(runs)) == (
        RUNS_PER_DATASET,
        2,
        2 * RUNS_PER_DATASET,
    )
    assert warehouse.sql("SELECT count(DISTINCT measure) AS n FROM evaluations")["n"].item() == len(
        (*CLASSIFICATION.measures, *TIMES)
    )
    assert warehouse.metafeatures()["NumberOfInstances"].tolist() == [120, 60]


@pytest.mark.usefixtures("trials")
def test_running_a_plan_again_runs_nothing_and_a_longer_plan_only_the_rest(
    datasets: Path, warehouse: Warehouse
) -> None:
    run_experiments(warehouse, plan(datasets))
    version = warehouse.version
    counts = run_experiments(warehouse, plan(datasets))
    assert counts == {"success": 0, "timeout": 0, "memout": 0, "crash": 0, "skipped": 2 * RUNS_PER_DATASET}
    assert warehouse.version == version
    counts = run_experiments(warehouse, plan(datasets, configurations=3))
    assert (counts["success"], counts["skipped"]) == (4, 2 * RUNS_PER_DATASET)


def test_descriptions_of_datasets_are_updated_even_if_nothing_is_left_to_run(
    datasets: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "evaluate", Trials().run)
    run_experiments(warehouse, plan(datasets))
    old = warehouse.sql("SELECT * EXCLUDE ingest FROM qualities").assign(value=-1.0, extractor="old")
    warehouse.write({"qualities": old}, source="test")
    run_experiments(warehouse, plan(datasets))
    assert warehouse.metafeatures()["NumberOfInstances"].tolist() == [120, 60]


@pytest.mark.usefixtures("trials")
def test_killed_job_repeats_no_finished_run_except_one_with_a_damaged_record(
    datasets: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Simulates `kill -9`: nothing is committed at the end, and the last line is cut off."""

    def die_after_four(progress: ExperimentProgress) -> None:
        if progress.done == 4:
            raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(experiments._Batch, "commit", lambda _: None)
        with pytest.raises(SystemExit):
            run_experiments(warehouse, plan(datasets), report=die_after_four)
    assert warehouse.sql("SELECT * FROM runs").empty
    (journal,) = (warehouse.path / "journals").iterdir()
    text = journal.read_text().replace('"predictive_accuracy": 0.', '"predictive_accuracy": 1.', 1)
    journal.write_text(text + '\n{"run": "own:abc", "outco')
    counts = run_experiments(Warehouse.open(warehouse.path), plan(datasets))
    assert counts["skipped"] == 3
    assert counts["success"] == 2 * RUNS_PER_DATASET - 3
    false = "SELECT * FROM evaluations WHERE measure = 'predictive_accuracy' AND value > 1"
    assert Warehouse.open(warehouse.path).sql(false).empty
    assert "2 lines damaged or cut off, and left out: 2, 6" in caplog.text
    assert not journal.exists()


def test_failed_run_is_stored_with_its_reason(tmp_path: Path, warehouse: Warehouse) -> None:
    write_dataset(tmp_path / "short.csv", 60)
    hasty = design_plan(find_datasets(tmp_path), ["mlp"], 0, tier=Tier(seconds=0.001))
    counts = run_experiments(warehouse, hasty)
    assert counts["timeout"] == 1
    outcome, message = warehouse.sql("SELECT outcome, message FROM runs").iloc[0]
    assert outcome == "timeout"
    assert message.startswith("stopped after")
    assert run_experiments(warehouse, hasty)["skipped"] == 1


@pytest.mark.usefixtures("trials")
def test_configurations_whose_package_is_missing_are_left_out_and_named(
    datasets: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ingest.flows.base.find_spec", lambda _: None)
    both = design_plan(find_datasets(datasets), ("decision_tree", "xgboost"), 1)
    assert run_experiments(warehouse, both)["success"] == 4
    assert "left out xgboost" in caplog.text
    assert warehouse.sql("SELECT count(*) AS n FROM runs")["n"].item() == 4


def test_plan_without_any_installed_package_is_refused(
    datasets: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.flows.base.find_spec", lambda _: None)
    with pytest.raises(BadInput, match="needs the package xgboost"):
        run_experiments(warehouse, design_plan(find_datasets(datasets), ("xgboost",), 1))


@pytest.mark.usefixtures("trials")
def test_unreadable_and_repeated_datasets_are_skipped(
    datasets: Path, warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    """An empty file, one without the target of the index, and a copy of another file."""
    (datasets / "broken.csv").write_bytes(b"")
    write_dataset(datasets / "other.csv", 70)
    write_dataset(datasets / "twin.csv", 60)
    (datasets / "index.csv").write_text(
        "name,target\nlarge,kind\nother,sort\nsmall,kind\ntwin,kind\nbroken,kind\n"
    )
    assert run_experiments(warehouse, plan(datasets))["success"] == 2 * RUNS_PER_DATASET
    assert caplog.text.count("passed over") == 3
    assert "there is no column 'sort'" in caplog.text
    assert "twin.csv: the warehouse has the same data as local:small-" in caplog.text


def write_prices(folder: Path) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80)}).to_csv(
        folder / "price.csv", index=False
    )


@pytest.mark.usefixtures("trials")
def test_a_numeric_target_is_binarized_and_marked_if_the_plan_says_so(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    write_prices(tmp_path)
    sources = [replace(file, numeric_target="binarize") for file in find_datasets(tmp_path)]
    run_experiments(warehouse, replace(plan(tmp_path), datasets=sources))
    row = warehouse.sql("SELECT classes, note FROM datasets").iloc[0]
    assert row["classes"] == 2
    assert "binarized at its mean" in row["note"]


@pytest.mark.usefixtures("trials")
def test_each_dataset_gets_the_configurations_of_its_task_type(datasets: Path, warehouse: Warehouse) -> None:
    write_prices(datasets)
    both = design_plan(find_datasets(datasets), ("decision_tree", "decision_tree_regressor"), 1)
    assert run_experiments(warehouse, both)["success"] == 6
    found = warehouse.sql(
        "SELECT DISTINCT task_type, flow FROM runs JOIN tasks USING (task) JOIN setups USING (setup) "
        "ORDER BY task_type"
    )
    assert found.to_numpy().tolist() == [
        [CLASSIFICATION.name, "headstart:decision_tree"],
        [REGRESSION.name, "headstart:decision_tree_regressor"],
    ]


@pytest.mark.usefixtures("trials")
def test_the_task_may_be_given(tmp_path: Path, warehouse: Warehouse) -> None:
    pd.DataFrame({"x": np.arange(80) / 7, "stars": np.arange(80) % 5}).to_csv(
        tmp_path / "films.csv", index=False
    )
    files = find_datasets(tmp_path)
    run_experiments(warehouse, design_plan(files, ["decision_tree_regressor"], 0, task="regression"))
    assert warehouse.sql("SELECT task_type FROM tasks")["task_type"].tolist() == [REGRESSION.name]


# Tiers, blocks and giving up: with simulated runs, so that their results are known


@dataclass(frozen=True)
class Asked:
    """The request of a trial."""

    dataset: str
    flow: str
    n: int
    """The only hyperparameter by which the pool's configurations differ."""
    train_rows: int
    test_rows: int
    seconds: float
    memory: int


@dataclass
class Trials:
    """Replaces `evaluate`: larger values are better, and some runs time out."""

    asked: list[Asked] = field(default_factory=list)
    accuracy: Callable[[Asked], float] = lambda asked: asked.n / 100
    too_slow: Callable[[Asked], bool] = lambda _: False

    def run(
        self,
        configuration: Configuration,
        dataset: Dataset,
        repetitions: Sequence[Sequence[Split]],
        limits: Limits,
        *,
        seed: int,
        processes: Processes,
    ) -> Evaluation:
        assert seed == 0
        assert not processes.ended
        assert limits.cpu_seconds is not None
        assert limits.seconds > limits.cpu_seconds  # a busy machine must not stop runs
        asked = Asked(
            dataset=dataset.name,
            flow=configuration.algorithm,
            n=int(str(configuration.values.get(TOLD_APART_BY.get(configuration.algorithm), 0))),
            train_rows=max(len(train) for splits in repetitions for train, _ in splits),
            test_rows=sum(len(test) for _, test in repetitions[0]),
            seconds=limits.cpu_seconds,
            memory=limits.memory,
        )
        self.asked.append(asked)
        if self.too_slow(asked):
            return Evaluation(Outcome.timeout, limits.seconds, message="stopped")
        return Evaluation(Outcome.success, 0.01, {"predictive_accuracy": self.accuracy(asked)})

    def of(self, dataset: str, *, train_rows: int | None = None) -> list[int]:
        """The requests on a dataset, in order."""
        return [
            asked.n
            for asked in self.asked
            if asked.dataset == dataset and train_rows in (None, asked.train_rows)
        ]


TOLD_APART_BY = {"k_nearest_neighbors": "n_neighbors", "decision_tree": "max_depth"}
SPLITS = (SplitRule(100, folds=3), SplitRule(folds=1, test_rows=60))


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> Trials:
    made_up = Trials()
    monkeypatch.setattr(evaluation, "evaluate", made_up.run)
    monkeypatch.setattr(experiments, "quality_rows", lambda _: {})
    return made_up


def members(flow: str, *numbers: int) -> dict[Configuration, str]:
    """Configurations of a flow, with its default marked."""
    default = get_flow(flow).default()
    name = TOLD_APART_BY[flow]
    return {
        Configuration(flow, default | {name: n}): "default" if n == default[name] else "me" for n in numbers
    }


def sources(folder: Path, **options: Any) -> list[DatasetFile]:
    return [replace(file, **options) for file in find_datasets(folder)]


def stated_rows(warehouse: Warehouse) -> dict[str, tuple[int, int]]:
    """Procedure -> training and test rows of its runs."""
    rows = warehouse.sql(
        "SELECT DISTINCT estimation_procedure, train_rows, test_rows FROM runs JOIN tasks USING (task)"
    )
    return {procedure: (train, test) for procedure, train, test in rows.itertuples(index=False, name=None)}


def test_second_tier_runs_the_best_share_and_the_defaults(
    tmp_path: Path, warehouse: Warehouse, trials: Trials
) -> None:
    """Of ten, the best three and each flow's default, in the order of the pool."""
    write_dataset(tmp_path / "large.csv", 300)
    pool = members("k_nearest_neighbors", 5, 9, 8, 7, 1, 2, 3, 4) | members("decision_tree", 30, 6)
    tiers = [Tier(50), Tier(100, share=0.3)]
    trials.accuracy = lambda asked: 0.0 if asked.n == 30 else asked.n / 100
    counts = run_experiments(warehouse, Plan(sources(tmp_path), pool, tiers, SPLITS))
    assert trials.of("large", train_rows=50) == [5, 9, 8, 7, 1, 2, 3, 4, 30, 6]
    assert trials.of("large", train_rows=100) == [5, 9, 8, 7, 30]
    assert counts["success"] == 15


def test_third_tier_runs_the_best_of_the_second(tmp_path: Path, warehouse: Warehouse, trials: Trials) -> None:
    """The best on 30 rows, 6, is the worst of the four that go to 60."""
    write_dataset(tmp_path / "large.csv", 300)
    pool = members("k_nearest_neighbors", 1, 2, 3, 4, 6)
    on_more = {2: 0.7, 3: 0.8, 4: 0.9, 6: 0.6}
    trials.accuracy = lambda asked: asked.n / 100 if asked.train_rows == 30 else on_more[asked.n]
    tiers = [Tier(30), Tier(60, share=0.8), Tier(120, share=0.2)]
    run_experiments(warehouse, Plan(sources(tmp_path), pool, tiers, SPLITS))
    assert trials.of("large", train_rows=60) == [2, 3, 4, 6]
    assert trials.of("large", train_rows=120) == [4]


@pytest.mark.parametrize("jobs", [1, 2])
def test_second_tier_of_a_single_dataset_waits_for_all_of_the_first(
    tmp_path: Path, warehouse: Warehouse, trials: Trials, jobs: int
) -> None:
    write_dataset(tmp_path / "large.csv", 300)

    def slow(asked: Asked) -> float:
        time.sleep(0.05 * (asked.n % 3))  # runs end at different times
        return asked.n / 100

    trials.accuracy = slow
    pool = members("k_nearest_neighbors", 5, 1, 2, 7, 8, 9)
    plan = Plan(sources(tmp_path), pool, [Tier(50), Tier(100, share=0.5)], SPLITS)
    run_experiments(warehouse, plan, jobs=jobs)
    assert sorted(trials.of("large", train_rows=100)) == [5, 7, 8, 9]


def test_tiers_skip_datasets_without_more_rows(datasets: Path, warehouse: Warehouse, trials: Trials) -> None:
    """60 rows in three folds train on 40, 120 rows in one split on 60."""
    pool, tiers = members("k_nearest_neighbors", 5, 6), [Tier(40), Tier(1000)]
    run_experiments(warehouse, Plan(sources(datasets), pool, tiers, SPLITS))
    assert [(asked.dataset, asked.train_rows) for asked in trials.asked] == [
        *[("small", 40)] * 2,
        *[("large", 40)] * 2,
        *[("large", 60)] * 2,
    ]


def test_rows_and_limits_are_those_of_the_tier(datasets: Path, warehouse: Warehouse, trials: Trials) -> None:
    tiers = [Tier(20, seconds=5, memory=100), Tier(50, seconds=9, memory=200)]
    pool = members("k_nearest_neighbors", 5)
    run_experiments(warehouse, Plan(sources(datasets), pool, tiers, SPLITS))
    assert stated_rows(warehouse) == {
        "cv3-20": (20, 60),
        "cv3-50": (40, 60),
        "holdout-20-60": (20, 60),
        "holdout-50-60": (50, 60),
    }
    assert {(asked.dataset, asked.train_rows, asked.test_rows) for asked in trials.asked} == {
        ("small", 20, 60),
        ("small", 40, 60),
        ("large", 20, 60),
        ("large", 50, 60),
    }
    limits = {(asked.train_rows == 20, asked.seconds, asked.memory) for asked in trials.asked}
    assert limits == {(True, 5, 100), (False, 9, 200)}


def test_domain_and_family_reach_the_warehouse(datasets: Path, warehouse: Warehouse, trials: Trials) -> None:
    small, large = sources(datasets)
    described = [replace(small, domain="medicine", family="siblings"), large]
    run_experiments(warehouse, Plan(described, members("k_nearest_neighbors", 5)))
    facts = warehouse.sql("SELECT name, domain, family FROM datasets ORDER BY name DESC")
    assert facts.astype(object).where(facts.notna(), None).to_numpy().tolist() == [
        ["small", "medicine", "siblings"],
        ["large", None, None],
    ]
    assert len(trials.asked) == 2
    # No tier limits the rows, so the runs have none.
    assert warehouse.sql("SELECT train_rows, test_rows FROM runs").isna().all(axis=None)


def test_dataset_with_too_few_rows_is_skipped(datasets: Path, warehouse: Warehouse, trials: Trials) -> None:
    plan = Plan(sources(datasets, least_rows=100), members("k_nearest_neighbors", 5))
    run_experiments(warehouse, plan)
    assert [asked.dataset for asked in trials.asked] == ["large"]
    assert warehouse.sql("SELECT name FROM datasets")["name"].tolist() == ["large"]


def test_flow_is_not_promoted_to_too_many_rows_for_it(
    datasets: Path, warehouse: Warehouse, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(flows.FLOWS, "decision_tree", replace(get_flow("decision_tree"), most_rows=50))
    pool = members("k_nearest_neighbors", 5) | members("decision_tree", 30)  # both defaults
    plan = Plan(sources(datasets, least_rows=100), pool, [Tier(40), Tier(60)], SPLITS)
    run_experiments(warehouse, plan)
    assert trials.of("large", train_rows=40) == [5, 30]
    assert trials.of("large", train_rows=60) == [5]


def test_all_datasets_are_tried_with_a_block_before_the_next(
    datasets: Path, warehouse: Warehouse, trials: Trials
) -> None:
    plan = Plan(sources(datasets), members("k_nearest_neighbors", 1, 2, 3), block=2)
    run_experiments(warehouse, plan)
    assert [(asked.dataset, asked.n) for asked in trials.asked] == [
        *[("small", 1), ("small", 2), ("large", 1), ("large", 2)],
        *[("small", 3), ("large", 3)],
    ]


def test_stopped_job_continues_in_its_block(datasets: Path, warehouse: Warehouse, trials: Trials) -> None:
    plan = Plan(sources(datasets)[:1], members("k_nearest_neighbors", 1, 2, 3, 4), block=2)

    def interrupt(progress: ExperimentProgress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiments(warehouse, plan, report=interrupt)
    counts = run_experiments(Warehouse.open(warehouse.path), plan)
    assert (counts["success"], counts["skipped"]) == (1, 3)
    assert trials.of("small") == [1, 2, 3, 4]


def test_killed_job_repeats_no_run_of_a_later_block(
    datasets: Path, warehouse: Warehouse, trials: Trials
) -> None:
    """Simulates `kill -9` in the second block, as above in the first."""
    plan = Plan(sources(datasets)[:1], members("k_nearest_neighbors", 1, 2, 3, 4), block=2)
    commit = experiments._Batch.commit

    def commit_the_first_block(batch: experiments._Batch) -> None:
        if len(trials.asked) <= 2:
            commit(batch)

    def die_in_the_second(progress: ExperimentProgress) -> None:
        if progress.done == 3:
            raise SystemExit

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(experiments._Batch, "commit", commit_the_first_block)
        with pytest.raises(SystemExit):
            run_experiments(warehouse, plan, report=die_in_the_second)
    assert len(Warehouse.open(warehouse.path).sql("SELECT * FROM runs")) == 2
    run_experiments(Warehouse.open(warehouse.path), plan)
    assert trials.of("small") == [1, 2, 3, 4]


def test_flow_is_given_up_on_a_dataset_after_some_timeouts(
    datasets: Path, warehouse: Warehouse, trials: Trials
) -> None:
    """Timeouts need not be consecutive; other flows and other datasets continue."""
    pool = members("k_nearest_neighbors", 1, 2, 3, 4, 6) | members("decision_tree", 8, 9)
    trials.too_slow = lambda asked: asked.dataset == "small" and asked.n in (1, 3, 8)
    counts = run_experiments(warehouse, Plan(sources(datasets), pool, give_up_after=2))
    assert trials.of("small") == [1, 2, 3, 8, 9]
    assert trials.of("large") == [1, 2, 3, 4, 6, 8, 9]
    assert (counts["timeout"], counts["success"]) == (3, 9)


def test_flow_that_was_given_up_is_not_tried_again(
    datasets: Path, warehouse: Warehouse, trials: Trials
) -> None:
    trials.too_slow = lambda _: True
    for numbers in ((1, 2, 3), (1, 2, 3, 4, 6)):
        pool = members("k_nearest_neighbors", *numbers)
        run_experiments(warehouse, Plan(sources(datasets)[:1], pool, give_up_after=2))
    assert trials.of("small") == [1, 2]


def test_tier_on_more_rows_counts_its_own_timeouts(
    tmp_path: Path, warehouse: Warehouse, trials: Trials
) -> None:
    write_dataset(tmp_path / "large.csv", 300)
    trials.too_slow = lambda asked: asked.train_rows == 100 or asked.n == 1
    pool, tiers = members("k_nearest_neighbors", 1, 2, 3, 4), [Tier(50), Tier(100)]
    run_experiments(warehouse, Plan(sources(tmp_path), pool, tiers, SPLITS, give_up_after=2))
    assert trials.of("large", train_rows=50) == [1, 2, 3, 4]
    assert trials.of("large", train_rows=100) == [2, 3]


def test_configuration_that_needs_more_training_rows_is_not_run(
    datasets: Path, warehouse: Warehouse, trials: Trials
) -> None:
    """Three folds of 60 rows train on 40, half of 120 rows are 60, but the tier limits them to 50."""
    pool = members("k_nearest_neighbors", 39, 40, 41, 50, 51, 61)
    run_experiments(warehouse, Plan(sources(datasets), pool, [Tier(50)], SPLITS))
    assert trials.of("small") == [39, 40]
    assert trials.of("large") == [39, 40, 41, 50]
    assert (warehouse.sql("SELECT outcome FROM runs")["outcome"] == "success").all()


def test_a_plan_with_tiers_runs_without_simulation(datasets: Path, warehouse: Warehouse) -> None:
    pool = members("k_nearest_neighbors", 5) | members("decision_tree", 1)
    plan = Plan(sources(datasets, least_rows=100), pool, [Tier(20), Tier(50)], SPLITS)
    assert run_experiments(warehouse, plan)["success"] == 4
    assert stated_rows(warehouse) == {"holdout-20-60": (20, 60), "holdout-50-60": (50, 60)}
    accuracies = warehouse.sql("SELECT value FROM evaluations WHERE measure = 'predictive_accuracy'")
    assert (accuracies["value"] > 0.8).all()
