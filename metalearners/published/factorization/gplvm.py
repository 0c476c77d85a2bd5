"""Training the GP-LVM of a matrix of scores: latent positions of configurations, and a kernel over them.

Each dataset's scores are a Gaussian process over the positions of the configurations that were run on it
(Fusi, Sheth and Elibol 2018). The positions, shared by all datasets, and the kernel maximize the likelihood
of the matrix. Missing entries are left out of their dataset's process.

Notation, beside that of `metalearners.published.factorization.latent_kernel`
    D        datasets
    Y        (N, D) scores, NaN where missing; each dataset's mean is assumed to be 0
    o        rows of a dataset without missing entries, n of them
    C        (n, n) K(X_o, X_o) + sigma2 I
    nll      1/2 (n log 2 pi + log |C| + y' C^-1 y), summed over datasets (equation 5)
    B        datasets of a step. Its gradient is multiplied by D / |B| for the kernel's parameters, and by
             N_n / N_Bn for the position of configuration n (equation 6); N_n and N_Bn are the numbers of
             its scores in the matrix and in the batch
    Z, M     (M, Q) inducing positions. With M < N, K is replaced by Phi Phi', where
             Phi = K(X, Z) chol(K(Z, Z))^-T, and nll by its upper bound (Titsias 2009), which adds the sum
             of (k_nn - |phi_n|^2) / (2 sigma2)

Settings are the paper's: Q = 20, batches of 50 datasets, 300 epochs, a start from principal components, and Q
= 5 where 90 % is missing. Two differ. Steps are Adam's, with a rate of 0.03 that decays to 0; the paper uses
plain gradient steps with 1e-7, a rate that suits the size of its matrix (and Adam with 0.01 where 90 % is
missing). And the paper's covariances are exact even for 42,000 configurations; here inducing positions
approximate them beyond 800.
"""

from __future__ import annotations

import contextlib
import math
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metalearners.gp.kernels import Shape
from metalearners.learners.base import UNWATCHED, Round, Watch
from metalearners.published.factorization.checkpoint import Checkpoint
from metalearners.published.factorization.latent_kernel import (
    LATENT,
    LATENT_SPARSE,
    SPARSE,
    LatentKernel,
    LatentTraining,
)
from metalearners.published.factorization.likelihood import LowRankNll, nll, one_thread
from warehouse.support.arrays import Flags, Floats, Positions
from warehouse.support.eigen import symmetric_eigen
from warehouse.support.errors import BadOption, TooFewRuns

BATCH = 50
"""Datasets of a step."""
EXACT = 800
"""Most configurations with exact covariances; with more, inducing positions approximate them."""
INDUCING = 256  # positions; a third of `EXACT`, at a thirtieth of the cost
_RATE = 0.03  # Adam's, decaying to 0 along half a cosine; a heuristic
_JITTER = 1e-5  # against rounding errors in the Cholesky factorization
_DENSE = 0.5  # if a dataset has a larger share of the rows, all datasets share one covariance
_NO_VARIANCE = 1e-9  # of a component's standard deviation over the largest; rounding error is 1e-16
_CHUNK = 20_000_000  # most entries of covariances in memory at once


@dataclass(frozen=True)
class GPLVM:
    """A trained model."""

    kernel: LatentKernel
    X: Floats
    """(N, Q)"""


def train(
    Y: Floats, settings: LatentTraining, *, start: GPLVM | None = None, watch: Watch = UNWATCHED
) -> GPLVM:
    """Maximum-likelihood positions and kernel for `Y`, starting from its principal components.

    Args:
        Y: (N, D) scores.
        start: a model to continue from, instead of the principal components. Configurations beyond its own
            are new, and start at the mean position of those with the most similar scores.
        watch: its checkpoint is written twice a minute; its report is called after each epoch, with nll per
            entry, mean over its steps, as the loss.

    Raises:
        BadInput: Y has no entry or no spread, the device is missing, or the checkpoint belongs to another
            training.
    """
    observed = ~np.isnan(Y)
    if not observed.any() or np.ptp(Y[observed]) == 0:
        raise TooFewRuns("the matrix can't be factorized: all its scores are equal")
    latent, epochs, seed = settings.latent, settings.rounds, settings.seed
    if latent is None:
        latent = LATENT_SPARSE if observed.mean() < 1 - SPARSE else LATENT
    torch.manual_seed(seed)
    state = _begin(Y, observed, min(latent, *Y.shape), settings.kernel, start)
    place = torch_device(settings.device)
    model = _Model(state, settings.kernel, _inducing(state.X, seed)).to(place)
    objective = _Objective(Y, observed, place)
    optimizer = torch.optim.Adam(model.parameters(), _RATE)
    steps = math.ceil(Y.shape[1] / BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * steps)
    training = {
        "Y": zlib.crc32(np.ascontiguousarray(Y).tobytes()),
        "start": zlib.crc32(np.ascontiguousarray(state.X).tobytes()),
        **{
            "kernel": settings.kernel,
            "epochs": epochs,
            "rate": _RATE,
            "inducing": None if model.Z is None else len(model.Z),
            "seed": seed,
        },
    }
    saved = Checkpoint(watch.checkpoint, training, model, optimizer, schedule)
    losses = saved.load()
    for epoch in range(len(losses), epochs):
        order = np.random.default_rng([seed, epoch]).permutation(Y.shape[1])
        total = 0.0
        for batch in np.array_split(order, steps):
            with one_thread() if model.Z is None else contextlib.nullcontext():
                optimizer.zero_grad()
                total += objective.backward(model, batch) / steps
                optimizer.step()
            schedule.step()
        losses.append(total)
        if watch.report is not None:
            watch.report(Round(epoch + 1, epochs, losses[-1]))
        saved.save(losses)
    saved.remove()
    return model.trained()


