"""Tree search over pipeline structures: equations, growth of the tree, and proposals."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ingest.flows import Flow
from recommend.bo.candidates import Candidate, SpaceCandidates, TableCandidates
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.published.strategies.arms import rewards
from recommend.bo.published.strategies.tree_search import (
    TreeSearch,
    TreeSettings,
    most_children,
    policy,
    puct,
)
from recommend.bo.published.surrogates.forest import ForestSurrogate
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import SearchInputs
from recommend.bo.surrogates import Surrogate
from recommend.bo.surrogates.base import Matrix
from recommend.space import Space
from tests.recommend.bo.toys import ONE_AXIS, Recorder
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number

LEAN = TreeSettings(draws=50, samples=20, initial=None)
PREPROCESSORS = ("none", "pca", "ica", "svd", "select", "expand")


def flow(name: str, *forbidden: dict[str, str]) -> Flow:
    """Two choices, one more if features are projected, and a number."""
    return Flow(
        name,
        name,
        (
            Choice("preprocessor", PREPROCESSORS, "none"),
            Choice("scaling", ("standard", "quantile"), "standard", {"preprocessor": ("pca", "ica", "svd")}),
            Choice("balancing", ("none", "weights"), "none"),
            Number("u", 0.0, 1.0, default=0.5),
        ),
        ONE_AXIS.estimator,
        forbidden=tuple(forbidden),
    )


def space_of(*flows: Flow, joint: bool = True) -> SpaceCandidates:
    return SpaceCandidates(Space(flows, joint=joint))


def new(
    candidates: SpaceCandidates | TableCandidates,
    surrogate: Surrogate[Matrix] | None = None,
    *,
    settings: TreeSettings = LEAN,
    starts: Sequence[Candidate] = (),
    seed: int = 0,
    trials: int | None = None,
) -> TreeSearch:
    scorer = CandidateScorer(surrogate or Recorder())
    return TreeSearch(SearchInputs(candidates, lambda: scorer, starts, trials=trials, seed=seed), settings)


def tried(
    search: Optimizer, candidates: SpaceCandidates, trials: int, value: Callable[[Configuration], float]
) -> list[tuple[Proposal, Configuration]]:
    """This many trials, one after the other, with the configuration of each."""
    found = []
    for _ in range(trials):
        proposal = search.ask()
        if proposal is None:
            break
        configuration = candidates.configuration_of(proposal.candidate)
        search.tell(proposal.number, value(configuration))
        found.append((proposal, configuration))
    return found


def always(_: Configuration) -> float:
    return 0.5


# ---- the equations ------------------------------------------------------------------------------


def test_the_policy_is_a_softmax_of_expected_rewards() -> None:
    """Equation 4: exp(0.7) / (exp(0.5) + exp(0.7)) = 1 / (1 + exp(-0.2)) = 0.549834."""
    np.testing.assert_allclose(policy(np.array([0.5, 0.7])), [0.450166, 0.549834], atol=1e-6)
    np.testing.assert_allclose(policy(np.array([800.0, 800.0, -800.0])), [0.5, 0.5, 0.0])


def test_selection_balances_rewards_and_visits() -> None:
    """Equation 5 with nine visits, three and one of them to children: 0.6 + 1.3 * 0.45 * 3 / 4 and so on."""
    values = puct(np.array([0.6, 0.5]), np.array([0.45, 0.55]), 9, np.array([3, 1]), 1.3)
    np.testing.assert_allclose(values, [0.6 + 0.43875, 0.5 + 1.0725])
    np.testing.assert_allclose(puct(np.array([0.6]), np.array([1.0]), 9, np.array([3]), 0.0), [0.6])


def test_a_child_is_added_when_the_integer_part_of_the_power_of_visits_increases() -> None:
    """n^0.6 is 1, 1.52, 1.93, 2.30, 2.63, 2.93, 3.21, 3.48, 3.74, 3.98, 4.22, and 8 for 32."""
    assert [most_children(n, 0.6) for n in range(1, 12)] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4]
    assert most_children(32, 0.6) == 8
    assert [most_children(n, 1.0) for n in range(1, 5)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.2, 0.9], [0.2, 0.9]),  # accuracies
        ([-3.0, -1.0, -2.0], [0.0, 1.0, 0.5]),  # negated log losses
        ([0.5, 1.5], [0.0, 1.0]),
        ([7.0, 7.0], [0.5, 0.5]),
    ],
)
def test_values_are_scaled_to_the_unit_interval(values: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(rewards(values), expected)


# ---- the tree -----------------------------------------------------------------------------------


def test_the_tree_widens_as_trials_visit_it() -> None:
    """Three random trials visit the root and add nothing; then it catches up, one child at a time."""
    candidates = space_of(flow("one"), joint=False)
    search = new(candidates)
    children = []
    for _ in range(11):
        tried(search, candidates, 1, always)
        children.append(len(search.nodes[()].children))
    assert children == [0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4]
    assert search.nodes[()].visits == 11


def test_a_branch_counts_by_the_median_of_its_trials() -> None:
    """0.9, 0.1, 0.1 have a higher mean than 0.3, 0.3, 0.3, but a lower median."""
    flows = [flow("lucky"), flow("steady")]
    candidates = space_of(*flows)
    starts = [
        candidates.of(Configuration(own.name, {**own.default(), "u": u}))
        for u in (0.1, 0.2, 0.3)
        for own in flows
    ]
    settings = TreeSettings(exploration=0, draws=50, samples=20, initial=None)
    search = new(candidates, settings=settings, starts=starts)
    values = {"lucky": iter([0.9, 0.1, 0.1]), "steady": iter([0.3] * 4)}
    found = tried(search, candidates, 7, lambda own: next(values[own.algorithm]))
    assert found[-1][1].algorithm == "steady"


# ---- proposals ---------------------------------------------------------------------------


def test_each_default_comes_first_and_then_others_of_each_algorithm() -> None:
    """Section 3.4, kappa = 2; the caller's start comes before, and duplicates are tried once."""
    flows = [flow("one"), flow("two"), ONE_AXIS]
    candidates = space_of(*flows)
    starts = [
        candidates.of(Configuration("axis", {"u": 0.2})),
        candidates.of(Configuration("two", flows[1].default())),
    ]
    search = new(candidates, ForestSurrogate(), settings=TreeSettings(draws=50, initial=2), starts=starts)
    found = tried(search, candidates, 12, always)
    algorithms = [configuration.algorithm for _, configuration in found[:10]]
    assert algorithms == ["axis", "two", "one", "axis", *("one", "two", "axis") * 2]
    assert [dict(found[place][1].values) for place in (1, 2, 3)] == [
        own.default() for own in (flows[1], flows[0], ONE_AXIS)
    ]
    assert [proposal.origin for proposal, _ in found] == ["start"] * 10 + ["model"] * 2
    assert set(search.nodes[()].children) == {(("algorithm", own.name),) for own in flows}


