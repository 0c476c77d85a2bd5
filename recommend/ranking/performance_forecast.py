"""Expected values of runs in the unit of the measure, and their gains over default configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.keys import setup_of
from metalearners.encoding.scores import oriented
from metalearners.predictions import Predictor
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
    """Gain over the reference, a common default; positive is better; None if unknown."""
    beats_default: float | None
    """Probability of being better than the reference."""
    other_gains: Mapping[str, float] = field(default_factory=dict)
    """Flow -> gain over its default, for further references."""

    def document(self) -> dict[str, Any]:
        """JSON values, as `seeds.schema.json` describes them."""
        values = asdict(self)
        return (
            values if self.other_gains else {name: values[name] for name in values if name != "other_gains"}
        )

    def shown(self, measure: str, learned: str, shown: Callable[[float], float]) -> Self | None:
        """The same in another measure; None if it does not determine the values.

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

        def converted(gain: float) -> float:
            reference = oriented(oriented(self.value, learned) - gain, learned)
            return oriented(value, measure) - oriented(shown(reference), measure)

        return replace(
            self,
            value=value,
            low=low,
            high=high,
            gain=None if self.gain is None else converted(self.gain),
            other_gains={flow: converted(gain) for flow, gain in self.other_gains.items()},
        )


def expectations(
    predictor: Predictor,
    chosen: ConfigurationTable,
    known: ConfigurationTable,
    metafeatures: pd.Series,
    measure: str,
    references: Sequence[str],
) -> list[PerformanceForecast] | None:
    """Expectation of each of `chosen`; None if the predictor only knows standard scores.

    Args:
        known: the warehouse's configurations, including the references.
        references: flows whose defaults are the references of gains; `gain` is over the first.
    """
    n, table, first = len(chosen), chosen, references[0]
    defaults = {flow: default for flow in references if (default := default_of(known, flow)) is not None}
    for default in defaults.values():
        table = table.followed_by(default)
    expected = predictor.expect(table, metafeatures)
    if expected is None:
        return None
    gains = {flow: expected.value[:n] - expected.value[n + place] for place, flow in enumerate(defaults)}
    gain = probability = np.full(n, np.nan)
    if first in defaults:
        gain, probability = gains.pop(first), predictor.beats(chosen, defaults[first], metafeatures)
    value, low, high = (oriented(part, measure) for part in expected)
    return [
        PerformanceForecast(
            float(value[place]),
            min(float(low[place]), float(high[place])),
            max(float(low[place]), float(high[place])),
            _known(gain[place]),
            _known(probability[place]),
            {flow: float(of[place]) for flow, of in gains.items()},
        )
        for place in range(n)
    ]


def default_of(known: ConfigurationTable, name: str) -> ConfigurationTable | None:
    """The default of this flow as a table of one, if it is among the known configurations."""
    flow = get_flow(name)
    setup = setup_of(Configuration(flow.name, flow.default()))
    return known.of_setups([setup]) if setup in known.setups else None


def _known(number: Floats) -> float | None:
    return None if np.isnan(number) else float(number)
