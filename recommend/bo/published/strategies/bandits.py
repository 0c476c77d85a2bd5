"""Bandits over algorithms by name: `arms.py` with each policy, and related strategies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from recommend.bo.optimizer import AskTell, Optimizer
from recommend.bo.published.strategies import maxima, policies
from recommend.bo.published.strategies.arms import Bandit, algorithm_of, sources
from recommend.bo.published.strategies.max_sampling import MaxSampling
from recommend.bo.published.strategies.policies import Policy
from recommend.bo.strategies import SearchInputs, Strategy
from warehouse.support.errors import BadOption

HORIZON = 50
"""Trials over which epsilon decreases if their number is unknown, as is the default of `tune`."""


def _bandit(policy: Policy, summary: str) -> Strategy:
    return Strategy(lambda inputs: Bandit(inputs, policy), summary)


def _epsilon_greedy(argument: str) -> Callable[[SearchInputs], AskTell]:
    try:
        epsilon = float(argument)
    except ValueError:
        epsilon = -1.0
    if not 0 <= epsilon <= 1:
        raise BadOption(f"epsilon must be a number from 0 to 1, not {argument!r}")
    return lambda inputs: Bandit(inputs, policies.epsilon_greedy(epsilon))


def _always(inputs: SearchInputs, algorithm: str | None = None) -> AskTell:
    """One algorithm alone; by default that of the first start, else the first by name."""
    arms = sources(inputs.candidates)
    if algorithm is None:
        algorithm = algorithm_of(inputs.starts[0]) if inputs.starts else next(iter(arms))
    if algorithm not in arms:
        raise BadOption(f"no configuration of {algorithm!r}; the algorithms are {', '.join(arms)}")
    own = replace(
        inputs,
        candidates=arms[algorithm],
        starts=[start for start in inputs.starts if algorithm_of(start) == algorithm],
        anchors=[anchor for anchor in inputs.anchors if algorithm_of(anchor) == algorithm],
    )
    return Optimizer(**own.optimizer_arguments())


BANDITS: dict[str, Strategy] = {
    "always": Strategy(
        _always,
        "one algorithm alone: always@lightgbm, or that of the first start",
        argued=lambda algorithm: partial(_always, algorithm=algorithm),
    ),
    "random-algorithm": _bandit(policies.at_random, "an algorithm at random"),
    "round-robin": _bandit(policies.in_turn, "the algorithm with the fewest trials"),
    "best-at-first": _bandit(policies.best_at_first, "the algorithm whose first trial was best"),
    "epsilon-greedy": Strategy(
        lambda inputs: Bandit(inputs, policies.epsilon_greedy(policies.EPSILON)),
        "the best mean reward, or one trial in ten at random; epsilon-greedy@0.2: one in five",
        argued=_epsilon_greedy,
    ),
    "decreasing-epsilon": Strategy(
        lambda inputs: Bandit(inputs, policies.decreasing_epsilon(inputs.trials or HORIZON)),
        "the same, with a random share that falls linearly from 1 to 0",
    ),
    "thompson": _bandit(policies.thompson, "Thompson sampling of beta distributions"),
    "top-two-thompson": _bandit(policies.top_two_thompson, "the same, half of the trials for another arm"),
    "ucb1": _bandit(policies.ucb1, "the highest upper confidence bound of the mean reward"),
    "ucb1-tuned": _bandit(policies.ucb1_tuned, "the same with the variance of the rewards"),
    "increasing-effort": _bandit(
        policies.increasing_effort, "the fewest trials among those whose rewards may exceed the best"
    ),
    "max-ucb": _bandit(maxima.max_ucb, "the highest reward so far plus an exploration bonus"),
    "max-median": _bandit(maxima.max_median, "the highest quantile; its level grows with the fewest trials"),
    "quantile-ucb": _bandit(maxima.quantile_ucb, "the highest upper confidence limit of a high quantile"),
    "max-sampling": Strategy(
        MaxSampling, "the highest maximum in a draw from a joint posterior, by its cost"
    ),
}
