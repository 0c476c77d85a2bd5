"""The GP-LVM of a matrix: its result, and interrupted training."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metalearners.learners.base import Round, Watch
from metalearners.published.factorization.latent_kernel import LatentKernel, LatentTraining
from tests.cases import each
from tests.metalearners.published.factorization.matrices import NOISE, drawn
from warehouse.support.errors import BadInput

torch = pytest.importorskip("torch", reason="training needs the extra `pmf`")
gplvm = pytest.importorskip("metalearners.published.factorization.gplvm")
checkpoint = pytest.importorskip("metalearners.published.factorization.checkpoint")


def train(Y: np.ndarray, **given: Any) -> Any:
    """The model of a training with these settings and keywords."""
    keywords = {name: given.pop(name) for name in ("start", "watch") if name in given}
    return gplvm.train(Y, LatentTraining(**given), **keywords)


def test_inducing_positions_at_all_configurations_are_exact() -> None:
    """Values and gradients are, whether fewer rows are present or missing."""
    for missing in (0.2, 0.7):
        Y, _ = drawn(30, 6, missing)
        observed = ~np.isnan(Y)
        begin = gplvm.GPLVM(
            LatentKernel("rbf", 1.2, np.array([0.5, 0.2]), 0.2),
            np.random.default_rng(0).normal(size=(30, 2)),
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


@each("inducing", [False, True])
def test_the_mean_gradient_of_batches_is_that_of_all_datasets(inducing: bool) -> None:
    """The paper's equation 6 over the six pairs of four datasets.

    Configurations have scores on 4, 3 or 2 datasets. One with 2 is in five of the six pairs; its gradient is
    0 in the sixth, for which N_n / N_Bn does not compensate: the mean gradient is 5 / 6 of the total.
    """
    Y = np.random.default_rng(0).normal(size=(9, 4))
    Y[3:6, 0] = np.nan
    Y[6:, :2] = np.nan
    X = np.random.default_rng(1).normal(size=(9, 2))
    begin = gplvm.GPLVM(LatentKernel("rbf", 1.2, np.array([0.5, 0.2]), 0.2), X)
    objective = gplvm._Objective(Y, ~np.isnan(Y), "cpu")

    def slopes(batch: tuple[int, ...]) -> dict[str, np.ndarray]:
        model = gplvm._Model(begin, "rbf", X[:4] if inducing else None).double()
        objective.backward(model, np.array(batch))
        return {name: parameter.grad.numpy() for name, parameter in model.named_parameters()}

    whole = slopes((0, 1, 2, 3))
    pairs = [slopes(pair) for pair in combinations(range(4), 2)]
    for name, expected in whole.items():
        mean = np.mean([of[name] for of in pairs], axis=0)
        share = np.array([1.0] * 6 + [5 / 6] * 3)[:, None] if name == "X" else 1.0
        np.testing.assert_allclose(mean, share * expected, rtol=1e-6, atol=1e-9)


@pytest.fixture(scope="module")
def trained() -> tuple[np.ndarray, np.ndarray, gplvm.GPLVM]:
    """A matrix with gaps, its source, and a model of it."""
    Y, truth = drawn(120, 50, missing=0.2)
    return Y, truth, train(Y, latent=2, rounds=60)


def error(model: gplvm.GPLVM, Y: np.ndarray, truth: np.ndarray) -> float:
    """Root mean squared error in the gaps of the posterior means given the other entries."""
    K, missing = model.kernel.covariance(model.X, model.X), np.isnan(Y)
    squares = []
    for y, gap, of_gap in zip(Y.T, missing.T, truth.T, strict=True):
        noisy = K[np.ix_(~gap, ~gap)] + model.kernel.sigma2 * np.eye((~gap).sum())
        squares += [*((K[np.ix_(gap, ~gap)] @ np.linalg.solve(noisy, y[~gap]) - of_gap[gap]) ** 2)]
    return float(np.sqrt(np.mean(squares)))


def test_a_matrix_drawn_from_the_model_is_recovered(
    trained: tuple[np.ndarray, np.ndarray, gplvm.GPLVM],
) -> None:
    """Errors of held-out entries, which are noisy themselves, are at most 1.2 times the noise."""
    Y, truth, model = trained
    held_out = truth + NOISE * np.random.default_rng(9).normal(size=truth.shape)
    assert error(model, Y, held_out) <= 1.2 * NOISE
    assert np.sqrt(model.kernel.sigma2) == pytest.approx(NOISE, rel=0.2)


def test_the_same_seed_gives_the_same_model() -> None:
    Y, _ = drawn(30, 60, missing=0.2)
    one, again = (train(Y, latent=2, rounds=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.X, again.X)


class _KilledError(Exception):
    pass


def _killed_after(epochs: int) -> Callable[[Round], None]:
    def report(epoch: Round) -> None:
        if epoch.done > epochs:
            raise _KilledError

    return report


def test_an_interrupted_training_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    Y, _ = drawn(30, 60, missing=0.2)
    whole = train(Y, latent=2, rounds=8)
    file = tmp_path / "training.npz"
    with pytest.raises(_KilledError):
        train(Y, latent=2, rounds=8, watch=Watch(file, _killed_after(4)))
    seen: list[int] = []
    resumed = train(Y, latent=2, rounds=8, watch=Watch(file, lambda epoch: seen.append(epoch.done)))
    assert seen == [5, 6, 7, 8]
    np.testing.assert_array_equal(resumed.X, whole.X)
    assert not file.exists()


def test_the_state_of_another_training_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    file = tmp_path / "training.npz"
    with pytest.raises(_KilledError):
        train(drawn(30, 9, 0.2)[0], latent=2, rounds=8, watch=Watch(file, _killed_after(2)))
    with pytest.raises(BadInput, match="another training"):
        train(drawn(31, 9, 0.2)[0], latent=2, rounds=8, watch=Watch(file))


@each("Y", [np.full((3, 2), np.nan), np.ones((3, 2))])
def test_a_matrix_without_two_different_scores_is_refused(Y: np.ndarray) -> None:
    with pytest.raises(BadInput, match="all its scores are equal"):
        train(Y)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_cuda_is_refused_in_a_line_and_auto_is_the_cpu() -> None:
    with pytest.raises(BadInput, match="torch has no device 'cuda' here") as refused:
        train(drawn(5, 5, 0.0)[0], device="cuda")
    assert "\n" not in str(refused.value)
    assert gplvm.torch_device("auto").type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU with CUDA here")
@pytest.mark.parametrize("exact", [60, 20])
def test_a_gpu_gives_the_same_result_as_the_cpu(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gplvm, "EXACT", exact)
    monkeypatch.setattr(gplvm, "INDUCING", 20)
    Y, _ = drawn(60, 30, missing=0.2)

    def losses(device: str) -> list[float]:
        found: list[float] = []
        train(
            Y, latent=2, rounds=5, device=device, watch=Watch(report=lambda epoch: found.append(epoch.loss))
        )
        return found

    np.testing.assert_allclose(losses("auto"), losses("cpu"), rtol=1e-2)


def test_a_missing_device_is_refused() -> None:
    with pytest.raises(BadInput, match="no device"):
        train(drawn(5, 5, 0.0)[0], device="quantum")


def test_a_training_with_more_dimensions_than_components_works() -> None:
    Y = np.random.default_rng(0).normal(size=(6, 40))
    model = train(Y, rounds=3, latent=6)
    assert np.isfinite(model.X).all()
