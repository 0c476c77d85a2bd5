"""Search spaces: conversion between configurations, vectors and tables, and neighbours."""

import math
from collections.abc import Mapping
from typing import Any

import ConfigSpace
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.flows import FLOWS, Flow, with_preprocessing
from recommend.space import Configurations, Space, configurations_of_table
from tests.tables import flow_table, joint_table
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number, Scale, Value
from warehouse.vocabulary.table import ALGORITHM

SPACES = {
    **{name: Space([flow], joint=False) for name, flow in FLOWS.items()},
    "joint": Space(list(FLOWS.values())),
    "joint-of-one": Space([FLOWS["svm"]]),
    "historical": Space([FLOWS["adaboost"]], joint=False, historical=True),
}
every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
seeds = st.integers(0, 2**32 - 1)


PROJECTED = Flow(
    "projected",
    "A choice that brings a number",
    (
        Choice("preprocessor", ("none", "pca"), "none"),
        Choice("scaling", ("a", "b"), "a"),
        Number("components", 1, 9, 5, when={"preprocessor": ("pca",)}),
    ),
    FLOWS["svm"].estimator,
    forbidden=({"preprocessor": "pca", "scaling": "b"},),
)


def sampled(space: Space, n: int, seed: int = 0) -> Floats:
    return space.sample(n, np.random.default_rng(seed))


# ---- configurations and vectors -----------------------------------------------------------------------


@every_space
@settings(max_examples=2, deadline=None)
@given(seed=seeds)
def test_vectors_are_recovered_from_settings_bit_by_bit(space: Space, seed: int) -> None:
    """A history has configurations, and a search resumed from it must see the same vectors."""
    vectors = sampled(space, 10, seed)
    again = np.array([space.vector(configuration) for configuration in space.decoded(vectors)])
    np.testing.assert_array_equal(again, vectors)
    assert again.tobytes() == vectors.tobytes()


@pytest.mark.parametrize("name", FLOWS)
def test_the_default_is_recovered_exactly(name: str) -> None:
    """It is 0.1, not 0.10000000000000002."""
    for space in (SPACES[name], SPACES["joint"]):
        default = Configuration(name, FLOWS[name].default())
        assert space.decoded(space.vector(default)[None])[0] == default


@every_space
def test_values_are_plain_python_values_of_the_space(space: Space) -> None:
    for configuration in space.decoded(sampled(space, 30)):
        own = {parameter.name: parameter for parameter in FLOWS[configuration.algorithm].hyperparameters}
        assert set(configuration.values) == set(own)  # exactly those of the flow
        for name, value in configuration.values.items():
            parameter = own[name]
            assert type(value) in (bool, int, float, str)
            if isinstance(parameter, Choice):
                retired = FLOWS[configuration.algorithm].retired.get(name, {}) if space.historical else {}
                known = (*parameter.choices, *retired)
                assert (type(value), value) in [(type(choice), choice) for choice in known]
            else:
                assert parameter.low <= value <= parameter.high
                assert isinstance(value, int) == isinstance(parameter.low, int)


def test_every_flow_of_a_joint_space_is_drawn_about_as_often() -> None:
    drawn = SPACES["joint"].decoded(sampled(SPACES["joint"], 100 * len(FLOWS)))
    counts = pd.Series([configuration.algorithm for configuration in drawn]).value_counts()
    assert set(counts.index) == set(FLOWS)
    assert counts.between(60, 140).all()  # 100 expected, standard deviation below 10


def test_all_samples_have_the_fixed_values() -> None:
    space = SPACES["joint"]
    fixed = {ALGORITHM: "svm", "svm:scaling": "quantile", "svm:C": 1.0}
    drawn = space.decoded(space.sample(20, np.random.default_rng(0), fixed))
    assert {(one.algorithm, one.values["scaling"], one.values["C"]) for one in drawn} == {
        ("svm", "quantile", 1.0)
    }
    assert len({one.values["gamma"] for one in drawn}) == 20
    with pytest.raises(BadInput, match="has no hyperparameter svm:kernel"):
        space.sample(1, np.random.default_rng(0), {"svm:kernel": "rbf"})
    with pytest.raises(BadInput, match="svm:scaling can't be 1"):
        space.sample(1, np.random.default_rng(0), {"svm:scaling": 1})


def test_the_default_with_fixed_values_has_the_hyperparameters_that_they_activate() -> None:
    space = Space([PROJECTED], joint=False)
    (vector,) = space.default({"preprocessor": "pca"})
    assert space.decoded(vector[None])[0].values == {"preprocessor": "pca", "scaling": "a", "components": 5}
    (vector,) = space.default({})
    assert space.decoded(vector[None])[0].values == {"preprocessor": "none", "scaling": "a"}
    assert not len(space.default({"preprocessor": "pca", "scaling": "b"}))  # forbidden
    assert not len(space.default({"preprocessor": "none", "components": 5}))  # inactive


