"""A latent space as a file, and the posterior in it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metalearners.evaluation.latent_space import LatentSpace
from metalearners.learners.neighbours import NearestBestLearner
from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.model import (
    Factorization,
    FreePositions,
    MeasureLikelihood,
    ScoreLikelihood,
    ZeroMean,
    row_names,
)
from tests.tables import runs_of_flow
from warehouse.support.errors import BadOption

SETUPS = ("a", "b", "c", "far")


@pytest.fixture
def space() -> LatentSpace:
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [9.0, 1.0]])
    return LatentSpace(LatentKernel("rbf", 1.0, np.array([4.0, 1.0]), 1e-4), SETUPS, X, 0.7, 0.2, ("left",))


def test_a_file_gives_the_same_space(space: LatentSpace, tmp_path: Path) -> None:
    space.write(tmp_path / "space.json")
    read = LatentSpace.read(tmp_path / "space.json")
    assert (read.setups, read.left_out, read.level, read.spread) == (SETUPS, ("left",), 0.7, 0.2)
    assert pytest.approx(space.X) == read.X
    assert read.posterior(["a"], np.array([0.9])).mean == pytest.approx(
        space.posterior(["a"], np.array([0.9])).mean
    )


def test_without_trials_the_prediction_is_the_mean_of_all_runs(space: LatentSpace) -> None:
    known = space.posterior([], np.empty(0))
    assert known.mean == pytest.approx(0.7)
    assert known.std == pytest.approx(0.2, abs=1e-6)


def test_a_trial_changes_predictions_only_of_its_neighbours(space: LatentSpace) -> None:
    known = space.posterior(["a"], np.array([0.9]))
    assert known.std is not None
    assert known.mean == pytest.approx([0.9, 0.896, 0.884, 0.7], abs=0.001)
    assert (np.diff(known.std) > 0).all()
    assert known.std[-1] == pytest.approx(0.2, abs=1e-6)


def test_a_configuration_without_a_position_is_named(space: LatentSpace) -> None:
    with pytest.raises(KeyError, match="unknown"):
        space.posterior(["a", "unknown"], np.array([0.9, 0.8]))


def test_the_map_lies_along_the_widest_direction(space: LatentSpace) -> None:
    places, shares = space.map()
    assert np.abs(places[3, 0] - places[0, 0]) == pytest.approx(np.hypot(18, 1), rel=1e-3)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > 0.99


def test_only_a_model_with_free_positions_has_one() -> None:
    setups = pd.Index(["s0", "s1", "s2"], name="setup")
    rows = [(f"d{d}", setup, 0.5 + 0.1 * s) for d in range(3) for s, setup in enumerate(setups)]
    runs = runs_of_flow(
        pd.DataFrame(rows, columns=["dataset", "setup", "value"]),
        pd.DataFrame({"x": [1, 2, 3]}, index=setups),
    )
    described = pd.DataFrame({"NumberOfInstances": 100.0}, index=["d0", "d1", "d2"])
    nearest = NearestBestLearner(metafeatures=("NumberOfInstances",)).learn(runs, described)
    names = row_names(runs.configurations.hyperparameters)
    backwards = FreePositions.anchored(
        LatentKernel("rbf", 1.0, np.ones(1), 0.1), np.array([[2.0], [1.0], [0.0]]), names[::-1], 0
    )
    model = Factorization(ZeroMean(nearest), backwards, MeasureLikelihood(0.6, 0.1, 1.0))
    space = LatentSpace.of_model(model, runs.configurations, ["d9"])
    assert space.setups == ("s0", "s1", "s2")
    assert space.X.ravel().tolist() == [0, 1, 2]
    with pytest.raises(BadOption, match="free positions"):
        LatentSpace.of_model(replace(model, likelihood=ScoreLikelihood()), runs.configurations, [])
