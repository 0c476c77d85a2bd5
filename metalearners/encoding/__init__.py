"""From hyperparameters, sizes of datasets and values of measures to matrices."""
