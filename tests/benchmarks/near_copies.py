"""Which near copies of real tables are recognized, of eight kinds of change, and false alarms among all.

Thresholds were chosen by one half of the tables (`--half choosing`), figures are of the other. Tables of one
family, twins, and the pairs of `--related` are no false alarms.

    python -m tests.benchmarks.near_copies ../shared/data/tables ../shared/data/regression-tables --most 40
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.near_copies import Sketch, near_copies, sketch
from metalearners.judging.folds import half_of
from warehouse.support.errors import BadInput

TARGET = "target of the copy"
DIGITS = 3


def framed(dataset: Dataset) -> pd.DataFrame:
    """The dataset as one frame, the target last."""
    return pd.concat([dataset.features, dataset.target.rename(TARGET)], axis=1)


def another_target(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows, whose first column is the target, without what was the target."""
    return frame.iloc[:, :-1].rename(columns={frame.columns[0]: TARGET})


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers at `DIGITS` significant digits."""
    numbers = frame.select_dtypes("number").columns
    return frame.assign(
        **{name: frame[name].map(lambda value: float(f"{value:.{DIGITS}g}")) for name in numbers}
    )


CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "less a row": lambda frame: frame.iloc[1:],
    "a third of the rows twice": lambda frame: pd.concat([frame, frame.sample(frac=1 / 3, random_state=1)]),
    "a half of the rows": lambda frame: frame.sample(frac=0.5, random_state=1),
    "columns in another order": lambda frame: frame.iloc[:, ::-1],
    "other names": lambda frame: frame.set_axis(
        [*(f"v{place}" for place in range(frame.shape[1] - 1)), TARGET], axis=1
    ),
    "one column less": lambda frame: frame.drop(columns=frame.columns[0]),
    "another target": another_target,
    f"{DIGITS} significant digits": rounded,
}


def copied(dataset: Dataset, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Dataset | None:
    """The changed dataset, read anew; None where nothing can be learned from it."""
    try:
        frame = change(framed(dataset)).reset_index(drop=True)
        return load_dataset(frame, target=TARGET)
    except BadInput:
        return None


def families(folders: list[Path]) -> dict[str, set[str]]:
    """Name of a table -> names that stand for its family, and its twins."""
    known: dict[str, set[str]] = defaultdict(set)
    listed = pd.read_csv(Path(__file__).parents[2] / "ingest/plans/families.csv", dtype=str)
    for name, family in zip(listed["name"], listed["family"], strict=True):
        known[name] |= {name, family}
    for folder in folders:
        index = pd.read_csv(folder / "index.csv", dtype=str)
        for column in {"family", "classification_twin"} & {*index.columns}:
            for name, words in zip(index["name"], index[column].fillna(""), strict=True):
                known[name] |= {*words.split()}
    return known


def main() -> None:
    """Print the share of recognized copies by kind of change, false alarms, and times."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="+", type=Path)
    options.add_argument("--half", choices=("choosing", "reporting"), default="reporting")
    options.add_argument("--most", type=int, default=40, help="tables whose copies are made")
    options.add_argument("--most-rows", type=int, default=20_000, help="of a table whose copies are made")
    options.add_argument("--related", nargs="*", default=[], help="pairs of names, a,b, that are relatives")
    given = options.parse_args()
    datasets: dict[str, Dataset] = {}
    for folder in given.folders:
        for file in find_datasets(folder):
            try:
                dataset = load_dataset(file.path, target=file.target, rare_classes="drop")
                datasets[f"{folder.name}/{dataset.name}"] = dataset
            except BadInput as error:
                print(f"passed over: {error}")
    sketches: dict[str, Sketch] = {name: sketch(dataset) for name, dataset in datasets.items()}
    known = families(given.folders)
    pairs = {frozenset(pair.split(",")) for pair in given.related}
    alarms, seconds = [], []
    for name, dataset in datasets.items():
        began = time.process_time()
        found = near_copies(dataset, sketches)
        seconds.append(time.process_time() - began)
        for other in found.keys() - {name}:
            a, b = Path(name).name, Path(other).name
            if not ((known[a] | {a}) & (known[b] | {b}) or {a, b} in pairs):
                alarms.append(f"{name} - {other} ({found[other]})")
    print(f"{len(datasets)} tables; false alarms: {len(alarms)}", *alarms, sep="\n")
    print(
        f"median of a table's processor time: {np.median(seconds) * 1000:.0f} ms, most {max(seconds):.2f} s"
    )
    of_half = [
        name
        for name, dataset in datasets.items()
        if half_of(Path(name).name) == given.half and len(dataset.features) <= given.most_rows
    ]
    chosen = np.random.default_rng(0).permutation(of_half)[: given.most]
    for change, changed in CHANGES.items():
        copies = {str(name): copied(datasets[str(name)], changed) for name in chosen}
        made = {name: copy for name, copy in copies.items() if copy is not None}
        missed = [name for name, copy in made.items() if not near_copies(copy, {name: sketches[name]})]
        print(f"{change}: {1 - len(missed) / len(made):.1%} of {len(made)}", *missed)


if __name__ == "__main__":
    main()
