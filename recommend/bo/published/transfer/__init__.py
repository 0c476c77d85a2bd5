"""Surrogates that transfer: Gaussian processes of other datasets vote on the new one (Manolache's thesis).

    prior_tasks          the runs of other datasets, and a process of each dataset and algorithm
    gaussian_processes   many of them at once
    weights              how much each of them counts
    ensemble             the surrogates

Of the thesis's Algorithm 2, step 1 is `prior_tasks`, steps 2 and 3 are `ensemble`, which has one ensemble for
each algorithm; step 4 asks each of them in turn, which is a strategy's matter (`recommend.bo.strategies`).
"""
