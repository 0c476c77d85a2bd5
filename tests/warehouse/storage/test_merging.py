"""Merging another warehouse into this one: additions, precedence, and refusals."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tests.commands import Run
from tests.warehouse.worlds import (
    BOOSTING,
    FOREST,
    Templates,
    another_headstart,
    content,
    qualities,
    runs,
    together,
    written,
)
from warehouse import store
from warehouse.cli import main
from warehouse.storage import ordered_files
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.schema import DATA_TABLES, TABLES, Table

Make = Callable[..., Warehouse]
Frames = dict[str, pd.DataFrame]


@pytest.fixture
def make(templates: Templates, tmp_path: Path) -> Make:
    """Make a warehouse of this name with these commits; `written` replaces the usual writing."""
    return lambda name, *writes: templates.copy(tmp_path / name, *writes)


def with_columns(tables: Mapping[str, pd.DataFrame], table: str, **columns: object) -> Frames:
    return {**tables, table: tables[table].assign(**columns)}


def described(value: float | None, extractor: str) -> Frames:
    return {"qualities": qualities({"ClassEntropy": value}, source="computed").assign(extractor=extractor)}


def refusal(warehouse: Warehouse, other: Warehouse | Path) -> str:
    """The one-line reason why a merge was refused; checks that no version was made."""
    before = warehouse.version
    with pytest.raises(BadInput) as caught:
        warehouse.merge(other)
    assert Warehouse.open(warehouse.path).version == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is added


def test_the_merge_is_the_union_of_both(make: Make) -> None:
    shared, mine, yours = runs(name="both"), runs(name="mine"), runs(BOOSTING, "adaboost", name="yours")
    ours, theirs = make("ours", together((shared, mine))), make("theirs", together((shared, yours)))
    commit = ours.merge(theirs.path)
    assert (commit.version, commit.added["runs"], commit.added["flows"]) == (2, 1, 1)
    assert not any(commit.changed.values())
    assert content(ours) == content(make("expected", together((shared, mine, yours))))
    assert set(ours.run_table(None, "predictive_accuracy").configurations.setups) == {
        "openml:6969/both",
        "openml:6969/mine",
        "openml:6970/yours",
    }


def test_every_table_is_merged(make: Make) -> None:
    flow = {"flow": [FOREST], "component": [""], "name": ["a"]}
    everything = {
        **runs(),
        "components": pd.DataFrame({**flow, "component_flow": FOREST}),
        "parameters": pd.DataFrame({**flow, "parameter": "a", "tunable": True}),
        "scales": pd.DataFrame({"flow": [FOREST], "parameter": "a", "scale": "log"}),
        "spaces": pd.DataFrame({"flow": [FOREST], "space": '{"hyperparameters": {"a": {"choices": [1]}}}'}),
        "sketches": pd.DataFrame(
            {"dataset": ["local:iris-0"], "method": "m-1", "columns": 5, "bits": "{}", "cells": ""}
        ),
        **described(0.5, "headstart-4"),
    }
    assert set(everything) == set(DATA_TABLES)
    ours = make("ours")
    assert all(ours.merge(make("theirs", everything)).added.values())
    assert content(ours) == content(make("expected", everything))


def test_merging_the_same_again_changes_nothing_and_makes_no_version(make: Make) -> None:
    ours, theirs = make("ours", runs(name="mine")), make("theirs", runs(name="yours"))
    ours.merge(theirs)
    commit = ours.merge(theirs)
    assert (commit.ingest, commit.version, ours.version) == (None, 2, 2)
    assert not any((*commit.added.values(), *commit.changed.values()))


def test_a_measure_that_only_one_has_is_kept(make: Make) -> None:
    kappa = with_columns(runs(), "evaluations", measure="kappa", value=0.7)
    ours = make("ours", runs())
    ours.merge(make("theirs", kappa))
    found = ours.sql("SELECT measure, value FROM evaluations ORDER BY measure")
    assert found.to_numpy().tolist() == [["kappa", 0.7], ["predictive_accuracy", 0.9]]


def test_merged_rows_have_the_merge_as_their_source_which_names_the_other(make: Make) -> None:
    ours, theirs = make("ours", runs(name="mine")), make("theirs", runs(name="yours"), runs(name="more"))
    commit = ours.merge(theirs)
    [record] = ours.arrow("SELECT * FROM ingests WHERE version = 2").to_pylist()
    assert (record["source"], record["location"]) == ("merge", str(theirs.path))
    assert json.loads(record["added"])["runs"] == 2
    assert ours.sql("SELECT count(*) AS n FROM runs WHERE ingest = ?", [commit.ingest])["n"].item() == 2


def test_a_path_is_recorded_as_given(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a shared warehouse does not reveal where it was made."""
    ours, theirs = make("ours", runs(name="mine")), make("theirs", runs(name="yours"))
    monkeypatch.chdir(theirs.path.parent)
    ours.merge("theirs")
    assert ours.sql("SELECT location FROM ingests WHERE version = 2")["location"].item() == "theirs"


