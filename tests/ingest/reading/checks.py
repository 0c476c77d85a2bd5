"""Checks for tests of files and frames: refused in one line, or loaded as a sound dataset."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.metafeatures import compute_metafeatures
from ingest.reading.datasets import Dataset, load_dataset
from warehouse.support.errors import BadInput

HEADER = "a,b,class\n"
GOOD_ROWS = "1,2,x\n2,3,y\n3,4,x\n4,6,y\n"


def written(folder: Path, content: bytes | str) -> Path:
    """A file with this content whose suffix is .csv, whatever it is."""
    path = folder / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(source: Any, **options: Any) -> str:
    """The one line of `load_dataset`'s refusal."""
    with pytest.raises(BadInput) as error:
        load_dataset(source, **options)
    message = str(error.value)
    assert message
    assert message.isprintable(), "one line"
    assert len(message) < 500
    return message


def assert_sound(dataset: Dataset) -> None:
    """Check what later steps rely on."""
    assert not dataset.target.isna().any()
    assert dataset.target.value_counts().min() >= 2
    assert len(dataset.target) == len(dataset.features)
    assert list(dataset.roles) == list(dataset.features)
    for column, role in dataset.roles.items():
        if role == "numeric":
            assert not np.isinf(dataset.features[column].to_numpy(dtype=float)).any()
    assert len(dataset.content_hash) == 16
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compute_metafeatures(dataset)
