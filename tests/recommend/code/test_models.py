"""Models in files predict like Headstart's pipelines, without its packages."""

import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.tuning.artifacts import save_model
from recommend.code.models import plain_model
from tests.recommend.code.cases import BOOSTERS, CASES, configuration, task_of
from tests.recommend.code.conftest import Tables
from tests.recommend.code.scripts import (
    assert_same_predictions,
    our_predictions,
    run_scripts,
)

KEPT = [
    name
    for name in (
        *BOOSTERS,
        "lightgbm that stops early",
        "catboost of components",
        "random_forest",
        "mlp",
        "logistic regression of polynomial",
        "naive Bayes with target, most_frequent, quantile",
        "naive Bayes with indicators, mean, none",
        "svm with oversampling",
        "decision_tree_regressor",
        "svm_regressor of quantile_normal",
        "mlp_regressor of quantile_normal",
        "gaussian_process",
        "lightgbm with an absolute penalty",
        "xgboost_regressor of log1p",
        "catboost of absolute errors that stops early",
    )
    if name in CASES
]
"""A case for each kind of step in a file; `test_script` has all cases as code."""
LOAD = """
import sys
import pandas as pd
from skops.io import get_untrusted_types, load

for data, path in zip(sys.argv[1::2], sys.argv[2::2]):
    rows = pd.read_csv(data)
    trusted = get_untrusted_types(file=path)
    assert not [name for name in trusted if name.startswith(("ingest.", "recommend.", "warehouse."))]
    model = load(path, trusted=trusted)
    table = pd.DataFrame({"prediction": model.predict(rows)})
    if hasattr(model, "predict_proba"):
        table[[f"probability of {label}" for label in model.classes_]] = model.predict_proba(rows)
    table.to_csv(path.replace(".skops", ".csv"), index=False)
"""


@pytest.fixture(scope="module")
def loaded(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of predictions by models in files, and the error output."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "load.py").write_text(LOAD, encoding="utf-8")
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for place, name in enumerate(KEPT):
            model = plain_model(configuration(name), None, tables[task_of(name)][1], seed=0)
            save_model(model, folder / f"{place}.skops")
    models = [(tables[task_of(name)][0], f"{place}.skops") for place, name in enumerate(KEPT)]
    return folder, run_scripts([("load.py", *chain(*models))], folder)[1]


@pytest.mark.parametrize("name", KEPT)
def test_a_model_in_a_file_predicts_like_headstarts_pipeline(
    name: str, tables: Tables, loaded: tuple[Path, str]
) -> None:
    folder, complaints = loaded
    predicted = folder / f"{KEPT.index(name)}.csv"
    assert predicted.is_file(), complaints
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        expected = our_predictions(*CASES[name], tables[task_of(name)][1])
    assert_same_predictions(predicted, expected)


def test_a_model_accepts_the_frame_of_the_dataset() -> None:
    """Dates are words of one format, datetimes or Python's; whole numbers with gaps are categories."""
    random = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 500, 90), unit="D")
    frame = pd.DataFrame(
        {
            "x": random.normal(size=90),
            "day": days.strftime("%d.%m.%Y"),
            "moment": days.tz_localize("Europe/Oslo"),
            "python": days.date,
            "forever": np.where(random.random(90) > 0.5, "9999-12-31", "2024-05-01"),
            "code": random.choice([1, 2, 3, None], 90).astype(float),
            "class": random.choice(["yes", "no"], 90),
        }
    )
    frame.loc[::8, ["day", "moment", "python"]] = None
    dataset = load_dataset(frame, target="class", roles={"code": "categorical"})
    rows = frame.drop(columns="class")
    for name in ("lightgbm", "naive Bayes with indicators, flagged, minmax"):
        model = plain_model(configuration(name), None, dataset, seed=0)
        np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(dataset.features))
        odd = rows.astype({"x": object})
        odd.loc[0, ["x", "day"]] = ["n/k", "soon"]
        gaps = rows.copy()
        gaps.loc[0, ["x", "day"]] = None
        np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(gaps))


def test_a_missing_column_is_named(dataset: Dataset) -> None:
    model = plain_model(configuration("decision_tree"), None, dataset, seed=0)
    with pytest.raises(ValueError, match="since"):
        model.predict(dataset.features.drop(columns="since"))
