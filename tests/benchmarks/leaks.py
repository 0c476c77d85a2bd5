"""What `recommend` says to check in real tables, and which leaks that are put into them it finds.

    python -m tests.benchmarks.leaks FOLDER [--tables 20]

FOLDER holds tables, and an index.csv with their names and targets. On either half of the families: what is
suspected in the tables as they are, and the share of the tables with such a column, for several limits of
what a suspicious column leaves of the errors. Then columns that tell the class are put into so many tables of
each half, evenly by rows, and the share of the tables is printed in which each is suspected. The program's
limit was chosen on the choosing half. Also prints what the check takes of the time of reading the tables.

Columns put in
    copy              the class
    noise, N %        the class, in N % of the rows that of a row drawn at random
    after the fact    a number that depends on the class, and a tenth of its step as noise
    numbered          rows numbered class by class
    only for a class  a number that is missing in all rows but those of the second largest class
    encoded id        the share of the largest class among the rows with the same id; 1 or 3 rows have one
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.roles import NOT_LEARNED_FROM, Role
from ingest.running.cross_validation import class_codes
from metalearners.judging.folds import HALVES, families_of, half_of
from recommend.cautions import cautions, class_of_gaps, rows_looked_at, share_left
from tests.benchmarks.what_wins import markdown
from warehouse.measures import ACCURACY
from warehouse.store import STARTER, Warehouse

LIMITS = (0.05, 0.08, 0.1, 0.15, 0.2)
NOISE = (1, 2, 5)  # per cent of the rows
_NOT_LOOKED_AT = (*NOT_LEARNED_FROM, Role.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", type=int, default=20, help="of each half that columns are put into")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warehouse = Warehouse.open(STARTER)
    families = families_of(warehouse.run_table(None, ACCURACY, related=False))
    names = warehouse.sql("SELECT name, dataset FROM datasets").set_index("name")["dataset"]
    rows = pd.read_csv(options.folder / "index.csv", index_col="name")["rows"]
    files = sorted(find_datasets(options.folder), key=lambda file: rows[Path(file.path).stem])
    for half in HALVES:
        own = [file for file in files if half_of(families.get(names.get(Path(file.path).stem), "")) == half]
        chosen = set(np.linspace(0, len(own) - 1, options.tables).round().astype(int).tolist())
        least, found = [], []
        reading = checking = 0.0
        for place, file in enumerate(own):
            began = time.process_time()
            dataset = load_dataset(file.path, target=file.target, rare_classes="drop")
            read = time.process_time()
            said = cautions(dataset, [])
            reading, checking = reading + read - began, checking + time.process_time() - read
            for caution in said:
                if caution.kind in ("leakage", "identifier"):
                    print(f"{dataset.name}: {caution.text}")
            used = [name for name in dataset.features if dataset.roles[str(name)] not in _NOT_LOOKED_AT]
            left = (left_by(dataset.features[name], dataset.target) for name in used)
            least.append({"tables": min(left, default=1.0)})
            if place in chosen:
                target = dataset.target.reset_index(drop=True)
                found.append({name: left_by(column, target) for name, column in leaks(dataset).items()})
        print(f"\n{half}: {len(own)} tables; the check takes {checking / reading:.1%} of the time of reading")
        print("\nsuspected, by what is left of the errors at most\n")
        shares = [
            {"": name, **{f"{limit:g}": f"{(left <= limit).mean():.3f}" for limit in LIMITS}}
            for table in (pd.DataFrame(least), pd.DataFrame(found))
            for name, left in table.items()
        ]
        print(markdown(pd.DataFrame(shares)), end="\n\n", flush=True)


def left_by(column: pd.Series, target: pd.Series) -> float:
    """What a column, or that it has a value, leaves of the errors, on the rows that the program looks at."""
    rows = rows_looked_at(len(target))
    column, target = column.iloc[rows], target.iloc[rows]
    told = class_of_gaps(column.isna().to_numpy(), target)
    return min(share_left(column, target), 1.0 if told is None else told[2])


def leaks(dataset: Dataset) -> dict[str, pd.Series]:
    """Columns that tell the class, by their names above."""
    random = np.random.default_rng(0)
    codes = class_codes(dataset)
    n, sizes = len(codes), np.bincount(codes)
    found: dict[str, pd.Series] = {"copy": pd.Series(codes).astype(str).astype("category")}
    for noise in NOISE:
        of_another = np.where(random.random(n) < noise / 100, random.permutation(codes), codes)
        found[f"noise, {noise} %"] = pd.Series(of_another).astype(str).astype("category")
    found["after the fact"] = pd.Series(codes + random.normal(size=n) / 10)
    found["numbered"] = pd.Series(np.argsort(np.argsort(codes, kind="stable")).astype(float))
    second = codes == np.argsort(-sizes, kind="stable")[1]
    found["only for a class"] = pd.Series(np.where(second, random.normal(size=n), np.nan))
    is_largest = (codes == sizes.argmax()).astype(float)
    for size in (1, 3):
        of_id = random.permutation(n) // size
        share = np.bincount(of_id, is_largest) / np.bincount(of_id)
        found[f"encoded id of {size}"] = pd.Series(share[of_id])
    return found


if __name__ == "__main__":
    main()
