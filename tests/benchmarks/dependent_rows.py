"""Real tables whose rows seem to follow each other or belong together, and what random splits promise there.

    python -m tests.benchmarks.dependent_rows FOLDER [--names NAME ...]

FOLDER holds tables, and an index.csv with their names and targets. Prints for each table that `recommend`
says to split by a column: why, and the accuracy of LightGBM's default on a third of the rows that is drawn at
random, and on as many that the column keeps apart (later ones, or other groups), in both cases without the
column if it is a group. At the end: how many of the tables were pointed out, and what looking took.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.cross_validation import evaluate_splits
from ingest.running.resampling import Resampling
from ingest.running.splitting import splits_of
from recommend.dependence import signs_of_dependence
from tests.benchmarks.what_wins import markdown
from warehouse.measures import ACCURACY
from warehouse.support.errors import BadInput


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="*", help="of tables to look at; default: all")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found, took, tables = [], [], 0
    for file in find_datasets(options.folder):
        if options.names and Path(file.path).stem not in options.names:
            continue
        data = load_dataset(file.path, target=file.target, rare_classes="drop")
        if not data.n_classes:
            continue
        tables += 1
        began = time.perf_counter()
        signs = list(signs_of_dependence(data))
        took.append(time.perf_counter() - began)
        for sign in signs:
            split = data.split_by(sign.split)
            random = accuracy(replace(split, split=None))
            found.append((data.name, str(sign.split), sign.seen, random, accuracy(split)))
    print(markdown(pd.DataFrame(found, columns=["table", "split", "seen", "random", "by column"])))
    print(
        f"{len({row[0] for row in found})} of {tables} tables; looking took {1000 * np.median(took):.1f} ms",
        end="",
    )
    print(f" (median), {1000 * max(took):.0f} ms at most")


def accuracy(data: Dataset) -> str:
    """Of LightGBM's default on a third of the rows; the reason where rows can't be split."""
    try:
        splits = splits_of(data, Resampling(1, by=data.split and data.split.kind), seed=0)
    except BadInput as error:
        return str(error)
    return f"{evaluate_splits('lightgbm', get_flow('lightgbm').default(), data, splits)[ACCURACY]:.3f}"


if __name__ == "__main__":
    main()
