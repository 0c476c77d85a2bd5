"""What it costs to factorize a matrix of the paper's size, and to choose the next configuration with it.

    python -m tests.benchmarks.factorization_cost [--rows 42000] [--device cuda]

A matrix of 42,000 configurations and 464 datasets is drawn from a model with 20 latent dimensions; a fifth
of it is missing. Printed are the error on missing entries against time, the moment from which it stays
within 2 % of its lowest, the peak of memory, and the time of a decision over all configurations after 200
trials.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from metalearners.learners.factorization import gplvm
from metalearners.learners.factorization.latent_kernel import LatentKernel
from recommend.bo.acquisition import expected_improvement
from recommend.bo.simulation.factorization import LatentSearch, posterior

LATENT, NOISE, MISSING = 20, 0.3, 0.2
FEATURES = 4096
CHECKED = 40  # datasets whose missing entries are predicted


def drawn(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y with gaps, Y without noise, and the true positions. Random features stand for the exact kernel."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, LATENT)).astype(np.float32)
    gamma = 0.1 * np.exp(-np.arange(LATENT) / 6)
    frequency = (random.normal(size=(LATENT, FEATURES)) * np.sqrt(gamma)[:, None]).astype(np.float32)
    phi = np.sqrt(2 / FEATURES) * np.cos(
        X @ frequency + random.uniform(0, 2 * np.pi, FEATURES).astype(np.float32)
    )
    truth = (phi @ random.normal(size=(FEATURES, columns)).astype(np.float32)).astype(np.float64)
    Y = truth + NOISE * random.normal(size=truth.shape)
    Y[random.random(Y.shape) < MISSING] = np.nan
    return Y, truth, X


def main() -> None:
    """Run it and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=42_000)
    parser.add_argument("--columns", type=int, default=464)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--inducing", type=int, default=None)
    parser.add_argument("--rate", type=float, default=None)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    Y, truth, _ = drawn(options.rows, options.columns)
    spread = truth.std()
    begun, checking = time.perf_counter(), 0.0
    curve: list[tuple[float, float]] = []

    def check(epoch: gplvm.Epoch) -> None:
        nonlocal checking
        start = time.perf_counter()
        now = epoch.model()
        some = np.linspace(0, options.columns - 1, min(CHECKED, options.columns)).astype(int)
        part = Y[:, some]
        missed = (gplvm.complete(now, part) - truth[:, some])[np.isnan(part)]
        error = float(np.sqrt((missed**2).mean() + NOISE**2))
        seconds = start - begun - checking
        curve.append((seconds, error))
        checking += time.perf_counter() - start
        print(
            f"epoch {epoch.done:3d}  {seconds:6.1f} s  held-out error {error:.4f}"
            f"  sigma {now.kernel.sigma2**0.5:.3f}  loss {epoch.loss:.4f}",
            flush=True,
        )

    extra = {} if options.rate is None else {"rate": options.rate}
    model = gplvm.train(
        Y, epochs=options.epochs, inducing=options.inducing, device=options.device, report=check, **extra
    )
    lowest = min(error for _, error in curve)
    within = next(seconds for seconds, error in curve if error <= 1.02 * lowest)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"noise {NOISE}, spread {spread:.3f}; lowest error {lowest:.4f}, {lowest / NOISE:.3f} x the noise")
    print(f"within 2 % of it after {within:.0f} s; all {options.epochs} epochs {curve[-1][0]:.0f} s")
    print(f"peak of memory {peak:.2f} GiB")
    _decisions(model.kernel, model.X)


def _decisions(kernel: LatentKernel, X: np.ndarray) -> None:
    random = np.random.default_rng(1)
    tried = random.permutation(len(X))[:201]
    y = random.normal(size=201)
    search = LatentSearch(kernel, X)
    for position, value in zip(tried[:200], y[:200], strict=True):
        search.observe(int(position), float(value))
    mask = np.zeros(len(X), dtype=bool)
    mask[tried] = True
    search.next(mask)  # SciPy is imported here
    start = time.perf_counter()
    search.observe(int(tried[200]), float(y[200]))
    search.next(mask)
    one = time.perf_counter() - start
    X32 = X.astype(np.float32)
    start = time.perf_counter()
    mean, variance = posterior(kernel, X32[tried[:200]], y[:200].astype(np.float32), X32)
    np.argmax(expected_improvement(mean, np.sqrt(variance), float(y.max())))
    anew = time.perf_counter() - start
    print(
        f"next of {len(X):,} after 200 trials: {1e3 * one:.1f} ms going on, {1e3 * anew:.0f} ms from nothing"
    )


if __name__ == "__main__":
    main()
