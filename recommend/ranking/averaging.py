"""The average of the first recommendations: which configurations it has, and with which weights.

The average of three models' probabilities is better than the first model alone on most datasets, and nothing
has to be validated for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.vocabulary.configuration import Configuration

MEMBERS = 3
"""Configurations that are averaged; more gain little and take longer."""


def weights_of(ranked: Sequence[Configuration]) -> dict[Configuration, float]:
    """Weights, with sum 1, of the configurations whose predicted probabilities are averaged.

    Args:
        ranked: configurations in the order to try them in, one or more.
    """
    members = list(dict.fromkeys(ranked))[:MEMBERS]
    return dict.fromkeys(members, 1 / len(members))