def test_merged_runs_follow_existing_ones_in_the_order_of_their_source(make: Make) -> None:
    in_order = {"openml:3": 0.3, "openml:1": 0.1, "openml:2": 0.2}
    ours = make("ours", runs(accuracies={"openml:9": 0.9}, name="mine"))
    ours.merge(make("theirs", runs(accuracies=in_order, name="yours")))
    datasets = ours.run_table(FOREST, "predictive_accuracy").runs["dataset"].tolist()
    assert datasets == ["openml:9", *in_order]


def test_equal_histories_have_equal_fingerprints(make: Make, tmp_path: Path) -> None:
    theirs = make("theirs", runs(accuracies={f"openml:{n}": 0.5 for n in range(20)}))
    copies = [written(tmp_path / name, runs(name="mine")) for name in ("a", "b")]
    for copy in copies:
        copy.merge(theirs)
    assert copies[0].fingerprint == copies[1].fingerprint


def test_the_other_is_only_read(make: Make) -> None:
    theirs = make("theirs", runs(name="yours"))
    before = {path: path.stat().st_mtime_ns for path in theirs.path.rglob("*")}
    make("ours", runs(name="mine")).merge(theirs)
    assert {path: path.stat().st_mtime_ns for path in theirs.path.rglob("*")} == before


def test_an_older_version_of_the_other_can_be_merged(make: Make) -> None:
    theirs = make("theirs", runs(name="first"), runs(name="second"))
    ours = make("ours")
    ours.merge(Warehouse.open(theirs.path, version=1))
    assert ours.sql("SELECT setup FROM setups")["setup"].tolist() == ["openml:6969/first"]


