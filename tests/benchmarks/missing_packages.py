"""What an installation without CatBoost, XGBoost or both loses, on datasets left out with their families.

    python -m tests.benchmarks.missing_packages [--task regression] [--measure NAME] [--half NAME]
        [--warehouse DIR]

A model of the default learner ranks the configurations of each dataset without the runs of its family
(`tests.benchmarks.folds`) and chooses among all of them, and among those that are left where a package is
missing. Prints a table in Markdown.

Notation
    first, of 3  mean value of the first choice, and of the best of the first three
    full size    the same among the runs on the most rows of each dataset
    loss         difference from choosing among all, with half the width of its 95 % confidence interval
    changed      share of the datasets on which the first choice is another one
    p            of the loss of the first choice: Wilcoxon's signed-rank test, two-sided, Holm
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from metalearners import DEFAULT_LEARNER
from metalearners.encoding.scores import oriented
from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.folds import Half
from metalearners.evaluation.protocol import interval
from tests.benchmarks.first_choices import AT_MOST_ROWS, parser_of, runs_of
from tests.benchmarks.folds import left_out
from tests.benchmarks.report import markdown
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse

MISSING = {"": (), "CatBoost": ("catboost",), "XGBoost": ("xgboost",), "both": ("catboost", "xgboost")}
TOPS = (1, 3)


def main() -> None:
    options = parser_of(__doc__, [DEFAULT_LEARNER]).parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs = runs_of(warehouse, options)
    found = reached(warehouse, runs, options.half)
    print(f"{runs.measure}, {found['dataset'].nunique()} datasets\n\n{markdown(losses(found))}")


def reached(warehouse: Warehouse, runs: RunTable, half: Half | None) -> pd.DataFrame:
    """A row per dataset, size and missing packages: the first setup, and values of the choices, oriented."""
    measure, metafeatures = runs.measure, warehouse.metafeatures()
    values = {
        "all runs": runs.runs,
        "full size": warehouse.sql(AT_MOST_ROWS, {"measure": measure}),
    }
    known = {
        size: pd.Series(oriented(of["value"].to_numpy(), measure), [of["dataset"], of["setup"]])
        .groupby(level=[0, 1])
        .mean()
        for size, of in values.items()
    }
    rows = []
    for tested, model in left_out(DEFAULT_LEARNER, runs, metafeatures, half=half):
        for dataset in tested:
            configurations, _ = runs_on(runs, dataset)
            for size, value in known.items():
                has_run = np.flatnonzero(configurations.setups.isin(value[dataset].index))
                of_size = configurations.take(has_run)
                for missing, flows in MISSING.items():
                    among = of_size.take(
                        ~of_size.algorithms.str.removesuffix("_regressor").isin(flows).to_numpy()
                    )
                    chosen = among.setups[model.choose(among, metafeatures.loc[dataset], max(TOPS))]
                    got = value[dataset][chosen].to_numpy()
                    rows.append((dataset, size, missing, chosen[0], *(got[:top].max() for top in TOPS)))
    return pd.DataFrame(rows, columns=["dataset", "size", "missing", "setup", *TOPS])


def losses(found: pd.DataFrame) -> pd.DataFrame:
    """A row per size and missing packages."""
    table, p = [], []
    for size, of_size in found.groupby("size", sort=False):
        wide = of_size.pivot_table(index="dataset", columns="missing", values=list(TOPS))
        setups = of_size.pivot_table(index="dataset", columns="missing", values="setup", aggfunc="first")
        for missing in MISSING:
            lost = {top: wide[top][""] - wide[top][missing] for top in TOPS}
            row = {"": size, "without": missing or "nothing"}
            row |= {f"first {top}": float(wide[top][missing].mean()) for top in TOPS}
            if missing:
                row |= {f"loss of {top}": _with_interval(lost[top]) for top in TOPS}
                row["changed"] = f"{(setups[missing] != setups['']).mean():.0%}"
                p.append(wilcoxon(lost[1]).pvalue)
            table.append(row)
    corrected = iter(multipletests(p, method="holm")[1])
    for row in table:
        row["p"] = "" if row["without"] == "nothing" else f"{next(corrected):.2g}"
    return pd.DataFrame(table).fillna("")


def _with_interval(lost: pd.Series) -> str:
    mean = interval(np.asarray(lost).tolist())
    return f"{mean.mean:.4f} ± {mean.high - mean.mean:.4f}"


if __name__ == "__main__":
    main()
