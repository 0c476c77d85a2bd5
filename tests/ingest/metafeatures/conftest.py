"""A sample shared by several test modules."""

import numpy as np
import pandas as pd
import pytest

from ingest.metafeatures.prepared import RowSample
from tests.ingest.metafeatures.small_tables import sample_of


@pytest.fixture(scope="module")
def blobs() -> RowSample:
    """Three classes of 50 rows, four numbers, no ties."""
    random = np.random.default_rng(0)
    label = np.repeat(np.arange(3), 50)
    X = random.normal(size=(150, 4)) + label[:, None] * np.array([1.5, 0.5, 0, -1])
    return sample_of(pd.DataFrame(X).add_prefix("x").assign(**{"class": [f"c{i}" for i in label]}))