@pytest.mark.parametrize(("trials", "first"), [(None, 9), (18, 9), (17, 7), (9, 3), (7, 3), (5, 1)])
def test_initial_trials_leave_half_of_the_planned_ones_to_the_tree(
    trials: int | None, first: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A start, then the default and kappa = 3 others of each of two algorithms, or fewer of each."""
    flows = [flow("one"), flow("two")]
    candidates = space_of(*flows)
    starts = [candidates.of(Configuration("one", {**flows[0].default(), "u": 0.2}))]
    with caplog.at_level("INFO"):
        search = new(candidates, settings=TreeSettings(draws=50), starts=starts, trials=trials)
    found = tried(search, candidates, 12, always)
    assert [proposal.origin for proposal, _ in found].count("start") == first
    assert caplog.messages == [f"the tree search begins after {first} trial{'s' if first > 1 else ''}"]


def test_proposals_follow_the_selected_path_and_the_conditions_of_the_space() -> None:
    forbidden = ({"preprocessor": "pca"}, {"preprocessor": "ica", "scaling": "quantile"})
    candidates = space_of(flow("one", *forbidden), flow("two"))
    search = new(candidates, ForestSurrogate())
    for _ in range(60):
        before = set(search.nodes)
        ((_, configuration),) = tried(search, candidates, 1, lambda own: float(own.values["u"]))  # type: ignore[arg-type]
        own = configuration.algorithm
        values = {
            "algorithm": own,
            **{f"{own}:{name}": value for name, value in configuration.values.items()},
        }
        for state in set(search.nodes) - before:
            assert dict(state).items() <= values.items()
        if own == "one":
            assert not any(combination.items() <= configuration.values.items() for combination in forbidden)
    decided = [dict(state) for state in search.nodes]
    assert any("two:scaling" in state for state in decided)
    for state in decided:
        assert state.get("one:preprocessor") != "pca"
        assert not state.keys() & {"one:scaling"} or state["one:preprocessor"] == "svd"
        if state.get("two:preprocessor") in ("none", "select", "expand"):
            assert "two:scaling" not in state


def test_a_small_space_is_searched_completely() -> None:
    """Two algorithms with 3 and 2 configurations, each of which is proposed once."""
    flows = [
        Flow("few", "few", (Choice("scaling", ("a", "b", "c"), "a"),), ONE_AXIS.estimator),
        Flow("fewer", "fewer", (Choice("imputation", ("a", "b"), "a"),), ONE_AXIS.estimator),
    ]
    candidates = space_of(*flows)
    for settings in (LEAN, TreeSettings(draws=20)):
        search = new(candidates, settings=settings)
        found = tried(search, candidates, 9, always)
        assert len({proposal.candidate.key for proposal, _ in found}) == len(found) == 5
        assert search.ask() is None


# ---- performance ------------------------------------------------------------------------


def test_the_best_structure_is_found_sooner_than_at_random() -> None:
    """One of 72 structures is best, and its parts are good, too; random search takes 72 trials on average."""
    candidates = space_of(*(flow(name) for name in "abcdef"))

    def good_parts(own: Configuration) -> int:
        values = own.values
        return (own.algorithm == "e") + (values["preprocessor"] == "ica") + (values["balancing"] == "weights")

    def value(own: Configuration) -> float:
        return 0.3 + 0.2 * good_parts(own) + 0.05 * float(own.values["u"])  # type: ignore[arg-type]

    needed = []
    for seed in range(6):
        search = new(candidates, ForestSurrogate(), settings=TreeSettings(initial=1), seed=seed)
        trials = 1
        while good_parts(tried(search, candidates, 1, value)[0][1]) < 3:
            trials += 1
        needed.append(trials)
    assert np.mean(needed) < 72 / 3
