"""Methods by name."""

import pytest

from recommend.bo.simulation.methods import Method, check, parse
from warehouse.support.errors import BadInput


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gbqr", Method("joint", "gbqr")),
        ("gbqr+delta@lightgbm", Method("joint", "gbqr", start="delta@lightgbm")),
        ("joint:forest+none", Method("joint", "forest")),
        ("gbqr/value-per-second+top", Method("joint", "gbqr", "value-per-second", start="top")),
        ("forest~2", Method("joint", "forest", random_every=2)),
        ("joint:forest/ei-per-second~3+top", Method("joint", "forest", "ei-per-second", 3, "top")),
        ("smac+top", Method("smac", start="top")),
        ("hyperband", Method("hyperband", "forest")),
        ("bohb+top", Method("bohb", "blend", start="top")),
    ],
)
def test_a_name_states_the_parts_of_a_method(name: str, expected: Method) -> None:
    assert parse(name) == expected


@pytest.mark.parametrize("kind", ["table", "model"])
def test_trials_on_a_share_of_the_rows_need_runs_on_fewer_rows(kind: str) -> None:
    check("hyperband+top", "tiers")
    check("random", "tiers")
    with pytest.raises(BadInput, match="bohb fits on a share of the rows: it needs tasks of the kind tiers"):
        check("bohb+top", kind)
    with pytest.raises(BadInput, match="smac searches a whole space: it needs tasks of the kind model"):
        check("smac", "tiers")


@pytest.mark.parametrize("kind", ["model", "tiers"])
def test_the_published_factorization_needs_configurations_that_were_run(kind: str) -> None:
    check("pmf-paper", "table")
    with pytest.raises(BadInput, match="pmf-paper searches configurations with runs"):
        check("pmf-paper", kind)
