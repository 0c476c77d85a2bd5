"""Figures 2, 5a and A.1 of Hyperboost (van Hoof and Vanschoren 2021), and the same in numbers.

Notation
    R, D, M, T   repetitions, datasets, methods, steps
    accuracy     (R, D, M, T) mean over outer folds of what a method names after a step: on the inner folds
                 (train) or on the rows held out (test)
    rank         (R, M, T) 1 = best: ranks among methods, mean over datasets (section 7.1); ties share theirs
    loss         (M, T) 1 - accuracy, mean over datasets and repetitions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metalearners.judging.figures import save_figure
from tests.benchmarks.hyperboost_searches import WITH_COMPONENTS
from tests.benchmarks.hyperboost_targets import TARGETS
from tests.benchmarks.what_wins import markdown
from warehouse.support.arrays import Floats

PARTS = {"train": "training set", "test": "test set"}


@dataclass(frozen=True)
class Results:
    """Searches of all methods on the same folds of the same datasets, of one target."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    accuracy: Mapping[str, Floats]
    """One of `PARTS` -> (R, D, M, T)"""

    def rank(self, part: str) -> Floats:
        """(R, M, T)"""
        from scipy.stats import rankdata

        ranks: Floats = rankdata(-self.accuracy[part].round(12), axis=2).mean(axis=1)
        return ranks

    def loss(self, part: str) -> Floats:
        """(M, T)"""
        loss: Floats = 1 - self.accuracy[part].mean(axis=(0, 1))
        return loss

    def only(self, methods: Sequence[str]) -> Results:
        """The results of these methods alone."""
        places = [self.methods.index(method) for method in methods]
        accuracy = {part: values[:, :, places] for part, values in self.accuracy.items()}
        return Results(tuple(methods), self.datasets, accuracy)


def results_of(records: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> Results | None:
    """The results on the datasets that all of the methods finished on all folds; None: there is none.

    Args:
        records: of one target.
    """
    table = pd.DataFrame(records)
    table = table[table["method"].isin(list(methods))]
    searches = len(methods) * len(table[["repeat", "outer"]].drop_duplicates())
    finished = table.groupby("dataset").size()
    datasets = sorted(finished.index[finished == searches])
    if not datasets:
        return None
    table = table[table["dataset"].isin(datasets)]
    steps = max(map(len, table["train"]))
    places = table.groupby(["repeat", "dataset", "method"])
    repeats = sorted(table["repeat"].unique())
    accuracy = {
        part: np.array(
            [
                [
                    [
                        np.mean([_padded(curve, steps) for curve in places.get_group(key)[part]], axis=0)
                        for key in ((repeat, dataset, method) for method in methods)
                    ]
                    for dataset in datasets
                ]
                for repeat in repeats
            ]
        )
        for part in PARTS
    }
    return Results(tuple(methods), tuple(datasets), accuracy)


def _padded(curve: Sequence[float], steps: int) -> Floats:
    """(T,) a curve that stays where the search ended: a space of few choices has an end."""
    return np.pad(np.array(curve), (0, steps - len(curve)), mode="edge")


def report(target: str, results: Results) -> None:
    """Print what the last steps of Figures 2 and A.1 show."""
    columns = {
        f"{name}, {part}": values
        for part in PARTS
        for name, values in (
            ("rank", results.rank(part)[..., -1].mean(axis=0)),
            ("loss", results.loss(part)[:, -1]),
        )
    }
    table = pd.DataFrame(columns, index=list(results.methods)).sort_values("rank, train")
    repeats, datasets, _, steps = results.accuracy["train"].shape
    print(
        f"\n{TARGETS[target].flow.title}, {datasets} datasets, {repeats} repetitions, after {steps} steps\n"
    )
    print(markdown(table.reset_index(names="")))


def draw_all(results: Mapping[str, Results], folder: Path) -> None:
    """Write Figures 2 and A.1 of each target, and Figure 5a of all, where its methods were run."""
    folder.mkdir(parents=True, exist_ok=True)
    for target, every in results.items():
        of_figure = every.only([method for method in every.methods if method != WITH_COMPONENTS])
        title = f"{TARGETS[target].flow.title}, {len(every.datasets)} datasets"
        _draw_parts(of_figure, folder / f"figure-2-{target}.png", title, ranks=True)
        _draw_parts(of_figure, folder / f"figure-a1-{target}.png", title, ranks=False)
    pair = ("hyperboost", WITH_COMPONENTS)
    shown = {target: one for target, one in results.items() if set(pair) <= set(one.methods)}
    if shown:
        _draw_components({target: one.only(pair) for target, one in shown.items()}, folder / "figure-5a.png")


def _draw_parts(results: Results, path: Path, title: str, *, ranks: bool) -> None:
    """Mean rank with its standard deviation over repetitions, or mean loss, on both sets."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    for axes, (part, name) in zip(figure.subplots(1, 2), PARTS.items(), strict=True):
        for place, method in enumerate(results.methods):
            if ranks:
                own = results.rank(part)[:, place]
                _line(axes, own.mean(axis=0), method, place, own.std(axis=0))
            else:
                _line(axes, results.loss(part)[place], method, place)
        axes.set(title=name, xlabel="step", ylabel="mean rank" if ranks else "mean loss")
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(results.methods),
        frameon=False,
    )
    save_figure(figure, path)


def _draw_components(results: Mapping[str, Results], path: Path) -> None:
    """Mean loss on the training set with exact distances, and with those between principal components."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(results), 4.5), layout="constrained")
    for axes, (target, one) in zip(
        figure.subplots(1, len(results), squeeze=False)[0], results.items(), strict=True
    ):
        for place, method in enumerate(one.methods):
            _line(axes, one.loss("train")[place], method, place)
        axes.set(title=TARGETS[target].flow.title, xlabel="step", ylabel="mean loss on the training set")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    save_figure(figure, path)


def _line(axes: Any, values: Floats, name: str, place: int, spread: Floats | None = None) -> None:
    steps = np.arange(1, len(values) + 1)
    axes.plot(steps, values, label=name, color=f"C{place}")
    if spread is not None:
        axes.fill_between(steps, values - spread, values + spread, color=f"C{place}", alpha=0.15, linewidth=0)
