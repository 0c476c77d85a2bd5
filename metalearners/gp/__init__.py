"""Gaussian processes: kernels, and what trials teach on top of a prior."""
