"""The factorized multilayer perceptron of Schilling, Wistuba, Drumond and Schmidt-Thieme (2015), a baseline.

A neural network that predicts the value of a run from its hyperparameters and from which dataset it is on;
the first layer's units are factorization machines, so that a dataset's hidden factors meet those of
hyperparameters. An ensemble states how uncertain it is. The paper on matrix factorization compares with it
and names none of its settings: those below are set by hand, before any comparison, and not tuned.

Notation
    E, H, K   members, hidden units, factors of an input
    x         (n, J) encoded hyperparameters; d (n,) number of the dataset, an input that is 1 for its own
    w, v      (J, H) and (J, H, K) weight and factors of a hyperparameter; w_d, v_d those of a dataset
    u         (n, H) x w + w_d + sum of <v_i, v_j> x_i x_j over pairs of inputs, the dataset's among them
    value     a' tanh(u + b) + c; larger is better, in standard deviations of all runs
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from metalearners.learners.factorization.likelihood import one_thread
from metalearners.predictions import Prediction
from warehouse.support.arrays import Floats, Positions

MEMBERS, UNITS, FACTORS = 10, 16, 4
BATCH, STEPS, RATE, DECAY = 256, 3000, 3e-3, 1e-4  # of AdamW
STEPS_OF_TRIAL, OLD_RUNS = 5, 64
"""Steps after a trial, each on all trials and so many runs of other datasets."""


class FactorizedPerceptron(torch.nn.Module):
    """E members that predict together; the last dataset is the new one."""

    def __init__(self, columns: int, datasets: int, seed: int) -> None:
        """Weights at random, and none of the new dataset yet.

        Args:
            columns: J.
            datasets: how many have runs.
        """
        super().__init__()
        random = torch.Generator().manual_seed(seed)

        def weights(*shape: int, scale: float) -> torch.nn.Parameter:
            return torch.nn.Parameter(scale * torch.randn(MEMBERS, *shape, generator=random))

        self.w = weights(columns, UNITS, scale=columns**-0.5)
        self.v = weights(columns, UNITS, FACTORS, scale=columns**-0.5)
        self.w_d = weights(datasets + 1, UNITS, scale=0.1)
        self.v_d = weights(datasets + 1, UNITS, FACTORS, scale=0.1)
        self.b = weights(UNITS, scale=0.1)
        self.a = weights(UNITS, scale=UNITS**-0.5)
        self.c = weights(scale=0.0)
        self.new = datasets
        """Number of the new dataset."""
        with torch.no_grad():
            self.w_d[:, -1], self.v_d[:, -1] = 0.0, 0.0

    def forward(self, x: Tensor, d: Tensor) -> Tensor:  # (E, n, J), (E, n)
        """(E, n) values."""
        member = torch.arange(MEMBERS)[:, None]
        w_d, v_d = self.w_d[member, d], self.v_d[member, d]  # (E, n, H), (E, n, H, K)
        flat = self.v.flatten(2)  # (E, J, H K)
        total = (x @ flat).unflatten(2, (UNITS, FACTORS)) + v_d
        squares = (x**2 @ flat**2).unflatten(2, (UNITS, FACTORS)) + v_d**2
        pairs = 0.5 * (total**2 - squares).sum(3)  # each pair of inputs once (Rendle 2010)
        u = x @ self.w + w_d + pairs
        value: Tensor = (torch.tanh(u + self.b[:, None]) * self.a[:, None]).sum(2) + self.c[:, None]
        return value

    def predict(self, x: Floats) -> Prediction:
        """Value of configurations, (n, J), on the new dataset, and the spread of the members."""
        with torch.no_grad(), one_thread():
            shared = torch.tensor(x, dtype=torch.float32).expand(MEMBERS, *x.shape)
            values = self(shared, torch.full(shared.shape[:2], self.new)).double().numpy()
        return Prediction(values.mean(axis=0), values.std(axis=0))


class Training:
    """Runs of known datasets that an ensemble learns from, at first and beside trials."""

    def __init__(self, x: Floats, dataset: Positions, y: Floats, seed: int = 0) -> None:
        """Learn from runs.

        Args:
            x: (m, J).
            dataset: (m,) numbers from 0.
            y: (m,) values.
        """
        self._x = torch.tensor(x, dtype=torch.float32)
        self._d = torch.tensor(dataset, dtype=torch.long)
        self._y = torch.tensor(y, dtype=torch.float32)
        self.model = FactorizedPerceptron(x.shape[1], int(dataset.max()) + 1, seed)
        """Trained on these runs, and on no trial."""
        random = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.AdamW(self.model.parameters(), RATE, weight_decay=DECAY)
        with one_thread():
            for _ in range(STEPS):
                _step(self.model, optimizer, *self._some(BATCH, random))

    def _some(self, many: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Other runs for each member."""
        rows = torch.randint(len(self._y), (MEMBERS, many), generator=random)
        return self._x[rows], self._d[rows], self._y[rows]


class OnNewDataset:
    """An ensemble that goes on learning from trials on a new dataset."""

    def __init__(self, training: Training, seed: int) -> None:
        """No trial yet."""
        self._training = training
        self.model = copy.deepcopy(training.model)
        self._optimizer = torch.optim.AdamW(self.model.parameters(), RATE, weight_decay=DECAY)
        self._random = torch.Generator().manual_seed(seed)

    def learn(self, x: Floats, y: Floats) -> None:
        """Take some steps on all trials, (t, J) and (t,)."""
        x_t = torch.tensor(x, dtype=torch.float32).expand(MEMBERS, *x.shape)
        d_t = torch.full(x_t.shape[:2], self.model.new)
        y_t = torch.tensor(y, dtype=torch.float32).expand(MEMBERS, len(y))
        with one_thread():
            for _ in range(STEPS_OF_TRIAL):
                old = self._training._some(OLD_RUNS, self._random)
                both = [torch.cat(parts, dim=1) for parts in zip(old, (x_t, d_t, y_t), strict=True)]
                _step(self.model, self._optimizer, *both)


def _step(
    model: FactorizedPerceptron, optimizer: torch.optim.Optimizer, x: Tensor, d: Tensor, y: Tensor
) -> None:
    optimizer.zero_grad()
    loss = ((model(x, d) - y) ** 2).mean(dim=1).sum()  # members do not share parameters
    loss.backward()
    optimizer.step()
