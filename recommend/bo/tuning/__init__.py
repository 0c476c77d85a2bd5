"""Searching for the best model of a dataset, with trials on the data."""

from recommend.bo.tuning.progress import Progress
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.search import tune
from recommend.bo.tuning.settings import Budget, Search

__all__ = ["Budget", "Progress", "Search", "SearchResult", "tune"]