def test_the_starter_can_be_merged_and_not_be_merged_into(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, starter = make("ours", runs(name="mine")), make("starter", runs(name="yours"))
    monkeypatch.setattr(store, "STARTER", starter.path)
    assert "starter warehouse is read-only" in refusal(starter, ours)
    assert ours.merge(starter).added["runs"] == 1


# What wins


def test_a_value_wins_over_a_null_on_either_side(make: Make) -> None:
    sized = with_columns(runs(), "datasets", rows=150, content_hash=None)
    seen = with_columns(runs(), "datasets", rows=None, content_hash="ab")
    ours = make("ours", sized)
    assert ours.merge(make("theirs", seen)).changed["datasets"] == 1
    assert ours.arrow("SELECT rows, content_hash FROM datasets").to_pylist() == [
        {"rows": 150, "content_hash": "ab"}
    ]


QUALITIES = {
    "newer there": ((1.0, "headstart-9"), (2.0, "headstart-10"), (2.0, "headstart-10")),
    "none from the newer": ((1.0, "headstart-9"), (None, "headstart-10"), (None, "headstart-10")),
    "newer here": ((1.0, "headstart-10"), (2.0, "headstart-9"), (1.0, "headstart-10")),
    "equally new": ((1.0, "headstart-9"), (2.0, "headstart-9"), (1.0, "headstart-9")),
    "none here": ((None, "headstart-9"), (2.0, "headstart-9"), (2.0, "headstart-9")),
    "published": ((1.0, "openml"), (2.0, "openml"), (1.0, "openml")),
}
"""Name -> value and extractor here, in the other, and after the merge."""


def test_the_newer_extractors_quality_wins_else_the_existing_one(make: Make) -> None:
    def described_by(place: int) -> Frames:
        one, *others = [
            qualities({name: case[place][0]}, source="computed").assign(extractor=case[place][1])
            for name, case in QUALITIES.items()
        ]
        return {"qualities": pd.concat([one, *others])}

    ours, theirs = make("ours", described_by(0)), make("theirs", described_by(1))
    ours.merge(theirs)
    merged = ours.arrow("SELECT quality, value, extractor FROM qualities").to_pylist()
    found = {row["quality"]: (row["value"], row["extractor"]) for row in merged}
    assert found == {name: expected for name, (_, _, expected) in QUALITIES.items()}
    assert ours.merge(theirs).ingest is None


@pytest.mark.parametrize("known_here", [True, False])
def test_a_known_dataset_of_a_task_wins_over_a_placeholder(make: Make, known_here: bool) -> None:
    known = with_columns(runs(), "tasks", task="openml:7")
    stand_in = with_columns(known, "tasks", dataset="openml-task:7", task_type="unknown")
    first, second = (known, stand_in) if known_here else (stand_in, known)
    ours = make("ours", first)
    ours.merge(make("theirs", second))
    found = ours.sql("SELECT dataset, task_type FROM tasks").to_numpy().tolist()
    assert found == [["openml:1", "supervised_classification"]]


def test_existing_rows_stay_if_only_words_or_times_differ(make: Make) -> None:
    different = [
        ("datasets", "name", "iris", "Iris plants"),
        ("flows", "name", "a pipeline", "openml:6969"),
        ("runs", "message", "slow", "slow, too"),
        ("evaluations", "value", 5.0, 7.0),
    ]
    mine = yours = with_columns(runs(), "evaluations", measure="usercpu_time_millis")
    for table, column, ours, theirs in different:
        mine, yours = (
            with_columns(mine, table, **{column: ours}),
            with_columns(yours, table, **{column: theirs}),
        )
    merged = make("ours", mine)
    merged.merge(make("theirs", yours))
    for table, column, ours, _ in different:
        assert merged.arrow(f"SELECT {column} FROM {table}")[column].to_pylist() == [ours]


def test_a_default_that_only_one_states_is_kept(make: Make) -> None:
    short = with_columns(runs(values={"a": 1}), "hyperparameters", is_default=False)
    long = with_columns(runs(values={"a": 1, "b": 2}), "hyperparameters", is_default=[False, True])
    ours = make("ours", short)
    assert ours.merge(make("theirs", long)).added["hyperparameters"] == 1


# What is refused


@pytest.mark.parametrize(
    ("table", "column", "mine", "yours"),
    [
        ("datasets", "content_hash", "ab", "cd"),
        ("hyperparameters", "value", "1", "2"),
        ("runs", "outcome", "success", "timeout"),
        ("evaluations", "value", 0.9, 0.8),
    ],
)
def test_a_contradiction_is_refused_and_named(
    make: Make, table: str, column: str, mine: object, yours: object
) -> None:
    ours = make("ours", with_columns(runs(values={"a": 1}), table, **{column: mine}))
    theirs = make("theirs", with_columns(runs(values={"a": 1}), table, **{column: yours}))
    message = refusal(ours, theirs)
    assert message.startswith(f"1 row contradicts {theirs.path}")
    key = runs(values={"a": 1})[table][TABLES[table].key[0]][0]
    assert f"{table}: for {TABLES[table].key[0]}={key!r}" in message
    assert message.endswith(f"{column} is {mine} here and {yours} there")


@pytest.mark.parametrize(("mine", "yours"), [({"a": 1}, {"a": 1, "b": 2}), ({"a": 1, "b": 2}, {"a": 1})])
def test_a_setup_with_more_hyperparameters_is_another_setup(
    make: Make, mine: dict[str, int], yours: dict[str, int]
) -> None:
    message = refusal(make("ours", runs(values=mine)), make("theirs", runs(values=yours)))
    here, there = mine.get("b", "none"), yours.get("b", "none")
    assert f"parameter='b', value is {here} here and {there} there" in message


def test_the_message_counts_all_contradictions_and_names_the_first(make: Make) -> None:
    accuracies = {f"openml:{n}": 0.5 for n in range(1, 4)}
    ours = make("ours", runs(accuracies=accuracies))
    others = with_columns(runs(accuracies=accuracies), "evaluations", value=0.6)
    theirs = make("theirs", with_columns(others, "tasks", estimation_procedure="cv10"))
    message = refusal(ours, theirs)
    assert message.startswith("6 rows contradict")
    assert message.endswith("tasks: for task='openml:1/cv3', estimation_procedure is cv3 here and cv10 there")


@pytest.mark.parametrize("path", ["itself", "link"])
def test_merging_a_warehouse_into_itself_is_refused(make: Make, tmp_path: Path, path: str) -> None:
    ours = make("itself", runs())
    (tmp_path / "link").symlink_to(ours.path)
    assert "is the warehouse to merge into" in refusal(ours, tmp_path / path)


@pytest.mark.parametrize("damaged", ["ingests/_delta_log/*.json", "runs/_delta_log/*.json", "runs/*.parquet"])
def test_a_damaged_other_is_refused(make: Make, damaged: str) -> None:
    ours, theirs = make("ours", runs(name="mine")), make("theirs", runs(name="yours"))
    for file in theirs.path.glob(damaged):
        file.write_bytes(b"garbage")
    assert str(theirs.path) in refusal(ours, theirs.path)


# Older and newer Headstarts


def with_schema(table: Table, schema: pa.Schema) -> Table:
    return Table(table.name, schema, table.key, table.sort_by, table.checks)


def test_columns_unknown_to_an_older_headstart_are_null(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLES["hyperparameters"]
    fewer = pa.schema([column for column in table.schema if column.name not in ("raw", "tunable")])
    with monkeypatch.context() as patch:
        known = {name: table for name, table in TABLES.items() if name != "components"}
        another_headstart(patch, {**known, table.name: with_schema(table, fewer)})
        old = written(tmp_path / "old", together((runs(name="both"), runs(name="theirs"))))
    ours = make("ours", with_columns(runs(name="both"), "hyperparameters", raw="as given"))
    assert ours.merge(old.path).added["hyperparameters"] == 2
    assert ours.arrow("SELECT DISTINCT setup, raw FROM hyperparameters ORDER BY setup").to_pylist() == [
        {"setup": "openml:6969/both", "raw": "as given"},
        {"setup": "openml:6969/theirs", "raw": None},
    ]
    assert Warehouse.open(old.path).merge(ours).changed["hyperparameters"] == 2
    assert content(Warehouse.open(old.path)) == content(ours)


def test_columns_and_tables_of_a_newer_headstart_are_refused(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLES["runs"]
    more = table.schema.insert(1, pa.field("energy", pa.float64()))
    costs = Table("costs", pa.schema([pa.field("run", pa.string()), TABLES["runs"].schema[-1]]), ("run",))
    with monkeypatch.context() as patch:
        another_headstart(patch, {"costs": costs, **TABLES, "runs": with_schema(table, more)})
        newer = written(tmp_path / "newer", with_columns(runs(name="yours"), "runs", energy=1.0))
    message = refusal(make("ours", runs(name="mine")), newer.path)
    assert "written by a newer Headstart" in message
    assert "costs" in message
    assert "runs.energy" in message


# Interruptions and concurrent writers


def test_a_killed_merge_leaves_no_visible_rows_and_then_succeeds(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = make("ours", runs(name="mine")), make("theirs", runs(BOOSTING, "svm", name="yours"))
    before, append, left = content(ours), ordered_files.append, iter(range(3))

    def dying(*arguments: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        append(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ordered_files, "append", dying)
        ours.merge(theirs)
    (ours.path / ".merging").mkdir()  # as left by a killed merge
    again = Warehouse.open(ours.path)
    assert (again.version, content(again)) == (1, before)
    assert again.merge(theirs).version == 2
    assert len(again.sql("SELECT * FROM evaluations")) == 2
    assert not (ours.path / ".merging").exists()


def test_a_merge_includes_rows_written_by_others_since_the_warehouse_was_opened(make: Make) -> None:
    early, theirs = make("ours"), make("theirs", runs(accuracies={"openml:1": 0.9}))
    Warehouse.open(early.path).write(runs(accuracies={"openml:1": 0.5}), source="test")
    with pytest.raises(BadInput, match=r"value is 0\.5 here and 0\.9 there"):
        early.merge(theirs)


def test_the_order_of_merges_does_not_matter(make: Make) -> None:
    """Each knows runs, a fact of a dataset and a version of a quality that the other lacks."""

    def part(seen: str, rows: list[int | None], version: int) -> Frames:
        tables = runs(accuracies={f"openml:{number}": int(number) / 10 for number in seen})
        tables = with_columns(with_columns(tables, "datasets", rows=rows), "runs", position=None)
        return tables | described(version / 2, f"headstart-{version}")

    a, b = make("a", part("12", [None, 150], 11)), make("b", part("23", [None, 70], 9))
    only_a = Warehouse.open(a.path)
    a.merge(b)
    b.merge(only_a)
    assert content(a) == content(b)
    assert a.merge(b).ingest is None


# The command line


@pytest.fixture
def run(run_command: Run) -> Run:
    """Run `warehouse merge ARGUMENTS`."""
    return partial(run_command, main, "merge")


def test_the_command_prints_additions_and_the_version(make: Make, tmp_path: Path, run: Run) -> None:
    theirs = make("theirs", runs())
    code, out, _ = run(theirs.path, "--warehouse", tmp_path / "new")
    assert code == 0
    assert out == (
        f"{theirs.path}: added 1 dataset, 1 task, 1 flow, 1 setup, 2 hyperparameters, 1 run, "
        "1 evaluation; nothing changed\nwarehouse version 1\n"
    )
    assert "nothing added; nothing changed" in run(theirs.path, "--warehouse", tmp_path / "new")[1]
    done = json.loads(run(theirs.path, "--warehouse", tmp_path / "more", "--format", "json")[1])
    assert (done["version"], done["added"]["runs"], done["changed"]["runs"]) == (1, 1, 0)


def test_the_command_refuses_in_one_line_with_exit_code_2(make: Make, tmp_path: Path, run: Run) -> None:
    ours = make("ours", runs(accuracies={"openml:1": 0.9}))
    theirs = make("theirs", runs(accuracies={"openml:1": 0.8}))
    for other in (theirs.path, ours.path, tmp_path / "nowhere"):
        code, out, err = run(other, "--warehouse", ours.path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: ")


def test_a_missing_other_creates_no_warehouse(tmp_path: Path, run: Run) -> None:
    assert run(tmp_path / "nowhere", "--warehouse", tmp_path / "new")[0] == 2
    assert not (tmp_path / "new").exists()
