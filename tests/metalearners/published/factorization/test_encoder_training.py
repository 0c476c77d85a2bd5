"""Training an encoder: its result, repetition, interruption and resuming."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from metalearners.published.factorization.latent_kernel import LatentTraining

torch = pytest.importorskip("torch", reason="training needs the extra `pmf`")
checkpoint = pytest.importorskip("metalearners.published.factorization.checkpoint")
training = pytest.importorskip("metalearners.published.factorization.encoder_training")

NOISE = 0.1


def train_encoder(runs: Sequence[tuple[np.ndarray, np.ndarray]], **given: Any) -> Any:
    """Encoder and kernel of a training with these settings and keywords."""
    keywords = {name: given.pop(name) for name in ("start", "watch") if name in given}
    return training.train_encoder(runs, LatentTraining(**given), **keywords)


def runs(datasets: int = 6, n: int = 30, level: float = 0.0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores rise or fall with the first of three columns, by dataset; the other two are irrelevant."""
    random = np.random.default_rng(0)
    found = []
    for number in range(datasets):
        x = random.normal(size=(n, 3))
        found.append((x, level * number + (-1) ** number * x[:, 0] + NOISE * random.normal(size=n)))
    return found


def same(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_positions_differ_by_the_relevant_column() -> None:
    """Configurations that differ in the first column are further apart than those that differ in others."""
    encoder, kernel = train_encoder(runs(), latent=2, rounds=60)
    assert encoder.shape == (3, 2)
    assert kernel.gamma.tolist() == [1, 1]
    distances = [np.linalg.norm(np.subtract(*encoder.positions(np.array([one, -one])))) for one in np.eye(3)]
    assert distances[0] > 2 * max(distances[1:])


def test_the_same_seed_gives_the_same_encoder_and_another_seed_another() -> None:
    one, again, other = (train_encoder(runs(), latent=2, rounds=3, seed=seed)[0] for seed in (1, 1, 2))
    assert same(one.weights, again.weights)
    assert not same(one.weights, other.weights)


def test_training_does_not_change_the_global_random_state() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3).tolist()
    torch.manual_seed(7)
    train_encoder(runs(), latent=1, rounds=2)
    assert torch.rand(3).tolist() == expected


def test_training_continues_from_an_encoder_and_its_kernel() -> None:
    """One more step changes little, but one step from the start is far from the trained state."""
    learned = train_encoder(runs(), latent=2, rounds=60)
    further, kernel = train_encoder(runs(), latent=2, rounds=1, start=learned)
    begun, _ = train_encoder(runs(), latent=2, rounds=1)
    x = runs()[0][0]
    positions = learned[0].positions(x)
    moved, apart = (np.abs(one.positions(x) - positions).mean() for one in (further, begun))
    assert moved < 0.1 * apart
    assert kernel.alpha == pytest.approx(learned[1].alpha, rel=0.01)
    assert kernel.sigma2 == pytest.approx(learned[1].sigma2, rel=0.01)
