"""Priors given by hand."""

import numpy as np

from metalearners.gp.posterior import Prior


def prior(mean: list[float], factor: list[list[float]]) -> Prior:
    return Prior(np.array(mean, dtype=np.float64), np.array(factor, dtype=np.float64))
