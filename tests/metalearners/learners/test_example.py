"""The meta-learner that the tutorial adds keeps the contract."""

import sys
from types import ModuleType

import pytest

from tests.contracts.meta_learner import MetaLearnerContract, NewLearner
from tests.project.blocks import blocks
from tests.project.documents import ROOT

TUTORIAL = ROOT / "docs" / "pages" / "tutorials" / "add-a-meta-learner.md"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that the tutorial begins with."""
    code = next(block.text for block in blocks(TUTORIAL) if block.language == "python")
    module = ModuleType("tutorial_ridge")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    exec(compile(code, str(TUTORIAL), "exec"), vars(module))
    return module


class TestExample(MetaLearnerContract):
    @pytest.fixture
    def new_learner(self, example: ModuleType) -> NewLearner:
        learner: NewLearner = example.RidgeLearner
        return learner
