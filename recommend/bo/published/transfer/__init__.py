"""Transfer surrogates: ensembles of Gaussian processes of other datasets (Manolache's thesis).

    prior_tasks          the runs of other datasets, and a process of each dataset and algorithm
    gaussian_processes   many processes at once
    weights              the weight of each
    ensemble             the surrogates

In the thesis's Algorithm 2, step 1 is `prior_tasks`, steps 2 and 3 are `ensemble`, with one ensemble for each
algorithm; step 4 uses each in turn, which is a strategy here (`recommend.bo.strategies`).
"""
