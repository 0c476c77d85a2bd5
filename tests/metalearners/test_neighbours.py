"""Learners that look runs up: the contract, and known answers."""

import pytest

from metalearners import new_learner as make
from tests.contracts.meta_learner import MetaLearnerContract, NewLearner


class TestNearestDataset(MetaLearnerContract):
    @pytest.fixture
    def new_learner(self) -> NewLearner:
        return lambda: make("knn", {"metafeatures": ["NumberOfClasses"], "datasets": 3})


class TestNearestDatasetLightGBM(MetaLearnerContract):
    @pytest.fixture
    def new_learner(self) -> NewLearner:
        return lambda: make("knn-lightgbm", {"metafeatures": ["NumberOfClasses"], "datasets": 3})
