"""Quality of learners' first choices, compared with the usual defaults.

    python -m tests.benchmarks.first_choices [--task regression] [--measure NAME] [--learner NAME ...]
        [--half NAME] [--least-rows N]

Learners rank the configurations of each dataset without the runs of its family (`tests.benchmarks.folds`); a
default is the same on every dataset. Prints tables in Markdown.

Notation
    tau         Kendall's tau-b between expected and true order
    regret k    (best - best of the first k) / (best - worst) of a dataset's runs, from 0 to 1, with half the
                width of the mean's 95 % interval; a default is not charged for datasets on which it failed
    full size   the same, with choices and regrets among the runs with the largest training size of each
                dataset: the best ones on fewer rows, and the defaults
    p           Wilcoxon's signed-rank test of the first choice against that of the first row, Holm
    p of 3      the same for the best of three at full size
    better      datasets on which the first choice is better than a default, worse, and as good (or the
                default itself)
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from ingest.flows import flows_of, get_flow
from ingest.keys import setup_of
from metalearners.encoding.scores import learned_form, oriented
from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.folds import HALVES, Half, half_of
from metalearners.evaluation.protocol import TOPS, interval, kendall_tau
from tests.benchmarks.folds import left_out
from tests.benchmarks.report import markdown, regrets
from tests.benchmarks.task_kinds import KINDS
from warehouse.questions.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import TaskType

LEARNERS = ("functional-pca", "portfolio", "average-rank", "nearest-25", "lightgbm")
DEFAULTS = (
    "catboost",
    "lightgbm",
    "xgboost",
    "hist_gradient_boosting",
    "random_forest",
    "mlp",
    "svm",
    "logistic_regression",
    "ridge",
)
"""Flows whose defaults are the usual ones, by users' names; those of the task type are compared."""

AT_MOST_ROWS = """
WITH valued AS (
    SELECT t.dataset, r.setup, r.train_rows, e.value
    FROM runs r JOIN tasks t USING (task) JOIN evaluations e USING (run)
    WHERE e.measure = $measure AND r.outcome = 'success' AND e.value IS NOT NULL
)
SELECT dataset, setup, avg(value) AS value FROM valued v
WHERE train_rows IS NULL OR train_rows = (SELECT max(train_rows) FROM valued w WHERE w.dataset = v.dataset)
GROUP BY dataset, setup
"""

Choices = Mapping[str, Sequence[str]]
"""Setups to try, in order, by dataset."""


