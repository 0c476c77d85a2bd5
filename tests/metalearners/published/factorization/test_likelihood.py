"""The likelihood of a matrix and its gradient, against the formula."""

import numpy as np
import pytest

from metalearners.gp.kernels import Shape
from metalearners.published.factorization.latent_kernel import LatentKernel
from tests.cases import each
from tests.metalearners.published.factorization.matrices import dense_nll, drawn

torch = pytest.importorskip("torch", reason="training needs the extra `pmf`")
gplvm = pytest.importorskip("metalearners.published.factorization.gplvm")
likelihood = pytest.importorskip("metalearners.published.factorization.likelihood")


def model_nll(Y: np.ndarray, values: np.ndarray, shape: Shape) -> tuple[float, np.ndarray]:
    """nll and its gradient at a vector: X (n x 2), log alpha, log gamma (2), log sigma2."""
    n = len(Y)
    parameters = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    X, log_alpha = parameters[: 2 * n].reshape(n, 2), parameters[2 * n]
    scaled = X * (0.5 * parameters[2 * n + 1 : 2 * n + 3]).exp()
    r2 = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(-1)
    K = log_alpha.exp() * gplvm.correlation(r2, shape)
    y, observed = torch.tensor(np.nan_to_num(Y.T)), torch.tensor(~np.isnan(Y.T))
    loss = likelihood.nll(K.expand(Y.shape[1], n, n), parameters[-1].exp(), y, observed)
    loss.backward()
    return loss.item(), parameters.grad.numpy()


def dense_at(Y: np.ndarray, values: np.ndarray, shape: Shape) -> float:
    n = len(Y)
    kernel = LatentKernel(
        shape, float(np.exp(values[2 * n])), np.exp(values[2 * n + 1 : 2 * n + 3]), float(np.exp(values[-1]))
    )
    return dense_nll(Y, values[: 2 * n].reshape(n, 2), kernel)


@each("shape", ["rbf", "matern"])
def test_likelihood_and_gradient_equal_the_formula(shape: Shape) -> None:
    """With gaps, for which dropping and masking rows must give the same."""
    Y, _ = drawn(8, 3, missing=0.3)
    values = np.random.default_rng(1).normal(scale=0.5, size=2 * 8 + 4)
    loss, gradient = model_nll(Y, values, shape)
    assert loss == pytest.approx(dense_at(Y, values, shape), rel=1e-6)
    step = 1e-5
    for place in range(len(values)):
        change = np.zeros_like(values)
        change[place] = step
        slope = (dense_at(Y, values + change, shape) - dense_at(Y, values - change, shape)) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_the_number_of_threads_is_restored_after_an_error() -> None:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError), likelihood.one_thread():
            assert torch.get_num_threads() == 1
            _ = 1 / 0
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(usual)
