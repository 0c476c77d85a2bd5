"""The kernel over configurations: learned length scales, features."""

from dataclasses import replace

import numpy as np
from scipy.optimize import check_grad

from metalearners.encoding.training_data import training_data
from metalearners.gp.kernels import matern
from metalearners.learners.configuration_kernel import ConfigurationKernel, _unlikeliness, learn_kernel
from tests.cases import each
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.vocabulary.parameters import Scale


def test_the_gradient_of_the_likelihood_is_right() -> None:
    random = np.random.default_rng(1)
    samples = [(random.normal(size=(n, 2)), random.normal(size=n)) for n in (9, 14)]
    at = np.array([0.3, -0.2, -1.0, -0.5])
    error = check_grad(
        lambda p: _unlikeliness(p, samples)[0], lambda p: _unlikeliness(p, samples)[1], at, epsilon=1e-6
    )
    assert error < 1e-3


def learned() -> tuple[ConfigurationKernel, np.ndarray]:
    data = training_data(toy_runs(), toy_metafeatures())
    return learn_kernel(data, data.scores, size=64, seed=0)


def test_a_hyperparameter_without_effect_gets_a_longer_scale() -> None:
    kernel, _ = learned()
    spread = {
        "criterion_entropy": 0.5,
        "depth": toy_runs().configurations.parameters["depth"].astype(float).std(ddof=0),
    }
    scale = dict(zip(kernel.encoding.columns, kernel.scale, strict=True))
    assert scale["depth"] / spread["depth"] > 3 * scale["criterion_entropy"] / spread["criterion_entropy"]


def test_inner_products_of_features_equal_the_kernel() -> None:
    kernel, _ = learned()
    x = kernel.points(toy_runs().configurations, toy_metafeatures().iloc[0])
    phi = kernel.features(toy_runs().configurations, toy_metafeatures().iloc[0])
    np.testing.assert_allclose(phi @ phi.T, matern(x, x), atol=1e-4)


@each(("scales", "logarithmic"), [({}, [True, False]), ({"wide": "linear", "even": "log"}, [False, True])])
def test_a_declared_scale_overrides_the_detected_one(
    scales: dict[str, Scale], logarithmic: list[bool]
) -> None:
    """One hyperparameter is spread over magnitudes, the other evenly."""
    runs = toy_runs()
    n = len(runs.configurations)
    runs.configurations.parameters["wide"] = np.geomspace(1e-5, 1, n).astype(object)
    runs.configurations.parameters["even"] = np.linspace(0.1, 1, n).astype(object)
    data = training_data(replace(runs, scales=scales), toy_metafeatures())
    kernel, _ = learn_kernel(data, data.scores, size=64, seed=0)
    found = dict(zip(kernel.encoding.columns, kernel.logarithmic.tolist(), strict=True))
    assert [found["wide"], found["even"]] == logarithmic
