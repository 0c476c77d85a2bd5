"""Bandit policies: the algorithm of the next trial, given the rewards of earlier trials.

The policies of van Hoof's thesis, section 2.4 and chapter 7. All but `at_random` pull every arm once first.
Ties are broken at random, so the order of arms does not matter, except for `in_turn`.

Notation
    k             an arm, an algorithm
    n_k           number of its pulls
    X_k           (n_k,) its rewards, from 0 to 1, larger is better
    mu_k, s_k     their mean and (population) standard deviation
    t             pulls of all arms so far
    y*            highest reward of all
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from warehouse.support.arrays import Floats

EPSILON = 0.1
"""Share of random pulls; set by hand, since the thesis does not state it."""
GAMMA = 0.5
"""Probability that top-two sampling pulls the first arm (thesis, section 2.4.2)."""
RESAMPLES = 100
"""Draws after which top-two sampling takes the second best arm of the last draw."""
EQUAL = 5
"""Pulls after which equal rewards count as the arm's distribution."""
LEAST_ALPHA = 1e-6
"""Least alpha: if all rewards are 0 or 1, equation 2.24 gives 0, which is invalid."""


@dataclass(frozen=True)
class Pulls:
    """Inputs of a policy."""

    arms: Sequence[str]
    """Arms that can be pulled, one or more, in alphabetical order."""
    history: Sequence[tuple[str, float]]
    """Arm and reward of each pull so far, in order, including exhausted arms."""

    def rewards(self, arm: str) -> Floats:
        """(n_k,) X_k"""
        return np.array([reward for pulled, reward in self.history if pulled == arm])


Policy = Callable[[Pulls, np.random.Generator], str]
"""Chooses the next arm; all randomness comes from the generator."""
Index = Callable[[Floats, int], float]
"""X_k, of one pull or more, and t -> value of pulling the arm."""


def highest(values: Mapping[str, float], random: np.random.Generator) -> str:
    """The arm with the highest value; ties are broken at random."""
    top = max(values.values())
    return str(random.choice([arm for arm, value in values.items() if value == top]))


def by_index(index: Index) -> Policy:
    """The policy that pulls each arm once, and then the one with the highest index."""

    def choose(pulls: Pulls, random: np.random.Generator) -> str:
        t = len(pulls.history)
        values = {arm: index(X, t) if len(X) else np.inf for arm, X in _rewards(pulls).items()}
        return highest(values, random)

    return choose


# ---- baselines ----------------------------------------------------------------------------------


def at_random(pulls: Pulls, random: np.random.Generator) -> str:
    """A random arm, whatever the rewards (thesis, section 7.3)."""
    return str(random.choice(pulls.arms))


def in_turn(pulls: Pulls, random: np.random.Generator) -> str:  # noqa: ARG001 (nothing is)
    """The least pulled arm; of several, the first by name."""
    return min(pulls.arms, key=lambda arm: len(pulls.rewards(arm)))


best_at_first = by_index(lambda X, _: float(X[0]))
"""The arm whose first reward is highest (thesis, section 7.5: "always_the_best")."""


# ---- greedy (thesis, section 2.4.1) -------------------------------------------------------------


greedy = by_index(lambda X, _: float(X.mean()))
"""The arm with the highest mu_k."""


def epsilon_greedy(epsilon: float) -> Policy:
    """The policy that pulls at random with probability `epsilon`, and the best arm otherwise."""
    return _sometimes_at_random(lambda _: epsilon)


def decreasing_epsilon(trials: int) -> Policy:
    """The same with a probability falling linearly from 1 at the first to 0 after the last of `trials`."""
    return _sometimes_at_random(lambda t: max(1 - t / trials, 0.0))


def _sometimes_at_random(epsilon: Callable[[int], float]) -> Policy:
    def choose(pulls: Pulls, random: np.random.Generator) -> str:
        all_pulled = {*pulls.arms} <= {arm for arm, _ in pulls.history}
        if random.random() < epsilon(len(pulls.history)) and all_pulled:
            return at_random(pulls, random)
        return greedy(pulls, random)

    return choose


# ---- Thompson sampling (thesis, section 2.4.2) --------------------------------------------------


def beta_parameters(mean: float, std: float) -> tuple[float, float]:
    """alpha and beta of the beta distribution with this mean and standard deviation above 0.

    Equations 2.24 and 2.15. The text before 2.23 has t / (1 + t) = mu - 1; it is 1 - mu, as 2.23 has it.
    """
    alpha = ((1 - mean) / std**2 - 1 / mean) * mean**2
    alpha = max(alpha, LEAST_ALPHA)
    return alpha, alpha * (1 / mean - 1)


