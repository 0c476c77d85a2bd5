"""Conditions and forbidden combinations of a flow: the space and the configurations agree."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from ingest.flows.base import Flow, native_values
from recommend.space import Space
from tests.cases import each
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number

flow = Flow(
    name="svm",
    title="Kernel machine",
    hyperparameters=(
        Choice("kernel", ("linear", "rbf", "poly"), default="linear"),
        Choice("shrinking", (True, False), default=True),
        Number("gamma", 1e-3, 10.0, log=True, default=0.1, when={"kernel": ("rbf", "poly")}),
        Number("degree", 2, 5, default=3, when={"kernel": ("poly",), "shrinking": (True,)}),
        Number("offset", 0.0, 1.0, default=0.0, when={"degree": (4,)}),
    ),
    estimator=lambda _: DummyClassifier(),
    forbidden=({"kernel": "rbf", "shrinking": False},),
)


def test_default_has_no_hyperparameter_whose_condition_does_not_hold() -> None:
    assert flow.default() == {"kernel": "linear", "shrinking": True}


def test_current_adds_defaults_of_active_hyperparameters_and_removes_inactive_ones() -> None:
    assert flow.current({"kernel": "rbf", "degree": 5}) == {"kernel": "rbf", "shrinking": True, "gamma": 0.1}
    assert flow.current({"kernel": "poly", "shrinking": False}) == {
        "kernel": "poly",
        "shrinking": False,
        "gamma": 0.1,
    }


def test_condition_on_a_hyperparameter_that_is_inactive_does_not_hold() -> None:
    assert "offset" in flow.current({"kernel": "poly", "degree": 4})
    assert "offset" not in flow.current({"kernel": "rbf", "degree": 4})


def test_forbidden_combination_is_refused_by_its_values() -> None:
    with pytest.raises(BadInput, match=r"svm can't have kernel='rbf', shrinking=False together"):
        flow.current({"kernel": "rbf", "shrinking": False})


@each("joint", [False, True])
def test_current_does_not_change_samples_of_the_space(joint: bool) -> None:
    space = Space([flow], joint=joint)
    drawn = space.decoded(space.sample(200, np.random.default_rng(0)))
    assert {configuration.values["kernel"] for configuration in drawn} == {"linear", "rbf", "poly"}
    for configuration in drawn:
        assert Configuration("svm", flow.current(configuration.values)) == configuration


def test_configuration_of_the_space_is_the_default() -> None:
    assert native_values(flow.space().get_default_configuration()) == flow.default()


@each("joint", [False, True])
def test_vectors_of_conditional_configurations_are_recovered(joint: bool) -> None:
    space = Space([flow], joint=joint)
    for vector in space.sample(50, np.random.default_rng(1)):
        (configuration,) = space.decoded(vector[np.newaxis])
        np.testing.assert_array_equal(space.vector(configuration), vector)


@each("joint", [False, True])
def test_neighbour_of_another_kernel_has_the_hyperparameters_of_its_own(joint: bool) -> None:
    space = Space([flow], joint=joint)
    start = space.vector(Configuration("svm", {"kernel": "rbf", "shrinking": True, "gamma": 0.1}))
    around, _ = space.neighbours(start[np.newaxis], np.random.default_rng(0))
    names = {
        str(configuration.values["kernel"]): set(configuration.values)
        for configuration in space.decoded(around)
    }
    assert names["linear"] == {"kernel", "shrinking"}
    assert names["poly"] == {"kernel", "shrinking", "gamma", "degree"}
    assert {configuration.values["shrinking"] for configuration in space.decoded(around)} == {True}