def test_there_are_no_samples_with_forbidden_fixed_values() -> None:
    space = Space([PROJECTED, FLOWS["svm"]])
    random = np.random.default_rng(0)
    for fixed in (
        {"projected:preprocessor": "pca", "projected:scaling": "b"},
        {"projected:preprocessor": "none", "projected:components": 5},
        {"algorithm": "svm", "projected:scaling": "a"},
    ):
        assert space.sample(10, random, fixed).shape == (0, len(space.names))
    assert len(space.sample(10, random, {"projected:components": 5})) == 10


def test_a_hyperparameter_may_be_missing_from_a_setting() -> None:
    """For example in old runs, which did not list all of them."""
    space = SPACES["svm"]
    vector = space.vector(Configuration("svm", {"C": 1.0}))
    assert np.isnan(vector).sum() == len(space.names) - 1
    assert space.decoded(vector[None]) == [Configuration("svm", {"C": 1.0})]


ROUNDS = next(own for own in FLOWS["lightgbm"].hyperparameters if own.name == "n_estimators")
assert isinstance(ROUNDS, Number)


@pytest.mark.parametrize(
    ("given_value", "counts_as"),
    [
        (0, ROUNDS.low),
        (10**9, ROUNDS.high),
        (99.6, 100),
        (100.0, 100),
    ],
)
def test_numbers_are_clipped_to_the_range(given_value: float, counts_as: int) -> None:
    space = SPACES["lightgbm"]
    vector = space.vector(Configuration("lightgbm", {ROUNDS.name: given_value}))
    assert space.decoded(vector[None])[0].values == {ROUNDS.name: counts_as}
    assert vector.tobytes() == space.vector(Configuration("lightgbm", {ROUNDS.name: counts_as})).tobytes()


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(
    ("n_features", "word", "share"),
    [(16, "sqrt", 4 / 16), (16, "log2", 4 / 16), (100, "sqrt", 0.1), (4, "log2", 2 / 4)],
)
def test_words_have_the_position_of_their_share_of_the_features(
    n_features: int, word: str, share: float, joint: bool
) -> None:
    """Known configurations have such words, and surrogates compare them with numbers."""
    space = Space([FLOWS["random_forest"]], joint=joint, n_features=n_features)
    of_word, of_share = (
        space.vector(Configuration("random_forest", {"max_features": value})) for value in (word, share)
    )
    assert of_word == pytest.approx(of_share, rel=1e-9, nan_ok=True)


def test_true_is_not_one() -> None:
    space = SPACES["random_forest"]
    chosen = space.vector(Configuration("random_forest", {"bootstrap": True}))
    assert space.decoded(chosen[None])[0].values["bootstrap"] is True
    with pytest.raises(BadInput, match="bootstrap can't be 1: its choices are"):
        space.vector(Configuration("random_forest", {"bootstrap": 1}))
    with pytest.raises(BadInput, match="min_samples_leaf can't be True: it is a number"):
        space.vector(Configuration("random_forest", {"min_samples_leaf": True}))


@pytest.mark.parametrize(
    ("configuration", "reason"),
    [
        (Configuration("perceptron", {}), "the search space has no perceptron; it has svm"),
        (Configuration("svm", {"kernel": "rbf"}), "svm has no hyperparameter kernel"),
        (Configuration("svm", {"C": "large"}), "C can't be 'large': it is a number"),
        (Configuration("svm", {"C": None}), "C can't be None"),
        (Configuration("svm", {"C": math.nan}), "C can't be nan"),
        (Configuration("svm", {"imputation": "zero"}), "imputation can't be 'zero': its choices are"),
    ],
)
def test_settings_outside_the_space_are_refused_in_one_line(
    configuration: Configuration, reason: str
) -> None:
    for space in (SPACES["svm"], SPACES["joint-of-one"]):
        with pytest.raises(BadInput, match=reason) as caught:
            space.vector(configuration)
        assert "\n" not in str(caught.value)


def test_old_values_are_accepted_only_for_old_runs() -> None:
    old = Configuration("adaboost", {"algorithm": "SAMME.R"})
    space = SPACES["historical"]
    assert space.decoded(space.vector(old)[None]) == [old]
    with pytest.raises(BadInput, match="SAMME"):
        SPACES["adaboost"].vector(old)


def test_a_joint_space_has_distinct_flows_and_other_spaces_have_one() -> None:
    svm, mlp = FLOWS["svm"], FLOWS["mlp"]
    for flows, joint, reason in (
        ([], True, "one flow or more"),
        ([svm, svm], True, "each of them once"),
        ([svm, mlp], False, "joint"),
    ):
        with pytest.raises(BadInput, match=reason):
            Space(flows, joint=joint)


# ---- neighbours ---------------------------------------------------------------------------------


