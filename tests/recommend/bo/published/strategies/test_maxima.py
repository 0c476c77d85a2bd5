"""Bandits that seek the highest maximum: their formulas by hand, and their behaviour."""

import numpy as np
import pytest

from recommend.bo.published.strategies import maxima, policies
from recommend.bo.published.strategies.policies import Policy, Pulls

ALL: dict[str, Policy] = {
    "max-ucb": maxima.max_ucb,
    "max-median": maxima.max_median,
    "quantile-ucb": maxima.quantile_ucb,
}


def played(policy: Policy, trials: int, seed: int = 0) -> list[str]:
    """Pulled arms: a is always 0.6, b is mostly 0.3 and 0.9 one time in three."""
    rewards, random = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    history: list[tuple[str, float]] = []
    for _ in range(trials):
        arm = policy(Pulls(["a", "b"], history), random)
        level = 0.6 if arm == "a" else rewards.choice([0.3, 0.3, 0.9])
        history.append((arm, float(level + rewards.uniform(-0.02, 0.02))))
    return [arm for arm, _ in history]


def test_max_ucb_adds_the_square_of_the_logarithm_per_pull() -> None:
    """After 7 trials, two of them of this arm: (0.5 ln 7 / 2)^2 = 0.2367."""
    assert maxima.max_ucb_bound(np.array([0.7, 0.2]), 7) == pytest.approx(0.9367, abs=1e-4)
    assert maxima.max_ucb_bound(np.array([0.7]), 1) == 0.7


def test_max_median_compares_rewards_of_the_same_rank() -> None:
    """b has two pulls, so m = 2; the third highest of a's six rewards, 0.5, is compared with b's 0.6."""
    rewards_of_a = [0.9, 0.8, 0.5, 0.4, 0.3, 0.2]
    known = Pulls(["a", "b"], [*(("a", reward) for reward in rewards_of_a), ("b", 0.6), ("b", 0.1)])
    pulled = [maxima.max_median(known, np.random.default_rng(seed)) for seed in range(500)]
    assert pulled.count("a") / 500 == pytest.approx(1 / 9 / 2, abs=0.03)  # one time in t + 1 = 9 any arm


@pytest.mark.parametrize(("pulls", "place"), [(8, None), (9, 9), (20, 18)])
def test_the_limit_of_a_quantile_is_an_order_statistic(pulls: int, place: int | None) -> None:
    """The quantile 3/4 exceeds all of n rewards with probability 0.75^n: 0.1001 for 8, and 0.0751 for 9.

    For 20 it exceeds the 17th lowest with probability P(B >= 17) = 0.2252, the 18th with 0.0913.
    """
    rewards = np.random.default_rng(0).permutation(np.arange(1, pulls + 1) / 100)
    assert maxima.quantile_limit(rewards, 50) == (np.inf if place is None else place / 100)


@pytest.mark.parametrize("name", ALL)
def test_the_arm_with_the_highest_maximum_has_most_pulls(name: str) -> None:
    """The other arm has the higher mean, and a policy by means would pull it."""
    shares = [played(ALL[name], 60, seed).count("b") / 60 for seed in range(5)]
    assert np.mean(shares) > 0.6
    assert np.mean([played(policies.ucb1_tuned, 60, seed).count("b") / 60 for seed in range(5)]) < 0.5
