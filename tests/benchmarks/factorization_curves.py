"""Regret and average rank against trials (Figure 3 of Fusi, Sheth and Elibol 2018) on two real matrices.

    python -m tests.benchmarks.factorization_curves --svm-grid ../shared/data/svm-grid/svm_grid.csv.gz
        [--datasets N] [--jobs 2] [--output build/factorization-curves]

The matrices are the bundled starter and, where given, a grid of support
vector machines (288 x 35). Datasets are dealt into five folds; a fold's searches know the other folds. Every
configuration of a dataset may be tried once; what is read off is the best accuracy so far.

    random, 2x, 4x   one, two or four configurations a trial, mean of ten draws
    portfolio        the greedy portfolio, then the order of mean ranks
    gp               a Gaussian process on the hyperparameters, from three random trials
    pmf-paper        the paper's model: warm start, equation 7, expected improvement
    pmf-paper-90     the same, from a matrix of which 90 % are missing
    pmf              ours, and without each of its three additions

Regret is normalized by the range of the dataset's values. Ranks are among the methods on one dataset after
as many trials; ties share their mean rank. It prints tables, and writes them as CSV and a picture.
"""

from __future__ import annotations

import argparse
import io
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata, wilcoxon
from threadpoolctl import threadpool_limits

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.matrices import centre_and_spread, standardized
from metalearners.encoding.training_data import size_of, without_datasets
from metalearners.gp.posterior import Posterior, Prior
from metalearners.learners.factorization.learner import FactorizationLearner
from metalearners.learners.factorization.model import (
    Factorization,
    MeasureLikelihood,
    ZeroMean,
    posterior_on_measure,
)
from metalearners.learners.neighbours import PortfolioLearner
from recommend.bo.acquisition import XI, expected_improvement
from tests.benchmarks.latent_search import LatentSearch
from tests.tables import flow_table
from warehouse.qualities import SHAPE
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.files import write_bytes

MOST = 200
FOLDS = 5
EPOCHS = 100
DRAWS = 10
SHOWN = (1, 2, 3, 5, 10, 15, 25, 50, 100, 200)
PAPER = {"cold_pipelines": False, "cold_datasets": False, "scale": False}
OURS: dict[str, dict[str, object]] = {
    "pmf": {},
    "pmf-no-encoder": {"cold_pipelines": False},
    "pmf-no-mean": {"cold_datasets": False},
    "pmf-no-scale": {"scale": False},
}


def starter() -> tuple[RunTable, pd.DataFrame]:
    """Runs of the bundled warehouse."""
    warehouse = Warehouse.open(None)
    return warehouse.run_table(None, "predictive_accuracy"), warehouse.metafeatures()


def svm_grid(path: Path) -> tuple[RunTable, pd.DataFrame]:
    """The grid of Wistuba, Schilling and Schmidt-Thieme: c1 to c6 hyperparameters, the rest meta-features."""
    table = pd.read_csv(path)
    own, described = [f"c{number}" for number in range(1, 7)], list(table.columns[8:])
    setups = table.groupby(own, sort=False).ngroup().astype(str).radd("svm ")
    configurations = table[own].assign(setup=setups).drop_duplicates("setup").set_index("setup")
    runs = pd.DataFrame({"dataset": table["dataset"], "setup": setups, "value": table["accuracy"]})
    names = {"task": runs["dataset"], "family": runs["dataset"]}
    runs = runs.assign(run=runs.index.astype(str), flow="svm", algorithm="svm", **names)
    metafeatures = table.groupby("dataset")[described].first()
    table = flow_table(configurations.astype(object), "svm")
    return RunTable("svm", "predictive_accuracy", runs, table), metafeatures


class NewDataset:
    """A dataset to search on: its configurations and their values."""

    def __init__(self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str) -> None:
        own = runs.runs[runs.runs["dataset"] == dataset]
        self.values = own["value"].to_numpy()
        self.configurations = runs.configurations.of_setups(own["setup"])
        self.metafeatures = metafeatures.loc[dataset]
        self.most = min(MOST, len(self.values))

    def best_so_far(self, order: np.ndarray) -> np.ndarray:
        """(MOST,) best value after each trial; it stays where all were tried."""
        best = np.maximum.accumulate(self.values[order[:MOST]])
        return np.pad(best, (0, MOST - len(best)), mode="edge")