class _Model(torch.nn.Module):
    """X, the kernel's parameters and Z as torch parameters."""

    def __init__(self, start: GPLVM, shape: Shape, inducing: Floats | None) -> None:
        super().__init__()
        precision = torch.float64 if inducing is None else torch.float32
        self.shape = shape

        def parameter(values: npt.ArrayLike) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.tensor(np.asarray(values), dtype=precision))

        self.X = parameter(start.X)
        self.log_alpha = parameter(np.log(start.kernel.alpha))
        self.log_gamma = parameter(np.log(start.kernel.gamma))
        self.log_sigma2 = parameter(np.log(start.kernel.sigma2))
        self.Z = None if inducing is None else parameter(inducing)

    @property
    def sigma2(self) -> Tensor:
        return self.log_sigma2.exp() + 1e-6

    def covariance(self, a: Tensor, b: Tensor) -> Tensor:
        root = (0.5 * self.log_gamma).exp()
        a, b = a * root, b * root
        r2 = (a**2).sum(-1)[..., :, None] + (b**2).sum(-1)[..., None, :] - 2 * a @ b.mT
        K: Tensor = self.log_alpha.exp() * correlation(r2.clamp(min=0), self.shape)
        return K

    def features(self) -> Tensor:
        """(N, M) features of all configurations."""
        assert self.Z is not None
        Z = self.Z.double()
        identity = torch.eye(len(Z), dtype=Z.dtype, device=Z.device)
        L = torch.linalg.cholesky(self.covariance(Z, Z) + _JITTER * self.log_alpha.exp() * identity)
        inverse = torch.linalg.solve_triangular(L, identity, upper=False)
        phi: Tensor = self.covariance(self.X, self.Z) @ inverse.mT.to(self.X.dtype)
        return phi

    def trained(self) -> GPLVM:
        kernel = LatentKernel(
            self.shape,
            float(self.log_alpha.detach().exp()),
            np.exp(as_array(self.log_gamma)),
            float(self.sigma2.detach()),
        )
        return GPLVM(kernel, as_array(self.X))


def correlation(r2: Tensor, shape: Shape) -> Tensor:
    """k / alpha at scaled squared distances."""
    if shape == "rbf":
        return torch.exp(-0.5 * r2)
    r = torch.sqrt(5 * r2 + 1e-12)  # the root has no gradient at 0
    return (1 + r + r * r / 3) * torch.exp(-r)


