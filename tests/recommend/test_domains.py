"""Domains of other tools' hyperparameters: values are converted to their types, or refused."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.flows import native_values
from recommend.domains import Domain, configspace_domain, optuna_domain
from warehouse.support.errors import BadInput


@pytest.mark.parametrize(
    ("domain", "value", "expected"),
    [
        (Domain(0, 10, whole=True), 5.0, 5),
        (Domain(0, 10), 5, 5.0),
        (Domain(0, 1, step=0.1), 0.1 + 0.2, 0.1 + 0.2),
        (Domain(1, 9, whole=True, step=4), 5.0, 5),
        (Domain(), -1e300, -1e300),
        (Domain(choices=(None, "none", 1.0, True)), None, None),
    ],
)
def test_a_value_gets_the_type_of_its_domain(domain: Domain, value: Any, expected: Any) -> None:
    fitted = domain.fit(value)
    assert (type(fitted), fitted) == (type(expected), expected)
    assert domain.fit(fitted) == fitted


@pytest.mark.parametrize(
    ("domain", "value", "complaint"),
    [
        (Domain(1, 9, whole=True, step=4), 3, "expected a whole number from 1 to 9 in steps of 4"),
        (Domain(0, 9, whole=True), 2.5, "expected a whole number from 0 to 9$"),
        (Domain(0.5, 1.0), math.nan, "expected a number from 0.5 to 1.0$"),
        (Domain(high=1.0), 1.5, "expected a number from -inf to 1.0$"),
        (Domain(0, 1), True, "expected a number from 0 to 1$"),
        (Domain(choices=("a", 1)), 1.0, "expected one of 'a', 1$"),
        (Domain(choices=(1, True)), 1, "expected choices that differ, not 1, True, which are equal to it"),
    ],
)
def test_values_outside_a_domain_are_refused_with_the_domain(
    domain: Domain, value: Any, complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        domain.fit(value)


@given(st.integers(0, 1000), st.sampled_from([0.1, 1 / 3, 1e-3, 7.0]), st.floats(-5, 5))
def test_every_step_is_in_the_domain_and_nothing_between_two(number: int, step: float, low: float) -> None:
    domain = Domain(low, low + 2000 * step, step=step)
    assert domain.fit(low + number * step) == low + number * step
    with pytest.raises(BadInput):
        domain.fit(low + (number + 0.5) * step)


def test_distributions_of_optuna_have_their_ends_and_steps() -> None:
    of = pytest.importorskip("optuna").distributions
    assert optuna_domain(of.IntDistribution(1, 8)) == Domain(1, 8, whole=True)
    assert optuna_domain(of.IntDistribution(1, 9, step=4)) == Domain(1, 9, whole=True, step=4)
    assert optuna_domain(of.FloatDistribution(0.1, 1.0, log=True)) == Domain(0.1, 1.0)
    assert optuna_domain(of.FloatDistribution(0, 1, step=0.25)) == Domain(0, 1, step=0.25)
    assert optuna_domain(of.CategoricalDistribution((None, "a"))) == Domain(choices=(None, "a"))


def test_samples_of_configspace_are_in_the_domain_and_unchanged() -> None:
    from ConfigSpace import Categorical, ConfigurationSpace, Constant, Float, Integer, OrdinalHyperparameter

    space = ConfigurationSpace(seed=0)
    space.add(
        Categorical("kind", ("a", "b")),
        Constant("fixed", 3),
        Float("rate", (1e-4, 1.0), log=True),
        Integer("depth", (1, 20)),
        OrdinalHyperparameter("size", ["small", "middle", "large"]),
    )
    domains = {name: configspace_domain(parameter) for name, parameter in space.items()}
    assert domains["fixed"] == Domain(choices=(3,))
    assert domains["size"] == Domain(choices=("small", "middle", "large"))
    assert domains["depth"] == Domain(1, 20, whole=True)
    for sample in map(native_values, space.sample_configuration(20)):
        assert {name: domains[name].fit(value) for name, value in sample.items()} == sample
