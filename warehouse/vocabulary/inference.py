"""Inference of a search space from runs: ranges, scales, choices and conditions.

A hyperparameter is a number if all its values are numbers, whole if all are whole, and on a log scale if they
are positive and the middle 80 % of them span more than a power of ten, which uniform ones do not (0.1 to 0.9
of their range; a heuristic). Otherwise it is a choice. It has a condition on a choice if it is absent from
all runs with some of its values, in so many runs (see `_CHANCE`) that this is no accident.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from warehouse.support.arrays import Flags
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.parameters import Choice, Condition, Number, Value
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow

MOST_CHOICES = 100
"""Most values of a choice that can be inferred."""
_CHANCE = 0.01
"""An absence is a condition if its probability by chance is below this: (1 - share of runs with the
hyperparameter) to the power of the number of runs with the value."""


def inferred_flow(name: str, values: pd.DataFrame) -> SearchedFlow:
    """The flow with the space inferred from its configurations, empty if they have no hyperparameters.

    Args:
        name: its key in the warehouse.
        values: (n, any) Python values by configuration and hyperparameter, NaN if the configuration lacks it.

    Raises:
        BadInput: a hyperparameter has too many values.
    """
    known = {str(column): values[column].to_numpy(dtype=object) for column in values}
    present = {column: np.array([v is not pd.NA and v == v for v in own]) for column, own in known.items()}
    known = {column: own for column, own in known.items() if present[column].any()}
    parameters = {column: _parameter(column, own[present[column]].tolist()) for column, own in known.items()}
    choices = {column: own.choices for column, own in parameters.items() if isinstance(own, Choice)}
    conditions: dict[str, Condition] = {column: {} for column in known}
    for column in known:
        if not present[column].all():
            parents = {
                parent: (known[parent], choices[parent])
                for parent in choices
                if column not in _ancestors(parent, conditions)
            }
            conditions[column] = _conditions(present[column], parents)
    ordered = sorted(parameters, key=lambda column: len(_ancestors(column, conditions)))
    return SearchedFlow(
        name,
        name.removeprefix(OTHER),
        tuple(replace(parameters[column], when=conditions[column]) for column in ordered),
    )


def _parameter(name: str, values: Sequence[Value]) -> Number | Choice:
    distinct = list({(isinstance(value, bool), value): value for value in values}.values())
    numbers = [v for v in distinct if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(distinct) > 1:
        low, high = min(numbers), max(numbers)
        tenth, usual, ninth = map(float, np.quantile(np.array(values, dtype=np.float64), (0.1, 0.5, 0.9)))
        log = low > 0 and ninth > 10 * tenth
        if all(v == math.floor(v) for v in numbers):
            return Number(name, int(low), int(high), default=math.floor(usual), log=log)
        return Number(name, float(low), float(high), default=usual, log=log)
    if len(distinct) > MOST_CHOICES:
        raise TooFewRuns(
            f"{name} has {len(distinct)} values that are not all numbers, too many to be choices: "
            "declare the space"
        )
    choices = tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))
    different = tuple(
        v for place, v in enumerate(choices) if v not in choices[:place]
    )  # ConfigSpace takes True for 1
    return Choice(name, different, default=different[0])


def _conditions(
    present: Flags, parents: dict[str, tuple[np.ndarray, tuple[Value, ...]]]
) -> dict[str, tuple[Value, ...]]:
    """Conditions that explain absences of a hyperparameter, (n,), starting with those that explain most."""
    found: dict[str, tuple[Value, ...]] = {}
    open_ = np.ones(len(present), dtype=bool)  # runs that meet the conditions so far
    while not present[open_].all():
        explained: dict[str, tuple[int, tuple[Value, ...], Flags]] = {}
        share = present[open_].mean()
        for parent, (values, choices) in parents.items():
            if parent in found:
                continue
            having = {choice: open_ & np.array([v == choice for v in values]) for choice in choices}
            never = [
                choice
                for choice, rows in having.items()
                if rows.any() and not present[rows].any() and (1 - share) ** rows.sum() < _CHANCE
            ]
            allowed = tuple(choice for choice in choices if choice not in never)
            if never and allowed:
                meets = np.logical_or.reduce([having[choice] for choice in allowed])
                if not present[open_ & ~meets].any():
                    explained[parent] = (int((open_ & ~meets).sum()), allowed, meets)
        if not explained:
            break
        best = max(explained, key=lambda parent: explained[parent][0])
        _, found[best], meets = explained[best]
        open_ = open_ & meets
    return found


def _ancestors(column: str, conditions: dict[str, Condition]) -> set[str]:
    """The hyperparameter and all ancestors in its conditions."""
    return {column}.union(*(_ancestors(parent, conditions) for parent in conditions[column]))
