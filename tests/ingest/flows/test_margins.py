"""Linear and kernel machines, neighbours and networks: effects of their hyperparameters on scaled numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from ingest.flows import Values, get_flow
from ingest.flows.margins import k_nearest_neighbors, logistic_regression, mlp, sgd, svm
from ingest.reading.column_types.roles import Role
from tests.cases import each
from tests.ingest.flows.small_data import as_frame, numbers

PLAIN_DEFAULTS = {"logistic_regression": LogisticRegression(), "mlp": MLPClassifier(random_state=0)}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("flow", PLAIN_DEFAULTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_default_on_scaled_numbers_predicts_as_scikit_learn_does(flow: str, classes: int) -> None:
    """The flow scales numbers, and the network gets them in single precision."""
    X, codes = numbers(80, classes)
    frame, roles = as_frame(X * [1, 10, 100] + 5)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    if flow == "mlp":
        scaled = scaled.astype(np.float32)
    with threadpool_limits(1):
        ours = get_flow(flow).pipeline({}, roles).fit(frame, codes)
        theirs = PLAIN_DEFAULTS[flow].fit(scaled, codes)
        assert ours.predict_proba(frame) == pytest.approx(theirs.predict_proba(scaled), abs=1e-3)


LINE = pd.DataFrame({"x": [0.0, 1.0, 4.0, 7.0]})


@each(
    ("values", "chance"),
    [
        ({"n_neighbors": 2}, 1 / 2),
        ({"n_neighbors": 3}, 1 / 3),
        ({"n_neighbors": 2, "weights": "distance"}, 2 / 3),
        ({"n_neighbors": 4, "weights": "distance"}, 15 / 25),
    ],
)
def test_neighbours_vote_equally_or_weighted_by_distance(values: Values, chance: float) -> None:
    """Rows at 0, 1, 4 and 7 have the classes 0, 0, 1 and 1; a row at 3 has distances 3, 2, 1 and 4 to them.

    Weighted by distance, they count 1/3, 1/2, 1 and 1/4, or 4, 6, 12 and 3 of 25.
    """
    pipeline = k_nearest_neighbors.pipeline(values, {"x": Role.numeric}).fit(LINE, [0, 0, 1, 1])
    assert pipeline.predict_proba(pd.DataFrame({"x": [3.0]}))[0, 1] == pytest.approx(chance)


def test_more_neighbours_need_as_many_training_rows() -> None:
    needed = k_nearest_neighbors.rows_needed({"n_neighbors": 4})
    assert needed == 4
    pipeline = k_nearest_neighbors.pipeline({"n_neighbors": needed}, {"x": Role.numeric})
    assert pipeline.fit(LINE, [0, 0, 0, 1]).predict_proba(LINE).tolist() == [[0.75, 0.25]] * 4
    with pytest.raises(ValueError, match="n_neighbors"):
        pipeline.fit(LINE[:3], [0, 0, 1]).predict_proba(LINE)


def test_the_constant_of_old_support_vector_machines_changes_nothing() -> None:
    X, codes = numbers(60)
    frame, roles = as_frame(X)
    margins = [
        svm.pipeline({"coef0": coef0}, roles).fit(frame, codes).decision_function(frame) for coef0 in (-1, 1)
    ]
    assert margins[0].tolist() == margins[1].tolist()


def test_a_strong_absolute_penalty_removes_all_coefficients_and_a_squared_one_none() -> None:
    X, codes = numbers(40)
    frame, roles = as_frame(X)
    lasso, ridge = (
        logistic_regression.pipeline({"C": 1e-3, "l1_ratio": ratio}, roles).fit(frame, codes)["classifier"]
        for ratio in (1.0, 0.0)
    )
    assert lasso.coef_.tolist() == [[0, 0, 0]]
    assert (ridge.coef_ != 0).all()


@each("loss", ["log_loss", "modified_huber"])
def test_every_loss_of_the_linear_model_gives_probabilities(loss: str) -> None:
    X, codes = numbers(120, classes=3)
    frame, roles = as_frame(X)
    probabilities = sgd.pipeline({"loss": loss}, roles).fit(frame, codes).predict_proba(frame)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(120))
    assert (probabilities.argmax(axis=1) == codes).mean() > 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_network_has_the_given_layers_of_the_given_width_in_single_precision() -> None:
    X, codes = numbers(30)
    frame, roles = as_frame(X)
    with threadpool_limits(1):
        pipeline = mlp.pipeline({"hidden_layers": 2, "hidden_units": 8}, roles).fit(frame, codes)
    weights = pipeline["classifier"][-1].estimator_.coefs_
    assert [(layer.shape, layer.dtype) for layer in weights] == [
        ((3, 8), np.float32),
        ((8, 8), np.float32),
        ((8, 1), np.float32),
    ]
