"""What a step of Hyperboost costs beside the run (van Hoof and Vanschoren 2021): Figures 3 and 4a.

    python -m tests.benchmarks.hyperboost_times --results times.jsonl --plots PICTURES
        [--trials 1000] [--repeats 3]

After each trial a model learns from all trials and predicts 10,000 random configurations, of which the one
with the highest prediction is the next trial; there is no racing and no local search (section 7.2). Values
are a smooth function of numbers on the unit cube with noise: it is only times that are looked at.

    smac                     SMAC3's random forest in one thread, as in the paper, and without its limit of a
                             million leaves, which takes seconds of making room for them
    forest                   ours (`recommend.bo.surrogates.forest`)
    lightgbm, 1 or 2 threads the quantile of Hyperboost and `gbqr` (Figure 3: of 2 and of 4 numbers)
    2D, 4D, 8D               k-d trees, asked for the Manhattan distance to the nearest trial (Figure 4a)
    8D to 2D                 the same between two principal components of 8 numbers, with finding these

Finished ones are kept in the results file: the same command goes on where it was killed. Means over
repetitions are drawn, and those of the last tenth of the trials are printed, in milliseconds. They are times
of this machine: what counts is how they compare.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from metalearners.judging.figures import save_figure
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from recommend.bo.surrogates.base import Matrix
from recommend.bo.surrogates.boosting import COMPONENTS, HIGH, LEAVES, TREES
from recommend.bo.surrogates.forest import ForestSurrogate
from tests.benchmarks.what_wins import markdown
from warehouse.support.arrays import Floats
from warehouse.support.journal import Journal

CANDIDATES = 10_000
PARTS = ("training", "prediction")


class Model(Protocol):
    """What is timed."""

    def fit(self, X: Floats, y: Floats) -> None: ...
    def predict(self, X: Floats) -> Floats: ...


class Smac:
    """SMAC3's random forest in one thread, as it was in the paper."""

    def fit(self, X: Floats, y: Floats) -> None:
        from ConfigSpace import ConfigurationSpace
        from smac.model.random_forest.random_forest import RandomForest

        space = ConfigurationSpace({f"x{column}": (0.0, 1.0) for column in range(X.shape[1])})
        self._forest = RandomForest(space, n_jobs=1, max_leaf_nodes=None)
        self._forest.train(X, y)

    def predict(self, X: Floats) -> Floats:
        mean: Floats = self._forest.predict(X)[0][:, 0]
        return mean


class Forest:
    """Our forest."""

    def fit(self, X: Floats, y: Floats) -> None:
        self._forest = ForestSurrogate()
        self._forest.fit(Matrix(X), y, np.random.default_rng(0))

    def predict(self, X: Floats) -> Floats:
        return self._forest.predict(Matrix(X)).mean


class Quantile:
    """LightGBM as Hyperboost has it."""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def fit(self, X: Floats, y: Floats) -> None:
        import lightgbm

        settings = {
            **REPRODUCIBLE,
            "num_threads": self._threads,
            "objective": "quantile",
            "alpha": HIGH,
            "num_leaves": LEAVES,
            "min_data_in_leaf": 1,
            "min_data_in_bin": 1,
        }
        self._booster = lightgbm.train(settings, lightgbm.Dataset(X, y), num_boost_round=TREES)

    def predict(self, X: Floats) -> Floats:
        return np.asarray(self._booster.predict(X, num_threads=self._threads))


class Distance:
    """A k-d tree, with or without principal components."""

    def __init__(self, components: int | None = None) -> None:
        self._components = components

    def fit(self, X: Floats, y: Floats) -> None:  # noqa: ARG002 (distances know no values)
        from scipy.spatial import KDTree

        self._axes = np.eye(X.shape[1])
        if self._components is not None:
            centred = X - X.mean(axis=0)
            self._axes = np.linalg.svd(centred, full_matrices=False)[2][: self._components].T
        self._tree = KDTree(X @ self._axes)

    def predict(self, X: Floats) -> Floats:
        distance: Floats = self._tree.query(X @ self._axes, p=1)[0]
        return distance


