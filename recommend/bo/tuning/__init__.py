"""Searching for the best configuration on a dataset, with trials on the data."""

from recommend.bo.tuning.loop import Progress
from recommend.bo.tuning.result import Tuned
from recommend.bo.tuning.search import tune
from recommend.bo.tuning.specification import Budget, Finish, Search

__all__ = ["Budget", "Finish", "Progress", "Search", "Tuned", "tune"]