@every_space
@settings(max_examples=2, deadline=None)
@given(seed=seeds)
def test_neighbours_differ_in_one_hyperparameter_and_are_legal(space: Space, seed: int) -> None:
    centre = sampled(space, 1, seed)[0]
    around = space.neighbours(centre[None], np.random.default_rng(seed))[0]
    assert len(around) > 0
    for neighbour, configuration in zip(around, space.decoded(around), strict=True):
        ConfigSpace.Configuration(space.config_space, vector=neighbour).check_valid_configuration()
        same = (neighbour == centre) | (np.isnan(neighbour) & np.isnan(centre))
        changed = [name for name, equal in zip(space.names, same, strict=True) if not equal]
        if changed[0] == ALGORITHM and space.joint:
            assert configuration.values.keys() == FLOWS[configuration.algorithm].default().keys()
        else:
            assert len(changed) == 1
        assert space.vector(configuration).tobytes() == neighbour.tobytes()


def test_every_other_choice_is_a_neighbour() -> None:
    space = SPACES["joint"]
    centre = space.vector(Configuration("svm", FLOWS["svm"].default()))
    around = space.decoded(space.neighbours(centre[None], np.random.default_rng(0))[0])
    assert {configuration.algorithm for configuration in around} == set(FLOWS)
    own = [configuration.values for configuration in around if configuration.algorithm == "svm"]
    assert {values["imputation"] for values in own} == {"mean", "median", "most_frequent"}
    assert {values["shrinking"] for values in own} == {True, False}
    assert len({values["C"] for values in own}) == 5  # four others


# ---- tables of configurations that were run -----------------------------------------------------

ABSENT = math.nan


def columns_of(scales: Mapping[str, Scale], **columns: list[Value | float]) -> Configurations:
    return configurations_of_table(flow_table(pd.DataFrame(columns, dtype=object)), scales)


@pytest.mark.parametrize(
    ("values", "vector", "choices"),
    [
        ([1, 3, 2], [0, 1, 0.5], 0),
        ([0.5, ABSENT, 1.5], [0, ABSENT, 1], 0),
        ([7, 7, ABSENT], [0.5, 0.5, ABSENT], 0),  # a constant
        ([ABSENT, ABSENT, ABSENT], [ABSENT, ABSENT, ABSENT], 0),
        ([5, pd.NA, 10], [0, ABSENT, 1], 0),  # pandas' NaN in a column of whole numbers
        (["gini", "entropy", "gini"], [1, 0, 1], 2),
        (["gini", None, ABSENT], [0, 1, ABSENT], 2),  # None is a value: 'gini' < None
        ([True, False, True], [1, 0, 1], 2),
        ([True, 1, 0.5], [2, 1, 0], 3),  # True is not 1: a choice for each, 0.5 < 1 < True
        ([0.5, "sqrt", None], [1, 0, 2], 3),  # 'sqrt' < 0.5 < None, as they are written in Python
    ],
)
def test_columns_become_vectors(values: list[Any], vector: list[float], choices: int) -> None:
    found = columns_of({}, p=values)
    np.testing.assert_array_equal(found.vectors[:, 0], vector)
    assert found.categories.tolist() == [choices]


def test_numbers_are_spaced_on_their_declared_scale() -> None:
    scales: dict[str, Scale] = {"C": "log", "coef0": "linear"}
    found = columns_of(scales, C=[0.01, 0.1, 1.0], coef0=[-0.5, 0.0, 0.5])
    assert found.vectors == pytest.approx(np.array([[0, 0], [0.5, 0.5], [1, 1]]))
    undeclared = columns_of({}, C=[0.01, 0.1, 1.0])
    assert undeclared.vectors[1, 0] == pytest.approx(0.09 / 0.99)
    assert columns_of(scales, C=[0, 5, 10]).vectors[1, 0] == 0.5  # there is no logarithm of 0


def test_several_algorithms_are_a_choice() -> None:
    values = {"mlp:alpha": [ABSENT, 0.1, ABSENT], "svm:C": [0.01, ABSENT, 1.0]}
    table = joint_table(pd.DataFrame(values, dtype=object), ["svm", "mlp", "svm"])
    found = configurations_of_table(table, {})
    assert found.categories.tolist() == [2, 0, 0]
    np.testing.assert_array_equal(found.vectors, [[1, ABSENT, 0], [0, 0.5, ABSENT], [1, ABSENT, 1]])
    assert found.table is table


def test_preprocessing_choices_have_the_same_vectors_whatever_the_algorithm() -> None:
    space = Space([with_preprocessing(FLOWS[name]) for name in ("svm", "lightgbm")])
    plain, reduced, other = (
        space.configurations(
            np.stack(
                [space.vector(Configuration(name, {**FLOWS[name].default(), **made})) for name in space.flows]
            )
        ).departures
        for made in ({}, {"preprocessor": "pca"}, {"preprocessor": "svd"})
    )
    assert not plain.any()
    assert reduced.sum(axis=1).tolist() == [1, 1]
    assert (reduced[0] == reduced[1]).all()
    assert not (reduced & other).any()
