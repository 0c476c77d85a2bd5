"""Probabilistic matrix factorization (Fusi, Sheth and Elibol 2018), with extensions."""
