"""The tutorial's meta-learner keeps the contract."""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.contracts.meta_learner import MetaLearnerContract, NewLearner
from tests.project.blocks import blocks
from tests.project.documents import ROOT

TUTORIAL = ROOT / "docs" / "pages" / "tutorials" / "add-a-meta-learner.md"


@pytest.fixture(scope="class")
def example() -> Iterator[ModuleType]:
    """The module at the beginning of the tutorial."""
    code = next(block.text for block in blocks(TUTORIAL) if block.language == "python")
    module = ModuleType("tutorial_ridge")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)  # dataclasses look up their module
        exec(compile(code, str(TUTORIAL), "exec"), vars(module))
        yield module


class TestExample(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls, example: ModuleType) -> NewLearner:
        learner: NewLearner = example.RidgeLearner
        return learner
