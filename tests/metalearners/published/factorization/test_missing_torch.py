"""Training `pmf` without torch."""

import pytest

from metalearners.published.factorization import learner
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.support.errors import MissingPackage


def test_missing_torch_is_reported_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "find_spec", lambda _: None)
    monkeypatch.setattr(learner, "training_data", lambda *_: pytest.fail("began"))
    with pytest.raises(MissingPackage, match=r"training `pmf` needs torch: pip install '(torch|pmf)"):
        learner.FactorizationLearner().fit(toy_runs(), toy_metafeatures())
