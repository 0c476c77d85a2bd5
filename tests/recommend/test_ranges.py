"""Learned ranges contain the likely good values, and keep all conditions."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS, get_flow
from ingest.reading.datasets import load_dataset
from metalearners.predictions import Prediction
from recommend import ranges
from recommend.ranges import HELD, SCHEMA, SHARE, FlowRanges, learn_ranges, shortest_range
from recommend.recommender import recommend as rank
from recommend.sklearn_grids import frozen
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.searched_flow import SearchedFlow
from warehouse.vocabulary.table import ConfigurationTable

FLOW = SearchedFlow(
    "toy",
    "Toy",
    (
        Number("rate", 1e-4, 1.0, log=True, default=0.1),
        Number("depth", 1, 20, default=3),
        Choice("kind", ("tree", "line", "none"), default="line"),
        Number("leaves", 2, 64, log=True, default=8, when={"kind": ("tree", "none")}),
        Number("slope", 0.0, 1.0, default=0.5, when={"kind": ("line",)}),
    ),
    forbidden=({"kind": "line", "depth": 1}, {"kind": "tree", "depth": 9}),
)


@dataclass
class Believes:
    """A predictor that is sure that rates near 0.01, and trees, are best."""

    trees: float = 5.0
    """How much better trees are."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:  # noqa: ARG002
        table = configurations.parameters
        far = np.abs(np.log10(table["toy:rate"].to_numpy(float)) + 2)
        scores = -far + self.trees * (table["toy:kind"] == "tree").to_numpy(float)
        return Prediction(scores)


def learned(trees: float = 5.0) -> FlowRanges:
    return learn_ranges(FLOW, Believes(trees), pd.Series(dtype=float))  # type: ignore[arg-type]


def by_name(flow: SearchedFlow) -> dict[str, Any]:
    return {own.name: own for own in flow.hyperparameters}


def test_the_range_of_a_number_contains_the_best_on_its_scale() -> None:
    rate = by_name(learned().flow)["rate"]
    assert rate.log
    # Trees are a third, so the best tenth of all lie within 0.3 * 2 decades around 0.01.
    assert 10**-2.7 < rate.low < 10**-2.3
    assert 10**-1.7 < rate.high < 10**-1.3
    assert rate.low < rate.default < rate.high


def test_the_likeliest_choices_are_kept_and_conditions_that_may_hold() -> None:
    ranges = learned()
    own = by_name(ranges.flow)
    assert own["kind"].choices == ("tree",)
    assert ranges.chances["kind"] == (1.0, 0.0, 0.0)
    assert own["leaves"].when == {"kind": ("tree",)}
    assert "slope" not in own
    assert ranges.flow.forbidden == ({"kind": "tree", "depth": 9},)
    assert ranges.full is FLOW


def test_random_configurations_of_the_ranges_are_configurations_of_the_flow() -> None:
    ranges = learned(0.0)
    for one in ranges.space.decoded(ranges.space.sample(100, np.random.default_rng(0))):
        assert FLOW.fit(one.values) == one.values


@pytest.mark.parametrize(
    ("weights", "held", "expected"),
    [
        ([1, 1, 1, 1], 1.0, (0, 3)),
        ([1, 1, 1, 1], 0.5, (1, 2)),  # 2 and 3 are the closest
        ([9, 1, 1, 9], 0.9, (0, 3)),
        ([0, 9, 0, 1], 0.9, (1, 1)),
    ],
)
def test_the_shortest_range_with_this_share(
    weights: list[float], held: float, expected: tuple[int, int]
) -> None:
    assert shortest_range(np.array([0.0, 2.0, 3.0, 7.0]), np.array(weights, float), held) == expected


def test_a_recommendation_has_ranges_of_its_flows_for_each_tool(small_world: Path) -> None:
    result = rank(load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), top=1)
    ranges = result.ranges()
    assert list(ranges) == ["decision_tree"]
    own = ranges["decision_tree"]
    assert set(own.configspace()) == {one.name for one in get_flow("decision_tree").hyperparameters}
    assert own.sklearn().keys() == set(own.configspace()) - {"imputation"}
    document = json.loads(json.dumps(own.document(), allow_nan=False))
    from ConfigSpace import ConfigurationSpace

    assert ConfigurationSpace.from_serialized_dict(document["configspace"]) == own.configspace()


def test_optuna_reads_the_distributions_of_the_document() -> None:
    distributions = pytest.importorskip("optuna.distributions")
    ranges = learned(0.0)
    document = ranges.document()
    read = {name: distributions.json_to_distribution(text) for name, text in document["optuna"].items()}
    assert read == ranges.optuna()
    assert read["rate"].log


@dataclass
class Indifferent:
    """A predictor that predicts more for each configuration than for those before it."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:  # noqa: ARG002
        return Prediction(np.arange(float(len(configurations))))


@pytest.mark.parametrize("name", FLOWS)
def test_the_ranges_of_every_flow_follow_their_schema(name: str) -> None:
    own = learn_ranges(get_flow(name), Indifferent(), pd.Series(dtype=float))  # type: ignore[arg-type]
    document = {"schema": SCHEMA, "dataset": "d", "measure": "m", "share": SHARE, "held": HELD}
    document["flows"] = {name: own.document()}
    schema = json.loads(Path(ranges.__file__).with_name("ranges.schema.json").read_text())
    jsonschema.validate(json.loads(json.dumps(document, allow_nan=False)), schema)


@pytest.mark.parametrize("name", FLOWS)
def test_scikit_learns_random_search_accepts_the_ranges_of_every_flow(name: str) -> None:
    from importlib import import_module

    from sklearn.model_selection import ParameterSampler

    from recommend.sklearn_grids import sklearn_distributions

    flow = get_flow(name)
    if not flow.installed:
        pytest.skip(f"{flow.requires} is not installed")
    found = sklearn_distributions(flow)
    assert found is not None
    module, kind = found["estimator"].rsplit(".", 1)
    estimator = getattr(import_module(module), kind)
    distributions = {own: frozen(values) for own, values in found["param_distributions"].items()}
    for drawn in ParameterSampler(distributions, 5, random_state=0):
        estimator().set_params(**drawn)
