"""The Gaussian process."""

import numpy as np
import pytest

from recommend.bo.published.surrogates.gaussian_process import GaussianProcessSurrogate
from tests.recommend.bo.surrogates.worlds import table


def test_the_process_interpolates_values_without_noise() -> None:
    line = table(x=list(range(21)))
    truth = np.sin(np.linspace(0, 3, 21))
    X, process = GaussianProcessSurrogate().encode(line), GaussianProcessSurrogate()
    tried = np.arange(0, 21, 4)
    process.fit(X.take(tried), truth[tried], np.random.default_rng(0))
    assert process.predict(X.take(tried)).mean == pytest.approx(truth[tried], abs=0.01)
    assert process.predict(X).mean == pytest.approx(truth, abs=0.05)


def test_uncertainty_grows_with_the_distance_from_trials() -> None:
    line = table(x=list(range(41)))
    process = GaussianProcessSurrogate()
    X = process.encode(line)
    process.fit(X.take(slice(10)), np.sin(np.linspace(0, 3, 10)), np.random.default_rng(0))
    std = process.predict(X).std
    assert std is not None
    assert (np.diff(std[9:]) > -1e-9).all()
    assert std[-1] > 10 * std[:10].max()