def searched(new: NewDataset, first: np.ndarray, following: Callable[[list[int]], np.ndarray]) -> np.ndarray:
    """Order of trials: `first`, then each time the untried one that `following` gives the highest number."""
    order = list(first)
    while len(order) < new.most:
        wanted = following(order).copy()
        wanted[order] = -np.inf
        order.append(int(wanted.argmax()))
    return np.array(order)


def paper(model: Factorization, new: NewDataset) -> np.ndarray:
    """The paper's search: best configurations of near datasets, then expected improvement by equation 7."""
    assert isinstance(model.mean, ZeroMean)
    assert isinstance(model.likelihood, MeasureLikelihood)
    first = model.choose(new.configurations, new.metafeatures, model.mean.model.datasets or 1)
    X = np.nan_to_num(model.latent.positions(new.configurations, new.metafeatures))
    search = LatentSearch(model.latent.kernel, X)
    y = model.likelihood.standardized(new.values)

    def following(order: list[int]) -> np.ndarray:
        for position in order[search._trials :]:
            search.observe(position, float(y[position]))
        return expected_improvement(search.mean, np.sqrt(search.variance), search.best)

    return searched(new, first, following)


def ours(model: Factorization, new: NewDataset) -> np.ndarray:
    """Three configurations that are best together, then expected improvement over the best posterior mean."""
    first = model.choose(new.configurations, new.metafeatures, 3)
    prior = model.prior(new.configurations, new.metafeatures)

    def following(order: list[int]) -> np.ndarray:
        tried, values = np.array(order), new.values[order]
        of_trials = Prior(prior.mean[tried], prior.factor[tried])
        if isinstance(model.likelihood, MeasureLikelihood):
            y = model.likelihood.standardized(values)
            found = posterior_on_measure(prior, of_trials, y, model.latent.kernel.sigma2)
        elif np.ptp(values) == 0:
            return prior.mean
        else:
            found = Posterior(of_trials, model.targets_of(values)).predict(prior)
        return expected_improvement(found.mean, found.std, found.mean[tried].max(), XI)

    return searched(new, first, following)


