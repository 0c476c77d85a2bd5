"""Latent positions of configurations from their hyperparameters, also for configurations that were never run.

A small neural network is trained together with the kernel over its outputs (a deep kernel; Wilson et al.
2016), so that a dataset's scores are a Gaussian process over the positions. Unlike free positions, it can
learn from runs with continuous hyperparameters, where each configuration occurs once.

Notation, beside that of `metalearners.published.factorization.latent_kernel`
    x          (n, J) points: encoded configurations, with comparable columns
    positions  (n, Q) silu(silu(x A1' + b1) A2' + b2) A3' + b3; silu(u) = u / (1 + exp(-u))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.support.arrays import Floats

LAYERS = 3  # of weights: two hidden ones and the positions; a heuristic


@dataclass(frozen=True)
class Encoder:
    """A trained network."""

    weights: tuple[Floats, ...]
    """A1 (hidden, J), A2 (hidden, hidden), A3 (Q, hidden)"""
    biases: tuple[Floats, ...]

    def __post_init__(self) -> None:
        inputs = self.shape[0]
        for A, b in zip(self.weights, self.biases, strict=True):
            if A.shape != (len(b), inputs):
                raise ValueError("the layers of the encoder do not fit together")
            inputs = len(b)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of inputs and outputs, J and Q."""
        return self.weights[0].shape[1], len(self.weights[-1])

    def positions(self, x: Floats) -> Floats:
        """(n, Q) latent positions of encoded configurations `x`."""
        u = x
        for layer, (A, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            u = u @ A.T + b
            if layer < LAYERS - 1:
                u = u / (1 + np.exp(-np.clip(u, -500, 500)))
        return u
