"""Published methods, imported only when named; the default search does not use them.

strategies   bandits over algorithms, tree search (MOSAIC), successive halving, Hyperband, BOHB
surrogates   quantile boosting, Hyperboost, random forests, a Gaussian process
transfer     ensembles of Gaussian processes of other datasets
"""
