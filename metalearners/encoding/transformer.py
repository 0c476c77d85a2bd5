"""The hyperparameter encoding as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metalearners.encoding.hyperparameters import HyperparameterEncoding, Objects, learn_encoding
from metalearners.encoding.imputation import DatasetSize
from metalearners.encoding.values import frame_of_options
from warehouse.support.errors import BadOption, UnknownName, UnreadableInput
from warehouse.support.files import write_text

Configurations = pd.DataFrame | Iterable[Mapping[str, Any]]
ParameterSpace = Mapping[str, Any]


class HyperparameterTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encodes configurations as a numeric matrix, for use in a scikit-learn pipeline.

    Takes a frame with a column per hyperparameter, or the configurations as mappings. A frame with a value
    None must have dtype object: in other columns pandas stores NaN, which means that the configuration lacks
    the parameter.

    >>> transformer = HyperparameterTransformer(n_features=120)
    >>> transformer.fit_transform([{"max_features": "sqrt"}, {"max_features": 3}])
       max_features_num  max_features_nom_null  max_features_nom_sqrt
    0          0.091287                    0.0                    1.0
    1          0.025000                    1.0                    0.0
    """

    def __init__(
        self,
        *,
        one_hot: bool = True,
        objects: Objects = "drop",
        n_rows: float | str | None = None,
        n_features: float | str | None = None,
    ) -> None:
        """Settings.

        Args:
            one_hot: a column for each category, else one column of codes for each nominal parameter.
            objects: "drop" or "nominal", for parameters whose values are arrays, mappings or instances.
            n_rows: rows of the configurations' dataset: a number, the name of a column of X with a number for
                each configuration, or None = unknown.
            n_features: the same for the dataset's features, without its target.
        """
        self.one_hot = one_hot
        self.objects = objects
        self.n_rows = n_rows
        self.n_features = n_features

    def fit(self, X: Configurations | ParameterSpace, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's)
        """Learn types and categories.

        Args:
            X: configurations, (n, parameters), or the space that they are drawn from (thesis, section 3.1.2):
                parameter -> list of values or distribution, as for scikit-learn's `ParameterSampler`.
        """
        configurations, size = self._configurations_and_size(
            frame_of_options(X) if isinstance(X, Mapping) else X
        )
        self.encoding_ = learn_encoding(configurations, size, one_hot=self.one_hot, objects=self.objects)
        return self

    def transform(self, X: Configurations) -> pd.DataFrame:
        """The configurations `X` as numbers, (n, columns)."""
        check_is_fitted(self)
        return self.encoding_.transform(*self._configurations_and_size(X))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:  # noqa: ARG002
        """Names of the columns that `transform` returns."""
        check_is_fitted(self)
        return np.array(self.encoding_.columns, dtype=object)

    def save(self, path: str | Path) -> None:
        """Write the learned encoding as JSON, without the settings `n_rows` and `n_features`.

        Raises:
            Unwritable: the file can't be written.
        """
        check_is_fitted(self)
        write_text(path, self.encoding_.to_json() + "\n")

    @classmethod
    def load(
        cls, path: str | Path, *, n_rows: float | str | None = None, n_features: float | str | None = None
    ) -> Self:
        """A fitted transformer from a file written by `save`.

        Raises:
            BadInput: there is no such file, or it is not an encoding.
        """
        try:
            encoding = HyperparameterEncoding.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableInput(f"{path} can't be read: {error}") from error
        transformer = cls(one_hot=encoding.one_hot, n_rows=n_rows, n_features=n_features)
        transformer.encoding_ = encoding
        return transformer

    def _configurations_and_size(self, X: Configurations) -> tuple[pd.DataFrame, DatasetSize]:
        frame = X if isinstance(X, pd.DataFrame) else _as_frame(X)
        columns = [column for column in (self.n_rows, self.n_features) if isinstance(column, str)]
        missing = [column for column in columns if column not in frame]
        if missing:
            raise UnknownName(f"X has no column {missing[0]!r}, which should hold a size of the dataset")
        rows, features = (_numbers(stated, frame) for stated in (self.n_rows, self.n_features))
        return frame.drop(columns=columns), DatasetSize(rows, features)


def _numbers(stated: float | str | None, frame: pd.DataFrame) -> float | np.ndarray:
    """A size of the dataset, one for all rows or one per row; NaN if not stated."""
    if isinstance(stated, str):
        return frame[stated].to_numpy(np.float64)
    return np.nan if stated is None else stated


def _as_frame(X: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    rows = list(X)
    if not all(isinstance(row, Mapping) for row in rows):
        raise BadOption(
            "X must be a data frame or a list of configurations, each a mapping from parameter to value"
        )
    return pd.DataFrame(rows, dtype=object)
