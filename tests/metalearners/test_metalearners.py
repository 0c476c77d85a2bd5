"""Learners by name."""

import pytest

from metalearners import LEARNERS, new_learner
from metalearners.codec import encode
from tests.cases import each
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.support.errors import UnknownName


@each("name", LEARNERS)
def test_every_learner_is_restored_from_its_name_and_settings(name: str) -> None:
    learner = new_learner(name)
    assert f"{type(learner).__module__}:{type(learner).__name__}" == LEARNERS[name]
    assert new_learner(name, encode(learner)[0]) == learner


@each("name", [name for name in LEARNERS if name != "pmf"])  # its statements are functional PCA's
def test_every_learner_states_values_in_the_unit_of_the_measure_and_chances_of_gains(name: str) -> None:
    """Gini is better on datasets with few classes, and values are about 0.5 to 1.5."""
    runs, metafeatures = toy_runs(20), toy_metafeatures(20)
    quick = {"trees": 60} if name in ("lightgbm", "lightgbm-ranker") else {}
    model = new_learner(name, quick).fit(runs, metafeatures)
    first = runs.configurations.take(model.choose(runs.configurations, metafeatures.iloc[0], 1))
    last = runs.configurations.take(model.choose(runs.configurations, metafeatures.iloc[0], 20)[-1:])
    expected = model.expect(first.followed_by(last), metafeatures.iloc[0])
    assert expected is not None
    assert (expected.low < expected.value).all()
    assert (expected.value < expected.high).all()
    assert expected.value[0] > expected.value[1]
    (chance,) = model.beats(first, last, metafeatures.iloc[0])
    (opposite,) = model.beats(last, first, metafeatures.iloc[0])
    assert 0.5 < chance <= 1
    assert chance + opposite == pytest.approx(1)


@each("name", ["", "Functional-PCA", "lightgbm "])
def test_names_are_exact(name: str) -> None:
    with pytest.raises(UnknownName, match=r"unknown learner .*; known are functional-pca, lightgbm,"):
        new_learner(name)
