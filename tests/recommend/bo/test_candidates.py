"""Candidates from tables and spaces."""

from collections.abc import Collection, Hashable, Sequence

import numpy as np
import pytest

from ingest.flows import FLOWS
from recommend.bo.candidates import BLOCKS, Candidate, CandidateSource, SpaceCandidates, TableCandidates
from recommend.space import Configurations, Space
from tests.recommend.bo.toys import PLANE, SIX, grid, vector_of
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

DRAWN = 200


@pytest.fixture(autouse=True)
def _few_random_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recommend.bo.candidates.RANDOM", DRAWN)


class Asked:
    """A score that records its input, and grows towards `peak`."""

    def __init__(self, peak: float = 0.5, waves: float = 0.0) -> None:
        self.peak, self.waves = peak, waves
        self.asked: list[list[Configurations]] = []

    def __call__(self, groups: Sequence[Configurations]) -> Floats:
        self.asked.append(list(groups))
        return self.score(vectors_of(groups))

    def score(self, X: Floats) -> Floats:
        scores: Floats = -np.abs(X - self.peak).sum(axis=1) + np.sin(self.waves * X).sum(axis=1)
        return scores

    @property
    def drawn(self) -> Floats:
        """The vectors scored first."""
        return vectors_of(self.asked[0])


def vectors_of(groups: Sequence[Configurations]) -> Floats:
    return np.concatenate([configurations.vectors for configurations in groups])


def best(
    candidates: CandidateSource,
    asked: Asked,
    taken: Collection[Hashable] = (),
    tried: Sequence[Configurations] = (),
    number: int = 5,
) -> Candidate | None:
    """The best by the score of `asked`."""
    return candidates.best(asked, taken, tried, number, np.random.default_rng(number))


# ---- tables -------------------------------------------------------------------------------------


def test_the_best_row_has_the_highest_score_of_those_left() -> None:
    candidates = TableCandidates(grid(3))
    taken: list[Hashable] = []
    scores = []
    while (found := best(candidates, asked := Asked(), taken)) is not None:
        taken.append(found.key)
        scores.append(float(asked.score(vector_of(found)[None])[0]))
    assert taken[0] == 4  # in the middle
    assert sorted(map(str, taken)) == sorted(map(str, range(9)))
    assert scores == sorted(scores, reverse=True)


def joint_table() -> Configurations:
    """Four configurations of two algorithms."""
    space = Space([FLOWS["svm"], FLOWS["mlp"]])
    names = ("svm", "mlp", "svm", "mlp")
    return space.configurations(
        np.array([space.vector(Configuration(name, FLOWS[name].default())) for name in names])
    )


def test_the_rows_of_one_algorithm_keep_their_keys() -> None:
    candidates = TableCandidates(joint_table())
    assert set(candidates.algorithms) == {"svm", "mlp"}
    networks = candidates.among({"algorithm": "mlp"})
    assert networks.algorithms == ("mlp",)
    assert {networks.row(row).key for row in (1, 3)} == {1, 3}
    drawn = [networks.any(taken, np.random.default_rng(0)) for taken in ((), (1,), (1, 3))]
    assert [one and one.key for one in drawn] in ([1, 3, None], [3, 3, None])
    found = best(networks, Asked(), taken=[1])
    assert found is not None
    assert found.key == 3


def test_neighbours_in_a_table_differ_in_one_hyperparameter() -> None:
    """In a three by three grid, two more rows and two more columns: those in the same row or column."""
    candidates, random = TableCandidates(grid(3)), np.random.default_rng(0)
    around = candidates.neighbours(candidates.row(4).configuration, random)
    np.testing.assert_array_equal(around.vectors, grid(3).vectors[[1, 3, 5, 7]])
    assert not len(candidates.default())


@pytest.mark.parametrize("source", ["table", "space"])
def test_the_best_untaken_candidate_is_picked_from_several_groups(source: str) -> None:
    space = Space([PLANE], joint=False)
    candidates: CandidateSource = TableCandidates(grid(3)) if source == "table" else SpaceCandidates(space)
    drawn = candidates.sample(9, np.random.default_rng(0))
    groups, scores = [drawn.take([0, 1]), drawn.take([2])], np.array([0.1, 0.3, 0.2])
    taken: list[Hashable] = []
    for place in (1, 2, 0):
        picked = candidates.pick(groups, scores, taken)
        assert picked is not None
        np.testing.assert_array_equal(vector_of(picked), drawn.vectors[place])
        taken.append(picked.key)
    assert candidates.pick(groups, scores, taken) is None