def gp(new: NewDataset, encoded: np.ndarray, seed: int) -> np.ndarray:
    """A Gaussian process on the encoded hyperparameters, fitted again and again, from three random trials."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(1.0, (1e-1, 1e2), nu=2.5) + WhiteKernel(
        0.1, (1e-4, 1.0)
    )
    fitted = kernel

    def following(order: list[int]) -> np.ndarray:
        nonlocal fitted
        values = new.values[order]
        y = (values - values.mean()) / (values.std() or 1.0)
        learns = len(order) < 20 or len(order) % 10 == 0
        process = GaussianProcessRegressor(fitted, optimizer="fmin_l_bfgs_b" if learns else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(encoded[order], y)
        fitted = process.kernel_
        mean, std = process.predict(encoded, return_std=True)
        return expected_improvement(mean, std, float(y.max()), XI)

    return searched(new, np.random.default_rng(seed).permutation(len(new.values))[:3], following)


def random_draws(new: NewDataset, at_once: int, seed: int) -> np.ndarray:
    """(DRAWS, MOST) best so far of random search that tries so many in one trial."""
    curves = []
    for draw in range(DRAWS):
        order = np.random.default_rng([seed, draw]).permutation(len(new.values))[: at_once * MOST]
        best = np.maximum.accumulate(new.values[order])[at_once - 1 :: at_once]
        curves.append(np.pad(best, (0, max(0, MOST - len(best))), mode="edge")[:MOST])
    return np.array(curves)


def fold_curves(
    matrix: str, runs: RunTable, metafeatures: pd.DataFrame, held_out: list[str]
) -> dict[str, dict[str, np.ndarray]]:
    """Dataset -> method -> (draws, MOST) best so far."""
    import torch

    torch.set_num_threads(1)
    known, described = without_datasets(runs, held_out), metafeatures.drop(index=held_out)
    settings: dict[str, Any] = {"epochs": EPOCHS}
    if matrix != "starter":
        settings["metafeatures"] = list(metafeatures.columns)
    tenth = np.random.default_rng(0).random(len(known.runs)) < 0.1
    sparse = replace(known, runs=known.runs[tenth])
    start = time.perf_counter()
    models = {
        "pmf-paper": FactorizationLearner(**PAPER, **settings).fit(known, described),
        "pmf-paper-90": FactorizationLearner(**PAPER, **settings).fit(sparse, described),
        **{
            name: FactorizationLearner(**extra, **settings).fit(known, described)
            for name, extra in OURS.items()
        },
    }
    portfolio = PortfolioLearner(metafeatures=settings.get("metafeatures", SHAPE)).learn(known, described)
    print(f"{matrix}: a fold trained in {time.perf_counter() - start:.0f} s", flush=True)
    curves = {}
    for number, dataset in enumerate(held_out):
        new = NewDataset(runs, metafeatures, dataset)
        parameters = new.configurations.hyperparameters
        size = size_of(new.metafeatures)
        encoded = learn_encoding(parameters, size, one_hot=True).transform(parameters, size).to_numpy()
        encoded = standardized(encoded, *centre_and_spread(encoded))
        with threadpool_limits(1):
            orders = {
                "portfolio": np.argsort(
                    -portfolio.expect(new.configurations, new.metafeatures), kind="stable"
                ),
                "gp": gp(new, encoded, number),
                **{name: paper(models[name], new) for name in ("pmf-paper", "pmf-paper-90")},
                **{name: ours(models[name], new) for name in OURS},
            }
        found = {name: new.best_so_far(order)[None] for name, order in orders.items()}
        found |= {
            f"random{'' if many == 1 else f' {many}x'}": random_draws(new, many, number) for many in (1, 2, 4)
        }
        low, high = new.values.min(), new.values.max()
        curves[dataset] = {name: (high - best) / (high - low or 1) for name, best in found.items()}
    return curves


def keep_fold_curves(
    matrix: str, runs: RunTable, metafeatures: pd.DataFrame, held_out: list[str], file: Path
) -> None:
    """Write a fold's curves, so that a benchmark that was stopped goes on with the next fold."""
    curves = fold_curves(matrix, runs, metafeatures, held_out)
    flat = {f"{name}\n{dataset}": curve for dataset, of in curves.items() for name, curve in of.items()}
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **flat)
    write_bytes(file, content.getvalue())


def kept_curves(file: Path) -> dict[str, dict[str, np.ndarray]]:
    """What `keep_fold_curves` wrote."""
    curves: dict[str, dict[str, np.ndarray]] = {}
    with np.load(file, allow_pickle=False) as arrays:
        for key in arrays.files:
            name, _, dataset = key.partition("\n")
            curves.setdefault(dataset, {})[name] = arrays[key]
    return curves


def ranks(of_dataset: dict[str, np.ndarray], methods: list[str]) -> np.ndarray:
    """(methods, MOST) mean rank over draws; 1 = the lowest regret."""
    draws = [
        np.array([of_dataset[name][min(draw, len(of_dataset[name]) - 1)] for name in methods])
        for draw in range(DRAWS)
    ]
    return np.mean([rankdata(np.round(one, 12), axis=0) for one in draws], axis=0)


