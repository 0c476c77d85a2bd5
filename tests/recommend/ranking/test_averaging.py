import pytest

from recommend.ranking.averaging import MEMBERS, weights_of
from warehouse.vocabulary.configuration import Configuration

RANKED = [Configuration("random_forest", {"max_features": share / 10}) for share in range(1, 6)]


def test_the_first_configurations_count_equally() -> None:
    assert weights_of(RANKED) == pytest.approx(dict.fromkeys(RANKED[:MEMBERS], 1 / MEMBERS))


def test_fewer_configurations_than_members_are_all_averaged() -> None:
    assert weights_of(RANKED[:1]) == {RANKED[0]: 1.0}
