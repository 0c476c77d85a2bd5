"""Naive Bayes over folds equals scikit-learn's, or computations by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from ingest.metafeatures.bayes import NaiveBayes
from ingest.metafeatures.landmarkers import Fold, cross_validated
from ingest.metafeatures.prepared import RowSample
from tests.ingest.metafeatures.predictions import pooled, predicted
from tests.ingest.metafeatures.small_tables import sample_from, sample_of


def test_naive_bayes_of_numbers_equals_scikit_learns(blobs: RowSample) -> None:
    expected = predicted(blobs, GaussianNB(var_smoothing=0), blobs.numbers)
    assert pooled(blobs, Fold.naive_bayes) == pytest.approx(expected, abs=1e-9)


def test_naive_bayes_of_categories_equals_scikit_learns() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.choice(list("uvw"), (100, 3))).add_prefix("c")
    sample = sample_of(frame.assign(**{"class": ["a", "b"] * 50}))
    estimator = CategoricalNB(min_categories=3)
    expected = predicted(sample, estimator, sample.categories)
    assert pooled(sample, Fold.naive_bayes) == pytest.approx(expected, abs=1e-9)


def test_naive_bayes_learns_nothing_from_a_missing_cell() -> None:
    """A column that is empty in all but two rows does not change the predictions of other rows."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=40), "class": ["a", "b"] * 20})
    gaps = np.full(40, np.nan)
    gaps[:2] = [1.0, 2.0]
    with_gaps = sample_of(frame.assign(z=gaps))
    error = cross_validated(with_gaps, {"it": Fold.naive_bayes})["it"]["ErrRate"]
    plain = cross_validated(sample_of(frame), {"it": Fold.naive_bayes})["it"]["ErrRate"]
    assert abs(error - plain) <= 0.15  # folds change with the row's content


def test_a_row_without_values_has_the_shares_of_the_classes() -> None:
    """Fold 0 tests rows 0, 5 and 10, which are empty; 7 and 5 rows remain: (7 + 1) / (12 + 2) = 8 / 14."""
    x = np.random.default_rng(0).normal(size=15)
    x[::5] = np.nan
    bayes = NaiveBayes(sample_from(np.repeat([0, 1], [9, 6]), numbers=x))
    assert bayes.probabilities(0) == pytest.approx(np.tile([8 / 14, 6 / 14], (3, 1)))


def test_the_spread_of_a_class_of_equal_values_is_a_sixth_of_a_gap() -> None:
    """The only gap is 1, so a standard deviation is 1/6; the other class's mean is six of them away, so the
    log odds are 6^2 / 2.
    """
    y = np.repeat([0, 1], 10)
    probabilities = NaiveBayes(sample_from(y, numbers=y.astype(float))).probabilities(0)
    odds = np.log(probabilities[:, 0] / probabilities[:, 1])
    assert odds == pytest.approx([18, 18, -18, -18])


def test_a_class_that_has_no_values_is_neither_favoured_nor_ruled_out() -> None:
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    x = np.where(y == 0, random.normal(5, 2, 200), np.nan)
    bayes = NaiveBayes(sample_from(y, numbers=x))
    assert bayes.probabilities(0) == pytest.approx(0.5, abs=0.1)


def mixed() -> RowSample:
    """Attributes 0 to 2 are numbers, 3 to 5 categories, all with gaps. Classes have equal sizes."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    numbers = random.normal(size=(60, 3)) + y[:, None]
    numbers[random.random((60, 3)) < 0.1] = np.nan
    return sample_from(y, numbers=numbers, categories=random.integers(-1, 3, (60, 3)))


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(0, 5), min_size=1), st.integers(0, 4))
def test_a_prediction_from_some_attributes_equals_that_without_the_others(
    attributes: set[int], fold: int
) -> None:
    sample, chosen = mixed(), np.array(sorted(attributes))
    alone = sample_from(
        sample.y,
        numbers=sample.numbers[:, chosen[chosen < 3]],
        categories=sample.categories[:, chosen[chosen >= 3] - 3],
    )
    expected = NaiveBayes(alone).probabilities(fold)
    assert NaiveBayes(sample).probabilities(fold, chosen) == pytest.approx(expected)


def test_odds_by_several_attributes_are_products() -> None:
    """Classes have equal sizes, so the odds by all attributes are the product of the odds by each."""
    bayes = NaiveBayes(mixed())
    product = np.prod([bayes.probabilities(0, np.array([position])) for position in range(6)], axis=0)
    assert bayes.probabilities(0) == pytest.approx(product / product.sum(axis=1, keepdims=True))