def report(matrix: str, curves: dict[str, dict[str, np.ndarray]], output: Path) -> None:
    """Print tables, and write CSV and picture."""
    from matplotlib.figure import Figure

    methods = ["random", "random 2x", "random 4x", "portfolio", "gp", "pmf-paper", "pmf-paper-90", *OURS]
    compared = methods[: methods.index("pmf") + 1]
    regret = np.array([[of[name].mean(axis=0) for name in methods] for of in curves.values()])
    rank = np.array([ranks(of, compared) for of in curves.values()])
    error = {"regret": regret, "rank": rank}
    rows = []
    for what, values in error.items():
        mean, se = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        print(f"\n{matrix}, {len(curves)} datasets: {what} after so many trials (standard error)")
        shown = [number for number in SHOWN if number <= MOST]
        print(f"{'':<16}" + "".join(f"{number:>15}" for number in shown))
        for place, name in enumerate(methods if what == "regret" else compared):
            cells = [f"{mean[place, n - 1]:.4f} ({se[place, n - 1]:.4f})" for n in shown]
            print(f"{name:<16}" + "".join(f"{cell:>15}" for cell in cells))
            rows += [
                {"matrix": matrix, "figure": what, "method": name, "trials": n + 1, "mean": m, "se": s}
                for n, (m, s) in enumerate(zip(mean[place], se[place], strict=True))
            ]
    pd.DataFrame(rows).to_csv(output.with_name(f"{output.name}-{matrix}.csv"), index=False)
    of_paper, of_four = compared.index("pmf-paper"), compared.index("random 4x")
    below = rank.mean(axis=0)[of_paper] < rank.mean(axis=0)[of_four]
    print(
        f"pmf-paper below random 4x in rank after {below.sum()} of {MOST} numbers of trials, not after "
        f"{(np.flatnonzero(~below) + 1).tolist()[:20]}"
    )
    one, other = regret[:, methods.index("pmf")], regret[:, methods.index("pmf-paper")]
    means = [
        (n, wilcoxon(one[:, n - 1], other[:, n - 1], alternative="less").pvalue) for n in SHOWN if n <= 25
    ]
    together = wilcoxon(one[:, :25].mean(axis=1), other[:, :25].mean(axis=1), alternative="less").pvalue
    print(
        "pmf below pmf-paper in regret, Wilcoxon p: "
        + ", ".join(f"{n}: {p:.1e}" for n, p in means)
        + f"; mean of 1 to 25: {together:.1e}"
    )
    figure = Figure(figsize=(13, 5), layout="constrained")
    for axes, (what, values) in zip(figure.subplots(1, 2), error.items(), strict=True):
        for place, name in enumerate(compared):
            mean, se = (
                values[:, place].mean(axis=0),
                values[:, place].std(axis=0, ddof=1) / np.sqrt(len(values)),
            )
            (line,) = axes.plot(np.arange(1, MOST + 1), mean, label=name, linewidth=2 if name == "pmf" else 1)
            axes.fill_between(
                np.arange(1, MOST + 1), mean - se, mean + se, color=line.get_color(), alpha=0.15
            )
        axes.set(
            xscale="log", xlabel="trials", ylabel=f"mean {what}", title=f"{matrix}, {len(curves)} datasets"
        )
        if what == "regret":
            axes.set_yscale("log")
            axes.set_ylim(bottom=1e-4)
    lines, names = axes.get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), fontsize=9, frameon=False)
    figure.savefig(output.with_name(f"{output.name}-{matrix}.png"), dpi=80)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--svm-grid", type=Path)
    parser.add_argument("--datasets", type=int, help="only so many of each matrix")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("build/factorization-curves"))
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    matrices = {"starter": starter()}
    if options.svm_grid is not None:
        matrices["svm-grid"] = svm_grid(options.svm_grid)
    for matrix, (runs, metafeatures) in matrices.items():
        datasets = sorted(runs.runs["dataset"].unique())[: options.datasets]
        folds = [datasets[number::FOLDS] for number in range(FOLDS)]
        name = options.output.name
        kept = [options.output.with_name(f"{name}-{matrix}-{len(datasets)}-{n}.npz") for n in range(FOLDS)]
        missing = [(fold, file) for fold, file in zip(folds, kept, strict=True) if not file.exists()]
        Parallel(n_jobs=options.jobs)(
            delayed(keep_fold_curves)(matrix, runs, metafeatures, fold, file) for fold, file in missing
        )
        done = [kept_curves(file) for file in kept]
        report(matrix, {name: of for fold in done for name, of in fold.items()}, options.output)


if __name__ == "__main__":
    main()