class _Objective:
    """nll of batches of datasets, exact or with inducing positions."""

    def __init__(self, Y: Floats, observed: Flags, device: torch.device | str) -> None:
        self.entries = int(observed.sum())
        self._Y = Y
        self._observed = observed
        self._device = device
        # Gram matrix of the observed rows; if few are missing, that of all rows minus that of the missing.
        self._listed = [np.flatnonzero(~has if has.mean() > 0.5 else has) for has in observed.T]
        self._lists_missing = observed.mean(axis=0) > 0.5

    def backward(self, model: _Model, batch: Positions) -> float:
        """Compute the parameters' gradients by equation 6, and return nll, both per entry of Y."""
        of_datasets = self._Y.shape[1] / len(batch)
        loss = self.nll(model, batch) * (of_datasets / self.entries)
        loss.backward()
        in_batch = self._observed[:, batch].sum(axis=1)
        of_rows = np.where(in_batch > 0, self._observed.sum(axis=1) / np.maximum(in_batch, 1), 0.0)
        slope = model.X.grad
        assert slope is not None
        slope *= torch.tensor(of_rows / of_datasets, dtype=slope.dtype, device=slope.device)[:, None]
        value: float = loss.item()
        return value

    def nll(self, model: _Model, batch: Positions) -> Tensor:
        if model.Z is None:
            return self._exact(model, batch)
        phi = model.features()
        y = torch.tensor(np.nan_to_num(self._Y[:, batch].T), dtype=phi.dtype, device=self._device)
        observed = torch.tensor(self._observed[:, batch].T, device=self._device)
        listed = [torch.tensor(self._listed[d], device=self._device) for d in batch]
        fit: Tensor = LowRankNll.apply(  # type: ignore[no-untyped-call]
            phi, model.sigma2, y, observed, listed, self._lists_missing[batch].tolist()
        )
        left_out = (observed.sum(0) * (model.log_alpha.exp() - (phi**2).sum(1))).sum()
        return fit + left_out / (2 * model.sigma2)

    def _exact(self, model: _Model, batch: Positions) -> Tensor:
        most = max(1, int(self._observed[:, batch].sum(axis=0).max()))
        is_dense = most > _DENSE * len(self._Y)
        K = model.covariance(model.X, model.X) if is_dense else None
        at_once = max(1, _CHUNK // (len(self._Y) if is_dense else most) ** 2)
        parts = []
        for chunk in np.array_split(batch, math.ceil(len(batch) / at_once)):
            y, observed = np.nan_to_num(self._Y[:, chunk].T), self._observed[:, chunk].T
            if K is None:
                # Each dataset's observed rows first, then padding to the largest number of them.
                rows = np.argsort(~observed, axis=1, kind="stable")[:, :most]
                y = np.take_along_axis(y, rows, axis=1)
                observed = np.take_along_axis(observed, rows, axis=1)
                X = model.X[torch.tensor(rows, device=self._device)]
                of_chunk = model.covariance(X, X)
            else:
                of_chunk = K.expand(len(chunk), *K.shape)
            y_there = torch.tensor(y, dtype=of_chunk.dtype, device=self._device)
            observed_there = torch.tensor(observed, device=self._device)
            parts.append(nll(of_chunk, model.sigma2, y_there, observed_there))
        return torch.stack(parts).sum()


def as_array(parameter: Tensor) -> Floats:
    """A copy of a parameter's values in double precision."""
    return parameter.detach().cpu().double().numpy().copy()


def torch_device(name: str) -> torch.device:
    """The torch device, `BadInput` if it is missing; `auto` is a GPU if torch finds one, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BadOption(f"torch has no device {name!r} here: {str(error).splitlines()[0]}") from error
    return device


def _begin(Y: Floats, observed: Flags, latent: int, shape: Shape, start: GPLVM | None) -> GPLVM:
    """Start of a training: principal components of Y, or a model extended by new configurations."""
    if start is None:
        X, share = principal_components(Y, latent)
        variance = float(np.nanvar(Y))
        return GPLVM(LatentKernel(shape, variance, np.maximum(share, 1e-3), 0.2 * variance), X)
    known = len(start.X)
    new = [_place_of_new(Y, observed, row, start) for row in range(known, len(Y))]
    return GPLVM(start.kernel, np.vstack([start.X, *new]) if new else start.X)


def principal_components(Y: Floats, latent: int) -> tuple[Floats, Floats]:
    """(N, Q) principal components of Y, scaled to variance 1, and their shares of the variance, (Q,), sum 1.

    Missing entries are filled with the dataset's mean plus the configuration's mean deviation from such
    means.
    """
    observed = ~np.isnan(Y)
    level = np.nansum(Y, axis=0) / np.maximum(observed.sum(axis=0), 1)
    rows = np.nansum(Y - level, axis=1) / np.maximum(observed.sum(axis=1), 1)
    filled = np.where(observed, Y - level, rows[:, None])
    centred = filled - filled.mean(axis=0)
    # The smaller Gram matrix, as N may be tens of thousands.
    if centred.shape[0] >= centred.shape[1]:
        values, vectors = symmetric_eigen(centred.T @ centred)
        components = centred @ vectors[:, ::-1][:, :latent]
    else:
        values, vectors = symmetric_eigen(centred @ centred.T)
        components = vectors[:, ::-1][:, :latent]
    spread = components.std(axis=0)
    # A component without variance is rounding error and must not be scaled up.
    varies = spread > _NO_VARIANCE * spread.max(initial=0)
    X = np.where(varies, components, 0) / np.where(varies, spread, 1.0)
    signs = np.sign(X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])])  # else they depend on the library
    share = np.maximum(values[::-1][:latent], 0)
    return X * np.where(signs == 0, 1, signs), share / max(float(share.sum()), 1e-300)


def _place_of_new(Y: Floats, observed: Flags, row: int, start: GPLVM) -> Floats:
    """(Q,) the mean position of the five known configurations with the most similar scores."""
    common = observed[: len(start.X)] & observed[row]
    counts = common.sum(axis=1)
    apart = np.where(common, (np.nan_to_num(Y[: len(start.X)]) - np.nan_to_num(Y[row])) ** 2, 0).sum(axis=1)
    distance = np.where(counts > 0, apart / np.maximum(counts, 1), np.inf)
    nearest = np.argsort(distance, kind="stable")[:5]
    mean: Floats = start.X[nearest].mean(axis=0)
    return mean


def _inducing(X: Floats, seed: int) -> Floats | None:
    """(M, Q) a sample of the positions; None = exact training."""
    if len(X) <= EXACT:
        return None
    chosen: Floats = X[np.random.default_rng(seed).permutation(len(X))[:INDUCING]]
    return chosen
