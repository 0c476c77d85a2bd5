"""The scikit-learn transformer over the hyperparameter encoding."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from metalearners.encoding.transformer import HyperparameterTransformer
from warehouse.support.errors import BadInput, Unwritable

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


def test_works_in_a_pipeline_with_pandas_output() -> None:
    pipeline = make_pipeline(HyperparameterTransformer(n_features=100), LinearRegression())
    pipeline.set_output(transform="pandas")
    assert pipeline.fit(CONFIGURATIONS, [1.0, 2.0, 3.0]).predict(CONFIGURATIONS).shape == (3,)


def test_a_clone_has_the_settings_and_is_not_fitted(fitted: HyperparameterTransformer) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(CONFIGURATIONS)


def test_sizes_can_be_columns() -> None:
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
    with pytest.raises(Unwritable, match="can't be written"):
        fitted.save(tmp_path / "no folder" / "encoding.json")


def test_refuses_invalid_configurations() -> None:
    with pytest.raises(BadInput, match="data frame or a list of configurations"):
        HyperparameterTransformer().fit(np.zeros((2, 2)))


def table_3_8() -> dict[str, Any]:
    """The parameter space of the thesis's example."""
    return {
        "n_estimators": [2**power for power in range(3, 10)],
        "criterion": ["gini", "entropy"],
        "max_features": [step / 20 for step in range(1, 11)],
        "max_depth": [8, 9, 10, 11, 12, None],
        "min_samples_split": range(2, 22),
        "min_samples_leaf": range(1, 22),
        "bootstrap": [True, False],
        "@preprocessor": [OneHotEncoder(), PCA(), None],
    }


def test_learns_from_the_parameter_space_of_table_3_8() -> None:
    transformer = HyperparameterTransformer(n_features=120, objects="nominal").fit(table_3_8())
    assert set(transformer.get_feature_names_out()) == {
        "n_estimators",
        "criterion_gini",
        "criterion_entropy",
        "max_features",
        "max_depth_num",
        "max_depth_nom_null",
        "max_depth_nom_None",
        "min_samples_split",
        "min_samples_leaf",
        "bootstrap",
        "@preprocessor_OneHotEncoder",
        "@preprocessor_PCA",
        "@preprocessor_None",
    }
    drawn = {**dict.fromkeys(table_3_8(), 5), "criterion": "gini", "max_depth": None, "bootstrap": False}
    encoded = transformer.transform([{**drawn, "@preprocessor": PCA()}]).iloc[0]
    assert encoded["max_depth_num"] == 20
    assert encoded[["criterion_gini", "criterion_entropy", "@preprocessor_PCA"]].tolist() == [1, 0, 1]
    assert encoded[["bootstrap", "max_depth_nom_None"]].tolist() == [0, 1]


def test_a_distribution_of_a_parameter_space_is_numerical() -> None:
    space = {"C": loguniform(1e-3, 1e3), "max_depth": [randint(1, 9), None], "kernel": ["rbf"]}
    transformer = HyperparameterTransformer().fit(space)
    assert list(transformer.get_feature_names_out()) == [
        "C",
        "max_depth_num",
        "max_depth_nom_None",
        "max_depth_nom_null",
    ]
    encoded = transformer.transform([{"C": 0.5, "max_depth": 3, "kernel": "rbf"}])
    assert encoded.iloc[0].tolist() == [0.5, 3, 0, 1]
