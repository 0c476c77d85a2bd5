"""Configurations as numbers: the known answers of van Hoof's thesis (Tables 3.1 to 3.7), and invariants."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from metalearners.encoding.hyperparameters import HyperparameterEncoding, learn_encoding
from metalearners.encoding.imputation import DatasetSize
from tests.cases import each
from tests.metalearners.thesis import ABSENT, THESIS_SIZE, frame, transformed
from warehouse.support.errors import BadInput

# Categories


def test_categories_count_from_one_in_alphabetical_order(thesis: pd.DataFrame) -> None:
    encoding = learn_encoding(thesis, THESIS_SIZE, one_hot=False)
    assert encoding.codes("criterion") == {"<unkn>": 0, "entropy": 1, "gini": 2}
    # `null` is a value of the column like the others.
    assert encoding.codes("max_features") == {"<unkn>": 0, "log2": 1, "None": 2, "null": 3, "sqrt": 4}
    encoded = encoding.transform(thesis, THESIS_SIZE)
    assert encoded["criterion"].tolist() == [2, 2, 2, 1, 2]
    assert encoded["max_features_nom"].tolist() == [3, 3, 1, 4, 2]


def test_an_unknown_value_is_category_zero(thesis: pd.DataFrame) -> None:
    encoding = learn_encoding(thesis, THESIS_SIZE, one_hot=False)
    unseen = frame(criterion=["log_loss", "gini"], max_features=["cbrt", 0.3])
    encoded = encoding.transform(unseen, THESIS_SIZE)
    assert encoded["criterion"].tolist() == [0, 2]
    assert encoded["max_features_nom"].tolist() == [0, 3]


# One-hot columns


def test_one_hot_columns_have_the_names_of_the_thesis(thesis: pd.DataFrame) -> None:
    encoded = transformed(thesis, one_hot=True, objects="nominal")
    assert set(encoded.columns) == {
        "n_estimators",
        "criterion_gini",
        "criterion_entropy",
        "max_features_num",
        "max_features_nom_null",
        "max_features_nom_None",
        "max_features_nom_sqrt",
        "max_features_nom_log2",
        "max_depth_num",
        "max_depth_nom_null",
        "max_depth_nom_None",
        "min_samples_split",
        "min_samples_leaf",
        "bootstrap",
        "@preprocessor_OneHotEncoder",
        "@preprocessor_PCA",
        "@preprocessor_None",
    }
    assert encoded["@preprocessor_PCA"].tolist() == [0, 1, 1, 1, 0]
    assert encoded["criterion_gini"].tolist() == [1, 1, 1, 0, 1]


@each("one_hot", [True, False])
def test_columns_that_never_vary_are_dropped(one_hot: bool) -> None:
    configurations = frame(
        n_estimators=[100, 100], criterion=["gini", "gini"], warm_start=[False, False], max_depth=[3, 4]
    )
    assert list(transformed(configurations, one_hot=one_hot).columns) == ["max_depth"]


def test_a_column_that_varies_only_over_datasets_is_kept() -> None:
    size = DatasetSize(10, np.array([4, 100]))
    assert list(transformed(frame(max_features=["sqrt", "sqrt"]), size).columns) == []
    encoded = transformed(frame(max_features=[2, 2]), size)
    assert encoded["max_features"].tolist() == [0.5, 0.02]


# Objects


def test_objects_are_left_out_by_default(thesis: pd.DataFrame) -> None:
    assert not any("preprocessor" in name for name in transformed(thesis).columns)
    codes = transformed(thesis, objects="nominal")["@preprocessor"]
    assert codes.tolist() == [2, 3, 3, 3, 1]  # None 1, OneHotEncoder 2, PCA 3


def test_objects_are_named_by_class_name_or_json() -> None:
    values = [PCA(), PCA, len, {"b": 1, "a": [2]}, (1, 2), np.array([1, 2]), {1: 0, "a": 0}, 5]
    encoding = learn_encoding(frame(p=values), THESIS_SIZE, one_hot=True, objects="nominal")
    assert set(encoding.categories["p"]) == {"PCA", "len", '{"a": [2], "b": 1}', "[1, 2]", "dict", "null"}


# Parameters of other algorithms


def test_a_parameter_of_another_algorithm_is_missing_or_in_no_category() -> None:
    configurations = frame(
        C=[0.5, 2.0, ABSENT, ABSENT],
        criterion=[ABSENT, ABSENT, "gini", "entropy"],
        shrinking=[True, False, ABSENT, ABSENT],
    )
    one_hot = transformed(configurations, one_hot=True)
    np.testing.assert_array_equal(one_hot["C"], [0.5, 2.0, ABSENT, ABSENT])
    np.testing.assert_array_equal(one_hot["shrinking"], [1, 0, ABSENT, ABSENT])
    assert one_hot["criterion_gini"].tolist() == [0, 0, 1, 0]
    np.testing.assert_array_equal(transformed(configurations)["criterion"], [ABSENT, ABSENT, 2, 1])


def test_refuses_two_columns_of_one_name() -> None:
    with pytest.raises(BadInput, match="both give a column 'a_b'"):
        learn_encoding(frame(a=["b", "c"], a_b=[1, 2]), THESIS_SIZE, one_hot=True)


# Files


def test_json_that_is_not_an_encoding_is_refused_in_one_line(thesis: pd.DataFrame) -> None:
    text = learn_encoding(thesis, THESIS_SIZE, one_hot=True).to_json()
    content = json.loads(text)
    cases = {
        "cut off": text[: len(text) // 2],
        "lacks the format": json.dumps({"columns": []}),
        "lacks the format ": "[1, 2]",
        "this Headstart reads version 1": json.dumps(content | {"version": 2}),
        "damaged": json.dumps({name: part for name, part in content.items() if name != "types"}),
        "damaged ": json.dumps(content | {"types": {"criterion": "colour"}}),
        "it can't give 'unheard'": json.dumps(content | {"columns": ["unheard"]}),
    }
    for message, damaged in cases.items():
        with pytest.raises(BadInput, match=message.strip()) as caught:
            HyperparameterEncoding.from_json(damaged)
        assert "\n" not in str(caught.value)


# Invariants

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["auto", "sqrt", "log2", "gini", "null", "None", ""]),
    st.text(max_size=4),
    st.just(10**400),
)
anything = st.one_of(atoms, st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=2), atoms))
PARAMETERS = ["max_features", "max_depth", "gamma", "min_samples_leaf", "criterion"]


@st.composite
def configuration_frames(draw: st.DrawFn, values: st.SearchStrategy[Any] = anything) -> pd.DataFrame:
    rows = draw(st.lists(st.fixed_dictionaries(dict.fromkeys(PARAMETERS, values)), min_size=1, max_size=6))
    return pd.DataFrame(rows, columns=PARAMETERS, dtype=object)


options = st.fixed_dictionaries({"one_hot": st.booleans(), "objects": st.sampled_from(["drop", "nominal"])})


@settings(max_examples=60, deadline=None, derandomize=True)
@given(learned=configuration_frames(), new=configuration_frames(), option=options)
def test_transforming_never_fails_on_unseen_values(
    learned: pd.DataFrame, new: pd.DataFrame, option: dict[str, Any]
) -> None:
    encoding = learn_encoding(learned, THESIS_SIZE, **option)
    encoded = encoding.transform(new, THESIS_SIZE)
    assert list(encoded.columns) == list(encoding.columns)
    assert len(encoded) == len(new)
    assert (encoded.dtypes == np.float64).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(configurations=configuration_frames(), option=options)
def test_an_encoding_from_json_gives_the_same_matrix(
    configurations: pd.DataFrame, option: dict[str, Any]
) -> None:
    encoding = learn_encoding(configurations, THESIS_SIZE, **option)
    again = HyperparameterEncoding.from_json(encoding.to_json())
    assert again == encoding
    pd.testing.assert_frame_equal(
        again.transform(configurations, THESIS_SIZE), encoding.transform(configurations, THESIS_SIZE)
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(configurations=configuration_frames(), option=options, data=st.data())
def test_the_order_of_rows_does_not_matter(
    configurations: pd.DataFrame, option: dict[str, Any], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(configurations))))
    shuffled = configurations.iloc[order]
    encoding = learn_encoding(configurations, THESIS_SIZE, **option)
    assert learn_encoding(shuffled, THESIS_SIZE, **option) == encoding
    pd.testing.assert_frame_equal(
        encoding.transform(shuffled, THESIS_SIZE),
        encoding.transform(configurations, THESIS_SIZE).iloc[order],
    )
