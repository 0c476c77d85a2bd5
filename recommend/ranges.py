"""Learned ranges of good hyperparameter values of a flow, for one dataset.

Configurations are drawn from the flow's whole space; the tenth with the best predictions for the dataset is
good. The range of a numeric hyperparameter is the shortest one, on its search scale, that holds nine tenths
of the good values; a categorical one keeps its most frequent good values until they hold as much. A
hyperparameter that matters little keeps most of its range.

Each range is learned from the configurations that have the hyperparameter; interactions are not modelled.
Conditions and forbidden combinations are kept as far as their values are. Both shares were chosen on one half
of the families (study `learned_ranges`, commit 0dda0a8). Weights by the probability of being in the best
tenth, instead of 0 and 1, gave wider ranges, in which random search was slower.

Notation
    n       configurations drawn
    w       (n,) weights: 1 if a configuration is good, else 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metalearners.predictions import Predictor
from recommend.space import Space
from warehouse.support.arrays import Floats
from warehouse.support.errors import UnfitConfiguration
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.declaration import declaration
from warehouse.vocabulary.parameters import Choice, Number, Value, same
from warehouse.vocabulary.searched_flow import SearchedFlow
from warehouse.vocabulary.table import joint_name

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace
    from optuna.distributions import BaseDistribution

SCHEMA = "headstart-ranges/1"
"""Name and version of the format of a file of ranges; `ranges.schema.json` describes it."""

DRAWN = 2000
"""Configurations of a flow."""
SHARE = 0.1
"""Share of the drawn configurations that is good."""
HELD = 0.9
"""Share of the good configurations held by the range of a hyperparameter."""


@dataclass(frozen=True)
class FlowRanges:
    """Ranges of the good configurations of one flow."""

    full: SearchedFlow
    """The flow with its whole space."""
    flow: SearchedFlow
    """The flow with the learned ranges; its defaults are the median or most frequent good values."""
    chances: Mapping[str, tuple[float, ...]]
    """Categorical hyperparameter -> share of the good configurations with each of its choices in `full`."""

    @cached_property
    def space(self) -> Space:
        """The learned ranges as a search space, whose random configurations follow the probabilities."""
        return Space([self.flow], joint=False)

    def configspace(self) -> ConfigurationSpace:
        """The learned ranges in ConfigSpace, with conditions, and probabilities as weights of choices."""
        return self.space.config_space

    def optuna(self) -> dict[str, BaseDistribution]:
        """Hyperparameter -> Optuna distribution, which has neither conditions nor probabilities.

        Raises:
            MissingPackage: Optuna is not installed.
        """
        from recommend.export import optuna_distributions

        return optuna_distributions(self.space)

    def sklearn(self) -> dict[str, Any]:
        """Parameter of the estimator -> distribution of SciPy or values, for `RandomizedSearchCV`.

        Raises:
            UnfitConfiguration: Headstart does not build the flow, so its estimator is unknown.
        """
        from recommend.sklearn_grids import frozen, sklearn_distributions

        found = sklearn_distributions(self.flow)
        if found is None:
            raise UnfitConfiguration(f"the estimator of {self.flow.title} is not known")
        return {name: frozen(own) for name, own in found["param_distributions"].items()}

    def document(self) -> dict[str, Any]:
        """JSON values: the learned ranges, and their form for each tool.

        hyperparameters  name -> range or choices with their probabilities, default, condition; `of` is the
                         whole range
        configspace      for `ConfigurationSpace.from_serialized_dict`
        optuna           name -> text for `json_to_distribution`; null if Optuna is not installed
        sklearn          see `recommend.sklearn_grids`; null if Headstart does not build the flow
        """
        from recommend.sklearn_grids import sklearn_distributions

        may_be = declaration(self.full)["hyperparameters"]
        learned = declaration(self.flow)["hyperparameters"]
        for name, own in learned.items():
            if name in self.chances:
                own["probabilities"] = list(self.chances[name])
            own["of"] = {key: may_be[name][key] for key in ("low", "high", "choices") if key in may_be[name]}
        distributions = None
        if find_spec("optuna") is not None:
            from optuna.distributions import distribution_to_json

            distributions = {name: distribution_to_json(own) for name, own in self.optuna().items()}
        return {
            "hyperparameters": learned,
            "configspace": self.configspace().to_serialized_dict(),
            "optuna": distributions,
            "sklearn": sklearn_distributions(self.flow),
        }


def learn_ranges(flow: SearchedFlow, predictor: Predictor, metafeatures: pd.Series) -> FlowRanges:
    """Learn the ranges of good configurations of `flow` on the dataset with these meta-features."""
    space = Space([flow])
    drawn = space.configurations(space.sample(DRAWN, np.random.default_rng(0)))
    with one_thread():
        scores = predictor.predict(drawn.table, metafeatures).mean
    weights: Floats = (scores >= np.quantile(scores, 1 - SHARE)).astype(np.float64)
    narrowed: dict[str, Number | Choice] = {}
    chances: dict[str, tuple[float, ...]] = {}
    for own in flow.hyperparameters:
        values = drawn.table.parameters[joint_name(flow.name, own.name)]
        present = values.notna().to_numpy()
        when = {parent: _left(parent, values, narrowed) for parent, values in own.when.items()}
        if not all(when.values()):  # its condition can't hold within the ranges of its parents
            continue
        own = replace(own, when=when)
        if isinstance(own, Choice):
            chances[own.name] = _chances(own, values[present].tolist(), weights[present])
            narrowed[own.name] = _narrower_choice(own, chances[own.name])
        else:
            numbers = values[present].to_numpy(np.float64)
            narrowed[own.name] = _narrower_number(own, numbers, weights[present])
    within = replace(
        flow,
        hyperparameters=tuple(narrowed.values()),
        forbidden=tuple(
            combination
            for combination in flow.forbidden
            if all(_left(name, (value,), narrowed) for name, value in combination.items())
        ),
    )
    return FlowRanges(flow, within, chances)


def shortest_range(places: Floats, weights: Floats, held: float) -> tuple[int, int]:
    """Positions of the first and last of `places` in the shortest range that holds `held` of the weight.

    Args:
        places: (n,) in rising order.
        weights: (n,) 0 or more, not all of them 0.
    """
    upto = np.concatenate([[0.0], np.cumsum(weights)])
    wanted = held * upto[-1] * (1 - 1e-12)
    last = np.searchsorted(upto, upto[:-1] + wanted) - 1  # (n,) last position of the range from each place
    possible = np.flatnonzero(last < len(places))
    first = possible[np.argmin(places[last[possible]] - places[possible])]
    return int(first), int(last[first])


def _narrower_number(own: Number, numbers: Floats, weights: Floats) -> Number:
    order = np.argsort(numbers, kind="stable")
    numbers, weights = numbers[order], weights[order]
    places = np.log(numbers) if own.log else numbers
    if not weights.sum() > 0:
        return own
    first, last = shortest_range(places, weights, HELD)
    # Draws do not reach the ends of a space: the range of the lowest draw begins at the end of the space.
    low = own.low if first == 0 else numbers[first]
    high = own.high if last == len(numbers) - 1 else numbers[last]
    middle = numbers[np.searchsorted(np.cumsum(weights), weights.sum() / 2)]
    if own.is_whole:
        low, high, middle = int(low), int(high), int(middle)
    if not low < high:  # a range has two ends
        return own
    return replace(own, low=_plain(low), high=_plain(high), default=_plain(min(max(middle, low), high)))


def _plain(number: Any) -> float:
    """A Python number, rounded to six significant digits unless it is whole."""
    return int(number) if isinstance(number, int) else float(f"{number:.6g}")


def _chances(own: Choice, values: list[Value], weights: Floats) -> tuple[float, ...]:
    totals = np.array(
        [
            sum(
                (weight for value, weight in zip(values, weights, strict=True) if same(choice, value)),
                start=0.0,
            )
            for choice in own.choices
        ]
    )
    if not totals.sum() > 0:
        return (1 / len(own.choices),) * len(own.choices)
    return tuple(float(chance) for chance in totals / totals.sum())


def _narrower_choice(own: Choice, chances: tuple[float, ...]) -> Choice:
    order = np.argsort(-np.array(chances), kind="stable")
    needed = int(np.searchsorted(np.cumsum(np.array(chances)[order]), HELD * (1 - 1e-12))) + 1
    kept = sorted(order[:needed])
    total = sum(chances[place] for place in kept)
    return replace(
        own,
        choices=tuple(own.choices[place] for place in kept),
        default=own.choices[order[0]],
        optional=False,  # an omitted value would mean another default
        weights=tuple(chances[place] / total for place in kept),
    )


def _left(
    parent: str, values: tuple[Value, ...], narrowed: Mapping[str, Number | Choice]
) -> tuple[Value, ...]:
    """The values within the narrowed range of the hyperparameter `parent`; empty if it has none."""
    known = narrowed.get(parent)
    if isinstance(known, Choice):
        return tuple(value for value in values if any(same(value, choice) for choice in known.choices))
    if isinstance(known, Number):
        return tuple(
            value for value in values if isinstance(value, int | float) and known.low <= value <= known.high
        )
    return ()


def ranges_document(learned: Mapping[str, FlowRanges], dataset: str, measure: str) -> dict[str, Any]:
    """Learned ranges, by flow, as the JSON document that `--ranges` writes.

    Args:
        dataset: name of the dataset.
        measure: the optimized measure.
    """
    return {
        "schema": SCHEMA,
        "dataset": dataset,
        "measure": measure,
        "share": SHARE,
        "held": HELD,
        "flows": {name: own.document() for name, own in learned.items()},
    }
