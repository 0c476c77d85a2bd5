"""Tf-idf weights of a text column, even one without any term."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer

TEXT_TERMS = 100
"""Most terms of a text column; the most frequent are kept."""


class Terms(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Tf-idf weights of the most frequent terms; a column of zeros if no text has a term.

    Single letters, signs and emoji are not terms, so all training texts may lack one.
    """

    def fit(self, texts: Iterable[str], y: npt.ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Fit on (n,) texts."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: npt.ArrayLike | None = None) -> Any:  # noqa: ARG002
        """(n, terms) sparse weights of the (n,) texts that it is fitted on."""
        self.vectorizer_ = vectorizer(texts)
        return self.vectorizer_.fit_transform(texts)

    def transform(self, texts: Iterable[str]) -> Any:
        """(n, terms) sparse weights of (n,) texts."""
        return self.vectorizer_.transform(texts)


def count_terms(texts: Iterable[str]) -> int:
    """Number of columns that `Terms` makes of the texts."""
    analyze, found = TfidfVectorizer().build_analyzer(), set[str]()
    for text in texts:
        found.update(analyze(text))
        if len(found) >= TEXT_TERMS:
            return TEXT_TERMS
    return max(len(found), 1)


def vectorizer(texts: Iterable[str]) -> TfidfVectorizer:
    """The unfitted vectorizer for these texts."""
    found = TfidfVectorizer(max_features=TEXT_TERMS)
    if not any(map(found.build_analyzer(), texts)):
        found.set_params(vocabulary=[""])  # a term that no text can have
    return found
