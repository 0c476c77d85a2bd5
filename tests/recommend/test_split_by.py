"""Splits by time or groups, from trials to the script."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import recommend
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.blocks import Split
from ingest.running.resampling import Resampling
from recommend import HeadstartClassifier
from recommend.bo.cli import main as tune_main
from recommend.bo.tuning import Budget, artifacts, report, tune
from recommend.bo.tuning.resampling import Splits, choose_resampling
from recommend.cli import main
from recommend.code import script
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommend as rank
from recommend.reporting.terminal import in_words
from tests.commands import Run
from tests.recommend.bo.tuning.searches import QUICK
from tests.recommend.code.scripts import ORIGIN, run_scripts
from tests.recommend.conftest import copy_of, numbers
from tests.recommend.verified import LONG, Evaluations, say
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

SCHEMAS = Path(recommend.__file__).parent


def frame(rows: int = 240, persons: int = 12) -> pd.DataFrame:
    """Rows of persons and days, in random order."""
    order = np.random.default_rng(7).permutation(rows)
    table = numbers(rows, seed=50).assign(
        person=np.arange(rows) % persons + 500,
        day=pd.date_range("2021-01-01", periods=rows).strftime("%Y-%m-%d"),
    )
    return table.iloc[order]


def dataset(split: str | None, rows: int = 240, persons: int = 12) -> Dataset:
    whole = load_dataset(frame(rows, persons), target="class", name="mine")
    return whole if split is None else whole.split_by(split)


def are_kept_apart(data: Dataset, splits: Sequence[Split]) -> bool:
    """Whether test rows have new persons, or later days."""
    assert data.split is not None
    column = data.features[data.split.column]
    if data.split.kind == "time":
        return all(column.iloc[train].max() < column.iloc[test].min() for train, test in splits)
    return all(not set(column.iloc[train]) & set(column.iloc[test]) for train, test in splits)


SPLITS = ["group=person", "time=day"]
NAMES = {"group=person": "grouped", "time=day": "ordered"}


# ---- verification --------------------------------------------------------------------------------


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Evaluations:
    """The splits passed to trials, which are not run."""
    return say(monkeypatch, lambda one: 0.7 if one.algorithm == "decision_tree" else 0.6)


def test_verifications_test_on_new_groups_or_later_rows_and_are_runs_on_other_tasks(
    small_world: Path, tmp_path: Path, seen: Evaluations
) -> None:
    world = copy_of(small_world, tmp_path / "world")
    searches = []
    for split in SPLITS:
        data, before = dataset(split), len(seen.splits)
        result = rank(data, warehouse=Warehouse.open(small_world), verify=LONG, jobs=1)
        assert seen.splits[before:]
        assert all(are_kept_apart(data, splits) for splits in seen.splits[before:])
        assert result.verification is not None
        assert result.verification.search.resampling.name.startswith(NAMES[split])
        printed = in_words(result, is_default_measure=True, details=False)
        assert f"-fold cross-validation by {split}, averaged over" in " ".join(printed.split())
        searches.append(result.verification.search)
    for search in searches:
        artifacts.record(search, Warehouse.open(world.path))
    now = Warehouse.open(world.path)
    tasks = now.sql("SELECT * FROM tasks WHERE dataset LIKE 'local:mine-%' ORDER BY task")
    key = dataset(None).key
    assert set(tasks["dataset"]) == {f"{key} by {split}" for split in SPLITS}
    assert {name.partition("-")[0] for name in tasks["estimation_procedure"]} == {"grouped", "ordered"}

    def known(split: str | None) -> int:
        trials = gather(describe_task(dataset(split), warehouse=now, leave_out=False)).trials
        return 0 if trials is None else len(trials)

    assert [known(None) > 0, *(known(split) > 0 for split in SPLITS)] == [False, True, True]
    left_out = describe_task(dataset(None), warehouse=now, leave_out=False).left_out
    assert set(left_out) == set(tasks["dataset"])


def test_the_document_names_the_split(small_world: Path) -> None:
    result = rank(dataset("group=person"), warehouse=Warehouse.open(small_world))
    document = json.loads(json.dumps(result.document(), allow_nan=False))
    jsonschema.validate(document, json.loads((SCHEMAS / "seeds.schema.json").read_text(encoding="utf-8")))
    assert document["dataset"]["split"] == "group=person"
    assert document["dataset"]["ignored"] == {"person": "identifier"}
    assert "dependence" in [caution["kind"] for caution in document["cautions"]]


# ---- tune ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("folds", [1, 3])
@pytest.mark.parametrize("share", [1.0, 1 / 3])
def test_a_search_tests_on_new_groups_or_later_rows(split: str, folds: int, share: float) -> None:
    data = dataset(split)
    assert data.split is not None
    splits = Splits(data, Resampling(folds, by=data.split.kind), seed=0)
    for repetition in (0, 1):
        assert are_kept_apart(data, splits.of(repetition, share))


@pytest.mark.parametrize(("persons", "folds"), [(12, 10), (4, 4)])
def test_a_search_has_as_many_folds_as_groups_allow(persons: int, folds: int) -> None:
    chosen = choose_resampling(dataset("group=person", persons=persons), None, lambda _: 0.001, LONG)
    assert chosen == Resampling(folds, by="group")


def test_a_search_with_another_split_is_another_search(small_world: Path, tmp_path: Path) -> None:
    world = Warehouse.open(small_world)
    budget = Budget(trials=1)
    whole = tune(dataset(None), QUICK, budget, warehouse=world, folder=tmp_path / "whole")
    split = tune(dataset("time=day"), QUICK, budget, warehouse=world, folder=tmp_path / "split")
    histories = [
        (tmp_path / name / "history.jsonl").read_text("utf-8").split() for name in ("whole", "split")
    ]
    assert ['"split":' in words for words in histories] == [False, True]
    with pytest.raises(BadInput, match=r"the history of another search \(other split\)"):
        tune(dataset("group=person"), QUICK, budget, warehouse=world, folder=tmp_path / "split")
    document = json.loads(json.dumps(report.document(split)))
    jsonschema.validate(document, json.loads((SCHEMAS / "search.schema.json").read_text(encoding="utf-8")))
    assert document["dataset"]["split"] == "time=day"
    assert "by one split by time=day, averaged over" in report.table(split)
    assert "Check:" not in report.table(split)
    assert "by one split, averaged over" in report.table(whole)
    copy = Warehouse.create(tmp_path / "runs")
    artifacts.record(whole, copy)
    artifacts.record(split, copy)
    tasks = Warehouse.open(copy.path).sql("SELECT dataset, estimation_procedure FROM tasks ORDER BY dataset")
    assert tasks["estimation_procedure"].tolist() == [
        "holdout3, seed 0",
        "ordered-holdout3, seed 0",
    ]
    assert tasks["dataset"].nunique() == 2


def test_too_few_groups_are_refused_before_any_trial(small_world: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="3 different groups in 'person': too few for 5 folds"):
        tune(
            dataset("group=person", persons=3),
            replace(QUICK, folds=5),
            warehouse=Warehouse.open(small_world),
            folder=tmp_path,
        )
    assert not (tmp_path / "history.jsonl").exists()


# ---- the classifier ------------------------------------------------------------------------------


def test_the_classifier_searches_by_a_column_that_is_not_a_feature(
    small_world: Path,
) -> None:
    table = frame()
    X, y = table.drop(columns="class"), table["class"]
    classifier = HeadstartClassifier(3.0, split="group=person", warehouse=str(small_world), random_state=0)
    assert clone(classifier).get_params()["split"] == "group=person"
    classifier.fit(X, y)
    assert classifier.search_ is not None
    assert classifier.search_.resampling.by == "group"
    assert classifier.recommendation_.dataset.roles["person"] is Role.identifier
    others = X.assign(person=np.arange(len(X)) + 9000)
    assert (classifier.predict(others) == classifier.predict(X)).all()
    with pytest.raises(BadInput, match="'persona' to split by does not exist"):
        clone(classifier).set_params(split="group=persona").fit(X, y)


# ---- the script ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "splitter"), [("group=person", "StratifiedGroupKFold"), ("time=day", "TimeSeriesSplit")]
)
def test_a_script_cross_validates_with_the_split_of_the_dataset(
    tmp_path: Path, split: str, splitter: str
) -> None:
    path = tmp_path / "mine.csv"
    table = frame()
    table.assign(told=np.where(table["class"] == "a", 1.5, -1.5)).to_csv(path, index=False)
    data = load_dataset(path, target="class").split_by(split)
    code = script({Configuration("decision_tree", _tree()): 1.0}, data, ORIGIN)
    assert splitter in code
    assert "StratifiedKFold" not in code
    (tmp_path / "first.py").write_text(code, encoding="utf-8")
    printed, complaints = run_scripts([(tmp_path / "first.py", path)], tmp_path)
    assert complaints == ""
    assert printed == "accuracy: 1.0000 ± 0.0000 over 5 folds\n"


def _tree() -> dict[str, object]:
    from ingest.flows import get_flow

    return get_flow("decision_tree").default()


def test_no_script_is_written_for_an_ignored_time() -> None:
    data = load_dataset(frame(), target="class", roles={"day": "identifier"}).split_by("time=day")
    with pytest.raises(BadInput, match="no script can split by 'day', which is an ignored column"):
        script({Configuration("decision_tree", _tree()): 1.0}, data, ORIGIN)


# ---- the commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [main, tune_main])
def test_an_invalid_split_is_one_line_and_exit_code_2(
    command: Callable[[], None], small_world: Path, tmp_path: Path, run_command: Run
) -> None:
    path = tmp_path / "mine.csv"
    frame().to_csv(path, index=False)
    options = ("--warehouse", small_world, "--target", "class", "--split", "group=nobody")
    code, _, err = run_command(command, path, *options)
    assert (code, err.count("\n")) == (2, 1)
    assert "'nobody' to split by does not exist" in err


def test_a_split_without_trials_replaces_the_caution_and_leaves_the_group_out(
    small_world: Path, tmp_path: Path, run_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.csv"
    frame(persons=60).to_csv(path, index=False)

    def printed(*options: str) -> str:
        monkeypatch.setenv("COLUMNS", "400")
        ended = run_command(main, path, "--warehouse", small_world, "--target", "class", *options)
        assert ended.returncode == 0
        return ended.stdout

    assert "--split group=person." in printed()
    split = printed("--split", "group=person")
    assert "--split group=person" not in split
    assert "ignored: person (identifier)" in split
    assert "may be too good for rows of new groups: --verify measures them" in split
