"""Flows of OpenML: names in the warehouse, and which versions are the same algorithm."""

from xml.sax.saxutils import escape

from ingest.openml.flows import known_flow, read_flow, structure_of
from tests.cases import each
from tests.ingest.openml.jobs import ACCURACY, ingest
from tests.openml_server import OpenMLServer, World
from tests.openml_server import generated as names
from warehouse.store import Warehouse


@each(
    ("old", "new"),
    [
        ("sklearn.tree.tree.DecisionTreeClassifier(3)", "sklearn.tree._classes.DecisionTreeClassifier(12)"),
        (
            "sklearn.pipeline.Pipeline(a=sklearn.ensemble.forest.RandomForestClassifier(1))(2)",
            "sklearn.pipeline.Pipeline(a=sklearn.ensemble._forest.RandomForestClassifier(7))(1)",
        ),
    ],
)
def test_versions_of_a_flow_have_one_structure(old: str, new: str) -> None:
    assert structure_of(old) == structure_of(new)


@each(
    "names",
    [
        ("p.Pipeline(a=q.X)", "p.Pipeline(b=q.X)", "p.Pipeline(a=q.Y)", "p.Pipeline(a=r.X)"),
        ("mlr.classif.rpart(1)", "mlr.regr.rpart(1)", "mlr.classif.rpart.preproc(1)"),
        ("mlr.classif.svm.tuned", "mlr.classif.ranger.tuned"),
        ("my.pkg.v1.Model", "my.pkg.v2.Model"),
        ("sklearn.svm.classes.SVC", "thundersvm.SVC", "my.sklearn.svm.SVC"),
    ],
)
def test_steps_classes_and_modules_of_unknown_packages_distinguish_structures(
    names: tuple[str, ...],
) -> None:
    assert len(set(map(structure_of, names))) == len(names)


def test_versions_of_a_flow_are_one_algorithm_with_one_set_of_parameters(
    warehouse: Warehouse, world: World
) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    flows = warehouse.sql("SELECT flow, algorithm FROM flows").set_index("flow")["algorithm"]
    old, new = f"openml:{names.OLD_TREE}", f"openml:{names.NEW_TREE}"
    assert flows[old] == flows[new]
    table = warehouse.run_table(flows[old], ACCURACY)
    assert set(table.runs["flow"]) == {old, new}
    parameters = table.configurations.parameters
    assert "criterion" in parameters
    assert "random_state" not in parameters
    assert set(parameters["criterion"].dropna()) == {"gini", "entropy"}


def flow_document(flow: int, name: str, *parts: str) -> str:
    """A flow with its parameters and components, as in `flow/{id}`."""
    about = f"<oml:id>{flow}</oml:id><oml:name>{name}</oml:name><oml:version>3</oml:version>"
    return f'<oml:flow xmlns:oml="http://openml.org/openml">{about}{"".join(parts)}</oml:flow>'


def parameter(name: str, default: str = "") -> str:
    return (
        f"<oml:parameter><oml:name>{name}</oml:name>"
        f"<oml:default_value>{escape(default)}</oml:default_value></oml:parameter>"
    )


def component(step: str, document: str) -> str:
    return f"<oml:component><oml:identifier>{step}</oml:identifier>{document}</oml:component>"


def test_parameters_have_their_plain_name_unless_two_components_share_it() -> None:
    """Components are named by their path of steps."""
    inner = component("inner", flow_document(9, "x.Inner", parameter("gamma")))
    body = flow_document(
        7,
        "x.Pipeline",
        component("one", flow_document(8, "x.One", parameter("alpha", "0.5"), parameter("beta"), inner)),
        component("two", flow_document(10, "x.Two", parameter("alpha"))),
    )
    flow = read_flow(body.encode())
    assert [(part.path, part.flow) for part in flow.components] == [
        ("", "7"), ("one", "8"), ("one__inner", "9"), ("two", "10"),
    ]  # fmt: skip
    assert {(own.component, own.name): own.parameter for own in flow.parameters} == {
        ("one", "alpha"): "one__alpha",
        ("one", "beta"): "beta",
        ("one__inner", "gamma"): "gamma",
        ("two", "alpha"): "two__alpha",
    }
    assert flow.parameters[0].default_value == "0.5"
    assert flow.algorithm == flow.structure == "x.Pipeline"


