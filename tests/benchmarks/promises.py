"""Whether what `recommend` promises is kept on datasets that were not learned from.

    python -m tests.benchmarks.promises [--warehouse DIR] [--measure NAME]

The first three choices on each dataset, without the runs of its family. Prints tables in Markdown.

Notation
    kept      share of datasets on which the value of the first choice lies in its 80 % interval
    off       median difference between the expected value of the first choice and its value
    stated    mean probability that a choice is better than the default of LightGBM
    true      share of the choices that are
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from metalearners import DEFAULT_LEARNER, LEARNERS
from metalearners.encoding.training_data import runs_on
from metalearners.predictions import InOwnUnit
from recommend.expectations import default_of
from tests.benchmarks.first_choices import parser_of
from tests.benchmarks.folds import left_out
from tests.benchmarks.what_wins import markdown
from warehouse.queries import RunTable
from warehouse.store import Warehouse

SIZES = (0, 1000, 3000, 10_000, np.inf)
PROBABILITIES = (0, 0.5, 0.7, 0.8, 0.9, 1)
TOP = 3


def main() -> None:
    options = parser_of(__doc__, LEARNERS).parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(None, options.measure), warehouse.metafeatures()
    for learner in options.learner or [DEFAULT_LEARNER]:
        found = promises(learner, runs, metafeatures)
        print(f"{learner}, {runs.measure}\n")
        first = found[found["rank"] == 1]
        by_size = first.groupby(pd.cut(first["rows"], SIZES), observed=True)
        print(summary(by_size, ["kept", "off"], {"off": "median"}), end="\n\n")
        compared = found.dropna(subset="stated")
        for title, of_rank in (("first", compared[compared["rank"] == 1]), ("all three", compared)):
            by_stated = of_rank.groupby(pd.cut(of_rank["stated"], PROBABILITIES), observed=True)
            print(f"{title}: {of_rank['stated'].mean():.3f} stated, {of_rank['true'].mean():.3f} true\n")
            print(summary(by_stated, ["stated", "true"], {}), end="\n\n")


def promises(learner: str, runs: RunTable, metafeatures: pd.DataFrame) -> pd.DataFrame:
    """One row for each of the first choices on each dataset; columns as above, and rank and rows."""
    default = default_of(runs.configurations)
    rows = []
    for tested, model in left_out(learner, runs, metafeatures):
        if not isinstance(model, InOwnUnit) or default is None:
            raise SystemExit(f"{learner} promises nothing")
        for dataset in tested:
            configurations, values = runs_on(runs, dataset)
            described = metafeatures.loc[dataset]
            chosen = model.choose(configurations, described, TOP)
            tried = configurations.take(chosen)
            expected = model.expect(tried, described)
            of_default = values[configurations.setups == default.setups[0]]
            beats = model.beats(tried, default, described)
            for place, value in enumerate(values[chosen]):
                is_default = tried.setups[place] == default.setups[0]
                rows.append(
                    {
                        "rank": place + 1,
                        "rows": described["NumberOfInstances"],
                        "kept": expected is not None and expected.low[place] <= value <= expected.high[place],
                        "off": np.nan if expected is None else abs(expected.value[place] - value),
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