MODELS: Mapping[str, Callable[[], Model]] = {
    "smac": Smac,
    "forest": Forest,
    "lightgbm, 1 thread": lambda: Quantile(1),
    "lightgbm, 2 threads": lambda: Quantile(2),
}
FIGURES: Mapping[str, Mapping[str, tuple[int, Callable[[], Model]]]] = {
    "figure-3a": {name: (2, new) for name, new in MODELS.items()},
    "figure-3b": {name: (4, new) for name, new in MODELS.items()},
    "figure-4a": {
        **{f"{columns}D": (columns, Distance) for columns in (2, 4, 8)},
        "8D to 2D": (8, lambda: Distance(COMPONENTS)),
    },
}
"""Figure -> curve -> numbers of a configuration, and what is timed."""


def times_of(new: Callable[[], Model], columns: int, trials: int, seed: int) -> dict[str, list[float]]:
    """Seconds of each part after one trial, after two, and so on."""
    random = np.random.default_rng(seed)
    X = random.random((1, columns))
    y = values_of(X, random)
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}
    for _ in range(trials):
        model, candidates = new(), random.random((CANDIDATES, columns))
        begun = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        predicted = model.predict(candidates)
        seconds["prediction"].append(time.perf_counter() - fitted)
        seconds["training"].append(fitted - begun)
        chosen = candidates[[int(predicted.argmax())]]
        X, y = np.vstack([X, chosen]), np.append(y, values_of(chosen, random))
    return seconds


def values_of(X: Floats, random: np.random.Generator) -> Floats:
    """(n,) highest in the middle of the cube, with noise."""
    noise = random.normal(scale=0.05, size=len(X))
    values: Floats = noise - ((X - 0.5) ** 2).mean(axis=1)
    return values


def draw(figure_name: str, curves: Mapping[str, Mapping[str, Floats]], folder: Path) -> None:
    """Write mean times in milliseconds against the number of trials."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    for axes, part in zip(figure.subplots(1, 2), PARTS, strict=True):
        for name, of_parts in curves.items():
            milliseconds = 1000 * of_parts[part].mean(axis=0)
            axes.plot(np.arange(1, len(milliseconds) + 1), milliseconds, label=name, linewidth=1)
        axes.set(title=part, xlabel="trials", ylabel="milliseconds", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    save_figure(figure, folder / f"{figure_name}.png")


def table(curves: Mapping[str, Mapping[str, Floats]]) -> pd.DataFrame:
    """Mean milliseconds over the last tenth of the trials."""
    return pd.DataFrame(
        {
            part: {
                name: 1000 * float(of_parts[part][:, -max(of_parts[part].shape[1] // 10, 1) :].mean())
                for name, of_parts in curves.items()
            }
            for part in PARTS
        }
    )


def curves_of(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Floats]]:
    """Curve -> part -> (repetitions, trials) seconds."""
    names = dict.fromkeys(one["curve"] for one in records)
    return {
        name: {part: np.array([one[part] for one in records if one["curve"] == name]) for part in PARTS}
        for name in names
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--plots", type=Path, help="folder of the pictures")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    journal = Journal(options.results)
    for repeat, (figure, curves) in product(range(options.repeats), FIGURES.items()):
        for curve, (columns, new) in curves.items():
            unit = {"figure": figure, "curve": curve, "repeat": repeat, "trials": options.trials}
            if not any(unit.items() <= record.items() for record in journal.records()):
                journal.append({**unit, **times_of(new, columns, options.trials, repeat)})
                print(f"{figure}: {curve}, repetition {repeat}", flush=True)
    for figure in FIGURES:
        records = [
            one
            for one in journal.records()
            if one["figure"] == figure and one["trials"] == options.trials and one["repeat"] < options.repeats
        ]
        found = curves_of(records)
        print(f"\n{figure}, milliseconds\n\n{markdown(table(found).reset_index(names=''))}")
        if options.plots is not None:
            options.plots.mkdir(parents=True, exist_ok=True)
            draw(figure, found, options.plots)


if __name__ == "__main__":
    main()
