"""The GP-LVM of a matrix: its likelihood, what it finds, and that its training can be interrupted."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from metalearners.gp.kernels import Shape
from metalearners.learners.base import Round
from metalearners.learners.factorization.latent_kernel import LatentKernel
from warehouse.support.errors import BadInput

torch = pytest.importorskip("torch", reason="training needs the extra `pmf`")
gplvm = pytest.importorskip("metalearners.learners.factorization.gplvm")
likelihood = pytest.importorskip("metalearners.learners.factorization.likelihood")
checkpoint = pytest.importorskip("metalearners.learners.factorization.checkpoint")

NOISE = 0.3


def drawn(n: int, d: int, missing: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A matrix from the model with two latent dimensions, with gaps, and the matrix without noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    kernel = LatentKernel("rbf", 1.0, np.array([0.3, 0.15]), NOISE**2)
    K = kernel.covariance(X, X) + 1e-9 * np.eye(n)
    truth = np.linalg.cholesky(K) @ random.normal(size=(n, d))
    Y = truth + NOISE * random.normal(size=truth.shape)
    Y[random.random(Y.shape) < missing] = np.nan
    return Y, truth


def dense_nll(Y: np.ndarray, X: np.ndarray, kernel: LatentKernel) -> float:
    """The formula of `gplvm`, dataset by dataset, with the rows that each one has."""
    total = 0.0
    for y in Y.T:
        o = ~np.isnan(y)
        C = kernel.covariance(X[o], X[o]) + kernel.sigma2 * np.eye(o.sum())
        total += 0.5 * (
            o.sum() * math.log(2 * math.pi) + np.linalg.slogdet(C)[1] + y[o] @ np.linalg.solve(C, y[o])
        )
    return total


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


@pytest.mark.parametrize("shape", ["rbf", "matern"])
def test_likelihood_and_gradient_are_those_of_the_formula(shape: Shape) -> None:
    """With gaps, which a row that is dropped and a row that is masked must treat alike."""
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


def test_inducing_positions_at_all_configurations_are_exact() -> None:
    """Values and gradients, whether the rows that are there or those that are missing are fewer."""
    for missing in (0.2, 0.7):
        Y, _ = drawn(30, 6, missing)
        observed = ~np.isnan(Y)
        begin = gplvm.GPLVM(
            LatentKernel("rbf", 1.2, np.array([0.5, 0.2]), 0.2),
            np.random.default_rng(0).normal(size=(30, 2)),
            (),
        )
        exact, low_rank = gplvm._Model(begin, "rbf", None), gplvm._Model(begin, "rbf", begin.X).double()
        objective = gplvm._Objective(Y, observed, "cpu")
        losses = [objective.nll(model, np.arange(6)) for model in (exact, low_rank)]
        for loss in losses:
            loss.backward()
        assert losses[1].item() == pytest.approx(losses[0].item(), rel=1e-3)
        for name in ("log_alpha", "log_gamma", "log_sigma2"):
            one, other = (getattr(model, name).grad.numpy() for model in (exact, low_rank))
            np.testing.assert_allclose(other, one, rtol=2e-2, atol=2e-2)
        moved = (low_rank.X.grad + low_rank.Z.grad).numpy()
        np.testing.assert_allclose(moved, exact.X.grad.numpy(), rtol=2e-2, atol=5e-2)


def test_inducing_positions_predict_nearly_as_well() -> None:
    Y, truth = drawn(120, 50, missing=0.2)
    gaps = np.isnan(Y)
    errors = []
    for inducing in (None, 40):
        model = gplvm.train(Y, latent=2, epochs=40, inducing=inducing)
        errors.append(np.sqrt(((gplvm.complete(model, Y) - truth)[gaps] ** 2).mean()))
    assert errors[1] < 1.1 * errors[0]


def test_a_matrix_drawn_from_the_model_is_recovered() -> None:
    """Held-out entries, which have noise themselves, are missed by at most 1.2 times the noise."""
    Y, truth = drawn(160, 50, missing=0.2)
    model = gplvm.train(Y, latent=2, epochs=60)
    gaps = np.isnan(Y)
    held_out = truth + NOISE * np.random.default_rng(9).normal(size=truth.shape)
    missed = (gplvm.complete(model, Y) - held_out)[gaps]
    assert np.sqrt((missed**2).mean()) <= 1.2 * NOISE
    assert np.sqrt(model.kernel.sigma2) == pytest.approx(NOISE, rel=0.2)


def test_training_makes_the_matrix_likelier() -> None:
    Y, _ = drawn(40, 20, missing=0.2)
    model = gplvm.train(Y, latent=2, epochs=30)
    assert model.losses[-1] < model.losses[0] - 0.05
    total = dense_nll(Y, model.X, model.kernel) / (~np.isnan(Y)).sum()
    assert total == pytest.approx(model.losses[-1], abs=0.01)


def test_the_latent_space_is_smaller_where_nine_of_ten_entries_are_missing() -> None:
    full, _ = drawn(60, 60, missing=0.2)
    sparse, _ = drawn(60, 60, missing=0.93)
    assert gplvm.train(full, epochs=1).X.shape == (60, 20)
    assert gplvm.train(sparse, epochs=1).X.shape == (60, 5)


def test_the_same_seed_gives_the_same_model() -> None:
    Y, _ = drawn(30, 60, missing=0.2)
    one, again = (gplvm.train(Y, latent=2, epochs=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.X, again.X)
    assert one.losses == again.losses


class _KilledError(Exception):
    pass


def _killed_after(epochs: int) -> Callable[[Round], None]:
    def report(epoch: Round) -> None:
        if epoch.done > epochs:
            raise _KilledError

    return report


def test_a_training_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    Y, _ = drawn(30, 60, missing=0.2)
    whole = gplvm.train(Y, latent=2, epochs=8)
    file = tmp_path / "training.npz"
    with pytest.raises(_KilledError):
        gplvm.train(Y, latent=2, epochs=8, checkpoint=file, report=_killed_after(4))
    seen: list[int] = []
    resumed = gplvm.train(
        Y, latent=2, epochs=8, checkpoint=file, report=lambda epoch: seen.append(epoch.done)
    )
    assert seen == [5, 6, 7, 8]
    np.testing.assert_array_equal(resumed.X, whole.X)
    assert resumed.losses == whole.losses
    assert not file.exists()


def test_the_state_of_another_training_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    file = tmp_path / "training.npz"
    with pytest.raises(_KilledError):
        gplvm.train(drawn(30, 9, 0.2)[0], latent=2, epochs=8, checkpoint=file, report=_killed_after(2))
    with pytest.raises(BadInput, match="another training"):
        gplvm.train(drawn(31, 9, 0.2)[0], latent=2, epochs=8, checkpoint=file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(BadInput, match="damaged"):
        gplvm.train(drawn(30, 9, 0.2)[0], latent=2, epochs=8, checkpoint=file)


def test_new_configurations_and_datasets_join_a_trained_model() -> None:
    """After a few epochs the larger matrix is predicted nearly as well as from the start."""
    Y, truth = drawn(120, 50, missing=0.2)
    first = gplvm.train(Y[:100, :40], latent=2, epochs=60)
    updated = gplvm.train(Y, latent=2, epochs=12, start=first)
    anew = gplvm.train(Y, latent=2, epochs=60)
    gaps = np.isnan(Y)
    errors = [np.sqrt(((gplvm.complete(model, Y) - truth)[gaps] ** 2).mean()) for model in (updated, anew)]
    assert updated.X.shape == (120, 2)
    assert errors[0] < 1.15 * errors[1]


@pytest.mark.parametrize("Y", [np.full((3, 2), np.nan), np.ones((3, 2))])
def test_a_matrix_without_two_different_scores_is_refused(Y: np.ndarray) -> None:
    with pytest.raises(BadInput, match="no two different"):
        gplvm.train(Y)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="no device"):
        gplvm.train(drawn(5, 5, 0.0)[0], device="quantum")
