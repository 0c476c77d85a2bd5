"""Learners by name."""

import pytest

from metalearners import ALIASES, LEARNERS, canonical_learner, new_learner
from metalearners.codec import encode
from metalearners.learners.functional_pca import FunctionalPCALearner
from tests.cases import each
from warehouse.support.errors import BadInput, UnknownName


def test_an_unknown_learner_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown learner 'oracle'; known are functional-pca"):
        new_learner("oracle")
    with pytest.raises(BadInput, match="unknown setting 'colour'; known are trees"):
        new_learner("lightgbm", {"colour": "blue"})


@each("name", LEARNERS)
def test_every_name_leads_to_a_class_whose_settings_make_the_same_learner_again(name: str) -> None:
    learner = new_learner(name)
    assert f"{type(learner).__module__}:{type(learner).__name__}" == LEARNERS[name]
    assert new_learner(name, encode(learner)[0]) == learner


def test_a_name_of_an_earlier_version_still_leads_to_its_learner() -> None:
    assert canonical_learner("bank") == "functional-pca"
    assert isinstance(new_learner("bank"), FunctionalPCALearner)
    assert not set(ALIASES) & set(LEARNERS)


@each("name", ["", "Functional-PCA", "lightgbm "])
def test_names_are_exact(name: str) -> None:
    with pytest.raises(UnknownName, match=r"unknown learner .*; known are functional-pca, lightgbm,"):
        canonical_learner(name)
