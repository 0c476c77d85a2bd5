"""Published methods that the default search does not use, imported by name only.

strategies   bandits over algorithms, tree search (MOSAIC), successive halving, Hyperband, BOHB
surrogates   quantile boosting, Hyperboost, random forests, a Gaussian process
transfer     ensembles of Gaussian processes of other datasets
"""
