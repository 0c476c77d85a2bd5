"""The report on first recommendations for real tables, from records with known answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.held_out import chosen_tables, tables_in
from tests.benchmarks.real_tables import published_errors, untransformed
from tests.benchmarks.real_tables_report import sections
from tests.benchmarks.task_kinds import KINDS
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import RMSE

KIND = KINDS["regression"]


def fit(error: float, validated: float | None = None) -> dict[str, Any]:
    """A fit with equal errors on all measures; the target has a spread of 1."""
    names = (RMSE, "mean_absolute_error", "root_relative_squared_error")
    return {
        "held_out": dict.fromkeys(names, error),
        "validated": dict.fromkeys(names, error if validated is None else validated),
    }


def record(table: str, split: int, *, first: float, default: float, **more: Any) -> dict[str, Any]:
    """A split on which the first of ours, but not the second, is better than the default."""
    return {
        "table": table,
        "split": split,
        "rows": 100,
        "skewness": 0.0,
        "published": None,
        "defaults": dict.fromkeys(KIND.defaults, "default"),
        "several": {name: ["default"] for name in ("FLAML", "pytabkit", "usual defaults")},
        "recommended": {
            RMSE: {
                "ours": ["first", "second"],
                "portfolio": ["second"],
                "untransformed": None,
                "averaged": fit(first / 2)["held_out"],
                "stated": [
                    {"value": first, "low": 0.9 * first, "high": 1.1 * first, "beats_default": 0.7},
                    {"value": 0.1, "low": 0.0, "high": 0.2, "beats_default": 0.5},
                ],
            }
        },
        "fits": {"first": fit(first), "second": fit(0.8, validated=0.1), "default": fit(default)},
        **more,
    }


def reported(*records: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Rows by title and first cell."""
    return {
        title: {row.get("", ""): row for row in rows} for title, rows in sections(records, KIND, RMSE).items()
    }


@pytest.fixture
def found() -> dict[str, dict[str, dict[str, Any]]]:
    return reported(
        record("a", 0, first=0.4, default=0.5),
        record("a", 1, first=0.4, default=0.5),
        record("b", 0, first=0.6, default=0.5),
    )


def test_splits_count_as_one_table(found: dict[str, dict[str, dict[str, Any]]]) -> None:
    assert found["alone"]["default catboost"]["first won"] == "1 - 1 (50%)"
    assert found["alone"]["default catboost"]["averaged won"] == "2 - 0 (100%)"
    assert found["alone"]["first"]["first won"] == ""


def test_errors_are_compared_with_default_lightgbm(found: dict[str, dict[str, dict[str, Any]]]) -> None:
    assert found["alone"]["first"]["below LightGBM"] == "0.0%"  # median of 20 % below and 20 % above
    assert found["alone"]["averaged"]["below LightGBM"] == "50.0%"
    assert found["alone"]["default lightgbm"]["below LightGBM"] == "0.0%"


def test_the_best_of_several_is_the_one_on_validation_rows(
    found: dict[str, dict[str, dict[str, Any]]],
) -> None:
    best = found["the best of three on validation rows"]
    assert best["ours"]["below LightGBM"] == "-60.0%"  # the second, with .8
    assert best["FLAML"]["ours won"] == "0 - 2 (0%)"


def test_single_configurations_are_reported_without_the_best_of_several() -> None:
    found = reported(record("a", 0, first=0.4, default=0.5, several={}))
    assert "FLAML's LightGBM" not in found["alone"]
    assert found["alone"]["default catboost"]["first won"] == "1 - 0 (100%)"
    assert not found["the best of three on validation rows"]


def test_what_is_stated_is_kept_where_the_value_lies_in_its_interval(
    found: dict[str, dict[str, dict[str, Any]]],
) -> None:
    stated = found["stated and true, by root_relative_squared_error"]
    assert (stated["first"]["n"], stated["first"]["kept"]) == (3, "1.000")
    assert (stated["first"]["stated"], stated["first"]["true"]) == ("0.700", "0.500")
    assert (stated["all three"]["kept"], stated["all three"]["true"]) == ("0.500", "0.250")


def test_a_chance_is_judged_by_the_mean_of_a_table_over_its_splits() -> None:
    found = reported(record("a", 0, first=0.4, default=0.5), record("a", 1, first=0.55, default=0.5))
    assert found["stated and true, by root_relative_squared_error"]["first"]["true"] == "1.000"


def test_what_only_some_tables_have_is_left_out(found: dict[str, dict[str, dict[str, Any]]]) -> None:
    assert not found["targets with an absolute skewness over 2"]
    assert not found["RMSE over that of CTR23's learners"]


def test_a_transformation_is_compared_with_none() -> None:
    skewed = record("a", 0, first=0.4, default=0.5)
    skewed["recommended"][RMSE]["untransformed"] = "second"
    rows = reported(skewed)["targets with an absolute skewness over 2"]
    assert rows[RMSE]["below none"] == "50.0%"
    assert rows[RMSE]["transformed"] == 1


def test_published_errors_are_of_the_table_that_a_note_or_the_name_says(tmp_path: Path) -> None:
    index, file = tmp_path / "index.csv", tmp_path / "ctr23.json"
    index.write_text(
        "name,target,benchmark,notes\n"
        "concrete_strength,y,CTR23,\n"
        "used_cars,y,CTR23,CTR23 cars\n"
        "wine,y,CTR23,either of two\n"
        "cars,y,,\n"
    )
    names = ("concrete_compressive_strength", "cars", "red_wine", "white_wine")
    file.write_text(json.dumps({"tasks": [{"name": name, "rmse": {"ranger": 1.0}} for name in names]}))
    assert {*published_errors(index, file)} == {"concrete_strength", "used_cars"}


def test_published_ratios_have_their_median() -> None:
    rows = reported(
        record("a", 0, first=0.4, default=0.5, published={"xgboost": 0.4, "ranger": 0.8}),
        record("b", 0, first=0.6, default=0.5, published={"xgboost": 0.4, "ranger": 0.8}),
    )["RMSE over that of CTR23's learners"]
    assert rows["median"]["first / xgboost"] == "1.250"
    assert rows["share below 1"]["first / ranger"] == "100%"


def test_only_a_transformation_of_the_target_is_taken_off() -> None:
    plain = Configuration("ridge", {"alpha": 1.0, "target_transformation": "none"})
    assert untransformed(Configuration("ridge", {"alpha": 1.0, "target_transformation": "log1p"})) == plain
    assert untransformed(Configuration("svm", {"C": 1.0})) == Configuration("svm", {"C": 1.0})


def test_tables_that_the_warehouse_does_not_have_are_reported_on(tmp_path: Path) -> None:
    for name in "abcdefgh":
        (tmp_path / f"{name}.csv").write_text("x,y\n1,2\n")
    (tmp_path / "index.csv").write_text("name,target\n" + "".join(f"{name},y\n" for name in "abcdefgh"))
    files = tables_in(tmp_path, Warehouse.open(STARTER))
    assert len(chosen_tables(files, None)) == len(chosen_tables(files, None, "reporting")) == 8
    assert len(chosen_tables(files, 3, "reporting")) == 3
    assert not chosen_tables(files, None, "choosing")
