"""Whether a table that is written as text is read as it was: roles and rows, in six ways to write it.

    python -m tests.benchmarks.dialects FOLDER [FOLDER ...] [--rows N]

Each Parquet file of the folders is written by pandas as CSV in six dialects, read back, and compared with
what is read of the Parquet file itself. Printed are the tables that differ, with the columns, and in the end
how many are equal in each dialect. What can't be told from a text is listed apart: a category that is
written as a number (Parquet says what it is, a text does not).
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from warehouse.support.errors import BadInput


def _german_excel(frame: pd.DataFrame, path: Path) -> None:
    text = frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
    path.write_bytes(b"sep=;\r\n" + text.encode("utf-8-sig"))


def _title_above(frame: pd.DataFrame, path: Path) -> None:
    title = "Export of the table, as of Monday" + "," * (frame.shape[1] - 1) + "\n\n"
    path.write_text(title + frame.to_csv(index=False))


DIALECTS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "German Excel with sep=": _german_excel,
    "tab": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "semicolon, decimal comma": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "all quoted": lambda frame, path: frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL),
    "UTF-16": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-16"),
    "title above": _title_above,
}


def differences(expected: Dataset, found: Dataset) -> Iterator[str]:
    """What the second differs in from the first."""
    if len(expected.target) != len(found.target):
        yield f"{len(expected.target)} rows became {len(found.target)}"
    if str(expected.target.name) != str(found.target.name):
        yield f"target {expected.target.name} became {found.target.name}"
    if expected.n_classes != found.n_classes:
        yield f"{expected.n_classes} classes became {found.n_classes}"
    if [*expected.roles] != [*found.roles]:
        yield f"columns {[*expected.roles][:5]} became {[*found.roles][:5]}"
        return
    roles = [name for name, role in expected.roles.items() if found.roles[name] is not role]
    for name in roles:
        yield f"{name}: {expected.roles[name]} became {found.roles[name]}"
    if not roles and expected.content_hash != found.content_hash:
        yield "other values"


def cannot_be_told(expected: Dataset, found: Dataset) -> bool:
    """Whether all that differs are roles of columns whose words are numbers that Parquet holds as text."""
    return all(
        role is found.roles.get(name)
        or pd.to_numeric(expected.features[name].dropna().astype("str"), errors="coerce").notna().all()
        for name, role in expected.roles.items()
    ) and len(expected.target) == len(found.target)


def main() -> None:
    """Compare all tables of the folders."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=int, help="only the first rows of each table")
    asked = parser.parse_args()
    equal: Counter[str] = Counter()
    untold: Counter[str] = Counter()
    tables = 0
    files = [file for folder in asked.folders for file in find_datasets(folder)]
    for file in files:
        frame = pd.read_parquet(file.path)
        frame = frame if asked.rows is None else frame.head(asked.rows)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"{Path(file.path).stem}.parquet"
            frame.to_parquet(source)
            try:
                expected = load_dataset(source, target=file.target)
            except BadInput as error:
                print(f"{source.stem}: left out ({error})", flush=True)
                continue
            tables += 1
            for name, write in DIALECTS.items():
                path = source.with_suffix(".csv")
                write(frame, path)
                try:
                    found = load_dataset(path, target=file.target)
                    told = [*differences(expected, found)]
                except BadInput as error:
                    told, found = [f"refused: {error}"], expected
                if not told:
                    equal[name] += 1
                elif found is not expected and cannot_be_told(expected, found):
                    untold[name] += 1
                    print(f"{source.stem}, {name}, can't be told: {'; '.join(told)[:300]}", flush=True)
                else:
                    print(f"{source.stem}, {name}: {'; '.join(told)[:300]}", flush=True)
    for name in DIALECTS:
        print(f"{name}: {equal[name]} of {tables} equal, {untold[name]} can't be told")


if __name__ == "__main__":
    main()
