"""What is expected of the best of a dataset's own runs, where measured values are partly luck.

    python -m tests.benchmarks.lucky_trials [--half NAME] [--test-rows N] [--shared SHARE]

On each dataset the first choices of the default learner, without the runs of its family, are tried. Their
accuracies in the warehouse stand for the true ones. A measured one is off by as much as it varies on so many
test rows, and a share of that is the same for all configurations, which are tested on the same rows. Prints a
table of the configuration that was measured to be best, in Markdown.

Notation
    measured    the measured value, in the interval that its posterior would have around it
    expected    what the model expects after the trials (`metalearners.gp.conditioned`)
    bias, off   mean of the value less the true one, and of its absolute value
    kept        share of datasets whose true value lies in the 80 % interval
    width       of the interval
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.folds import HALVES, families_of, half_of
from metalearners.learners.functional_pca import FunctionalPCA
from metalearners.model_store import trained_model
from metalearners.predictions import Observations
from tests.benchmarks.report import markdown
from warehouse.store import STARTER, Warehouse

TRIALS = 15
VERY_MANY = 10**9
"""Test rows that leave nothing to luck."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--test-rows", type=int, default=200)
    parser.add_argument("--shared", type=float, default=0.5)
    options = parser.parse_args()
    warehouse, random = Warehouse.open(STARTER), np.random.default_rng(0)
    runs, metafeatures = warehouse.run_table(None, "predictive_accuracy"), warehouse.metafeatures()
    model = trained_model(warehouse).fitted
    assert isinstance(model, FunctionalPCA)
    families = families_of(runs)
    rows = []
    for dataset in families.index[families.map(half_of) == options.half]:
        without = model.without(families.index[families == families[dataset]].tolist())
        assert without is not None
        described = metafeatures.loc[dataset]
        configurations, true = runs_on(runs, dataset)
        luck = np.sqrt(options.shared) * random.normal()
        luck += np.sqrt(1 - options.shared) * random.normal(size=len(true))
        measured = np.clip(true + luck * np.sqrt(true * (1 - true) / options.test_rows), 0, 1)
        tried = without.choose(configurations, described, TRIALS)
        best = tried[[measured[tried].argmax()]]
        trials = Observations(configurations.take(tried), measured[tried], "logit", options.test_rows)
        sure = Observations(trials.configurations, trials.values, "logit", VERY_MANY)
        expected, naive = (
            without.condition(of).expect(configurations.take(best), described) for of in (trials, sure)
        )
        if expected is None or naive is None:
            continue
        shift = measured[best] - naive.value
        for name, value, low, high in (
            ("measured", measured[best], naive.low + shift, naive.high + shift),
            ("expected", *expected),
        ):
            rows.append(
                {
                    "": name,
                    "bias": value[0] - true[best][0],
                    "off": abs(value[0] - true[best][0]),
                    "kept": float(low[0] <= true[best][0] <= high[0]),
                    "width": high[0] - low[0],
                }
            )
    table = pd.DataFrame(rows).groupby("", sort=False)
    summary = table.mean().round(4)
    summary.insert(0, "datasets", table.size())
    print(markdown(summary.reset_index()))


if __name__ == "__main__":
    main()
