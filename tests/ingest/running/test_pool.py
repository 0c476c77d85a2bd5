"""The pool: what is in it and in which order, its file, and how it is made anew."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from ingest.flows import FLOWS, get_flow
from ingest.running.pool import Member, read_pool, write_pool
from tests.cases import each
from warehouse.configurations.configuration import Configuration
from warehouse.support.errors import BadInput

PLANS = Path(__file__).parents[3] / "ingest" / "plans"


@pytest.fixture(scope="module")
def committed() -> list[Member]:
    return read_pool(PLANS / "pool.json")


@pytest.fixture(scope="module")
def making() -> dict[str, Any]:
    """What the script that makes a pool defines."""
    return runpy.run_path(str(PLANS / "make_pool.py"))


def test_the_committed_pool_is_complete_within_the_spaces_of_its_flows(committed: list[Member]) -> None:
    """The number of features that forests look at may also be given by name, as scikit-learn has it."""
    spaces = {flow: get_flow(flow).space() for flow in FLOWS}
    for member in committed:
        algorithm, values = member.configuration.algorithm, member.configuration.values
        assert get_flow(algorithm).current(values) == values  # complete, in today's terms
        for parameter, value in values.items():
            named = parameter == "max_features" and value in ("sqrt", "log2")
            assert named or spaces[algorithm][parameter].legal_value(value), (member, parameter)
    assert len({member.configuration for member in committed}) == len(committed)


def test_the_committed_pool_is_made_anew_of_its_known_configurations(
    committed: list[Member], making: dict[str, Any]
) -> None:
    assert making["made_anew"](committed) == committed
    theirs = [one.source for one in committed if one.source not in ("default", "design")]
    assert {source.partition(" ")[0] for source in theirs} == {
        "AutoGluon",
        "FLAML",
        "auto-sklearn",
        "search",
    }
    assert len(set(theirs)) == len(theirs)  # each names one entry


def test_a_flow_has_its_default_then_known_configurations_once_and_then_a_design(
    making: dict[str, Any],
) -> None:
    default = get_flow("mlp").default()
    known = [Member(Configuration("mlp", default | {"hidden_units": n}), f"by {n}") for n in range(8, 60)]
    repeated = [known[0], Member(known[0].configuration, "another"), *known[1:]]
    members = [one for one in making["build_pool"](repeated) if one.configuration.algorithm == "mlp"]
    first = [Member(Configuration("mlp", default), "default"), *known[: making["MOST_KNOWN"] - 1]]
    assert members[: len(first)] == first
    assert {one.source for one in members[len(first) :]} == {"design"}
    assert len(members) == making["STRONG"]


def test_flows_take_turns_and_the_seed_decides_the_design(making: dict[str, Any]) -> None:
    build_pool = making["build_pool"]
    order = [member.configuration.algorithm for member in build_pool([])]
    for turn in range(min(making["SIZES"].values())):
        assert order[turn * len(FLOWS) : (turn + 1) * len(FLOWS)] == list(FLOWS)
    assert build_pool([]) == build_pool([]) != build_pool([], seed=1)


def test_pool_is_read_as_it_was_written(tmp_path: Path, committed: list[Member]) -> None:
    write_pool(committed, tmp_path / "pool.json")
    assert (tmp_path / "pool.json").read_bytes() == (PLANS / "pool.json").read_bytes()


@each(
    ("content", "reason"),
    [
        ("{", "not a JSON file"),
        ('{"flow": "svm"}', "no pool"),
        ('[{"flow": "svm", "values": {}}]', "no pool"),
        ('[{"flow": "perceptron", "values": {}, "source": "me"}]', "unknown flow 'perceptron'"),
        ('[{"flow": "svm", "values": {"depth": 3}, "source": "me"}]', "svm has no hyperparameter depth"),
        ('[{"flow": "adaboost", "values": {"algorithm": "SAMME.R"}, "source": "me"}]', "can't be built"),
    ],
)
def test_unusable_pool_is_refused_in_one_line(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "pool.json").write_text(content)
    with pytest.raises(BadInput, match=reason) as caught:
        read_pool(tmp_path / "pool.json")
    assert "\n" not in str(caught.value)
