"""Whether the promises of `recommend` are kept on held-out datasets.

    python -m tests.benchmarks.promises [--task regression] [--warehouse DIR] [--measure NAME]

Evaluates the first three choices on each dataset, without the runs of its family, among the configurations
with the same training size: the smallest of its runs, and also larger ones where there are runs. Prints
tables in Markdown.

Notation
    kept      share of datasets on which the value of the first choice lies in its 80 % interval
    off       median difference between the expected value of the first choice and its value
    bias      mean of expected value minus value
    stated    mean probability that a choice is better than LightGBM's default
    true      share of the choices that are better
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ingest.flows import flow_for
from metalearners import DEFAULT_LEARNER, LEARNERS
from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.folds import Half
from recommend.ranking.performance_forecast import default_of
from tests.benchmarks.first_choices import parser_of, runs_of
from tests.benchmarks.folds import left_out
from tests.benchmarks.report import markdown
from tests.benchmarks.task_kinds import KINDS
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse

ROWS = (0, 400, 1000, 2000, 8000, np.inf)
PROBABILITIES = (0, 0.5, 0.7, 0.8, 0.9, 1)
TOP = 3


def main() -> None:
    options = parser_of(__doc__, LEARNERS).parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = runs_of(warehouse, options), warehouse.metafeatures()
    reference = flow_for("lightgbm", KINDS[options.task].task_type).name
    for learner in options.learner or [DEFAULT_LEARNER]:
        found = promises(learner, runs, metafeatures, reference, options.half)
        print(f"{learner}, {runs.measure}\n")
        first = found[found["rank"] == 1]
        by_rows = first.groupby(pd.cut(first["rows"], ROWS), observed=True)
        print("by the rows that were fitted on\n")
        print(summary(by_rows, ["kept", "off", "bias"], {"off": "median"}), end="\n\n")
        compared = found.dropna(subset="stated")
        for title, of_rank in (("first", compared[compared["rank"] == 1]), ("all three", compared)):
            by_stated = of_rank.groupby(pd.cut(of_rank["stated"], PROBABILITIES), observed=True)
            print(f"{title}: {of_rank['stated'].mean():.3f} stated, {of_rank['true'].mean():.3f} true\n")
            print(summary(by_stated, ["stated", "true"], {}), end="\n\n")
            by_rows = of_rank.groupby(pd.cut(of_rank["rows"], ROWS), observed=True)
            print(summary(by_rows, ["stated", "true"], {}), end="\n\n")


def promises(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    reference: str,
    half: Half | None,
) -> pd.DataFrame:
    """One row for each of the first choices on each dataset; columns as above, and rank and rows.

    Args:
        reference: flow whose default they are compared with.
    """
    default = default_of(runs.configurations, reference)
    every = pd.concat([runs.runs, runs.larger])
    rows = []
    for tested, model in left_out(learner, runs, metafeatures, half=half):
        if default is None:
            raise SystemExit(f"{learner} promises nothing")
        of_tested = every[every["dataset"].isin(tested)]
        for (dataset, fitted_on), of_rows in of_tested.groupby(["dataset", "train_rows"], dropna=False):
            configurations, values = runs_on(replace(runs, runs=of_rows), dataset)
            described = metafeatures.loc[dataset]
            train_rows = described["NumberOfInstances"] if np.isnan(fitted_on) else float(fitted_on)
            chosen = model.choose(configurations, described, TOP)
            to_try = configurations.take(chosen)
            expected = model.expect(to_try, described, train_rows)
            of_default = values[configurations.setups == default.setups[0]]
            beats = model.beats(to_try, default, described, train_rows)
            for place, value in enumerate(values[chosen]):
                is_default = to_try.setups[place] == default.setups[0]
                rows.append(
                    {
                        "rank": place + 1,
                        "rows": train_rows,
                        "kept": expected is not None and expected.low[place] <= value <= expected.high[place],
                        "off": np.nan if expected is None else abs(expected.value[place] - value),
                        "bias": np.nan if expected is None else expected.value[place] - value,
                        "stated": np.nan if is_default or not len(of_default) else beats[place],
                        "true": len(of_default) > 0 and value > of_default[0],
                    }
                )
    return pd.DataFrame(rows)


def summary(groups: pd.api.typing.DataFrameGroupBy, columns: list[str], by: dict[str, str]) -> str:
    table = groups[columns].agg({column: by.get(column, "mean") for column in columns}).round(3)
    table.insert(0, "n", groups.size())
    return markdown(table.rename_axis("").reset_index().astype({"": str}))


if __name__ == "__main__":
    main()
