"""Flows: their spaces, their designs, and the pipelines they build."""

import json

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS, find_flow, get_flow
from ingest.flows.design import sobol_design
from ingest.reading.datasets import Role, load_dataset
from warehouse.support.errors import BadInput

THESIS_RANGES = {
    ("random_forest", "max_features"): (0.04, 0.90, False),
    ("random_forest", "min_samples_leaf"): (1, 20, False),
    ("random_forest", "min_samples_split"): (2, 20, False),
    ("adaboost", "learning_rate"): (0.01, 2.0, True),
    ("adaboost", "n_estimators"): (50, 500, False),
    ("adaboost", "max_depth"): (1, 10, False),
    ("svm", "C"): (2**-5, 2**15, True),
    ("svm", "gamma"): (2**-15, 2**3, True),
    ("svm", "tol"): (1e-5, 1e-1, True),
}


def mixed_frame(rows: int = 60) -> pd.DataFrame:
    """Every kind of column that a pipeline has to take, with missing values in each."""
    rng = np.random.default_rng(0)
    label = np.tile(["no", "yes"], rows // 2)
    frame = pd.DataFrame(
        {
            "amount": rng.normal(size=rows) + (label == "yes"),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "member": rng.choice([True, False], rows),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, rows), unit="D"),
            "remark": [f"customer {i} wrote a rather long remark about parcel {i * 7}" for i in range(rows)],
            "same": 1,
            "label": label,
        }
    ).astype({"member": "object"})
    frame.loc[::7, ["amount", "colour", "member", "since", "remark"]] = None
    return frame


@pytest.mark.parametrize(("flow", "parameter"), THESIS_RANGES)
def test_ranges_are_those_of_the_thesis(flow: str, parameter: str) -> None:
    hyperparameter = get_flow(flow).space()[parameter]
    assert (hyperparameter.lower, hyperparameter.upper, hyperparameter.log) == pytest.approx(
        THESIS_RANGES[flow, parameter]
    )


@pytest.mark.parametrize(
    ("openml_id", "name"),
    [
        (6969, "random_forest"),
        (8315, "random_forest"),
        (6970, "adaboost"),
        (8317, "svm"),
        (7707, "svm"),
        (6840, "decision_tree"),
    ],
)
def test_openml_flows_are_found_by_id(openml_id: int, name: str) -> None:
    assert get_flow(str(openml_id)).name == get_flow(f"openml:{openml_id}").name == name


def test_unknown_flow_is_answered_with_the_known_ones() -> None:
    assert find_flow("perceptron") is None
    with pytest.raises(BadInput, match=r"perceptron.*random_forest"):
        get_flow("perceptron")


@pytest.mark.parametrize("name", FLOWS)
def test_every_flow_fits_every_kind_of_column(name: str) -> None:
    dataset = load_dataset(mixed_frame(), target="label")
    flow = get_flow(name)
    for values in sobol_design(flow, 2):
        pipeline = flow.pipeline(values, dataset.roles)
        pipeline.fit(dataset.features, dataset.target)
        unseen = dataset.features.assign(colour="violet")
        assert set(pipeline.predict(unseen)) <= {"no", "yes"}


@pytest.mark.parametrize("name", FLOWS)
def test_design_starts_with_the_default_and_repeats_nothing(name: str) -> None:
    flow = get_flow(name)
    design = sobol_design(flow, 24, seed=3)
    assert design[0] == flow.default()
    assert len({json.dumps(values, sort_keys=True) for values in design}) == len(design) == 25
    assert design != sobol_design(flow, 24, seed=4)


@pytest.mark.parametrize("name", FLOWS)
def test_longer_design_starts_with_the_shorter_one(name: str) -> None:
    assert sobol_design(get_flow(name), 20)[:8] == sobol_design(get_flow(name), 7)


@pytest.mark.parametrize("name", FLOWS)
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


def test_retired_value_is_read_but_not_built() -> None:
    adaboost = get_flow("adaboost")
    assert "SAMME.R" in adaboost.space(historical=True)["algorithm"].choices
    assert "SAMME.R" not in adaboost.space()["algorithm"].choices
    with pytest.raises(BadInput, match=r"removed SAMME\.R"):
        adaboost.pipeline({"algorithm": "SAMME.R"}, {"x": Role.numeric})


def test_old_name_of_a_value_is_translated() -> None:
    assert get_flow("random_forest").current({"max_features": "auto"})["max_features"] == "sqrt"


def test_parameters_that_are_never_tuned_may_be_given_their_one_value() -> None:
    forest = get_flow("random_forest")
    assert "n_estimators" not in forest.current({"n_estimators": 100, "max_depth": None})
    with pytest.raises(BadInput, match="n_estimators=50"):
        forest.current({"n_estimators": 50})


def test_unknown_hyperparameter_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"svm has no hyperparameter depth; it has C,"):
        get_flow("svm").pipeline({"depth": 3}, {"x": Role.numeric})


def test_dataset_without_usable_columns_is_refused() -> None:
    with pytest.raises(BadInput, match="no column to learn from"):
        get_flow("svm").pipeline({}, {"id": Role.identifier, "same": Role.constant})
