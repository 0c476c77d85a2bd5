"""Find the dataset files of a job, in a directory or an index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ingest.reading.target.classes import NumericTarget
from warehouse.support.errors import UnreadableInput
from warehouse.vocabulary.task_types import TaskName

DATASET_SUFFIXES = (".parquet", ".csv", ".tsv", ".arff")
"""Suffixes of dataset files, in order of preference if an index omits them."""


@dataclass(frozen=True)
class DatasetFile:
    """A dataset to run experiments on, before it is loaded."""

    path: Path | str
    """A file, or an address for `ingest.reading.datasets.load_dataset`; a plan's file names folders, or
    single datasets as `names`."""
    target: str | None = None
    """Column to predict, from an index; None = named by the source, or the most likely one."""
    numeric_target: NumericTarget = "keep"
    """Treatment of a numeric target: `binarize` splits it at its mean, `keep` leaves it as it is."""
    task: TaskName | None = None
    """Task type of a numeric target; None = the more likely one."""
    least_rows: int = 0
    """Datasets with fewer rows are left out."""
    domain: str | None = None
    """Domain of the data."""
    family: str | None = None
    """Datasets of one family are near copies, or come from one source."""


def find_datasets(source: str | Path) -> list[DatasetFile]:
    """The dataset files of a directory or of an index, the smallest first.

    An index is a CSV file with the columns `name` (of a file beside it; the suffix is optional) and `target`
    (may be empty). A directory with an `index.csv` is read through it; otherwise subdirectories are searched,
    too.

    Raises:
        BadInput: there is nothing to read, or the index or a link names a missing file.
    """
    source = Path(source)
    if source.is_dir():
        paths = sorted(path for path in source.rglob("*") if path.suffix.lower() in DATASET_SUFFIXES)
        dangling = next((path for path in paths if path.is_symlink() and not path.exists()), None)
        if dangling is not None:
            raise UnreadableInput(f"{dangling}: a link to a file that is not there")
        listed = find_datasets(source / "index.csv") if (source / "index.csv").is_file() else []
        known = {file.path for file in listed}
        others = [
            DatasetFile(path)
            for path in paths
            if path not in known and path.name != "index.csv" and path.is_file()
        ]
        files = listed + others
    elif source.is_file() and source.suffix.lower() == ".csv":
        files = _read_index(source)
    else:
        raise UnreadableInput(f"{source}: neither a directory of datasets nor an index.csv")
    if not files:
        raise UnreadableInput(f"{source}: no dataset files ({', '.join(sorted(DATASET_SUFFIXES))}) there")
    return sorted(files, key=lambda file: (Path(file.path).stat().st_size, str(file.path)))


def _read_index(path: Path) -> list[DatasetFile]:
    try:
        index = pd.read_csv(path, dtype=str)
    except (ValueError, OSError) as error:
        raise UnreadableInput(f"{path}: not readable as an index of datasets: {error}") from error
    if "name" not in index or index["name"].isna().any():
        raise UnreadableInput(f"{path}: an index of datasets needs a column `name`, with a name in each row")
    rows = index.drop_duplicates("name").reindex(columns=["name", "target"])
    return [
        DatasetFile(_beside(path, name), None if pd.isna(target) else target)
        for name, target in rows.itertuples(index=False, name=None)
    ]


def _beside(index: Path, name: str) -> Path:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise UnreadableInput(f"{index}: lists {name!r}, which leads out of its folder")
    candidates = [index.parent / name, *(index.parent / f"{name}{suffix}" for suffix in DATASET_SUFFIXES)]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise UnreadableInput(f"{index}: lists {name!r}, but there is no such file beside it")
    return found
