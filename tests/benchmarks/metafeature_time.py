"""Processor time of meta-features for numeric targets, and for the same targets cut at the median.

python -m tests.benchmarks.metafeature_time FOLDER NAME [NAME ...]

FOLDER holds `index.csv` (columns name, target) and a Parquet file per name. Times are the lower of two, on
one thread, without reading the file or importing scikit-learn.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.metafeatures import compute_metafeatures, importing_ahead
from ingest.reading.datasets import Dataset, load_dataset


def seconds(dataset: Dataset) -> float:
    """Processor time of all meta-features of the dataset's task type."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        compute_metafeatures(dataset)
        taken.append(time.process_time() - start)
    return min(taken)


def main(folder: str, names: Sequence[str]) -> None:
    """Print a line per dataset."""
    targets = pd.read_csv(Path(folder, "index.csv")).set_index("name")["target"]
    with importing_ahead():
        pass
    print(f"{'dataset':<30} {'rows':>9} {'columns':>8} {'numeric':>9} {'classes':>9}")
    for name in names:
        dataset = load_dataset(str(Path(folder, f"{name}.parquet")), target=targets[name])
        halves = np.where(dataset.target > dataset.target.median(), "above", "below")
        classes = replace(dataset, target=pd.Series(halves, name=dataset.target.name).astype("category"))
        rows, columns = dataset.features.shape
        both = f"{seconds(dataset):7.2f} s {seconds(classes):7.2f} s"
        print(f"{name:<30} {rows:>9,} {columns:>8} {both}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
