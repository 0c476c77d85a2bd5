"""Configurations as columns."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import flow_table, joint_table, table_of
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ALGORITHM, ConfigurationTable, joint_name, split_name

values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
named_values = st.dictionaries(st.sampled_from(["C", "algorithm", "max_depth"]), values)
configurations = st.builds(Configuration, st.sampled_from(["svm", "adaboost", "openml:1"]), named_values)


@given(rows=st.lists(configurations, max_size=6))
def test_configurations_of_several_flows_are_read_back_unchanged(rows: list[Configuration]) -> None:
    assert table_of(rows, joint=True).configurations() == rows


@given(rows=st.lists(st.builds(Configuration, st.just("adaboost"), named_values), max_size=6))
def test_configurations_of_one_flow_are_read_back_unchanged(rows: list[Configuration]) -> None:
    assert table_of(rows, joint=False).configurations() == rows


def test_typed_columns_mark_missing_values() -> None:
    parameters = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "C": [math.nan, 0.5]})
    parameters["kernel"] = pd.Categorical(["rbf", None])
    assert flow_table(parameters, "svm").configurations() == [
        Configuration("svm", {"n": 1, "kernel": "rbf"}),
        Configuration("svm", {"C": 0.5}),
    ]


def test_a_joint_name_has_the_algorithm_of_the_hyperparameter() -> None:
    assert split_name(joint_name("openml:1", "C")) == ("openml:1", "C")
    assert split_name("C") == ("", "C")


def two() -> ConfigurationTable:
    parameters = pd.DataFrame({"mlp:alpha": [0.1, math.nan], "svm:C": [math.nan, 2]}, index=["a", "b"])
    return joint_table(parameters, ["mlp", "svm"])


def test_rows_are_taken_by_position_or_by_setup() -> None:
    svm, mlp = Configuration("svm", {"C": 2.0}), Configuration("mlp", {"alpha": 0.1})
    assert two().take([1]).configurations() == [svm]
    assert two().of_setups(["b", "a", "b"]).configurations() == [svm, mlp, svm]
    assert two().followed_by(two().take([1])).setups.tolist() == ["a", "b", "b"]
    with pytest.raises(KeyError, match="'c'"):
        two().of_setups(["a", "c"])


def test_the_algorithm_is_a_hyperparameter_in_joint_tables() -> None:
    assert two().hyperparameters[ALGORITHM].tolist() == ["mlp", "svm"]
    assert ALGORITHM not in replace(two(), joint=False).hyperparameters
