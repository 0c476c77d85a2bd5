"""Seconds to fit 50 base models of 50 points each, against scikit-learn's processes one after the other.

python -m tests.benchmarks.base_models [--models 50] [--points 50] [--columns 6]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from recommend.bo.transfer.processes import Processes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--columns", type=int, default=6)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    x = random.standard_normal((options.models, options.points, options.columns))
    y = np.sin(x.sum(axis=2)) + 0.1 * random.standard_normal(x.shape[:2])
    begun = time.perf_counter()
    Processes.fitted(x, y, np.ones(y.shape, dtype=bool))
    ours = time.perf_counter() - begun
    warnings.simplefilter("ignore")
    begun = time.perf_counter()
    for points, values in zip(x, y, strict=True):
        kernel = ConstantKernel() * Matern(nu=2.5) + WhiteKernel()
        GaussianProcessRegressor(kernel, normalize_y=True).fit(points, values)
    theirs = time.perf_counter() - begun
    print(f"{ours:.2f} s; one after the other {theirs:.2f} s, {theirs / ours:.1f} times as long")


if __name__ == "__main__":
    main()
