"""The scikit-learn transformer over the hyperparameter encoding."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from metalearners.encoding.transformer import HyperparameterTransformer
from warehouse.support.errors import BadInput, Failed

CONFIGURATIONS = [
    {"criterion": "gini", "max_features": "sqrt", "max_depth": None},
    {"criterion": "entropy", "max_features": 0.5, "max_depth": 3},
    {"criterion": "gini", "max_features": 10, "max_depth": 5},
]


@pytest.fixture
def fitted() -> HyperparameterTransformer:
    return HyperparameterTransformer(n_features=100).fit(CONFIGURATIONS)


def test_takes_frames_and_mappings_alike(fitted: HyperparameterTransformer) -> None:
    frame = pd.DataFrame(CONFIGURATIONS, dtype=object)
    pd.testing.assert_frame_equal(fitted.transform(CONFIGURATIONS), fitted.transform(frame))
    assert fitted.transform(frame)["max_features_num"].tolist() == [0.1, 0.5, 0.1]
    assert fitted.transform(frame)["max_depth_num"].tolist() == [20, 3, 5]


def test_names_of_the_output_are_those_of_its_columns(fitted: HyperparameterTransformer) -> None:
    assert list(fitted.get_feature_names_out()) == list(fitted.transform(CONFIGURATIONS).columns)


def test_works_in_a_pipeline_with_pandas_output() -> None:
    pipeline = make_pipeline(HyperparameterTransformer(n_features=100), LinearRegression())
    pipeline.set_output(transform="pandas")
    assert pipeline.fit(CONFIGURATIONS, [1.0, 2.0, 3.0]).predict(CONFIGURATIONS).shape == (3,)


def test_a_clone_has_the_settings_and_is_not_fitted(fitted: HyperparameterTransformer) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(CONFIGURATIONS)


def test_sizes_can_stand_in_columns() -> None:
    frame = pd.DataFrame(
        {"max_features": ["sqrt", "sqrt", 0.5], "features": [4, 100, 4], "rows": [10, 10, 10]}, dtype=object
    )
    transformer = HyperparameterTransformer(n_rows="rows", n_features="features").fit(frame)
    assert transformer.transform(frame)["max_features_num"].tolist() == [0.5, 0.1, 0.5]
    with pytest.raises(BadInput, match="no column 'rows'"):
        transformer.transform(frame.drop(columns="rows"))


def test_a_saved_transformer_gives_the_same_matrix(fitted: HyperparameterTransformer, tmp_path: Path) -> None:
    fitted.save(tmp_path / "encoding.json")
    loaded = HyperparameterTransformer.load(tmp_path / "encoding.json", n_features=100)
    pd.testing.assert_frame_equal(loaded.transform(CONFIGURATIONS), fitted.transform(CONFIGURATIONS))


def test_files_that_cannot_be_used_are_refused(fitted: HyperparameterTransformer, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="can't be read"):
        HyperparameterTransformer.load(tmp_path / "nowhere.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="can't be read"):
        HyperparameterTransformer.load(tmp_path / "binary.json")
    with pytest.raises(Failed, match="can't be written"):
        fitted.save(tmp_path / "no folder" / "encoding.json")


def test_refuses_what_is_no_configuration() -> None:
    with pytest.raises(BadInput, match="data frame or a list of configurations"):
        HyperparameterTransformer().fit(np.zeros((2, 2)))
