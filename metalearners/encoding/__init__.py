"""Matrices of hyperparameters, sizes of datasets and values of measures."""
