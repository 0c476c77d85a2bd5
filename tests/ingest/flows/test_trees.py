"""Trees and forests: effects of their hyperparameters, and the fixed values of OpenML's runs."""

import numpy as np
import pandas as pd
import pytest

from ingest.flows import Flow, Values
from ingest.flows.trees import decision_tree, extra_trees, random_forest
from ingest.reading.column_types.roles import Role
from tests.cases import each
from tests.ingest.flows.small_data import as_frame, numbers

ROLES = {"x": Role.numeric}

every_flow = pytest.mark.parametrize(
    "flow", [decision_tree, random_forest, extra_trees], ids=lambda flow: flow.name
)


@each(
    ("values", "chances"),
    [
        ({"max_depth": 1}, [0.25] * 4 + [1] * 3),
        ({"max_depth": 1, "min_samples_leaf": 3}, [0.25] * 4 + [1] * 3),
        ({"max_depth": 1, "min_samples_leaf": 4}, [4 / 7] * 7),
        ({"min_samples_split": 5}, [0.25] * 4 + [1] * 3),
        ({}, [0, 0, 1, 0, 1, 1, 1]),
    ],
)
def test_a_tree_splits_where_the_impurity_is_least(values: Values, chances: list[float]) -> None:
    """Rows 1 to 7 have the classes 0, 0, 1, 0, 1, 1 and 1.

    A split after the fourth leaves an impurity of 4/7 * 2 * 1/4 * 3/4 = 0.21, one after the second
    5/7 * 2 * 1/5 * 4/5 = 0.23, any other more. No split leaves four rows on both sides.
    """
    frame, codes = pd.DataFrame({"x": np.arange(7.0)}), [0, 0, 1, 0, 1, 1, 1]
    pipeline = decision_tree.pipeline(values, ROLES).fit(frame, codes)
    assert pipeline.predict_proba(frame)[:, 1] == pytest.approx(chances)


@every_flow
@pytest.mark.parametrize(("weight", "chance"), [("none", 0.75), ("balanced", 0.5)])
def test_balanced_classes_are_equally_likely_in_a_leaf_of_all_rows(
    flow: Flow, weight: str, chance: float
) -> None:
    """Twelve rows cannot be split into leaves of 20."""
    values: dict[str, object] = {"min_samples_leaf": 20, "class_weight": weight}
    if flow is not decision_tree:
        values["bootstrap"] = False
    frame = pd.DataFrame({"x": np.arange(12.0)})
    probabilities = flow.pipeline(values, ROLES).fit(frame, [0, 1, 1, 1] * 3).predict_proba(frame)
    assert probabilities[:, 1] == pytest.approx(np.full(12, chance))


def test_by_default_trees_of_a_forest_draw_their_rows_and_extra_trees_see_all() -> None:
    """A tree that sees every row is certain of its class; the others miss about a third of the rows."""
    X, codes = numbers(30)
    frame, roles = as_frame(X)
    extra, forest = (
        flow.pipeline({}, roles).fit(frame, codes).predict_proba(frame)[np.arange(30), codes]
        for flow in (extra_trees, random_forest)
    )
    assert (extra == 1).all()
    assert (forest < 1).any()


@every_flow
def test_the_seed_decides_the_predictions(flow: Flow) -> None:
    X, codes = numbers(60)
    frame, roles = as_frame(X)
    first, again, other = (
        flow.pipeline({"max_features": 0.3}, roles, seed=seed)
        .fit(frame[:40], codes[:40])
        .predict_proba(frame)
        for seed in (3, 3, 4)
    )
    assert (first == again).all()
    assert (first != other).any()


@every_flow
def test_fixed_values_of_old_runs_are_those_that_are_built(flow: Flow) -> None:
    built = flow.pipeline({"max_features": "auto"}, ROLES)["classifier"].get_params()
    assert {name: built[name] for name in flow.fixed} == flow.fixed
    assert built["max_features"] == "sqrt"
