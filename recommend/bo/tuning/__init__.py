"""Searching for the best configuration on a dataset, with trials on the data."""

from recommend.bo.tuning.loop import Progress
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.search import tune
from recommend.bo.tuning.settings import Budget, Finish, Search

__all__ = ["Budget", "Finish", "Progress", "Search", "SearchResult", "tune"]
