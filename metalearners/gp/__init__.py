"""Gaussian processes: kernels, and posteriors given trials."""
