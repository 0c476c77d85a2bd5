"""Choices and expected values after trials on held-out datasets.

    python -m tests.benchmarks.after_trials [--task regression] [--measure NAME] [--half NAME]

The default learner is trained without a dataset's family, then conditioned on trials of some of the dataset's
configurations. The values of known runs serve as true values; those of trials have the noise of 200 or 2,000
test rows in addition, half of whose variance is common to all trials. Prints a table in Markdown.

Notation
    trials    the first 12 choices, 12 random configurations, or half of all
    regret    (best - first choice) / (best - worst) among all configurations, after the trials
    best      the trial with the highest measured value
    untried   the ten untried configurations with the highest expected values
    error     mean absolute difference of expected and true values, on the scale of the measure's link
    bias      mean difference
    kept      share of true values within their 80 % intervals
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from metalearners import DEFAULT_LEARNER
from metalearners.encoding.links import LINKS
from metalearners.encoding.training_data import runs_on
from metalearners.learners.base import Model
from metalearners.predictions import Observations
from metalearners.values_for_use import values_for_use
from tests.benchmarks.first_choices import parser_of, runs_of
from tests.benchmarks.folds import left_out
from tests.benchmarks.report import markdown
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.table import ConfigurationTable

TRIALS = 12
TEST_ROWS = (200, 2000)
LEAST_RUNS = 40
"""Datasets with fewer runs are left out."""


def main() -> None:
    options = parser_of(__doc__, [DEFAULT_LEARNER]).parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = values_for_use(runs_of(warehouse, options)), warehouse.metafeatures()
    random = np.random.default_rng(0)
    found = [
        row
        for datasets, model in left_out(DEFAULT_LEARNER, runs, metafeatures, half=options.half)
        for dataset in datasets
        for row in judged(model, *runs_on(runs, dataset), metafeatures.loc[dataset], runs.measure, random)
    ]
    print(markdown(pd.DataFrame(found).groupby(["trials", "test rows"], sort=False).mean()))


def judged(
    model: Model,
    configurations: ConfigurationTable,
    values: Floats,
    metafeatures: pd.Series,
    measure: str,
    random: np.random.Generator,
) -> Iterator[dict[str, Any]]:
    """A row for each kind of trials and number of test rows."""
    n = len(values)
    if n < LEAST_RUNS or not np.ptp(values):
        return
    name = MEASURES[measure].link
    link = LINKS[name]
    true = link.to_z(values)
    ways: dict[str, Positions] = {
        f"first {TRIALS}": model.choose(configurations, metafeatures, TRIALS),
        f"{TRIALS} random": random.permutation(n)[:TRIALS],
        "half": random.permutation(n)[: n // 2],
    }
    for (way, tried), test_rows in product(ways.items(), TEST_ROWS):
        std = np.sqrt(0.5) * np.nan_to_num(link.sampling_std(true[tried], test_rows))
        measured = true[tried] + std * random.normal() + std * random.normal(size=len(tried))
        trials = Observations(configurations.take(tried), link.to_values(measured), name, test_rows)
        after = model.condition(trials)
        expected = after.expect(configurations, metafeatures)
        if expected is None:
            continue
        value, low, high = (link.to_z(part) for part in expected)
        untried = np.setdiff1d(np.arange(n), tried)
        best_untried = untried[np.argsort(-value[untried])[:10]]
        first = after.choose(configurations, metafeatures, 1)[0]
        row = {
            "trials": way,
            "test rows": test_rows,
            "regret": (values.max() - values[first]) / np.ptp(values),
        }
        for kind, places in (("best", tried[[measured.argmax()]]), ("untried", best_untried)):
            off = value[places] - true[places]
            kept = (low[places] <= true[places]) & (true[places] <= high[places])
            row[f"{kind}: error"] = np.abs(off).mean()
            row[f"{kind}: bias"], row[f"{kind}: kept"] = off.mean(), kept.mean()
        yield row


if __name__ == "__main__":
    main()
