"""The pool: its content and order, its file, and rebuilding it."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from ingest.flows import FLOWS, flows_of, get_flow
from ingest.running.pool import Pool, read_pool, write_pool
from tests.cases import each
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

PLANS = Path(__file__).parents[3] / "ingest" / "plans"


POOLS = {CLASSIFICATION: "pool.json", REGRESSION: "regression_pool.json"}


@pytest.fixture(scope="module", params=POOLS, ids=lambda task_type: task_type.words)
def task_type(request: pytest.FixtureRequest) -> TaskType:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def committed(task_type: TaskType) -> Pool:
    return read_pool(PLANS / POOLS[task_type])


@pytest.fixture(scope="module")
def making() -> dict[str, Any]:
    """The definitions of the script that makes a pool."""
    return runpy.run_path(str(PLANS / "make_pool.py"))


def test_the_committed_pool_has_exactly_the_flows_of_its_task_type(
    committed: Pool, task_type: TaskType
) -> None:
    assert {one.algorithm for one in committed} == set(flows_of(task_type))


def test_the_committed_pool_is_complete_within_the_spaces_of_its_flows(committed: Pool) -> None:
    """The number of features for forests may also be one of scikit-learn's names."""
    spaces = {flow: get_flow(flow).space() for flow in FLOWS}
    for one in committed:
        algorithm, values = one.algorithm, one.values
        assert get_flow(algorithm).current(values) == values  # complete, in today's terms
        for parameter, value in values.items():
            named = parameter == "max_features" and value in ("sqrt", "log2")
            assert named or spaces[algorithm][parameter].legal_value(value), (one, parameter)


def test_the_committed_pool_is_rebuilt_from_its_known_configurations(
    committed: Pool, task_type: TaskType, making: dict[str, Any]
) -> None:
    assert [*making["made_anew"](committed).items()] == [*committed.items()]
    theirs = [source for source in committed.values() if source not in ("default", "design")]
    further = {CLASSIFICATION: {"search"}, REGRESSION: {"Breiman", "default"}}
    assert {source.partition(" ")[0] for source in theirs} == {
        "AutoGluon",
        "FLAML",
        "auto-sklearn",
        "pytabkit",
        *further[task_type],
    }
    assert len(set(theirs)) == len(theirs)  # each names one entry


def test_a_flow_has_its_default_then_known_configurations_once_and_then_a_design(
    making: dict[str, Any],
) -> None:
    default = get_flow("mlp").default()
    known = [Configuration("mlp", default | {"hidden_units": n}) for n in range(8, 60)]
    also_known = Configuration("mlp", default)
    pool = making["build_pool"](dict.fromkeys([known[0], also_known, *known[1:]], "me"), CLASSIFICATION)
    of_mlp = {one: source for one, source in pool.items() if one.algorithm == "mlp"}
    first = [also_known, *known[: making["MOST_KNOWN"] - 1]]
    assert [*of_mlp][: len(first)] == first
    assert [*of_mlp.values()] == [
        "default",
        *["me"] * (len(first) - 1),
        *["design"] * (len(of_mlp) - len(first)),
    ]
    assert len(of_mlp) == making["STRONG"]


def test_flows_take_turns_and_the_design_is_always_the_same(making: dict[str, Any]) -> None:
    build_pool = making["build_pool"]
    for task_type in (CLASSIFICATION, REGRESSION):
        order, flows = [one.algorithm for one in build_pool({}, task_type)], [*flows_of(task_type)]
        for turn in range(min(making["SIZES"].get(flow, making["STRONG"]) for flow in flows)):
            assert order[turn * len(flows) : (turn + 1) * len(flows)] == flows
    assert build_pool({}, CLASSIFICATION) == build_pool({}, CLASSIFICATION)


def test_pool_is_read_back_as_written(tmp_path: Path, committed: Pool, task_type: TaskType) -> None:
    write_pool(committed, tmp_path / "pool.json")
    assert (tmp_path / "pool.json").read_bytes() == (PLANS / POOLS[task_type]).read_bytes()


def test_first_block_of_regression_has_each_default_both_losses_and_each_transformation() -> None:
    first = [*read_pool(PLANS / "regression_pool.json").items()][:40]
    assert sum(source == "default" for _, source in first) == len(flows_of(REGRESSION))
    for flow in ("lightgbm_regressor", "xgboost_regressor", "catboost_regressor"):
        own = [one.values for one, _ in first if one.algorithm == flow]
        assert {values["loss"] for values in own} == {"squared", "absolute"}
        assert {values["target_transformation"] for values in own} == {"none", "log1p"}


@each(
    ("content", "reason"),
    [
        ("{", "not a JSON file"),
        ('{"flow": "svm"}', "not a pool"),
        ('[{"flow": "svm", "values": {}}]', "not a pool"),
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
