"""Peak memory of commands that read large files.

    python -m tests.benchmarks.reading_memory FOLDER [--rows 500000] [--formats csv,arff]

`recommend` and `ingest metafeatures` read a table with 20 columns of numbers, one of texts and a class, from
each kind of file; `ingest file` reads a table with the same number of runs, of ten tasks and four
hyperparameters. Each command runs in its own process. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.processes import measured
from tests.benchmarks.report import markdown
from warehouse.store import Warehouse

COLUMNS = 20


def table(rows: int) -> pd.DataFrame:
    chance = np.random.default_rng(0)
    label = chance.integers(0, 2, rows)
    frame = pd.DataFrame(chance.normal(size=(rows, COLUMNS)).round(4) + 0.5 * label[:, None])
    frame = frame.rename(columns="x{}".format)
    words = np.array([f"word {number}" for number in range(50)])[chance.integers(0, 50, rows)]
    return frame.assign(word=words, label=np.where(label, "yes", "no"))


def write_arff(frame: pd.DataFrame, path: Path) -> None:
    words = ",".join(f"'{word}'" for word in sorted(frame["word"].unique()))
    attributes = [f"@attribute x{number} numeric" for number in range(COLUMNS)]
    attributes += [f"@attribute word {{{words}}}", "@attribute label {no,yes}"]
    with path.open("w") as file:
        file.write("\n".join(["@relation large", *attributes, "@data", ""]))
        frame.assign(word="'" + frame["word"] + "'").to_csv(file, header=False, index=False)


FORMATS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "arff": write_arff,
    "xlsx": lambda frame, path: frame.head(50_000).to_excel(path, index=False),
}


def runs(rows: int) -> pd.DataFrame:
    chance = np.random.default_rng(0)
    frame = pd.DataFrame(chance.random((rows, 4)).round(4)).rename(columns="alpha{}".format)
    return frame.assign(task_id=np.arange(rows) % 10, predictive_accuracy=chance.random(rows).round(4))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--formats", default=",".join(FORMATS))
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True)
    jobs: list[tuple[str, Path, list[str]]] = []
    frame = table(options.rows)
    for name in options.formats.split(","):
        path = folder / f"large.{name}"
        FORMATS[name](frame, path)
        jobs += [("recommend", path, []), ("ingest metafeatures", path, [])]
    runs(options.rows).to_csv(folder / "runs.csv", index=False)
    Warehouse.create(folder / "warehouse")
    jobs.append(
        ("ingest file", folder / "runs.csv", ["--flow", "f", "--warehouse", str(folder / "warehouse")])
    )
    lines = []
    for command, path, more in jobs:
        done = measured([*command.split(), str(path), *more])
        lines.append(
            {
                "command": f"`{command}`",
                "file": path.name,
                "MiB": round(path.stat().st_size / 2**20, 1),
                "peak MiB": done.peak,
                "seconds of processor": round(done.processor, 1),
                "code": done.code,
            }
        )
        print(lines[-1], done.errors[-300:] if done.code else "", flush=True)
    print(markdown(pd.DataFrame(lines)))


if __name__ == "__main__":
    main()
