"""Synthetic warehouses of OpenML's shape, of any size.

    python -m tests.benchmarks.synthetic_warehouse FOLDER [--runs 10000000] [--chunk 1000000] [--more 1000000]

Ten million runs are on 5,000 datasets, of 3,000 flows and one million setups with ten hyperparameters each;
every run has a value on four measures. Fewer runs have proportionally fewer datasets, flows and setups. The
number of runs per flow has a heavy tail: `LARGEST` has 5 % of all runs, and the others fall off as rank to
the power of -0.8. The second flow has 0.5 % of the setups, which ran on at most 500 datasets. Rows are made
by chunk, each from its own seed, and written by `Warehouse.write`. With `--more` the warehouse has, instead
of all these runs, this many runs that come after them.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.store import Warehouse

LARGEST = "openml:1"
MEASURES = ("predictive_accuracy", "area_under_roc_curve", "f_measure", "usercpu_time_millis")
_SHARES = (0.05, 0.005)  # of the runs and setups, by the first flows
_EXPONENT = 0.8
_PARAMETERS = 10
_QUALITIES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses", "ClassEntropy", "MajorityClassSize")


@dataclass(frozen=True)
class Shape:
    """Numbers of datasets, flows and setups, in proportion to OpenML's ten million runs."""

    runs: int

    @property
    def datasets(self) -> int:
        """5,000 for ten million runs."""
        return max(20, self.runs // 2_000)

    @property
    def flows(self) -> int:
        """3,000 for ten million runs."""
        return max(20, 3 * self.runs // 10_000)

    @property
    def setups(self) -> int:
        """A tenth of the runs."""
        return max(20, self.runs // 10)


def generate(folder: Path, runs: int, chunk: int = 1_000_000, seed: int = 0, more: int = 0) -> Warehouse:
    """Make the warehouse of this many runs, or `more` later ones, one commit per chunk; prints progress."""
    shape = Shape(runs)
    warehouse = Warehouse.create(folder)
    warehouse.write(parents(shape, seed), source="synthetic")
    start = time.perf_counter()
    begin, end = (runs, runs + more) if more else (0, runs)
    for number, first in enumerate(range(begin, end, chunk)):
        warehouse.write(rows(shape, first, min(chunk, end - first), seed), source="synthetic")
        print(f"chunk {number}: {time.perf_counter() - start:.1f} s", flush=True)
    return warehouse


def parents(shape: Shape, seed: int = 0) -> dict[str, pa.Table]:
    """Datasets with qualities, tasks and flows."""
    random = np.random.default_rng([seed, 0])
    datasets, flows = _ids(np.arange(1, shape.datasets + 1)), _ids(np.arange(1, shape.flows + 1))
    n = len(datasets)
    sizes = np.exp(random.uniform(5, 11, n)).round()
    values = np.column_stack(
        [sizes, random.integers(4, 100, n), random.integers(2, 10, n), random.random(n), sizes // 2]
    )
    names = _joined("dataset-", np.arange(n))
    return {
        "datasets": pa.table({"dataset": datasets, "name": names, "rows": sizes.astype(int)}),
        "tasks": pa.table(
            {"task": datasets, "dataset": datasets, "task_type": _repeated("supervised_classification", n)}
        ),
        "qualities": pa.table(
            {
                "dataset": datasets.take(np.repeat(np.arange(n), len(_QUALITIES))),
                "quality": pa.array(list(_QUALITIES) * n),
                "value": values.ravel(),
                "source": _repeated("openml", n * len(_QUALITIES)),
                "extractor": _repeated("openml", n * len(_QUALITIES)),
            }
        ),
        "flows": pa.table({"flow": flows, "name": _joined("flow-", np.arange(shape.flows))}),
    }


def rows(shape: Shape, first: int, runs: int, seed: int = 0) -> dict[str, pa.Table]:
    """Runs with these numbers, their evaluations, and the setups that they use first."""
    random = np.random.default_rng([seed, 1, first])
    n_setups = max(1, runs // 10)
    flow = random.choice(shape.flows, n_setups, p=_shares(shape.flows))
    setups = _ids(first // 10 + np.arange(n_setups))
    setup = random.integers(n_setups, size=runs)
    # Some datasets are popular; the dense flow keeps to the first of them.
    dataset = (shape.datasets * random.random(runs) ** 2).astype(int)
    dataset = np.where(flow[setup] == 1, dataset % min(500, shape.datasets), dataset)
    run, tasks = _ids(first + np.arange(runs)), _ids(np.arange(1, shape.datasets + 1))
    quality = _logistic(random.normal(size=shape.datasets)[dataset] + random.normal(size=n_setups)[setup])
    times = np.exp(random.normal(6, 2, runs))
    values = np.column_stack([quality, quality**0.5, quality**1.5, times])
    flows = _ids(np.arange(1, shape.flows + 1))
    order = np.repeat(np.arange(runs), len(MEASURES))
    return {
        "setups": pa.table({"setup": setups, "flow": flows.take(flow)}),
        "hyperparameters": _hyperparameters(random, setups, flow),
        "runs": pa.table(
            {
                "run": run,
                "task": tasks.take(dataset),
                "setup": setups.take(setup),
                "outcome": _repeated("success", runs),
                "position": first + np.arange(runs),
                "uploader": pa.array(random.integers(1, 1000, runs)).cast(pa.string()),
            }
        ),
        "evaluations": pa.table(
            {
                "run": run.take(order),
                "measure": pa.array(MEASURES).take(np.tile(np.arange(len(MEASURES)), runs)),
                "value": np.round(values, 6).ravel(),
                "flow": flows.take(flow[setup][order]),
            }
        ),
    }


def _hyperparameters(random: np.random.Generator, setups: pa.Array, flow: np.ndarray) -> pa.Table:
    """Four numbers, three integers and three words of every setup; flows differ in the names."""
    n = len(setups)
    numbers = [pa.array(np.round(np.exp(random.uniform(-9, 3, n)), 6) + 1e-6) for _ in range(4)]
    integers = [pa.array(random.integers(1, 500, n)) for _ in range(3)]
    words = [pa.array(['"gini"', '"entropy"', "null", "true"]).take(random.integers(4, size=n))]
    words += [pa.array(["true", "false"]).take(random.integers(2, size=n)) for _ in range(2)]
    columns = [column.cast(pa.string()) for column in [*numbers, *integers, *words]]
    names = pc.binary_join_element_wise(
        pa.array((flow % 7).astype(str)).take(np.tile(np.arange(n), _PARAMETERS)),
        pa.array(np.repeat(np.arange(_PARAMETERS), n).astype(str)),
        "_p",
    )
    return pa.table(
        {
            "setup": setups.take(np.tile(np.arange(n), _PARAMETERS)),
            "parameter": names,
            "value": pa.chunked_array(columns),
        }
    )


def _shares(flows: int) -> np.ndarray:
    tail = np.arange(1.0, flows - len(_SHARES) + 1) ** -_EXPONENT
    return np.concatenate([_SHARES, tail * (1 - sum(_SHARES)) / tail.sum()])


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def _ids(numbers: np.ndarray) -> pa.Array:
    return _joined("openml:", numbers)


def _joined(prefix: str, numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def _repeated(text: str, n: int) -> pa.Array:
    return pa.repeat(text, n)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--chunk", type=int, default=1_000_000)
    parser.add_argument("--more", type=int, default=0, help="number of runs that come after --runs")
    arguments = parser.parse_args()
    generate(arguments.folder, arguments.runs, arguments.chunk, more=arguments.more)


if __name__ == "__main__":
    main()
