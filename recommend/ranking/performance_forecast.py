"""Expected values of runs in the unit of the measure, and their gains over a default configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.keys import setup_of
from metalearners.encoding.scores import oriented
from metalearners.predictions import InOwnUnit, Predictor
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable


@dataclass(frozen=True)
class PerformanceForecast:
    """Expected result of one run of a configuration."""

    value: float
    """Expected value of the measure."""
    low: float
    """Lower limit of the 80 % interval."""
    high: float
    gain: float | None
    """Gain over the reference, a usual default; positive is better; None if unknown."""
    beats_default: float | None
    """Probability that a run is better than one of the reference."""

    def shown(self, measure: str, learned: str, shown: Callable[[float], float]) -> Self | None:
        """The same in another measure; None where a value of it does not follow.

        Args:
            measure: the other measure.
            learned: the measure of these values.
            shown: value of `learned` -> value of `measure`.
        """
        if measure == learned:
            return self
        value = shown(self.value)
        if np.isnan(value):
            return None
        low, high = sorted((shown(self.low), shown(self.high)))
        gain = None
        if self.gain is not None:
            reference = oriented(oriented(self.value, learned) - self.gain, learned)
            gain = oriented(value, measure) - oriented(shown(reference), measure)
        return replace(self, value=value, low=low, high=high, gain=gain)

    def relative_gain(self, measure: str) -> float | None:
        """The gain over the reference's value."""
        if self.gain is None:
            return None
        reference = oriented(oriented(self.value, measure) - self.gain, measure)
        return self.gain / abs(reference) if reference else None


def expectations(
    predictor: Predictor,
    chosen: ConfigurationTable,
    known: ConfigurationTable,
    metafeatures: pd.Series,
    measure: str,
    reference: str,
) -> list[PerformanceForecast] | None:
    """Expectation of each of `chosen`; None where the predictor only knows standard scores.

    Args:
        known: the configurations of the warehouse, among which the reference is looked up.
        reference: the flow whose default gains are over.
    """
    if not isinstance(predictor, InOwnUnit):
        return None
    default = default_of(known, reference)
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


def default_of(known: ConfigurationTable, name: str) -> ConfigurationTable | None:
    """The default of this flow alone, where it is among the known configurations."""
    flow = get_flow(name)
    setup = setup_of(Configuration(flow.name, flow.default()))
    return known.of_setups([setup]) if setup in known.setups else None


def _known(number: Floats) -> float | None:
    return None if np.isnan(number) else float(number)
