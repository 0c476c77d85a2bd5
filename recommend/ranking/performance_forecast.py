"""Expected values of runs in the unit of the measure, and their gains over a default configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.keys import setup_of
from metalearners.encoding.scores import oriented
from metalearners.predictions import InOwnUnit, Predictor
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable

REFERENCE = "lightgbm"
"""The flow whose default is the reference for gains."""


@dataclass(frozen=True)
class PerformanceForecast:
    """Expected result of one run of a configuration."""

    value: float
    """Expected value of the measure."""
    low: float
    """Lower limit of the 80 % interval."""
    high: float
    gain: float | None
    """Gain over the default of `REFERENCE`; None if unknown."""
    beats_default: float | None
    """Probability that a run is better than one of that default."""


def expectations(
    predictor: Predictor,
    chosen: ConfigurationTable,
    known: ConfigurationTable,
    metafeatures: pd.Series,
    measure: str,
) -> list[PerformanceForecast] | None:
    """Expectation of each of `chosen`; None where the predictor only knows standard scores.

    Args:
        known: the configurations of the warehouse, among which the default is looked up.
    """
    if not isinstance(predictor, InOwnUnit):
        return None
    default = default_of(known)
    expected = predictor.expect(chosen if default is None else chosen.followed_by(default), metafeatures)
    if expected is None:
        return None
    gain = probability = np.full(len(chosen), np.nan)
    if default is not None:
        gain = expected.value[: len(chosen)] - expected.value[-1]
        probability = predictor.beats(chosen, default, metafeatures)
    value, low, high = (oriented(part, measure) for part in expected)
    return [
        PerformanceForecast(
            float(value[place]),
            min(float(low[place]), float(high[place])),
            max(float(low[place]), float(high[place])),
            _known(gain[place]),
            _known(probability[place]),
        )
        for place in range(len(chosen))
    ]


def default_of(known: ConfigurationTable) -> ConfigurationTable | None:
    """The default of `REFERENCE` alone, where it is among the known configurations."""
    flow = get_flow(REFERENCE)
    setup = setup_of(Configuration(flow.name, flow.default()))
    return known.of_setups([setup]) if setup in known.setups else None


def _known(number: Floats) -> float | None:
    return None if np.isnan(number) else float(number)
