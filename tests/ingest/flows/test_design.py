"""Designs of a flow start with the default, repeat nothing, and cover the whole space evenly."""

import json
import math

from sklearn.base import ClassifierMixin

from ingest.flows import FLOWS, Flow, get_flow
from ingest.flows.base import Make
from ingest.flows.design import sobol_design
from tests.cases import each
from warehouse.vocabulary.parameters import Choice, Number


def _estimator(make: Make) -> ClassifierMixin:
    raise NotImplementedError("designs fit nothing")


def _flow(*hyperparameters: Number | Choice) -> Flow:
    return Flow(name="toy", title="Toy", hyperparameters=hyperparameters, estimator=_estimator)


@each("name", FLOWS)
def test_design_starts_with_the_default_and_repeats_nothing(name: str) -> None:
    flow = get_flow(name)
    design = sobol_design(flow, 24, seed=3)
    assert design[0] == flow.default()
    assert len({json.dumps(values, sort_keys=True) for values in design}) == len(design) == 25
    assert design != sobol_design(flow, 24, seed=4)


@each("name", FLOWS)
def test_longer_design_starts_with_the_shorter_one(name: str) -> None:
    assert sobol_design(get_flow(name), 20)[:8] == sobol_design(get_flow(name), 7)


@each("name", FLOWS)
def test_design_covers_the_whole_space(name: str) -> None:
    space = get_flow(name).space()
    design = sobol_design(get_flow(name), 32)
    for parameter, hyperparameter in space.items():
        values = [configuration[parameter] for configuration in design]
        assert all(hyperparameter.legal_value(value) for value in values)
        if hasattr(hyperparameter, "choices"):
            assert set(values) == set(hyperparameter.choices)
        else:
            positions = [hyperparameter.to_vector(value) for value in values]
            assert min(positions) < 0.2
            assert max(positions) > 0.8


def test_a_design_of_size_0_is_the_default() -> None:
    assert sobol_design(get_flow("svm"), 0) == [get_flow("svm").default()]


def test_a_space_of_few_values_gives_a_shorter_design_with_every_value() -> None:
    """Two choices and three whole numbers make six configurations."""
    flow = _flow(Choice("c", ("x", "y"), default="x"), Number("n", 1, 3, default=2))
    design = sobol_design(flow, 20)
    assert design[0] == {"c": "x", "n": 2}
    assert sorted((values["c"], values["n"]) for values in design) == [
        (choice, number) for choice in "xy" for number in (1, 2, 3)
    ]


def test_repeated_points_do_not_shorten_a_design_that_the_space_can_fill() -> None:
    """Three choices and eight whole numbers make 24 configurations; 24 points repeat some."""
    flow = _flow(Choice("c", ("x", "y", "z"), default="x"), Number("n", 1, 8, default=2))
    assert len(sobol_design(flow, 23)) == 24


@each("seed", [0, 1, 2])
def test_points_are_spread_evenly_on_each_scale(seed: int) -> None:
    """Of 16 points of a Sobol sequence, one is in each sixteenth of every range, on its own scale."""
    flow = _flow(Number("a", 0.0, 16.0, default=0.5), Number("b", 2.0**-8, 2.0**8, log=True, default=1.0))
    points = sobol_design(flow, 16, seed)[1:]
    assert sorted(int(float(str(point["a"]))) for point in points) == list(range(16))
    assert sorted(math.floor(math.log2(float(str(point["b"])))) for point in points) == list(range(-8, 8))
