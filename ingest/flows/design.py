"""Experimental designs: the configurations of a flow to run on every dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingest.flows.base import Flow, native_values
from warehouse.vocabulary.parameters import Value


def sobol_design(flow: Flow, n: int, seed: int = 0) -> list[dict[str, Value]]:
    """The default configuration and `n` points of a scrambled Sobol sequence over the flow's space.

    A longer design of the same seed starts with the shorter one, so that a design can be extended later.

    Returns:
        n + 1 different configurations, the default first; fewer if a space of few discrete values has fewer
            in the first 4 n points.
    """
    from ConfigSpace.util import deactivate_inactive_hyperparameters
    from scipy.stats.qmc import Sobol

    space = flow.space()
    hyperparameters = list(space.values())
    # Sobol sequences are balanced in powers of two; a prefix of one is the start of the next.
    exponent = int(np.ceil(np.log2(max(n, 1)))) + 2
    points = Sobol(len(hyperparameters), scramble=True, rng=np.random.default_rng(seed)).random_base2(
        exponent
    )
    design = [flow.default()]
    for point in points:
        if len(design) > n:
            break
        values = {h.name: _value(h, u) for h, u in zip(hyperparameters, point, strict=True)}
        active = native_values(deactivate_inactive_hyperparameters(values, space))
        if active not in design:
            design.append(active)
    return design


def _value(hyperparameter: Any, u: float) -> object:
    """The value at quantile `u` in [0, 1) on the hyperparameter's own scale."""
    if hasattr(hyperparameter, "choices"):
        return hyperparameter.choices[int(u * len(hyperparameter.choices))]
    return hyperparameter.to_value(u)
