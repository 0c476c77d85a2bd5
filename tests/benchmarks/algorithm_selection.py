"""Algorithm selection on an ASlib scenario: share of the gap to each task's best algorithm that is closed.

    python -m tests.benchmarks.algorithm_selection FOLDER

FOLDER is a scenario with performance to maximize, such as OPENML-WEKA-2017: `algorithm_runs.arff`,
`feature_values.arff` and `cv.arff` with its ten splits. Each method learns from the tasks of nine splits and
selects one algorithm for each task of the tenth. The gap is that between the single best solver, with the
highest mean on the nine splits, and the virtual best solver, the best algorithm of each task:

    closed = (method - single best) / (virtual best - single best), of means over all tasks

0 is as good as the single best, 1 as the virtual best; the interval is from 2,000 bootstrap samples of the
tasks. `chosen` uses the design that closes most in five-fold cross-validation within the nine splits, without
the tenth. It takes two minutes.

Notation
    X   (d, q) features of tasks that vary on the training tasks: the scenario's features, and error rates of
        landmarkers over that of the largest class, with their differences
    Y   (d, a) performance of each algorithm
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier

from ingest.reading.formats.typed_tables import read_typed_table
from ingest.run_columns import numbers, task_keys
from ingest.run_files import ingest_run_file
from ingest.run_layouts import unified
from metalearners import new_learner
from metalearners.encoding.scores import standard_scores
from metalearners.encoding.training_data import without_datasets
from tests.benchmarks.report import markdown
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.parallel import one_thread

MEASURE = "predictive_accuracy"
LEARNERS = ("functional-pca", "lightgbm", "lightgbm-ranker", "knn", "average-rank")
Method = Callable[[Floats, Floats, Floats], Floats]
"""Scores of the algorithms on new tasks, (d', a), from X and Y of training tasks and X of the new ones."""


def mixed(Y: Floats) -> Floats:
    """Mean of clipped standard scores and normal scores of the ranks, within each task."""
    clipped = np.maximum(np.apply_along_axis(standard_scores, 1, Y), -2.0)
    ranks: Floats = np.apply_along_axis(rankdata, 1, Y)
    return (clipped + norm.ppf((ranks - 0.5) / Y.shape[1])) / 2


def filled(X: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Features with missing values filled by the training tasks' medians."""
    medians = np.nanmedian(X, axis=0)
    return np.where(np.isnan(X), medians, X), np.where(np.isnan(new), medians, new)


def normal_scores(X: Floats, new: Floats) -> Floats:
    """(d', q) normal scores of the ranks of new features among the training tasks; 0 where missing."""
    u = np.zeros_like(new)
    for j, (column, of_training) in enumerate(zip(new.T, X.T, strict=True)):
        known = np.sort(of_training[~np.isnan(of_training)])
        place = (known.searchsorted(column) + known.searchsorted(column, "right")) / 2
        u[:, j] = norm.ppf(np.clip(place, 0.5, len(known) - 0.5) / len(known))
        u[np.isnan(column), j] = 0.0
    return u


def distances(X: Floats, new: Floats) -> Floats:
    """(d', d) mean squared differences of normal scores between new and training tasks."""
    known, asked = normal_scores(X, X), normal_scores(X, new)
    return ((asked[:, None] - known[None]) ** 2).mean(axis=2)


def forest_classifier(X: Floats, Y: Floats, new: Floats) -> Floats:
    """Votes of a random forest for the best algorithm."""
    known, asked = filled(X, new)
    forest = RandomForestClassifier(300, random_state=0).fit(known, Y.argmax(axis=1))
    votes = np.zeros((len(new), Y.shape[1]))
    votes[:, forest.classes_] = forest.predict_proba(asked)
    return votes


def nearest(X: Floats, Y: Floats, new: Floats, *, neighbours: int = 10) -> Floats:
    """Mean performance on the nearest tasks, relative to the tasks' means."""
    near = np.argsort(distances(X, new), axis=1, kind="stable")[:, :neighbours]
    means: Floats = (Y - Y.mean(axis=1, keepdims=True))[near].mean(axis=1)
    return means


def regression_forest(X: Floats, Y: Floats, new: Floats, *, targets: Callable[[Floats], Floats]) -> Floats:
    """Extremely randomized trees that predict the targets of all algorithms together."""
    known, asked = filled(X, new)
    trees = ExtraTreesRegressor(200, min_samples_leaf=2, max_features=0.33, random_state=0)
    predicted: Floats = trees.fit(known, targets(Y)).predict(asked)
    return predicted


def kernel_regression(X: Floats, Y: Floats, new: Floats) -> Floats:
    """Kernel ridge regression of mixed scores around their means."""
    scores = mixed(Y)
    known, asked = np.exp(-distances(X, X)), np.exp(-distances(X, new))
    mean = scores.mean(axis=0)
    predicted: Floats = mean + asked @ np.linalg.solve(known + np.eye(len(known)), scores - mean)
    return predicted


def pairwise_forests(X: Floats, Y: Floats, new: Floats, *, algorithms: int = 8) -> Floats:
    """Votes of a cost-sensitive forest for each pair of algorithms, as in SATzilla 2011 and AutoFolio."""
    known, asked = filled(X, new)
    best = np.argsort(-mixed(Y).mean(axis=0))[:algorithms]
    votes = np.full((len(new), Y.shape[1]), -1.0)
    votes[:, best] = 0.0
    for one, other in combinations(best, 2):
        gain = Y[:, one] - Y[:, other]
        trees = ExtraTreesClassifier(100, min_samples_leaf=2, max_features=0.33, random_state=0)
        trees.fit(known, gain > 0, sample_weight=np.abs(gain) + 1e-6)
        won = trees.predict_proba(asked)[:, -1] if len(trees.classes_) == 2 else float(trees.classes_[0])
        votes[:, one] += won
        votes[:, other] += 1 - won
    return votes


def stacked(X: Floats, Y: Floats, new: Floats) -> Floats:
    """Mean of the kernel regression and the forest of mixed scores, each divided by its spread."""
    parts = [kernel_regression(X, Y, new), regression_forest(X, Y, new, targets=mixed)]
    return np.mean([part / part.std() for part in parts], axis=0)


def regret(Y: Floats) -> Floats:
    """Negative regret: 0 for the best algorithm of a task."""
    return Y - Y.max(axis=1, keepdims=True)


DESIGNS: Mapping[str, Method] = {
    "forests of regret": partial(regression_forest, targets=regret),
    "forests of mixed scores": partial(regression_forest, targets=mixed),
    "kernel regression of mixed scores": kernel_regression,
    "kernel regression and forests": stacked,
}
METHODS: Mapping[str, Method] = {
    "random forest classifier": forest_classifier,
    "10 nearest tasks": nearest,
    "pairwise cost-sensitive forests": pairwise_forests,
    **DESIGNS,
}


def chosen_design(X: Floats, Y: Floats, new: Floats) -> Floats:
    """The design that closes most of the gap within the training tasks."""
    fold = np.random.default_rng(0).permutation(len(Y)) % 5
    performance = dict.fromkeys(DESIGNS, 0.0)
    for name, design in DESIGNS.items():
        for tested in range(5):
            inside, outside = fold != tested, fold == tested
            picks = design(*usable(X[inside], X[outside], Y[inside])).argmax(axis=1)
            performance[name] += float(Y[outside][np.arange(outside.sum()), picks].sum())
    return DESIGNS[max(performance, key=lambda name: performance[name])](X, Y, new)


def usable(X: Floats, new: Floats, Y: Floats) -> tuple[Floats, Floats, Floats]:
    """X, Y and new X for a method, with the features that vary and that half of the training tasks have."""
    kept = [
        2 * np.isfinite(column).sum() >= len(column) and np.ptp(column[np.isfinite(column)]) > 0
        for column in X.T
    ]
    return X[:, kept], Y, new[:, kept]


def by_learner(name: str, runs: RunTable, qualities: pd.DataFrame, tested: pd.Index) -> Floats:
    """Scores predicted by one of our meta-learners for held-out tasks."""
    model = new_learner(name).fit(without_datasets(runs, tested), qualities.drop(index=tested))
    return np.array([model.predict(runs.configurations, qualities.loc[one]).mean for one in tested])


def with_errors(features: pd.DataFrame) -> pd.DataFrame:
    """The features, error rates of landmarkers over that of the largest class, and their differences."""
    base = np.maximum(1 - features["DefaultAccuracy"], 1e-3)
    errors = features.filter(regex="ErrRate$").div(base, axis=0).add_suffix(" over base")
    apart = {f"{a} less {b}": errors[a] - errors[b] for a, b in combinations(errors, 2)}
    return pd.concat([features, errors, pd.DataFrame(apart)], axis=1)


def read_scenario(folder: Path, place: Path) -> tuple[RunTable, pd.DataFrame, pd.DataFrame, pd.Series]:
    """Runs and qualities as a warehouse has them, unchanged features, and the split of each dataset.

    Args:
        place: a folder for the warehouse.
    """
    warehouse = Warehouse.create(place)
    ingest_run_file(
        warehouse,
        folder / "algorithm_runs.arff",
        flow_column="algorithm",
        qualities=folder / "feature_values.arff",
    )
    runs = warehouse.run_table(None, MEASURE, related=False)
    datasets = runs.runs.drop_duplicates("task").set_index("task")["dataset"]
    tables = []
    for name in ("feature_values.arff", "cv.arff"):
        table = unified(read_typed_table((folder / name).read_bytes()))
        columns = {one: numbers(one, own) for one, own in table.columns.items() if one != "task_id"}
        tables.append(pd.DataFrame(columns, index=datasets[task_keys(table)].to_numpy()))
    features, splits = tables
    return runs, warehouse.metafeatures(), features, splits["fold"].reindex(features.index)


def picks_of(
    runs: RunTable, qualities: pd.DataFrame, features: pd.DataFrame, splits: pd.Series
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Performance of each method's selection by dataset, and of all algorithms."""
    table = runs.runs.pivot_table(index="dataset", columns="setup", values="value")
    table = table.reindex(index=features.index, columns=runs.configurations.setups)
    X, Y = with_errors(features).to_numpy(np.float64), table.to_numpy(np.float64)
    picked: dict[str, pd.Series] = {}
    for split in sorted(splits.unique()):
        sys.stderr.write(f"split {split:g}\n")
        outside = (splits == split).to_numpy()
        given = usable(X[~outside], X[outside], Y[~outside])
        single = np.tile(Y[~outside].mean(axis=0), (outside.sum(), 1))
        scores = {"single best": single, "chosen": chosen_design(given[0], given[1], given[2])}
        scores |= {name: method(given[0], given[1], given[2]) for name, method in METHODS.items()}
        tested = features.index[outside]
        scores |= {name: by_learner(name, runs, qualities, tested) for name in LEARNERS}
        for name, predicted in scores.items():
            values = Y[outside][np.arange(outside.sum()), predicted.argmax(axis=1)]
            picked[name] = pd.concat([picked.get(name, pd.Series(dtype=float)), pd.Series(values, tested)])
    return pd.DataFrame(picked).reindex(features.index), table


def closed(picked: Floats, single: Floats, best: Floats) -> float:
    """Share of the gap between the single and the virtual best that is closed."""
    return float((picked - single).sum() / (best - single).sum())


def report(picked: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Mean performance and share of the gap closed, with its interval, by method."""
    single, best = picked["single best"].to_numpy(), table.max(axis=1).to_numpy()
    random = np.random.default_rng(0)
    samples = random.integers(len(picked), size=(2000, len(picked)))
    rows = []
    for name, of_method in {**picked, "virtual best": pd.Series(best)}.items():
        own = of_method.to_numpy()
        low, high = np.quantile(
            [closed(own[sample], single[sample], best[sample]) for sample in samples], [0.025, 0.975]
        )
        rows.append((name, own.mean(), closed(own, single, best), f"{low:.2f} to {high:.2f}"))
    return pd.DataFrame(rows, columns=["method", "mean", "gap closed", "95 %"]).set_index("method")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place, one_thread():
        scenario = read_scenario(arguments.folder, Path(place) / "scenario")
        print(markdown(report(*picks_of(*scenario))))


if __name__ == "__main__":
    main()
