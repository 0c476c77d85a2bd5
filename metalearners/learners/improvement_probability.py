"""Probability that one configuration is better than another.

The first choice has the best of many predictions, so its prediction tends to be too high. And a configuration
that is better on some thousand rows need not be better on more. Both effects are learned from comparisons of
first choices with one reference configuration, which was run everywhere regardless of predictions: on the
training datasets, predicted without the runs of their families, and also on more rows where runs were
repeated on more rows.

Notation
    t         comparisons
    gain      (t,) predicted lead over the other configuration, in the model's standard deviations
    rows      (t,) training size of both
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import TrainingData
from warehouse.support.arrays import Floats, Positions

_LOG_FACTORS = (-3.0, 3.0)
"""Range of the factor, in logarithms; if no comparison contradicts a gain, it is the least."""
_WIDENINGS = (0.0, 2.0)
"""Range of the exponent of the rows."""
REFERENCE = "headstart:lightgbm/d1b8f16b37285445"
"""Setup that first choices are compared with: our LightGBM's default."""
REFERENCE_OF_NUMBERS = "headstart:lightgbm_regressor/e8a86ca19b4d0737"
"""The same for regression."""
_OTHERS = 50
"""Most configurations of a dataset that its first choice is compared with, if there is no reference."""
_FEWEST = 20
"""Fewest datasets with a comparison for the reference to be used."""


@dataclass(frozen=True, kw_only=True)
class GainSpread:
    """Factor of the standard deviations of gains: factor (rows / usual_rows)^widening."""

    factor: float
    """Factor at the usual training size and below."""
    widening: float
    """Exponent of larger training sizes."""
    usual_rows: float
    """Largest training size of the runs that scores are learned from."""
    most_rows: float
    """Largest training size at which a first choice was compared."""

    def at(self, rows: float) -> float:
        """The factor at training size `rows`; NaN: at the usual one."""
        beyond = min(rows, self.most_rows) / self.usual_rows
        return float(self.factor * (beyond**self.widening if beyond > 1 else 1.0))


def place_of_reference(setups: pd.Index, reference: str = REFERENCE) -> int:
    """Position of the reference for classes or for numbers among setups; -1 if neither is there."""
    places = setups.get_indexer(pd.Index([reference, REFERENCE_OF_NUMBERS]))
    return int(next((place for place in places if place >= 0), -1))


def first_choices_beside(
    reference: int,
    data: TrainingData,
    rows: Sequence[Positions],
    expected: Sequence[Floats],
    random: np.random.Generator,
) -> pd.DataFrame:
    """Compare first choices with the reference, or with random others if that was run too seldom.

    Arguments and result are those of `first_beside`.
    """
    comparisons = first_beside(reference, data, rows, expected)
    if comparisons["dataset"].nunique() < _FEWEST:
        return first_beside_others(data, rows, expected, random)
    return comparisons


def first_beside(
    reference: int, data: TrainingData, rows: Sequence[Positions], expected: Sequence[Floats]
) -> pd.DataFrame:
    """Compare the first choices of the training datasets with a reference.

    Args:
        reference: its position in `data.hyperparameters`; -1 = absent, and the result is empty.
        rows: positions of the runs of each dataset in `data`.
        expected: predictions of these runs, without the dataset's family.

    Returns:
        One row for each dataset and training size at which both were run: dataset (position in `rows`),
        first and other (positions among its runs), rows, won (1 if the first was better, else 0). Sorted by
        dataset.
    """
    larger = pd.DataFrame(
        {"run": data.larger.repeated, "rows": data.larger.train_rows, "value": data.larger.values}
    )
    fitted_on = _fitted_on(data)
    base = pd.DataFrame({"run": np.arange(len(data.values)), "rows": fitted_on, "value": data.values})
    found = []
    for dataset, (own, means) in enumerate(zip(rows, expected, strict=True)):
        usual = base.iloc[own].assign(rows=np.median(fitted_on[own]))
        runs = pd.concat([usual, larger[larger["run"].isin(own)]])
        place = pd.Series(np.arange(len(own)), index=own)
        for of_rows, together in runs.groupby("rows", dropna=False):
            places = place[together["run"]].to_numpy()
            others = np.flatnonzero(data.configuration[together["run"].to_numpy()] == reference)
            first = int(np.argmax(means[places]))
            if len(others) and others[0] != first:
                value = together["value"].to_numpy()
                won = float(value[first] > value[others[0]])
                found.append((dataset, places[first], places[others[0]], of_rows, won))
    return pd.DataFrame(found, columns=["dataset", "first", "other", "rows", "won"])


def first_beside_others(
    data: TrainingData, rows: Sequence[Positions], expected: Sequence[Floats], random: np.random.Generator
) -> pd.DataFrame:
    """Compare first choices with random others, at the usual training size only."""
    fitted_on = _fitted_on(data)
    found = [pd.DataFrame({"dataset": [], "first": [], "other": [], "rows": [], "won": []}, dtype=np.intp)]
    for dataset, (own, means) in enumerate(zip(rows, expected, strict=True)):
        first = int(np.argmax(means))
        others = random.permutation(len(own))[:_OTHERS]
        others = others[others != first]
        won = data.values[own[first]] > data.values[own[others]]
        of_dataset = {"dataset": dataset, "first": first, "other": others, "rows": np.median(fitted_on[own])}
        found.append(pd.DataFrame({**of_dataset, "won": won.astype(np.intp)}))
    return pd.concat(found, ignore_index=True)


def learn_gain_spread(gain: Floats, won: Floats, rows: Floats, usual_rows: float) -> GainSpread:
    """Maximum-likelihood factor and widening.

    Args:
        won: (t,) 1 if the configuration with the higher prediction was better, else 0.
        rows: NaN = unknown, which counts as the usual training size.
    """
    from scipy.optimize import minimize
    from scipy.special import log_ndtr

    most_rows = float(np.fmax.reduce(rows, initial=usual_rows))
    if not len(gain):
        return GainSpread(factor=1.0, widening=0.0, usual_rows=usual_rows, most_rows=most_rows)
    beyond = np.log(np.fmax(rows / usual_rows, 1.0))

    def unlikeliness(parameters: Floats) -> float:
        z = gain / np.exp(parameters[0] + parameters[1] * beyond)
        return -float(won @ log_ndtr(z) + (1 - won) @ log_ndtr(-z))

    log_factor, widening = minimize(
        unlikeliness, (0.0, 0.0), bounds=(_LOG_FACTORS, _WIDENINGS), method="L-BFGS-B"
    ).x
    return GainSpread(
        factor=float(np.exp(log_factor)),
        widening=float(widening),
        usual_rows=usual_rows,
        most_rows=most_rows,
    )


def usual_rows_of(data: TrainingData, rows: Sequence[Positions]) -> float:
    """Largest median training size of a dataset's runs; 1 if no training size is known."""
    fitted_on = _fitted_on(data)
    return float(np.fmax.reduce([np.median(fitted_on[own]) for own in rows], initial=1.0))


def _fitted_on(data: TrainingData) -> Floats:
    """(m,) training size of each run; NaN if unknown."""
    fitted_on: Floats = np.where(np.isnan(data.train_rows), data.sizes.rows, data.train_rows)
    return fitted_on