# ---- spaces -------------------------------------------------------------------------------------


def test_all_candidates_of_a_part_of_a_space_have_its_fixed_values() -> None:
    space = Space([FLOWS["svm"], FLOWS["mlp"]])
    fixed = {"algorithm": "mlp", "mlp:scaling": "quantile"}
    part = SpaceCandidates(space).among({"algorithm": "mlp"}).among(fixed)
    assert part.algorithms == ("mlp",)
    random = np.random.default_rng(0)
    proposed = [part.any((), random), best(part, Asked(0.1)), best(part, Asked(0.9), number=6)]
    vectors = [*(vector_of(one) for one in proposed), *part.sample(20, random).vectors]
    for configuration in space.decoded(np.array(vectors)):
        assert configuration.algorithm == "mlp"
        assert configuration.values["scaling"] == "quantile"
    with pytest.raises(BadInput, match="has no hyperparameter sgd:alpha"):
        SpaceCandidates(space).among({"sgd:alpha": 1.0}).any((), random)


def test_a_configuration_equals_its_drawn_candidate() -> None:
    space = Space([FLOWS["lightgbm"], FLOWS["svm"]])
    candidates = SpaceCandidates(space)
    for vector in space.sample(20, np.random.default_rng(0)):
        candidate = candidates.of(space.decoded(vector[None])[0])
        assert candidate.key == vector.tobytes()
        np.testing.assert_array_equal(vector_of(candidate), vector)
        assert candidates.configuration_of(candidate) == space.decoded(vector[None])[0]
    with pytest.raises(BadInput, match="has no mlp"):
        candidates.of(Configuration("mlp", {}))


def test_random_configurations_are_untried_until_all_are_tried() -> None:
    candidates, random = SpaceCandidates(Space([SIX], joint=False)), np.random.default_rng(0)
    taken: set[Hashable] = set()
    while (drawn := candidates.any(taken, random)) is not None:
        assert drawn.key not in taken
        taken.add(drawn.key)
    assert len(taken) == 6


def drawn_at(candidates: SpaceCandidates, number: int) -> Floats:
    """The random configurations of this trial, which are scored first."""
    asked = Asked()
    best(candidates, asked, number=number)
    return asked.drawn


def test_random_configurations_depend_only_on_seed_and_number() -> None:
    space = Space([PLANE], joint=False)
    used = SpaceCandidates(space, seed=3)
    one_by_one = [drawn_at(used, number) for number in range(13)]
    for number in (0, 7, 12):
        np.testing.assert_array_equal(drawn_at(SpaceCandidates(space, seed=3), number), one_by_one[number])
    np.testing.assert_array_equal(drawn_at(used, 2), one_by_one[2])  # back again
    assert (drawn_at(SpaceCandidates(space, seed=4), 7) != one_by_one[7]).any()


def test_a_tenth_of_the_random_configurations_is_new_at_every_trial() -> None:
    candidates = SpaceCandidates(Space([PLANE], joint=False))
    before, after = ({row.tobytes() for row in drawn_at(candidates, number)} for number in (8, 9))
    assert len(before) == len(after) == DRAWN
    assert len(after - before) == DRAWN // BLOCKS
    far_later = {row.tobytes() for row in drawn_at(candidates, 8 + BLOCKS)}
    assert not far_later & before


def test_local_search_climbs() -> None:
    """On a slope without local maxima it gets much closer to the top than random draws."""
    space, asked = Space([FLOWS["svm"]], joint=False), Asked(peak=0.3)
    top = -0.3 * np.count_nonzero(space.categories)  # the first choice, 0, is nearest to the peak
    found = best(SpaceCandidates(space), asked)
    best_drawn = asked.score(asked.drawn).max()
    # For 12 trial numbers, 0.28 to 0.51 of the distance remain.
    assert top - asked.score(vector_of(found)[None])[0] < 0.6 * (top - best_drawn)
