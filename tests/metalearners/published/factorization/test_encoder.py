"""The network that maps configurations to positions."""

import numpy as np
import pytest

from metalearners.codec import decode, encode
from metalearners.published.factorization.encoder import Encoder
from warehouse.support.errors import DamagedModel


def test_an_encoder_by_hand() -> None:
    """One column, one unit in each layer: silu(2 x) = 2 x / (1 + exp(-2 x)), twice, then 3 u + 1."""
    one = np.array([[1.0]])
    encoder = Encoder((2 * one, one, 3 * one), (np.zeros(1), np.zeros(1), np.ones(1)))
    u = 2 / (1 + np.exp(-2))
    u = u / (1 + np.exp(-u))
    assert encoder.positions(np.array([[1.0]])) == pytest.approx(np.array([[3 * u + 1]]))


def random_encoder(columns: int = 4, hidden: int = 6, latent: int = 2) -> Encoder:
    random = np.random.default_rng(0)
    sizes = [(hidden, columns), (hidden, hidden), (latent, hidden)]
    return Encoder(
        tuple(random.normal(size=size) for size in sizes),
        tuple(random.normal(size=size[0]) for size in sizes),
    )


def test_the_position_of_a_configuration_does_not_depend_on_the_others() -> None:
    encoder, x = random_encoder(), np.random.default_rng(1).normal(size=(7, 4))
    alone = np.concatenate([encoder.positions(row[None]) for row in x])
    np.testing.assert_allclose(encoder.positions(x), alone, atol=1e-12)
    assert encoder.shape == (4, 2)


def test_layers_that_do_not_fit_together_are_refused() -> None:
    encoder = random_encoder()
    first, second, third = encoder.weights
    for weights in (
        (first, second[:, :-1], third),
        (first, second, third[:, :-1]),
        (first[:-1], second, third),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            Encoder(weights, encoder.biases)
    facts, arrays = encode(encoder)
    with pytest.raises(DamagedModel, match="do not fit together"):
        decode(Encoder, facts, {**arrays, "biases.0": np.zeros(5)})
