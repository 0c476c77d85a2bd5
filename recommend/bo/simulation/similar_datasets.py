"""The start from the truly most similar datasets, an upper bound for other starts (OPT-3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metalearners.evaluation.protocol import kendall_tau
from metalearners.learners.neighbours import OrderedFirst
from recommend.bo.warmstart import SEEDS
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable


def choices_of_most_correlated(
    model: OrderedFirst, table: ConfigurationTable, metafeatures: pd.Series, values: Floats, n: int = SEEDS
) -> Positions:
    """Positions of the best configurations of the `n` datasets that rank `table` most alike (OPT-n).

    Thesis, section 6.5. Rankings are compared by its Kendall's tau (eq. 6.1). A configuration that another
    dataset has no run of counts there as the mean of the five nearest runs, weighted by 1 / distance.

    Args:
        values: (len(table),) true values on the dataset, larger is better.
    """
    x = model.points(table, metafeatures)
    taus = np.array(
        [kendall_tau(model.function(dataset, model.scores, x), values) for dataset in range(len(model.ends))]
    )
    return model.choose_for(x, np.argsort(-taus, kind="stable")[:n], n)
