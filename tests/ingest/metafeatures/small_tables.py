"""Small tables for several test modules, and their meta-features."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from ingest.metafeatures import Metafeatures, compute_metafeatures
from ingest.metafeatures.prepared import Prepared, RowSample
from ingest.reading.datasets import Dataset, load_dataset
from warehouse.vocabulary.qualities import names_in

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
        "size": [3, 1, 4, 1, 5, 9, 2, 6],
        "colour": ["r", "g", "b", "r", None, "g", "b", "r"],
        "flag": ["yes", "no", "yes", None, None, "no", "yes", "no"],
        "class": list("aaabbbaa"),
    }
)


def computed(dataset: Dataset | pd.DataFrame, selection: str | None = None) -> Metafeatures:
    """Meta-features of a dataset or a frame; warnings are errors."""
    loaded = load_dataset(dataset) if isinstance(dataset, pd.DataFrame) else dataset
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compute_metafeatures(loaded, selection and names_in(selection))


def numeric_dataset(features: pd.DataFrame, target: Sequence[float] | np.ndarray) -> Dataset:
    """A dataset with a numeric target."""
    classes = load_dataset(features.assign(**{"class": np.resize(["a", "b"], len(target))}))
    return replace(classes, target=pd.Series(np.asarray(target, dtype=float), name="class"))


def sample_of(frame: pd.DataFrame) -> RowSample:
    return Prepared(load_dataset(frame)).sample


def sample_from(
    y: np.ndarray, *, numbers: np.ndarray | None = None, categories: np.ndarray | None = None
) -> RowSample:
    """A sample of these rows in this order; one-dimensional columns are single attributes."""
    rows = len(y)
    return RowSample(
        numbers=np.empty((rows, 0)) if numbers is None else numbers.reshape(rows, -1),
        categories=np.empty((rows, 0), dtype=int) if categories is None else categories.reshape(rows, -1),
        y=y,
        n_classes=int(y.max()) + 1,
        note=None,
    )


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(4, 25))
    numbers = st.lists(st.none() | st.integers(-5, 5), min_size=rows, max_size=rows)
    words = st.lists(st.none() | st.sampled_from(["r", "g", "b"]), min_size=rows, max_size=rows)
    columns = draw(st.lists(numbers | words, min_size=1, max_size=4))
    frame = pd.DataFrame(
        {f"c{index}": pd.Series(values, dtype=object) for index, values in enumerate(columns)}
    )
    classes = draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=rows - 4, max_size=rows - 4))
    return frame.assign(**{"class": ["p", "p", "q", "q", *classes]})
