"""Latent positions of configurations from their hyperparameters: one that nobody ran has a position, too.

A small neural network, trained together with the kernel over its outputs (a deep kernel; Wilson et al.
2016), so that a dataset's scores are a Gaussian process over the positions. Runs with continuous
hyperparameters, each configuration seen once, can be learned from, which free positions can't.

Notation, beside that of `metalearners.latent_gp`
    x          (n, J) points: encoded configurations, comparable in every column
    positions  (n, Q) silu(silu(x A1' + b1) A2' + b2) A3' + b3; silu(u) = u / (1 + exp(-u))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.support.errors import DamagedModel

LAYERS = 3  # of weights: two hidden ones and the positions; set by hand


@dataclass(frozen=True)
class Encoder:
    """A trained network."""

    weights: tuple[Floats, ...]
    """A1 (hidden, J), A2 (hidden, hidden), A3 (Q, hidden)"""
    biases: tuple[Floats, ...]

    def positions(self, x: Floats) -> Floats:
        """(n, Q) where configurations stand that are encoded as `x`."""
        u = x
        for layer, (A, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            u = u @ A.T + b
            if layer < LAYERS - 1:
                u = u / (1 + np.exp(-np.clip(u, -500, 500)))
        return u

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, by name."""
        weights = {f"weight{layer}": A for layer, A in enumerate(self.weights)}
        return weights | {f"bias{layer}": b for layer, b in enumerate(self.biases)}

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray], columns: int, latent: int) -> Self:
        """What `arrays` gave, as an encoder of J columns into Q dimensions again.

        Raises:
            KeyError, ValueError: it is incomplete.
            BadInput: it does not fit together.
        """
        weights = tuple(arrays[f"weight{layer}"].astype(np.float64) for layer in range(LAYERS))
        biases = tuple(arrays[f"bias{layer}"].astype(np.float64) for layer in range(LAYERS))
        wide = columns
        for A, b in zip(weights, biases, strict=True):
            if A.ndim != 2 or A.shape[1] != wide or b.shape != (len(A),):
                raise DamagedModel(
                    "the stored learner is damaged: the layers of its encoder do not fit together"
                )
            wide = len(A)
        if wide != latent:
            raise DamagedModel(
                "the stored learner is damaged: its encoder has another latent space than its kernel"
            )
        return cls(weights, biases)
