"""Preprocessing hyperparameters: the default is the flow's own pipeline, and all values can be fitted."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ingest.flows import flows_of, get_flow, with_preprocessing
from ingest.flows.balancing import balanced_rows
from ingest.flows.pipelines import UNFIT
from ingest.keys import setup_of
from ingest.reading.datasets import Dataset, load_dataset
from recommend.space import Space
from tests.cases import each
from tests.ingest.flows.small_data import where_installed
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION


def mixed_frame(rows: int = 60) -> pd.DataFrame:
    """Every kind of column that a pipeline supports, each with missing values."""
    rng = np.random.default_rng(0)
    label = np.tile(["no", "yes"], rows // 2)
    frame = pd.DataFrame(
        {
            "amount": rng.normal(size=rows) + (label == "yes"),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "member": rng.choice([True, False], rows),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, rows), unit="D"),
            "remark": [f"customer {i} wrote a rather long remark about parcel {i * 7}" for i in range(rows)],
            "same": 1,
            "label": label,
        }
    ).astype({"member": "object"})
    frame.loc[::7, ["amount", "colour", "member", "since", "remark"]] = None
    return frame


@cache
def mixed_dataset() -> Dataset:
    return load_dataset(mixed_frame(), target="label")


@each("name", where_installed(flows_of(CLASSIFICATION)))
def test_default_of_the_wide_flow_is_that_of_the_narrow_one_with_the_same_setup(name: str) -> None:
    narrow, wide = get_flow(name), with_preprocessing(get_flow(name))
    assert wide.default() == narrow.default()
    space = Space([wide])
    (decoded,) = space.decoded(space.vector(Configuration(name, narrow.default()))[np.newaxis])
    assert setup_of(decoded) == setup_of(Configuration(name, narrow.default()))


@each("name", where_installed(flows_of(CLASSIFICATION)))
def test_default_builds_the_same_steps(name: str) -> None:
    dataset = mixed_dataset()
    pipelines = [
        flow.pipeline({}, dataset.roles) for flow in (get_flow(name), with_preprocessing(get_flow(name)))
    ]
    assert list(pipelines[0].named_steps) == ["preprocessing", "classifier"]
    assert repr(pipelines[0]) == repr(pipelines[1])


@each("name", ["decision_tree", "lightgbm", "logistic_regression", "naive_bayes"])
def test_random_configurations_fit_every_kind_of_column(name: str) -> None:
    dataset = mixed_dataset()
    flow = get_flow(name)
    space = Space([with_preprocessing(flow)], joint=False)
    for configuration in space.decoded(space.sample(5, np.random.default_rng(0))):
        assert configuration.values.get("preprocessor") not in UNFIT.get(name, ())
        pipeline = flow.pipeline(configuration.values, dataset.roles)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipeline.fit(dataset.features, dataset.target)
            assert set(pipeline.predict(dataset.features)) <= {"no", "yes"}


def test_balanced_classes_are_not_weighted_again() -> None:
    space = Space([with_preprocessing(get_flow("sgd"))], joint=False)
    for configuration in space.decoded(space.sample(200, np.random.default_rng(0))):
        if configuration.values["class_weight"] == "balanced":
            assert "balancing" not in configuration.values


def test_oversampling_repeats_the_rare_and_undersampling_leaves_out_the_common() -> None:
    labels = np.array(["a"] * 100 + ["b"] * 30)
    over = labels[balanced_rows(labels, "oversampling", 0)]
    under = labels[balanced_rows(labels, "undersampling", 0)]
    assert [(over == name).sum() for name in "ab"] == [100, 100]
    assert [(under == name).sum() for name in "ab"] == [30, 30]