def test_randomness_resources_and_parts_are_not_tuned() -> None:
    reference = '{"oml-python:serialized_object": "component_reference", "value": {"key": "a"}}'
    tuned = [parameter("alpha"), parameter("n_jobs"), parameter("random_state"), parameter("base", reference)]
    flow = read_flow(flow_document(7, "x.Model", *tuned).encode())
    assert [own.name for own in flow.parameters if own.tunable] == ["alpha"]


@each(
    ("name", "tuned", "not_tuned"),
    [
        ("weka.J48", "S C", "Q"),
        ("weka.classifiers.trees.J48", "S", "Q"),
        ("weka.RandomTree", "K Q", "S"),
        ("weka.AdaBoostM1_J48", "Q", "S"),
        ("weka.LibLINEAR", "S", "num-slots"),
        ("weka.Unheard", "S", "seed"),
        ("mlr.classif.rpart", "cp S Q", "openml.seed openml.kind openml.anything"),
        ("mlr.classif.ranger", "mtry", "num.threads verbose"),
    ],
)
def test_a_letter_is_a_seed_in_some_classes_and_a_setting_in_others(
    name: str, tuned: str, not_tuned: str
) -> None:
    names = [*tuned.split(), *not_tuned.split()]
    flow = read_flow(flow_document(7, name, *map(parameter, names)).encode())
    assert [own.name for own in flow.parameters if own.tunable] == tuned.split()


def test_a_seed_of_an_unknown_weka_class_is_recognized_by_its_description() -> None:
    body = flow_document(7, "weka.Unheard", parameter("S"), parameter("R"))
    told = body.replace(
        "</oml:parameter>", "<oml:description>Random number seed</oml:description></oml:parameter>", 1
    )
    assert [own.name for own in read_flow(told.encode()).parameters if own.tunable] == ["R"]


@each(
    ("flow", "parameters", "expected"),
    [
        ("8317", ["C", "gamma", "tol", "coef0"], "svm"),
        ("8317", ["C", "gamma", "tol"], None),  # only three of the six in Headstart's flow
        ("8317", [], None),
        ("1", ["C", "gamma", "tol", "coef0"], None),
    ],
)
def test_an_id_is_one_of_headstarts_flows_if_most_of_its_parameters_match(
    flow: str, parameters: list[str], expected: str | None
) -> None:
    found = known_flow(flow, [("classifier", name) for name in parameters])
    assert (found.name if found else None) == expected


def test_parameters_of_headstarts_flows_have_their_scales() -> None:
    """C has a log scale, coef0 a linear one; parameters that Headstart never sets have none."""
    svm = [*map(parameter, ("C", "gamma", "tol", "coef0", "degree"))]
    flow = read_flow(flow_document(8317, "x.SVC", *svm).encode())
    assert {own.name: own.scale for own in flow.parameters} == {
        "C": "log", "gamma": "log", "tol": "log", "coef0": "linear", "degree": None,
    }  # fmt: skip
    stranger = read_flow(flow_document(1, "x.SVC", *svm).encode())
    assert {own.scale for own in stranger.parameters} == {None}


def test_of_two_imputers_the_one_of_numeric_columns_counts() -> None:
    imputers = [
        component(f"columns__{kind}__imputer", flow_document(number, "x.Imputer", parameter("strategy")))
        for number, kind in ((8, "nominal"), (9, "numeric"))
    ]
    svm = flow_document(10, "x.SVC", *map(parameter, ("C", "gamma", "tol", "coef0", "degree")))
    flow = read_flow(flow_document(8317, "x.Pipeline", *imputers, component("svc", svm)).encode())
    assert flow.algorithm == "svm"
    names = {own.component: own for own in flow.parameters if own.name == "strategy"}
    assert names["columns__numeric__imputer"].parameter == "imputation"
    assert names["columns__nominal__imputer"].parameter == "columns__nominal__imputer__strategy"
    tunable = [own.parameter for own in flow.parameters if own.tunable]
    assert sorted(tunable) == ["C", "coef0", "gamma", "imputation", "tol"]
