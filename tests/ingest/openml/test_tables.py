"""OpenML's answers as rows of the warehouse."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from ingest.openml.api.documents import Parameter, SetupValues
from ingest.openml.flows import FlowParameter
from ingest.openml.tables import KnownFlow, dataset_tables, evaluation_tables, setup_tables
from tests.cases import each
from tests.ingest.openml.jobs import ACCURACY, ingest, values_of
from tests.openml_server import OpenMLServer, World
from tests.openml_server import generated as names
from warehouse.store import Warehouse
from warehouse.vocabulary.schema import plain


def test_hyperparameters_are_typed_and_keep_their_text(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    values = values_of(warehouse, names.SPECIAL_VALUES_RUN)
    assert names.SPECIAL_TEXT in values.values()
    raw = warehouse.sql(
        "SELECT raw FROM hyperparameters h JOIN runs r USING (setup) WHERE r.run = ?",
        [f"openml:{names.SPECIAL_VALUES_RUN}"],
    )["raw"]
    setup = names.SPECIAL_VALUES_RUN + names.SETUP_AFTER_RUN
    assert sorted(raw) == sorted(world.parameters(setup).values())


def test_omitted_values_of_a_setup_are_the_flows_defaults(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    assert values_of(warehouse, names.DEFAULTS_RUN) == {"C": 0.25, "M": 2, "U": False}
    marked = warehouse.sql(
        "SELECT DISTINCT is_default FROM hyperparameters WHERE setup = ?",
        [f"openml:{names.DEFAULTS_RUN + names.SETUP_AFTER_RUN}"],
    )
    assert marked["is_default"].tolist() == [True]


def test_equal_tunable_values_are_one_configuration(warehouse: Warehouse, world: World) -> None:
    setup, twin = names.DUPLICATE_RUNS[0] + names.SETUP_AFTER_RUN, 99_999
    flow = names.J48
    values = {path: text for path, text in world.parameters(setup).items() if text is not None}
    world.add_setup(twin, flow, {**values, "M": "2"})  # its default, stated explicitly
    world.add_run(99_998, 1, twin)
    world.add_evaluation(99_998, ACCURACY, "0.5")
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    found = warehouse.sql(
        "SELECT count(DISTINCT configuration) AS n FROM setups WHERE setup IN (?, ?)",
        [f"openml:{setup}", f"openml:{twin}"],
    )
    assert found["n"].tolist() == [1 if flow_of(warehouse, setup) == f"openml:{flow}" else 2]


def flow_of(warehouse: Warehouse, setup: int) -> str:
    return str(warehouse.sql("SELECT flow FROM setups WHERE setup = ?", [f"openml:{setup}"])["flow"][0])


def test_setups_may_name_another_version_of_a_component() -> None:
    flow = KnownFlow("weka.J48", (FlowParameter("", "41", "C", "C", True, None, "0.25"),))
    parameters = {
        "1": Parameter("1", "40", "weka.J48(1)_C", "C"),
        "2": Parameter("2", "7", "other(1)_C", "C"),
    }
    setups = [SetupValues("8", "41", ("1",), "0.5"), SetupValues("9", "41", ("1", "2"), "0.5\0000.75")]
    rows = setup_tables(setups, parameters, {"41": flow})["hyperparameters"].to_pylist()
    assert [(row["setup"], row["value"]) for row in rows if row["parameter"] == "C"] == [("openml:8", "0.5")]
    assert len({(row["setup"], row["parameter"]) for row in rows}) == len(rows)


def test_a_value_of_an_unknown_component_is_not_joined_by_defaults_of_its_name() -> None:
    """Two components of the flow have a `C`, and the setup names another version of one of them."""
    parts = (FlowParameter(part, flow, "C", f"{part}__C", True, None, "1") for part, flow in ("a2", "b3"))
    flow = KnownFlow("x", (*parts, FlowParameter("", "41", "D", "D", True, None, "4")))
    parameters = {"1": Parameter("1", "40", "x.A(1)_C", "C")}
    rows = setup_tables([SetupValues("8", "41", ("1",), "0.5")], parameters, {"41": flow})["hyperparameters"]
    found = dict(zip(rows["parameter"].to_pylist(), rows["value"].to_pylist(), strict=True))
    assert found == {"C": "0.5", "D": "4"}


def test_an_omitted_flag_of_weka_is_off() -> None:
    flags = tuple(
        FlowParameter("", "41", name, name, True, kind, None)
        for name, kind in (("S", "flag"), ("N", "option"))
    )
    parameters = {"1": Parameter("1", "41", "weka.J48(1)_S", "S")}
    setups = [SetupValues("8", "41", ("1",), "true"), SetupValues("9", "41")]
    tables = setup_tables(setups, parameters, {"41": KnownFlow("weka.J48", flags)})
    values = {row["setup"]: (row["parameter"], row["value"]) for row in tables["hyperparameters"].to_pylist()}
    assert values == {"openml:8": ("S", "true"), "openml:9": ("S", "false")}
    assert len(set(configurations_of(tables))) == 2


@each(
    ("measure", "text", "value", "reason"),
    [
        (ACCURACY, "0.5", 0.5, None),
        (ACCURACY, "1.0000000001", 1.0, None),
        (ACCURACY, "64.2", None, "predictive_accuracy is not 0 to 1"),
        (ACCURACY, "0,85", None, "predictive_accuracy is no number"),
        (ACCURACY, "NA", None, None),
        ("kappa", "-1.5", None, "kappa is not -1 to 1"),
        ("usercpu_time_millis", "-1", None, "usercpu_time_millis is not 0 and more"),
        ("root_mean_squared_error", "Infinity", None, "root_mean_squared_error is not 0 and more"),
        ("own_measure", "-INF", None, "own_measure is not finite"),
        ("own_measure", "1e400", None, "own_measure is not finite"),
        ("own_measure", "-64", -64.0, None),
        (ACCURACY, "NaN", None, None),
    ],
)
def test_infinite_values_and_values_out_of_a_measures_range_are_left_out_and_reported(
    measure: str, text: str, value: float | None, reason: str | None
) -> None:
    row = {"run_id": "7", "task_id": "1", "setup_id": "2", "flow_id": "3", "function": measure, "value": text}
    told: list[tuple[str, str]] = []
    tables = evaluation_tables([row], lambda what, why: told.append((what, why)))
    assert tables["evaluations"]["value"].to_pylist() == [value]
    assert told == ([] if reason is None else [("run 7", reason)])


def depth(component: str, component_flow: str = "42") -> FlowParameter:
    return FlowParameter(component, component_flow, "max_depth", "max_depth", True, None, None)


def configurations_of(tables: dict[str, Any]) -> list[str]:
    rows = sorted(tables["setups"].to_pylist(), key=lambda row: int(row["setup"].removeprefix("openml:")))
    return [row["configuration"] for row in rows]


@given(st.lists(st.tuples(st.sampled_from(["1", "2", '"a"', "null"]), st.integers(0, 3)), min_size=1))
def test_setups_are_one_configuration_exactly_where_their_tunable_values_are_equal(
    drawn: list[tuple[str, int]],
) -> None:
    """A seed does not distinguish configurations, nor does the order of a setup's parameters."""
    parameters = {
        "1": Parameter("1", "41", "x(1)_alpha", "alpha"),
        "2": Parameter("2", "41", "x(1)_random_state", "random_state"),
    }
    setups = [
        SetupValues(str(number), "41", ("1", "2"), f"{alpha}\0{seed}")
        if number % 2
        else SetupValues(str(number), "41", ("2", "1"), f"{seed}\0{alpha}")
        for number, (alpha, seed) in enumerate(drawn)
    ]
    found = configurations_of(setup_tables(setups, parameters, {}))
    pairs = list(zip(found, (alpha for alpha, _ in drawn), strict=True))
    assert len(set(pairs)) == len(set(found)) == len({alpha for _, alpha in pairs})


