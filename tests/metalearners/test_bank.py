"""The bank of denoised functions: the contract, and what is special to it."""

import pytest

from metalearners.bank import BankLearner
from tests.contracts.meta_learner import MetaLearnerContract, NewLearner


class TestBank(MetaLearnerContract):
    @pytest.fixture
    def new_learner(self) -> NewLearner:
        return BankLearner
