"""Simulated searches on datasets with known runs: tasks, methods, peers, curves."""