def test_parameters_of_an_unknown_flow_have_their_names_in_setups() -> None:
    parameters = {"1": Parameter("1", "7", "sklearn.tree.tree.Tree(7)_max_depth", "max_depth")}
    tables = setup_tables([SetupValues("8", "41", ("1",), "3")], parameters, {})
    (row,) = tables["hyperparameters"].to_pylist()
    assert (row["component"], row["parameter"], row["value"]) == ("sklearn.tree.tree.Tree", "max_depth", "3")
    assert (row["is_default"], row["tunable"]) == (False, True)
    assert configurations_of(tables)[0].startswith("openml:41/")


def test_parameters_of_one_name_are_distinguished_by_their_component() -> None:
    parameters = {
        "1": Parameter("1", "42", "x.Inner(1)_max_depth", "max_depth"),
        "2": Parameter("2", "43", "x.Outer(1)_max_depth", "max_depth"),
    }
    flow = KnownFlow("x", (depth("inner", "42"), depth("", "43")))
    setup = SetupValues("8", "41", ("1", "2"), "3\0005")
    rows = setup_tables([setup], parameters, {"41": flow})["hyperparameters"].to_pylist()
    assert {row["parameter"]: row["value"] for row in rows} == {"inner__max_depth": "3", "2__max_depth": "5"}


def test_a_lost_setup_has_no_configuration() -> None:
    tables = setup_tables([SetupValues("8", "41", exists=False)], {}, {})
    assert configurations_of(tables) == [None]
    assert tables["hyperparameters"].num_rows == 0


@each(
    ("value", "rows"),
    [
        ("30.0", 30), ("-1.0", None), ("2.5", None), ("NaN", None), ("Infinity", None), ("?", None),
        (None, None),
    ],
)  # fmt: skip
def test_only_nonnegative_whole_numbers_are_counts(value: str | None, rows: int | None) -> None:
    """The published value is also stored if it is a number."""
    tables = dataset_tables([{"did": "3"}], {"3": {"NumberOfInstances": value}})
    (row,) = tables["datasets"].to_pylist()
    assert (row["rows"], row["status"], row["name"]) == (rows, "unlisted", "dataset 3")
    (quality,) = tables["qualities"].to_pylist()
    assert quality["value"] == {"30.0": 30, "-1.0": -1, "2.5": 2.5}.get(value or "")


def test_many_setups_together_give_the_same_tables_as_each_alone() -> None:
    parameters = {"1": Parameter("1", "9", "9_a", "a"), "2": Parameter("2", "9", "9_b", "b")}
    setups = [
        SetupValues(
            str(number), "9", ("1", "2") if number % 3 else ("1",), f"{number}\0x" if number % 3 else "7"
        )
        for number in range(1, 2501)
    ]
    together = setup_tables(setups, parameters, {})
    alone = [setup_tables([setup], parameters, {}) for setup in setups[::500]]
    for name, rows in together.items():
        assert all(column.num_chunks <= 1 for column in rows.columns)
        found = rows.filter(pc.is_in(rows["setup"], pa.array([f"openml:{n}" for n in range(1, 2501, 500)])))
        expected = pa.concat_tables([tables[name] for tables in alone])
        order = [(column, "ascending") for column in found.column_names]
        texts = plain(found.schema)
        assert found.cast(texts).sort_by(order).equals(expected.cast(texts).sort_by(order))
