"""Training an encoder and the kernel over its positions, in steps on some runs of some datasets.

Notation, beside that of `encoder` and `gplvm`
    B, n    datasets of a step, runs of each; the cost of a step does not depend on the number of runs
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from metalearners.gp.kernels import Shape
from metalearners.learners.base import UNWATCHED, Round, Watch
from metalearners.published.factorization.checkpoint import Checkpoint
from metalearners.published.factorization.encoder import Encoder
from metalearners.published.factorization.gplvm import as_array, correlation, torch_device
from metalearners.published.factorization.latent_kernel import LATENT, LatentKernel, LatentTraining
from metalearners.published.factorization.likelihood import nll, one_thread
from warehouse.support.arrays import Floats

ROUND = 50
"""Steps between two reports."""
_HIDDEN = 64  # units of a hidden layer; this and the next ones are heuristics
_DATASETS, _RUNS = 16, 60  # of a step
_RATE = 3e-3  # AdamW's
_DECAY = 0.1  # AdamW's weight decay
_LEVEL_VARIANCE = 10.0  # of a dataset's level, so that positions need not predict it
_LEAST_NOISE = 1e-2  # variance: scores are never exact
_LONGEST_STEP = 10.0  # norm that gradients are clipped to

Runs = tuple[Floats, Floats]
"""x, (n, J), and scores, (n,), of one dataset's runs."""


def train_encoder(
    runs: Sequence[Runs],
    settings: LatentTraining,
    *,
    start: tuple[Encoder, LatentKernel] | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[Encoder, LatentKernel]:
    """Maximum-likelihood encoder and kernel for the scores of the datasets.

    Args:
        runs: of each dataset, two or more.
        settings: `rounds` are steps of AdamW.
        start: an encoder with the same number of columns, and its kernel, to continue from.
        watch: saves the state, and is called after every 50 steps.

    Raises:
        BadInput: as in `metalearners.published.factorization.gplvm.train`.
    """
    place = torch_device(settings.device)
    latent, kernel, steps, seed = settings.latent or LATENT, settings.kernel, settings.rounds, settings.seed
    model = _Network(runs[0][0].shape[1], latent, kernel, seed, start).to(place)
    data = [_tensors(of_dataset, place) for of_dataset in runs]
    optimizer = torch.optim.AdamW(model.parameters(), _RATE, weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps + 1)
    training = {
        "runs": [zlib.crc32(np.ascontiguousarray(part).tobytes()) for own in runs for part in own],
        **{"latent": latent, "kernel": kernel, "steps": steps, "seed": seed, "from": model.digest()},
    }
    saved = Checkpoint(watch.checkpoint, training, model, optimizer, schedule)
    losses = saved.load()
    for begin in range(len(losses) * ROUND, steps, ROUND):
        random = np.random.default_rng([seed, begin])
        total = 0.0
        many = min(ROUND, steps - begin)
        for _ in range(many):
            with one_thread():
                optimizer.zero_grad()
                loss = model.nll(*_some(data, random))
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(model.parameters(), _LONGEST_STEP)
                optimizer.step()
            schedule.step()
            total += loss.item() / many
        losses.append(total)
        if watch.report is not None:
            watch.report(Round(begin + many, steps, total))
        saved.save(losses)
    saved.remove()
    return model.trained()


class _Network(torch.nn.Module):
    """Encoder and kernel as torch parameters."""

    def __init__(
        self, columns: int, latent: int, shape: Shape, seed: int, start: tuple[Encoder, LatentKernel] | None
    ) -> None:
        super().__init__()
        self.shape: Shape = shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layers = [
                torch.nn.Linear(*sizes)
                for sizes in ((columns, _HIDDEN), (_HIDDEN, _HIDDEN), (_HIDDEN, latent))
            ]
        self._registered = torch.nn.ModuleList(self.layers)
        self.log_alpha = torch.nn.Parameter(torch.zeros(()))
        self.log_sigma2 = torch.nn.Parameter(torch.tensor(-1.5))
        if start is not None:
            self._go_on_from(*start)

    def _go_on_from(self, encoder: Encoder, kernel: LatentKernel) -> None:
        with torch.no_grad():
            for layer, A, b in zip(self.layers, encoder.weights, encoder.biases, strict=True):
                layer.weight.copy_(torch.tensor(A))
                layer.bias.copy_(torch.tensor(b))
            self.log_alpha.fill_(float(np.log(kernel.alpha)))
            self.log_sigma2.fill_(float(np.log(kernel.sigma2)))

    def positions(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = torch.nn.functional.silu(layer(x))
        positions: Tensor = self.layers[-1](x)
        return positions

    def nll(self, x: Tensor, y: Tensor) -> Tensor:  # (B, n, J), (B, n)
        """nll per dataset with unknown level."""
        z = self.positions(x)
        r2 = ((z[:, :, None, :] - z[:, None, :, :]) ** 2).sum(-1)
        K = self.log_alpha.exp() * correlation(r2, self.shape) + _LEVEL_VARIANCE
        return nll(K, self._sigma2(), y, torch.ones_like(y, dtype=torch.bool)) / len(y)

    def _sigma2(self) -> Tensor:
        return self.log_sigma2.exp().clamp(min=_LEAST_NOISE)

    def digest(self) -> int:
        """Checksum of the parameters."""
        return zlib.crc32(b"".join(part.detach().cpu().numpy().tobytes() for part in self.parameters()))

    def trained(self) -> tuple[Encoder, LatentKernel]:
        encoder = Encoder(
            tuple(as_array(layer.weight) for layer in self.layers),
            tuple(as_array(layer.bias) for layer in self.layers),
        )
        gamma = np.ones(len(encoder.biases[-1]))  # the last layer learns the scale of each dimension
        return encoder, LatentKernel(
            self.shape, float(self.log_alpha.detach().exp()), gamma, float(self._sigma2().detach())
        )


def _tensors(runs: Runs, device: torch.device) -> tuple[Tensor, Tensor]:
    x, y = (torch.tensor(part, dtype=torch.float32, device=device) for part in runs)
    return x, y


def _some(data: Sequence[tuple[Tensor, Tensor]], random: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Equally many random runs of random datasets, with repetition where a dataset has too few."""
    xs, ys = [], []
    for number in random.choice(len(data), min(_DATASETS, len(data)), replace=False):
        x, y = data[number]
        rows = torch.tensor(random.choice(len(y), _RUNS, replace=len(y) < _RUNS), device=y.device)
        xs.append(x[rows])
        ys.append(y[rows])
    return torch.stack(xs), torch.stack(ys)
