"""What each group of features brings to the default learner: datasets left out, with and without it.

    python -m tests.benchmarks.feature_groups [--measure NAME] [--least-rows 500] [--half NAME]

Groups are those of `metalearners.learners.descriptions`. Tau, regret and full size are those of
`first_choices`; prints a table in Markdown.

Notation
    p of tau, of 3    against all groups: Wilcoxon's signed-rank test over datasets, Holm; of tau, and of the
                      regret of three at full size
"""

from __future__ import annotations

import pandas as pd

from metalearners import DEFAULT_LEARNER
from metalearners.learners.descriptions import FEATURE_GROUPS
from tests.benchmarks.first_choices import (
    AT_MOST_ROWS,
    best_of,
    judged,
    parser_of,
    regrets_of,
    significance,
    with_rows,
    worth,
)
from tests.benchmarks.what_wins import markdown
from warehouse.store import Warehouse

ALL = tuple(FEATURE_GROUPS)


def main() -> None:
    parser = parser_of(__doc__, [DEFAULT_LEARNER])
    parser.add_argument("--least-rows", type=int, default=500, help="of the datasets that are judged")
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(None, options.measure), warehouse.metafeatures()
    of_size = with_rows(metafeatures, options.least_rows)
    most = regrets_of(warehouse.sql(AT_MOST_ROWS, {"measure": runs.measure}), runs.measure)
    selections = {"all": ALL} | {f"all but {group}": tuple(g for g in ALL if g != group) for group in ALL}
    taus, found, lines = {}, {}, {}
    for name, groups in selections.items():
        taus[name], _, found[name] = judged(
            DEFAULT_LEARNER, runs, metafeatures, most, options.half, of_size, {"groups": groups}
        )
        lines[name] = {"tau": f"{taus[name].mean():.3f}"} | {
            f"full size {top}": worth(most, found[name], top) for top in (1, 3)
        }
        print(name, lines[name], flush=True)
    table = pd.DataFrame.from_dict(lines, orient="index")
    table["p of tau"] = significance(taus)
    table["p of 3"] = significance({name: best_of(most, of, 3) for name, of in found.items()})
    print(f"\n{runs.measure}, {len(taus['all'])} datasets\n\n{markdown(table.reset_index(names=''))}")


if __name__ == "__main__":
    main()
