"""Curves of simulated searches: regret and rank after each trial.

Notation
    M, D, S, T    methods, datasets, seeds, trials of the longest search
    best_so_far   (M, D, S, T) highest value after each trial; a search that ran out of configurations keeps
                  its last one
    best, worst   limits of the values of a dataset's task; a search on a model may find a better best, which
                  then applies to all searches on the dataset
    regret        (M, D, S, T) (best - best_so_far) / (best - worst), smaller is better; 0 if best = worst,
                  above 1 if a model's value is below the worst known one
    usual         median seconds of the runs on a dataset
    by trials     position k counts the trials whose shares of the rows add up to k trials on all rows
    by seconds    position k of best_so_far, regret and rank counts the trials that ended within k median run
                  times of the dataset; before the first one it is the worst known value. The unit makes
                  datasets comparable. The time for choosing trials is not counted, since it is from another
                  machine
    rank          (M, D, S, T) of a method among all on one dataset with one seed after the same number of
                  trials, 1 = best; ties share their mean rank
    interval      95 % confidence interval of a mean over datasets, by Student's t; seeds of a dataset are
                  averaged first
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metalearners.evaluation.comparison import Comparison, compare_evaluations
from metalearners.evaluation.figures import save_figure
from metalearners.evaluation.protocol import Interval, interval
from recommend.bo.simulation.methods import By
from recommend.bo.simulation.runner import ROUNDED, SimulatedSearch
from warehouse.support.arrays import Floats
from warehouse.support.errors import TooFewRuns
from warehouse.support.extras import needed_for
from warehouse.support.text import counted

SHOWN = (1, 3, 5, 10, 25, 50, 100)
"""Numbers of trials shown in summaries."""
UNITS: dict[By, str] = {"trials": "trials", "seconds": "median run times"}
LEAST = 1e-5
"""Least regret in plots."""
_DIGITS = 12  # of compared regrets: means of equal numbers may differ in the last ones


@dataclass(frozen=True)
class Curves:
    """The searches of all methods on the same datasets with the same seeds."""

    methods: tuple[str, ...]
    """(M,) the lowest mean regret over all trials first."""
    datasets: tuple[str, ...]
    seeds: tuple[int, ...]
    best_so_far: Floats
    regret: Floats
    seconds: Floats
    """(M,) seconds for choosing the configurations of one trial."""
    trial_seconds: Floats
    """(M,) seconds of a trial; NaN if unknown."""
    by: By

    @property
    def trials(self) -> int:
        """Number of trials, or of median run times, T."""
        return int(self.regret.shape[-1])

    @cached_property
    def rank(self) -> Floats:
        """(M, D, S, T)"""
        from scipy.stats import rankdata

        ranks: Floats = rankdata(-self.best_so_far, axis=0)
        return ranks

    def frame(self) -> pd.DataFrame:
        """A row per trial of every search: dataset, method, seed, trial from 1, best_so_far, regret, rank.

        By seconds the column `trial` is `usual_times`.
        """
        step = "trial" if self.by == "trials" else "usual_times"
        rows = product(self.methods, self.datasets, self.seeds, range(1, self.trials + 1))
        table = pd.DataFrame(rows, columns=["method", "dataset", "seed", step])
        found = table.assign(
            best_so_far=self.best_so_far.ravel(), regret=self.regret.ravel(), rank=self.rank.ravel()
        )
        return found[["dataset", "method", "seed", step, "best_so_far", "regret", "rank"]]

    def mean_regret(self, method: int, trials: int) -> Interval:
        """Mean regret of the method at this position after this many trials."""
        return interval(self.regret[method, :, :, trials - 1].mean(axis=1).tolist())

    @property
    def shown(self) -> list[int]:
        """Numbers of trials, or of median run times, after which `document` and `table` show the methods."""
        return [number for number in SHOWN if number <= self.trials]

    @cached_property
    def mean_rank(self) -> Floats:
        """(M, T) mean over datasets and seeds."""
        mean: Floats = self.rank.mean(axis=(1, 2))
        return mean

    def document(self) -> dict[str, Any]:
        """Regret, rank and seconds of each method as JSON values."""
        return {
            "datasets": len(self.datasets),
            "seeds": len(self.seeds),
            "trials": self.trials,
            "by": self.by,
            "methods": [
                {
                    "method": method,
                    "seconds": float(self.seconds[place]),
                    "trial_seconds": None
                    if np.isnan(self.trial_seconds[place])
                    else float(self.trial_seconds[place]),
                    "after": [
                        {
                            "trials": trials,
                            "regret": self.mean_regret(place, trials).document(),
                            "rank": float(self.mean_rank[place, trials - 1]),
                        }
                        for trials in self.shown
                    ],
                }
                for place, method in enumerate(self.methods)
            ],
        }

    def table(self) -> str:
        """The same as a table of text."""
        width = max(map(len, self.methods))
        names = [f"{method:<{width}}" for method in self.methods]
        seeds = f", {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        lines = [
            f"mean regret after this number of {UNITS[self.by]}, and its 95 % interval;"
            f" {counted(len(self.datasets), 'datasets')}{seeds}",
            " " * width + "".join(f"{trials:>17}" for trials in self.shown),
        ]
        for place, name in enumerate(names):
            regrets = [_cell(self.mean_regret(place, trials)) for trials in self.shown]
            lines.append(name + "".join(f"{cell:>17}" for cell in regrets))
        titles = "".join(f"{trials:>8}" for trials in self.shown) + f"{'to choose':>11}{'to run':>11}"
        lines += [
            "",
            f"mean rank among {len(names)} after this number of {UNITS[self.by]}, and seconds "
            f"per trial to choose and to run",
            " " * width + titles,
        ]
        for place, name in enumerate(names):
            ranks = "".join(f"{self.mean_rank[place, trials - 1]:>8.2f}" for trials in self.shown)
            took = self.trial_seconds[place]
            lines.append(
                f"{name}{ranks}{self.seconds[place]:>11.4f}" + ("" if np.isnan(took) else f"{took:>11.4g}")
            )
        return "\n".join(lines)

    def compare(self, trials: int | None = None) -> Comparison:
        """Test whether methods differ significantly in regret, with one value per dataset.

        Args:
            trials: number of trials, or of median run times, after which to compare; None = the mean over
                all.

        Raises:
            BadInput: there is only one method, or no search had so many trials.
            MissingPackage: the extra `compare` is not installed.
        """
        if len(self.methods) < 2:
            raise TooFewRuns("a comparison needs two methods or more")
        if trials is not None and not 1 <= trials <= self.trials:
            raise TooFewRuns(f"can't compare after {trials} {UNITS[self.by]}: there are {self.trials}")
        counted = self.regret if trials is None else self.regret[..., [trials - 1]]
        figures = np.round(counted.mean(axis=(2, 3)), _DIGITS).T  # (D, M)
        results = pd.DataFrame(figures, index=list(self.datasets), columns=list(self.methods))
        return compare_evaluations(results, larger_is_better=False)


def curves_of(searched: Sequence[SimulatedSearch], by: By = "trials", usual_times: int = 50) -> Curves:
    """Curves of these searches.

    Args:
        by: the common budget.
        usual_times: T by seconds.

    Raises:
        BadInput: there is no search, one has no trial, a method lacks a dataset or seed of another, or times
            needed by seconds are unknown.
    """
    if not searched or not all(one.best_so_far for one in searched):
        raise TooFewRuns("a search is missing or has no trial: nothing to show")
    methods = tuple(dict.fromkeys(one.method for one in searched))
    datasets = tuple(dict.fromkeys(one.dataset for one in searched))
    seeds = tuple(sorted({one.seed for one in searched}))
    found = {(one.method, one.dataset, one.seed): one for one in searched}
    keys = list(product(methods, datasets, seeds))
    for key in keys:
        if key not in found:
            raise TooFewRuns("{} was not run on {} with seed {}, unlike other methods".format(*key))
    most = max(sum(_shares(one)) for one in searched)  # equivalent number of trials on all rows
    longest = usual_times if by == "seconds" else max(int(most * (1 + ROUNDED)), 1)
    shape = (len(methods), len(datasets), len(seeds))
    best_so_far = np.array([_found(found[key], by, longest) for key in keys]).reshape(*shape, longest)
    best = np.array([found[key].best for key in keys]).reshape(shape).max(axis=(0, 2))
    best = np.maximum(best, best_so_far.max(axis=(0, 2, 3)))
    worst = np.array([found[key].worst for key in keys]).reshape(shape).min(axis=(0, 2))
    span = (best - worst)[:, None, None]
    missed = best[:, None, None] - best_so_far
    regret = np.divide(missed, span, out=np.zeros_like(missed), where=span > 0)
    seconds = np.array([found[key].seconds for key in keys]).reshape(shape).sum(axis=(1, 2))
    asked = np.array([len(found[key].best_so_far) for key in keys]).reshape(shape).sum(axis=(1, 2))
    ran = (
        np.array([sum(found[key].trial_seconds or [np.nan]) for key in keys]).reshape(shape).sum(axis=(1, 2))
    )
    order = np.argsort(regret.mean(axis=(1, 2, 3)), kind="stable")
    return Curves(
        methods=tuple(methods[place] for place in order),
        datasets=datasets,
        seeds=seeds,
        best_so_far=best_so_far[order],
        regret=regret[order],
        seconds=(seconds / asked)[order],
        trial_seconds=(ran / asked)[order],
        by=by,
    )


def _found(one: SimulatedSearch, by: By, longest: int) -> Floats:
    """(T,) best value of the trials that ended within 1, 2, ... units of the budget.

    The unit is a trial on all rows, or the median run time of the dataset.
    """
    costs, unit = (_shares(one), 1.0) if by == "trials" else (one.trial_seconds, one.usual_seconds)
    if costs is None or unit is None:
        raise TooFewRuns(f"trials on {one.dataset} have no running time: nothing to show by seconds")
    ends = np.cumsum(costs) * (1 - ROUNDED)
    ended = np.searchsorted(ends, unit * np.arange(1, longest + 1), side="right")
    found: Floats = np.array([one.worst, *one.best_so_far])[ended]
    return found


def _shares(one: SimulatedSearch) -> list[float]:
    """Share of the rows of each trial."""
    return one.shares or [1.0] * len(one.best_so_far)


def draw(curves: Curves, path: Path, title: str) -> None:
    """Plot mean regret with its interval, and mean rank, against trials or median run times.

    Raises:
        BadInput: the extra `compare` is not installed, or the file can't be written.
    """
    with needed_for("drawing", "compare"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator
    trials = np.arange(1, curves.trials + 1)
    columns = min(5, len(curves.methods))
    lines_of_legend = math.ceil(len(curves.methods) / columns)
    figure = Figure(figsize=(13, 5 + 0.25 * lines_of_legend), layout="constrained")
    of_regret, of_rank = figure.subplots(1, 2)
    lowest = []
    for place, method in enumerate(curves.methods):
        of_method = [curves.mean_regret(place, number) for number in trials.tolist()]
        mean, low, high = np.array(of_method).T  # (T,) each
        colour, style = f"C{place % 10}", ("-", "--", ":")[place // 10 % 3]
        of_regret.plot(trials, mean, label=method, color=colour, linestyle=style)
        of_regret.fill_between(trials, low, high, color=colour, alpha=0.08, linewidth=0)
        of_rank.plot(trials, curves.mean_rank[place], color=colour, linestyle=style)
        lowest.extend(mean[mean > 0].tolist())
    for axes, name in ((of_regret, "regret"), (of_rank, "rank")):
        axes.set(xscale="log", xlabel=UNITS[curves.by], ylabel=f"mean {name}")
        axes.xaxis.set_major_locator(FixedLocator(curves.shown))
        axes.xaxis.set_major_formatter("{x:.0f}")
        axes.grid(alpha=0.3)
    if lowest:
        of_regret.set_yscale("log")
        of_regret.set_ylim(bottom=max(LEAST, min(lowest) / 1.5))
    figure.suptitle(f"{title}, {counted(len(curves.datasets), 'datasets')}")
    figure.legend(loc="outside lower center", ncols=columns, fontsize=9, frameon=False)
    save_figure(figure, path)


def _cell(value: Interval) -> str:
    half = "" if math.isnan(value.high) else f" ±{value.high - value.mean:.4f}"
    return f"{value.mean:.4f}{half}"
