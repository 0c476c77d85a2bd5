"""Comparisons of ways to search, on datasets whose runs are known: tasks, methods, peers, curves."""
