"""Policies of bandits: their formulas by hand, and their behaviour on different arms."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recommend.bo.published.strategies import policies
from recommend.bo.published.strategies.policies import Policy, Pulls

ALL: dict[str, Policy] = {
    "at random": policies.at_random,
    "in turn": policies.in_turn,
    "best at first": policies.best_at_first,
    "greedy": policies.greedy,
    "epsilon-greedy": policies.epsilon_greedy(0.1),
    "decreasing epsilon": policies.decreasing_epsilon(200),
    "thompson": policies.thompson,
    "top-two thompson": policies.top_two_thompson,
    "ucb1": policies.ucb1,
    "ucb1-tuned": policies.ucb1_tuned,
    "increasing effort": policies.increasing_effort,
}
LEARNING = {*ALL} - {"at random", "in turn"}


def pulls(*history: tuple[str, float], arms: Sequence[str] = "ab") -> Pulls:
    return Pulls(list(arms), list(history))


def chosen(policy: Policy, known: Pulls, draws: int = 1) -> list[str]:
    return [policy(known, np.random.default_rng(seed)) for seed in range(draws)]


def played(
    policy: Policy, means: dict[str, float], trials: int, seed: int = 0, width: float = 0.1
) -> list[str]:
    """Pulled arms, with rewards uniform around their means."""
    rewards, random = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    history: list[tuple[str, float]] = []
    for _ in range(trials):
        arm = policy(Pulls(sorted(means), history), random)
        history.append((arm, float(np.clip(means[arm] + rewards.uniform(-width, width), 0, 1))))
    return [arm for arm, _ in history]


# ---- formulas -----------------------------------------------------------------------------------


@given(st.floats(0.5, 50), st.floats(0.5, 50))
def test_beta_parameters_are_recovered_from_mean_and_deviation(alpha: float, beta: float) -> None:
    """Equations 2.11 and 2.12 forward, 2.24 and 2.15 back."""
    total = alpha + beta
    mean, variance = alpha / total, alpha * beta / (total**2 * (total + 1))
    assert policies.beta_parameters(mean, np.sqrt(variance)) == pytest.approx((alpha, beta), rel=1e-6)


def test_ucb1_adds_hoeffdings_bound() -> None:
    """Rewards 0.4 and 0.6 after e^2 trials: 0.5 + sqrt(2 * 2 / 2)."""
    assert policies.ucb1_bound(np.array([0.4, 0.6]), np.exp(2)) == pytest.approx(0.5 + np.sqrt(2))


def test_ucb1_tuned_has_the_variance_of_auer_and_others() -> None:
    """Rewards 0.4 and 0.6 have the variance 0.01, which is the mean square 0.26 minus 0.25.

    After e^0.0001 trials the bound of the variance is 0.01 + sqrt(2 * 0.0001 / 2) = 0.02, and the result
    0.5 + sqrt(0.0001 / 2 * 0.02) = 0.501. The thesis's formula would give 0.27, limited to 1/4.
    """
    X = np.array([0.4, 0.6])
    assert policies.ucb1_tuned_bound(X, np.exp(0.0001)) == pytest.approx(0.5 + 0.001)
    quarter = 0.5 + np.sqrt(2 / 2 * 0.25)  # after e^2 trials, when the bound of the variance is above 1
    assert policies.ucb1_tuned_bound(X, np.exp(2)) == pytest.approx(quarter)


def test_confidence_levels_of_increasing_effort() -> None:
    """Equation 7.1: 90, 95, 97.5, 98.75 %."""
    levels = [policies.confidence_level(raises) for raises in range(4)]
    assert levels == pytest.approx([0.9, 0.95, 0.975, 0.9875])


# ---- which arm ----------------------------------------------------------------------------------


def test_greedy_pulls_the_highest_mean_and_best_at_first_the_highest_first_reward() -> None:
    known = pulls(("a", 0.9), ("b", 0.8), ("a", 0.1), ("b", 0.7))
    assert chosen(policies.greedy, known, 5) == ["b"] * 5
    assert chosen(policies.best_at_first, known, 5) == ["a"] * 5


def test_epsilon_is_the_share_of_random_pulls() -> None:
    """With two arms, half of these go to the worse one."""
    known = pulls(("a", 0.9), ("b", 0.1))
    worse = np.mean([arm == "b" for arm in chosen(policies.epsilon_greedy(0.4), known, 2000)])
    assert worse == pytest.approx(0.2, abs=0.03)
    assert set(chosen(policies.epsilon_greedy(0.0), known, 50)) == {"a"}


def test_top_two_pulls_another_arm_half_of_the_time_and_always_ends() -> None:
    """The better arm's draws are almost always higher, so redrawing would never end."""
    known = pulls(
        *[("a", 0.95), ("a", 0.951), ("b", 0.05), ("b", 0.051), ("c", 0.04), ("c", 0.041)], arms="abc"
    )
    of_each = chosen(policies.top_two_thompson, known, 200)
    assert of_each.count("a") / 200 == pytest.approx(policies.GAMMA, abs=0.1)
    assert of_each.count("b") > of_each.count("c")
    assert chosen(policies.top_two_thompson, pulls(("a", 0.1), ("a", 0.2), arms="a"), 5) == ["a"] * 5


