"""Encoded hyperparameters of training runs and of new configurations, on comparable scales.

Notation
    m, n, J   runs, configurations, columns of the encoding
    x         (n, J) encoded configurations, standardized; 0 for parameters of other algorithms
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding, learn_encoding
from metalearners.encoding.training_data import TrainingData, size_of
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable


def learn_encoding_of(data: TrainingData) -> HyperparameterEncoding:
    """A one-hot encoding learned from the hyperparameters of runs."""
    return learn_encoding(data.hyperparameters, data.sizes, one_hot=True, rows=data.configuration)


def encode_runs(encoding: HyperparameterEncoding, data: TrainingData) -> Floats:
    """(m, J) encoded hyperparameters of runs; NaN for parameters of other algorithms."""
    return encoding.matrix(data.hyperparameters, data.sizes, data.configuration)


def encode_configurations(
    encoding: HyperparameterEncoding, configurations: ConfigurationTable, metafeatures: pd.Series
) -> Floats:
    """(n, J) encoded `configurations` for the dataset with these meta-features."""
    return encoding.matrix(configurations.hyperparameters, size_of(metafeatures))


def centre_and_spread(encoded: Floats) -> tuple[Floats, Floats]:
    """(J,) mean and standard deviation of each column without its NaN; constant columns get 1."""
    spread = np.nanstd(encoded, axis=0)
    return np.nanmean(encoded, axis=0), np.where(spread > 0, spread, 1.0)


def standardized(encoded: Floats, centre: Floats, spread: Floats) -> Floats:
    """x of encoded configurations."""
    x = (encoded - centre) / spread
    return np.where(np.isnan(x), 0.0, x)
