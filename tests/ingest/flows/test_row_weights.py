"""Row weights: which flows support them, and their effect."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ingest import load_dataset
from ingest.flows import FLOWS, get_flow
from ingest.flows.row_weights import fit_weighted, takes_weights
from ingest.reading.column_types.roles import Role
from ingest.running.evaluation import cross_validate
from recommend.calibration import with_probabilities
from tests.cases import each
from warehouse.vocabulary.task_types import CLASSIFICATION

UNWEIGHTED = {
    "gaussian_process",
    "k_nearest_neighbors",
    "k_nearest_neighbors_regressor",
    "linear_discriminant_analysis",
    "quadratic_discriminant_analysis",
}
INSTALLED = [flow.name for flow in FLOWS.values() if flow.installed]


def test_most_flows_take_weights() -> None:
    assert {name for name in INSTALLED if not takes_weights(name)} == UNWEIGHTED


@pytest.mark.filterwarnings("ignore")
@each("name", sorted({*INSTALLED} - UNWEIGHTED))
def test_heavier_rows_win_against_contradicting_ones(name: str) -> None:
    flow = get_flow(name)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=80), "z": rng.normal(size=80)})
    is_class = flow.task_type == CLASSIFICATION
    y = (rows["x"] > 0).to_numpy(int) if is_class else 3 * rows["x"].to_numpy()
    other = 1 - y if is_class else -y
    pipeline = with_probabilities(flow.pipeline(flow.default(), {"x": Role.numeric, "z": Role.numeric}))
    weights = np.repeat([1.0, 1e-3], 80)
    fitted = fit_weighted(pipeline, pd.concat([rows, rows]), np.concatenate([y, other]), weights)
    assert fitted.score(rows, y) > (0.7 if is_class else 0.2)


def test_a_dataset_keeps_the_weights_of_its_rows_and_trials_use_them() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200).round(3)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=200).round(3), "class": np.where(x > 0, "b", "a")})
    dataset = load_dataset(frame, target="class")
    wrong = np.arange(200) % 2 == 1
    target = dataset.target.where(~wrong, dataset.target.cat.rename_categories({"a": "b", "b": "a"}))
    weighted = replace(dataset, target=target, weights=np.where(wrong, 1e-6, 1.0))
    assert weighted.content_hash == replace(weighted, weights=None).content_hash
    part = weighted.take(np.array([3, 2]))
    assert part.weights is not None
    np.testing.assert_array_equal(part.weights, [1e-6, 1.0])
    tree = get_flow("logistic_regression")
    right = np.flatnonzero(~wrong)
    splits = [(np.r_[right[:70], np.flatnonzero(wrong)], right[70:])]
    found = [
        cross_validate(lambda: tree.pipeline({}, dataset.roles), one, splits)[0]["predictive_accuracy"]
        for one in (weighted, replace(weighted, weights=None))
    ]
    assert found[0] > 0.9 > found[1]
