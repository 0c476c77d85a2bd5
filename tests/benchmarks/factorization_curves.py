"""Regret and average rank against trials (Figure 3 of Fusi, Sheth and Elibol 2018) on two real matrices.

    python -m tests.benchmarks.factorization_curves --svm-grid ../shared/data/svm-grid/svm_grid.csv.gz
        [--datasets N] [--jobs 2] [--output build/factorization-curves]

The matrices are the bundled starter and, where given, a grid of support
vector machines (288 x 35). Datasets are dealt into five folds; a fold's searches know the other folds. Every
configuration of a dataset may be tried once; what is read off is the best accuracy so far. (The paper ranks
by a validation set and states regret on a test set; these matrices have one value of a run.)

    random, random 2x, random 4x, auto-sklearn, fmlp, gp     see `factorization_baselines`
    portfolio        the greedy portfolio, then the order of mean ranks
    pmf-paper        the paper's model: warm start, equation 7, expected improvement
    pmf-paper-90     the same, from a matrix of which 90 % are missing
    pmf              ours, and without each of its three additions

Regret is normalized by the range of the dataset's values. Ranks are among the methods on one dataset after
as many trials; ties share their mean rank. It prints tables, and writes them as CSV and a picture. Tests are
Wilcoxon's signed-rank test over datasets, two-sided, corrected by Holm for all that are printed.
"""

from __future__ import annotations

import argparse
import io
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests
from threadpoolctl import threadpool_limits

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.matrices import centre_and_spread, standardized
from metalearners.encoding.training_data import size_of, training_data, without_datasets
from metalearners.gp.posterior import Posterior, Prior
from metalearners.learners.factorization.learner import FactorizationLearner
from metalearners.learners.factorization.model import (
    Factorization,
    MeasureLikelihood,
    ZeroMean,
    posterior_on_measure,
)
from metalearners.learners.neighbours import NearestBest, NearestBestLearner, PortfolioLearner
from recommend.bo.acquisition import XI, expected_improvement
from recommend.bo.simulation.factorization import PAPER, LatentSearch
from tests.benchmarks.factorization_baselines import (
    DRAWS,
    MOST,
    WARM_START,
    NewDataset,
    auto_sklearn,
    fmlp,
    gp,
    random_draws,
    searched,
)
from tests.benchmarks.factorized_perceptron import Training
from tests.tables import runs_of_flow
from warehouse.qualities import SHAPE
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.files import write_bytes

FOLDS = 5
EPOCHS = 300  # as in the paper
TESTED = (1, 3, 10, 25, 50)
SHOWN = (1, 2, 3, 5, 10, 15, 25, 50, 100, 200)
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
    parameters = table[own].assign(setup=setups).drop_duplicates("setup").set_index("setup")
    runs = pd.DataFrame({"dataset": table["dataset"], "setup": setups, "value": table["accuracy"]})
    return runs_of_flow(runs, parameters, "svm"), table.groupby("dataset")[described].first()


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
    names = settings.get("metafeatures", SHAPE)
    portfolio = PortfolioLearner(metafeatures=names).learn(known, described)
    nearest = NearestBestLearner(datasets=WARM_START, metafeatures=names).learn(known, described)
    assert isinstance(nearest, NearestBest)
    data = training_data(known, described)
    by_dataset = np.argsort(data.dataset, kind="stable")
    likelihood = MeasureLikelihood.of_runs(data.values, data.dataset)
    perceptron = Training(
        nearest.x, data.dataset[by_dataset], likelihood.standardized(data.values[by_dataset])
    )
    print(f"{matrix}: a fold trained in {time.perf_counter() - start:.0f} s", flush=True)
    curves = {}
    for number, dataset in enumerate(held_out):
        new = NewDataset(runs, metafeatures, dataset)
        parameters = new.configurations.hyperparameters
        size = size_of(new.metafeatures)
        encoded = learn_encoding(parameters, size, one_hot=True).transform(parameters, size).to_numpy()
        encoded = standardized(encoded, *centre_and_spread(encoded))
        x = nearest.points(new.configurations, new.metafeatures)
        y = likelihood.standardized(new.values)
        with threadpool_limits(1):
            orders = {
                "auto-sklearn": auto_sklearn(new, x, nearest, number),
                "fmlp": fmlp(new, x, y, perceptron, number),
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


def tests(regret: np.ndarray, methods: list[str], one: str) -> str:
    """Lines: Wilcoxon's p of each other method against `one`, corrected for all of them.

    Args:
        regret: (datasets, methods, MOST).
    """
    others = [name for name in methods if name != one]
    own = regret[:, methods.index(one)]
    apart = {name: own - regret[:, methods.index(name)] for name in others}  # below 0 where `one` is better
    columns = {str(n): (lambda gap, n=n: gap[:, n - 1]) for n in TESTED}
    columns["mean of 1 to 25"] = lambda gap: gap[:, :25].mean(axis=1)
    gaps = [[part(apart[name]) for part in columns.values()] for name in others]
    p = [1.0 if not gap.any() else float(wilcoxon(gap).pvalue) for row in gaps for gap in row]
    corrected = iter(multipletests(p, method="holm")[1].tolist())
    lines = [f"{'':<16}" + "".join(f"{name:>17}" for name in columns)]
    for name, row in zip(others, gaps, strict=True):
        cells = [f"{'<' if gap.mean() < 0 else '>'} {next(corrected):.1e}" for gap in row]
        lines.append(f"{name:<16}" + "".join(f"{cell:>17}" for cell in cells))
    return "\n".join(lines)


def report(matrix: str, curves: dict[str, dict[str, np.ndarray]], output: Path) -> None:
    """Print tables, and write CSV and picture."""
    from matplotlib.figure import Figure

    of_paper = ["random", "random 2x", "random 4x", "auto-sklearn", "fmlp", "pmf-paper", "pmf-paper-90"]
    methods = [*of_paper, "portfolio", "gp", *OURS]
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
    for one in ("pmf-paper", "pmf"):
        print(f"\n{matrix}: two-sided p (Holm) against {one}; < where the regret of {one} is lower")
        print(tests(regret, methods, one))
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