def main() -> None:
    parser = parser_of(__doc__, LEARNERS)
    parser.add_argument(
        "--least-rows", type=int, default=0, help="of the datasets that learners are judged by"
    )
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs = runs_of(warehouse, options)
    metafeatures = warehouse.metafeatures()
    of_size = with_rows(metafeatures, options.least_rows)
    fewest = regrets_of(runs.runs, runs.measure)
    most = regrets_of(warehouse.sql(AT_MOST_ROWS, {"measure": runs.measure}), runs.measure)
    taus: dict[str, pd.Series] = {}
    choices: dict[str, Choices] = {}
    at_full_size: dict[str, Choices] = {}
    for learner in options.learner or LEARNERS:
        taus[learner], choices[learner], at_full_size[learner] = judged(
            learner, runs, metafeatures, most, options.half, of_size
        )
    of_defaults = defaults(runs, KINDS[options.task].task_type, options.half, of_size)
    choices |= of_defaults
    at_full_size |= of_defaults
    rows = {
        name: {"tau": f"{taus[name].mean():.3f}" if name in taus else ""}
        | {f"regret {top}": worth(fewest, of, top) for top in TOPS if top <= most_choices(of)}
        | {
            f"full size {top}": worth(most, at_full_size[name], top)
            for top in TOPS
            if top <= most_choices(of)
        }
        for name, of in choices.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table["p"] = significance({name: best_of(fewest, of, 1) for name, of in choices.items()})
    table["p of 3"] = significance({name: best_of(most, at_full_size[name], 3) for name in taus})
    table = table.fillna("")
    n = len(next(iter(choices.values())))
    print(f"{runs.measure}, {n} datasets\n\n{markdown(table.reset_index(names=''))}\n")
    against = {
        name: {other: wins(fewest, choices[name], of_defaults[other]) for other in of_defaults}
        for name in taus
    }
    print(markdown(pd.DataFrame(against).reset_index(names="better")))


def wins(regret: pd.Series, choices: Choices, others: Choices) -> str:
    """Number of datasets on which the first choice is better than another one, worse, and equal."""
    apart = (best_of(regret, others, 1) - best_of(regret, choices, 1)).dropna()
    return f"{(apart > 0).sum()}, {(apart < 0).sum()}, {(apart == 0).sum()}"


def with_rows(metafeatures: pd.DataFrame, least: int) -> frozenset[str]:
    """The datasets with at least `least` rows."""
    rows = metafeatures["NumberOfInstances"]
    return frozenset(rows.index[rows >= least])


def judged(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    most: pd.Series,
    half: Half | None,
    datasets: Collection[str],
    settings: Mapping[str, Any] | None = None,
) -> tuple[pd.Series, Choices, Choices]:
    """Tau, and first choices on each of `datasets`: among all its runs, and among those in `most`."""
    taus, choices, at_full_size = {}, {}, {}
    of_dataset = most.reset_index().groupby("dataset")["setup"]
    for tested, model in left_out(learner, runs, metafeatures, half=half, settings=settings):
        for dataset in tested.intersection(list(datasets), sort=False):
            configurations, values = runs_on(runs, dataset)
            described = metafeatures.loc[dataset]
            taus[dataset] = kendall_tau(model.predict(configurations, described).mean, values)
            of_most = configurations.take(configurations.setups.isin(of_dataset.get_group(dataset)))
            for found, among in ((choices, configurations), (at_full_size, of_most)):
                found[dataset] = among.setups[model.choose(among, described, max(TOPS))].tolist()
    return pd.Series(taus), choices, at_full_size


def parser_of(description: str | None, learners: Collection[str]) -> argparse.ArgumentParser:
    """A command line with options for a warehouse, a task type and measure, and learners and their half."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warehouse", default=STARTER)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--measure", type=canonical_measure, help="default: accuracy, or RMSE")
    parser.add_argument("--learner", action="append", choices=learners)
    parser.add_argument("--half", choices=HALVES, help="of the families of datasets; default: both")
    return parser


def runs_of(warehouse: Warehouse, options: argparse.Namespace) -> RunTable:
    """The runs of the task type, with the learned measure for the requested one."""
    task_type = KINDS[options.task].task_type
    measure = task_type.learned_measure(options.measure or task_type.default_measure)
    return warehouse.run_table(None, measure, task_type=task_type)


def regrets_of(runs: pd.DataFrame, measure: str) -> pd.Series:
    """Regret by dataset and setup; several runs of a setup are averaged."""
    values = runs.assign(value=learned_form(oriented(runs["value"].to_numpy(), measure), measure))
    means = values.groupby(["dataset", "setup"])["value"].mean().to_frame()
    return regrets(means)


def defaults(
    runs: RunTable, task_type: TaskType, half: Half | None, datasets: Collection[str]
) -> dict[str, Choices]:
    """The default of each flow, as the only choice on each of `datasets` where it ran successfully."""
    of_half = runs.runs[[half in (None, half_of(family)) for family in runs.runs["family"]]]
    of_half = of_half[of_half["dataset"].isin(datasets)]
    titles = {get_flow(name).title for name in DEFAULTS}
    setups = {
        name: setup_of(Configuration(name, flow.default()))
        for name, flow in flows_of(task_type).items()
        if flow.title in titles
    }
    datasets_of = of_half.groupby("setup")["dataset"].unique()
    return {
        f"default of {name}": {dataset: [setup] for dataset in datasets_of[setup]}
        for name, setup in setups.items()
        if setup in datasets_of
    }


def most_choices(choices: Choices) -> int:
    return max(map(len, choices.values()))


def best_of(regret: pd.Series, choices: Choices, top: int) -> pd.Series:
    """The regret of the best of the first choices, by dataset."""
    known = regret.to_dict()
    return pd.Series(
        {
            dataset: min(known.get((dataset, setup), 1.0) for setup in setups[:top])
            for dataset, setups in choices.items()
        }
    )


def worth(regret: pd.Series, choices: Choices, top: int) -> str:
    mean = interval(best_of(regret, choices, top).tolist())
    return f"{mean.mean:.3f} ± {mean.high - mean.mean:.3f}"


def significance(figure: Mapping[str, pd.Series]) -> pd.Series:
    """Holm-corrected p of every row against the first, from a figure by dataset; empty for the first."""
    first, *others = figure
    differences = ((figure[first] - figure[name]).dropna() for name in others)
    p = [wilcoxon(difference).pvalue for difference in differences]
    corrected = multipletests(p, method="holm")[1]
    return pd.Series(["", *(f"{value:.2g}" for value in corrected)], index=list(figure))


if __name__ == "__main__":
    main()