def thompson(pulls: Pulls, random: np.random.Generator) -> str:
    """Thompson sampling for continuous rewards (Algorithm 2).

    An arm with s_k = 0 is pulled to learn more about it, but only up to `EQUAL` equal rewards: from then on
    draws are equal to these.
    """
    return _too_little_known(pulls, random) or highest(_drawn(_rewards(pulls), random), random)


def top_two_thompson(pulls: Pulls, random: np.random.Generator) -> str:
    """Top-two Thompson sampling (Algorithm 3; Russo 2016) with `GAMMA`.

    Line 10 of Algorithm 3 pulls k again; it should be the drawn arm i, as in Russo.
    """
    unknown = _too_little_known(pulls, random)
    if unknown is not None:
        return unknown
    rewards = _rewards(pulls)
    first = highest(_drawn(rewards, random), random)
    if len(rewards) == 1 or random.random() < GAMMA:
        return first
    for _ in range(RESAMPLES):
        drawn = _drawn(rewards, random)
        other = highest(drawn, random)
        if other != first:
            return other
    return highest({arm: value for arm, value in drawn.items() if arm != first}, random)


def _too_little_known(pulls: Pulls, random: np.random.Generator) -> str | None:
    """An arm with s_k = 0 and fewer than `EQUAL` pulls, if there is one; of several, a least pulled one."""
    few = {
        arm: -len(X) for arm, X in _rewards(pulls).items() if len(X) < EQUAL and not (len(X) and np.ptp(X))
    }
    return highest(few, random) if few else None


def _drawn(rewards: Mapping[str, Floats], random: np.random.Generator) -> dict[str, float]:
    """One draw of each arm's mean reward."""
    return {
        arm: random.beta(*beta_parameters(X.mean(), X.std())) if np.ptp(X) else float(X[0])
        for arm, X in rewards.items()
    }


# ---- upper confidence bounds (thesis, section 2.4.3) --------------------------------------------


def ucb1_bound(X: Floats, t: int) -> float:
    """mu_k + sqrt(2 ln t / n_k)"""
    return float(X.mean() + np.sqrt(2 * np.log(t) / len(X)))


def ucb1_tuned_bound(X: Floats, t: int) -> float:
    """mu_k + sqrt(ln t / n_k min(1/4, V_k)).

    V_k, the bound of the variance, is that of Auer, Cesa-Bianchi and Fischer (2002), section 4: the mean
    square minus the squared mean, plus sqrt(2 ln t / n_k). The thesis leaves out the squared mean.
    """
    V = X.var() + np.sqrt(2 * np.log(t) / len(X))
    return float(X.mean() + np.sqrt(np.log(t) / len(X) * min(0.25, V)))


ucb1: Policy = by_index(ucb1_bound)
ucb1_tuned: Policy = by_index(ucb1_tuned_bound)


# ---- increasing effort (thesis, section 7.4) ----------------------------------------------------

MOST_RAISES = 50
"""Most raises of the confidence level, where 1 - CL reaches the precision of numbers."""


def confidence_level(raises: int) -> float:
    """CL = 100 - 10 / 2^k %, with k = `raises`, as a share (equation 7.1)."""
    return 1 - float(0.1 / 2**raises)


def increasing_effort(pulls: Pulls, random: np.random.Generator) -> str:
    """The least pulled of the arms whose rewards may exceed y*, by their interval at the confidence level.

    The interval is the two-sided one of a normal distribution with mean mu_k and standard deviation s_k (with
    n_k - 1 degrees of freedom); its upper limit is infinite below two pulls. The level is raised whenever no
    arm is a candidate, and never lowered: k is computed from the sequence of pulls. Arms with equal rewards
    are not candidates, unless all arms have equal rewards.
    """
    raises = 0
    for t in range(len(pulls.history) + 1):
        so_far = Pulls(pulls.arms, pulls.history[:t])
        found, raises = _candidates(so_far, raises)
    least = {arm: -len(pulls.rewards(arm)) for arm in found}
    return highest(least, random)


def _candidates(pulls: Pulls, raises: int) -> tuple[Sequence[str], int]:
    """The candidates, and the number of raises of the level until there were some."""
    best = max((reward for _, reward in pulls.history), default=-np.inf)
    rewards = _rewards(pulls)
    for k in range(raises, MOST_RAISES + 1):
        found = [arm for arm, X in rewards.items() if _upper_limit(X, k) > best]
        if found:
            return found, k
    return pulls.arms, raises


def _upper_limit(X: Floats, raises: int) -> float:
    if len(X) < 2:
        return np.inf
    z = -NormalDist().inv_cdf(0.05 / 2**raises)  # the upper (1 - CL) / 2 quantile
    return float(X.mean() + z * X.std(ddof=1))


def _rewards(pulls: Pulls) -> dict[str, Floats]:
    return {arm: pulls.rewards(arm) for arm in pulls.arms}