def test_increasing_effort_pulls_the_least_pulled_of_possibly_best_arms() -> None:
    """c can't be the best, b may be and was pulled less often than a."""
    known = pulls(
        *[("a", 0.9), ("a", 0.5), ("a", 0.7), ("b", 0.9), ("b", 0.3), ("c", 0.1), ("c", 0.11)], arms="abc"
    )
    assert chosen(policies.increasing_effort, known, 5) == ["b"] * 5


def test_increasing_effort_raises_its_level_if_no_arm_may_be_best_and_keeps_it() -> None:
    """a: mean 0.5 and deviation 0.141, so up to 0.733, 0.777 and 0.817 at the levels 90, 95 and 97.5 %.

    The best is b's constant 0.8. Then c has 0.98 at 90 %, but a, which was pulled less, may also be best.
    """
    raised = [("c", 0.2), ("c", 0.2), ("b", 0.8), ("b", 0.8), ("a", 0.4), ("a", 0.6)]
    assert chosen(policies.increasing_effort, pulls(*raised, arms="abc"), 5) == ["a"] * 5
    later = [*raised, ("c", 0.8), ("c", 0.2), ("c", 0.8)]
    assert chosen(policies.increasing_effort, pulls(*later, arms="abc"), 5) == ["a"] * 5
    never_raised = [("a", 0.4), ("a", 0.6), *later[6:], *raised[:4]]
    assert chosen(policies.increasing_effort, pulls(*never_raised, arms="abc"), 5) == ["c"] * 5


# ---- properties of all policies ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_every_arm_is_tried(name: str) -> None:
    means = dict(zip("abcdef", np.linspace(0.2, 0.8, 6).tolist(), strict=True))
    assert {*played(ALL[name], means, 60)} == {*means}
    if name != "at random":
        assert sorted(set(played(ALL[name], means, 60)[:6])) == sorted(means) or "thompson" in name


@pytest.mark.parametrize("name", sorted(LEARNING))
def test_a_clearly_best_arm_has_most_pulls(name: str) -> None:
    arms = played(ALL[name], {"a": 0.15, "b": 0.85, "c": 0.15, "d": 0.15}, 120)
    most = max("abcd", key=arms.count)
    assert most == "b"
    assert arms.count("b") > 120 / 4


@pytest.mark.parametrize("name", ALL)
def test_an_arm_that_is_exhausted_is_not_chosen(name: str) -> None:
    known = Pulls(["b", "c"], [("a", 0.9), ("b", 0.2), ("a", 0.8), ("c", 0.4), ("c", 0.3), ("b", 0.1)])
    assert set(chosen(ALL[name], known, 20)) <= {"b", "c"}
