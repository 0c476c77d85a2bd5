"""Promises of the stand-in OpenML server: the real client reads the world from it, and faults are as said."""

import gzip
import importlib
import json
import math
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
import requests

from tests.openml_server import KINDS, Faults, OpenMLServer, World, generated, generated_world, real_world

ACCURACY = "predictive_accuracy"
OML = "{http://openml.org/openml}"


@pytest.fixture(scope="module")
def world() -> World:
    return generated_world()


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[OpenMLServer]:
    with OpenMLServer(world) as running:
        yield running


@pytest.fixture(scope="module")
def _imported(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The client, which makes folders and reads settings when it is first imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("OPENML_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return importlib.import_module("openml")


@pytest.fixture
def client(
    _imported: ModuleType, server: OpenMLServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """The client, set to the server, with a cache of its own."""
    settings = {
        "server": server.url,
        "apikey": "",
        "retry_policy": "human",
        "connection_n_retries": 1,
        "_root_cache_directory": tmp_path,
    }
    for name, value in settings.items():
        monkeypatch.setattr(_imported.config, name, value)
    return _imported


def get(url: str, **options: Any) -> requests.Response:
    return requests.get(url, timeout=10, **options)


def ids(response: requests.Response, element: str = "run_id") -> list[int]:
    """Ids in the rows of a listing in XML."""
    return [int(node.text or "") for node in ElementTree.fromstring(response.content).iter(f"{OML}{element}")]


def code(response: requests.Response) -> int:
    """Number of an error in XML."""
    assert response.status_code == 412
    return int(ElementTree.fromstring(response.content).findtext(f"{OML}code") or "")


def evaluated(world: World, function: str = ACCURACY) -> dict[int, str | None]:
    """Values of a measure by run, as the listing of evaluations has them."""
    values = world.measure_values(function)
    return {run: values[run] for run in sorted(values) if world.runs[run].setup in world.setups}


# ---- what the client reads ----------------------------------------------------------------------


def test_client_lists_active_datasets_or_all(client: ModuleType, world: World) -> None:
    active = client.datasets.list_datasets(output_format="dataframe")
    every = client.datasets.list_datasets(status="all", output_format="dataframe")
    assert every["did"].tolist() == sorted(world.datasets)
    assert active["did"].tolist() == [d for d, row in world.datasets.items() if row.status == "active"]
    assert every.loc[101, "NumberOfInstances"] == 30
    assert math.isnan(every.loc[102, "NumberOfMissingValues"])


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"data_id": [101, 106]}, [101, 106]),
        ({"data_name": "flags", "status": "all"}, [101, 103]),
        ({"data_version": 2}, [102]),
        ({"tag": "drawn"}, [101]),
        ({"uploader": 2}, [102]),
        ({"number_instances": "5..30"}, [101, 102]),
        ({"number_missing_values": "0"}, [101]),
        ({"number_classes": "3..9"}, []),
    ],
)
def test_client_filters_datasets(client: ModuleType, filters: dict[str, Any], expected: list[int]) -> None:
    listed = client.datasets.list_datasets(output_format="dataframe", **filters)
    assert (listed["did"].tolist() if len(listed) else []) == expected


def test_client_gets_a_dataset_with_data_and_qualities(client: ModuleType, world: World) -> None:
    dataset = client.datasets.get_dataset(101, download_qualities=True, download_data=True)
    published = {name: float(text or "nan") for name, text in world.datasets[101].qualities.items()}
    assert repr(dataset.qualities) == repr(published)
    assert dataset.description == world.datasets[101].description
    frame, _, nominal, names = dataset.get_data()
    assert (frame.shape, names, nominal) == ((30, 3), ["width", "colour", "class"], [False, True, True])


@pytest.mark.parametrize(("did", "expected"), [(104, 362), (105, 363), (106, 364), (999, 361)])
def test_client_learns_why_there_are_no_qualities(
    client: ModuleType, server: OpenMLServer, did: int, expected: int
) -> None:
    assert code(get(f"{server.url}/data/qualities/{did}")) == expected
    with pytest.raises(client.exceptions.OpenMLServerException) as caught:
        client.datasets.get_dataset(did, download_qualities=True, download_features_meta_data=False)
    assert caught.value.code == (111 if did == 999 else expected)


def test_client_lists_tasks_of_known_kinds(client: ModuleType, world: World) -> None:
    active = client.tasks.list_tasks(output_format="dataframe")
    assert active["tid"].tolist() == [1, 2, 4]
    assert active["did"].tolist() == [world.tasks[task].did for task in (1, 2, 4)]
    assert active.loc[2, "estimation_procedure"] == "33% Holdout set"
    assert active.loc[2, "NumberOfMissingValues"] == 0  # the client's reading of an empty one
    with pytest.warns(RuntimeWarning, match="task type id for 10"):
        every = client.tasks.list_tasks(status="all", output_format="dataframe")
    assert every["tid"].tolist() == [1, 2, 3, 4]
    assert client.tasks.list_tasks(tag="suite", output_format="dataframe")["tid"].tolist() == [1, 2]


def test_client_gets_a_task(client: ModuleType) -> None:
    task = client.tasks.get_task(1)
    assert (task.dataset_id, task.target_name, task.class_labels) == (101, "class", ["no", "yes"])
    assert task.estimation_procedure["parameters"]["number_folds"] == "10"


def test_client_lists_flows(client: ModuleType, world: World) -> None:
    listed = client.flows.list_flows(output_format="dataframe")
    assert listed["full_name"].to_dict() == {flow: row.full_name for flow, row in sorted(world.flows.items())}
    assert client.flows.list_flows(uploader=2, output_format="dataframe")["id"].tolist() == [41, 51]


@pytest.mark.parametrize("flow", [generated.OLD_TREE, generated.NEW_TREE, generated.SEARCH])
def test_client_gets_a_flow_with_its_components(client: ModuleType, world: World, flow: int) -> None:
    tree = client.flows.get_flow(flow)
    assert tree.name == world.flows[flow].name
    for slot in world.slots(flow):
        *path, name = slot.path.split("__")
        part = tree.get_subflow(path) if path else tree
        assert part.flow_id == slot.flow.id
        assert part.parameters[name] == slot.parameter.default
    assert {*tree.get_structure("flow_id")} == {slot.flow.id for slot in world.slots(flow)}


def test_both_trees_have_one_structure(world: World) -> None:
    old, new = (world.slots(flow) for flow in (generated.OLD_TREE, generated.NEW_TREE))
    assert [slot.path for slot in old] == [slot.path for slot in new]
    assert {slot.full_name for slot in old}.isdisjoint(slot.full_name for slot in new)


def test_weka_flow_is_no_xml_until_html_names_are_replaced(server: OpenMLServer) -> None:
    page = get(f"{server.url}/flow/{generated.J48}")
    with pytest.raises(ElementTree.ParseError, match="undefined entity"):
        ElementTree.fromstring(page.content)
    flow = ElementTree.fromstring(page.text.replace("&eacute;", "\u00e9"))
    assert flow.findtext(f"{OML}description", "").endswith("d\u00e9cision trees.")


def test_client_lists_setups(client: ModuleType, world: World) -> None:
    listed = client.setups.list_setups(output_format="dataframe")
    assert listed["setup_id"].tolist() == sorted(row.id for row in world.setups.values() if row.listed)
    for setup, flow, parameters in listed.itertuples(index=False):
        by_name = {slot.full_name: slot.path for slot in world.slots(flow)}
        read = {
            by_name[parameter["full_name"]]: parameter["value"] for parameter in (parameters or {}).values()
        }
        assert read == world.parameters(setup)
    some = client.setups.list_setups(setup=[9909, 9911, 9902], output_format="dataframe")
    assert some["setup_id"].tolist() == [9909, 9911]


def test_client_gets_a_setup(client: ModuleType, world: World) -> None:
    setup = client.setups.get_setup(generated.SPECIAL_VALUES_RUN + generated.SETUP_AFTER_RUN)
    values = {parameter.parameter_name: parameter.value for parameter in setup.parameters.values()}
    assert json.loads(values["fill_value"]) == generated.SPECIAL_TEXT
    assert (values["missing_values"], values["max_depth"]) == ("NaN", "Infinity")
    slots = {slot.parameter.id: slot for slot in world.slots(setup.flow_id)}
    for parameter in setup.parameters.values():
        slot = slots[parameter.id]
        assert (parameter.flow_id, parameter.flow_name) == (slot.flow.id, slot.flow.name)
        assert parameter.data_type == (slot.parameter.data_type or None)
    with pytest.raises(client.exceptions.OpenMLServerException, match="Unknown setup"):
        client.setups.get_setup(generated.HIDDEN_SETUP_RUN + generated.SETUP_AFTER_RUN)


def test_sub_model_is_a_parameter_of_the_flow_and_none_of_the_setup(client: ModuleType, world: World) -> None:
    assert "estimator" in client.flows.get_flow(generated.SEARCH).parameters
    setup = world.setup_ids([generated.SEARCH])[0]
    names = {p.full_name.rpartition("_")[2] for p in client.setups.get_setup(setup).parameters.values()}
    assert "estimator" not in names
    assert "estimator__max_depth" in world.parameters(setup)


def test_client_lists_runs_page_by_page(client: ModuleType, world: World) -> None:
    listed = client.runs.list_runs(batch_size=40, output_format="dataframe")
    shown = [run for run in world.run_ids() if run != generated.FAILED_RUN]
    assert listed["run_id"].tolist() == shown
    assert listed["setup_id"].tolist() == [world.runs[run].setup for run in shown]
    every = client.runs.list_runs(batch_size=40, display_errors=True, output_format="dataframe")
    failed = every[every["run_id"] == generated.FAILED_RUN]
    assert failed["error_message"].tolist() == [world.runs[generated.FAILED_RUN].error_message]


@pytest.mark.parametrize(
    ("column", "filters"),
    [("task", {"task": [1, 3]}), ("flow", {"flow": [11]}), ("uploader", {"uploader": [2]})],
)
def test_client_filters_runs(
    client: ModuleType, world: World, column: str, filters: dict[str, list[int]]
) -> None:
    listed = client.runs.list_runs(batch_size=1000, display_errors=True, output_format="dataframe", **filters)
    assert listed["run_id"].tolist() == world.run_ids(column, filters[column])


def test_client_gets_a_run(client: ModuleType, world: World) -> None:
    run = client.runs.get_run(1000)
    assert run.setup_id == world.runs[1000].setup
    assert f"{run.evaluations[ACCURACY]}" == evaluated(world)[1000]
    assert len(run.fold_evaluations[ACCURACY][0]) == 10
    assert len(run.parameter_settings) == len(world.parameters(run.setup_id))


def test_client_lists_evaluations(client: ModuleType, world: World) -> None:
    listed = client.evaluations.list_evaluations(ACCURACY, size=1000, output_format="dataframe")
    assert listed["run_id"].tolist() == list(evaluated(world))
    assert listed["value"].tolist() == [float(text or "nan") for text in evaluated(world).values()]
    assert set(listed["uploader_name"]) == {"ann", "bob"}
    assert generated.NO_SETUP_RUN not in listed["run_id"].tolist()
    of_task = client.evaluations.list_evaluations(ACCURACY, tasks=[3], flows=[41], size=1000)
    assert set(of_task) == {*world.run_ids("task", [3])} & {*world.run_ids("flow", [41])}


def test_client_reads_nan_and_lists_per_class(client: ModuleType) -> None:
    curves = client.evaluations.list_evaluations(
        "area_under_roc_curve", runs=[1000], size=5, output_format="dataframe"
    )
    assert json.loads(curves.loc[0, "array_data"]) == pytest.approx([0.5, 0.5], abs=0.5)
    kappa = client.evaluations.list_evaluations("kappa", runs=[generated.NAN_RUN], size=5)
    assert math.isnan(kappa[generated.NAN_RUN].value)
    system = client.evaluations.list_evaluations("os_information", runs=[1000], size=5)
    assert (system[1000].value, system[1000].array_data) == (None, generated.OS_INFORMATION)


def test_client_lists_evaluations_with_setups(client: ModuleType, world: World) -> None:
    listed = client.evaluations.list_evaluations_setups(ACCURACY, size=1000, output_format="dataframe")
    assert listed["run_id"].tolist() == list(evaluated(world))
    for row in listed.itertuples():
        if row.run_id == generated.HIDDEN_SETUP_RUN:
            assert math.isnan(row.parameters)
        else:
            assert sorted(row.parameters.values()) == sorted(world.parameters(row.setup_id).values())


def test_client_lists_measures_and_suites(client: ModuleType, world: World) -> None:
    assert client.evaluations.list_evaluation_measures() == world.measures
    assert client.study.get_suite("small-suite").tasks == [1, 2, 3]
    assert client.study.get_suite(generated.SUITE).data == [101, 102, 103]
    assert client.study.get_study(generated.RUN_STUDY).runs == [904, 914, 915]
    assert client.study.list_suites(output_format="dataframe")["id"].tolist() == [generated.SUITE]


def test_pages_of_the_clients_default_size_are_refused(client: ModuleType) -> None:
    for call, expected in ((client.runs.list_runs, 516), (client.evaluations.list_evaluations, 546)):
        with pytest.raises(client.exceptions.OpenMLServerException) as caught:
            call(*([ACCURACY] if expected == 546 else []), output_format="dataframe")
        assert caught.value.code == expected


# ---- the dialect --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("nothing/here", 100),
        ("data/999", 111),
        ("task/999", 151),
        ("flow/999", 181),
        ("run/999", 236),
        ("data/features/106", 272),
        ("setup/999", 281),
        ("study/999", 601),
        ("data/list/colour/red", 370),
        ("data/list/status/new", 371),
        ("data/list/tag/none", 372),
        ("data/list/offset/5", 373),
        ("task/list/flow/1", 480),
        ("task/list/type/x", 481),
        ("task/list/type/9", 482),
        ("task/list/offset/5", 483),
        ("flow/list/tag/none", 500),
        ("flow/list/task/1", 501),
        ("flow/list/uploader/x", 502),
        ("flow/list/offset/5", 503),
        ("run/list", 510),
        ("run/list/task/x", 511),
        ("run/list/task/999", 512),
        ("run/list/function/kappa", 514),
        ("run/list/task/1/offset/5", 515),
        ("run/list/limit/1001", 516),
        ("run/list/study/14", 517),
        ("evaluation/list/", 540),
        ("evaluation/list/run/1,,2", 541),
        ("evaluation/list/function/nothing/limit/5", 542),
        ("evaluation/list/measure/kappa", 544),
        ("evaluation/list/task/1/offset/5", 545),
        ("evaluation/list/limit/1001", 546),
        ("evaluation/list/task/1/per_fold/yes", 547),
        ("evaluation/list/task/1/sort_order/up", 549),
        ("evaluation/setup/list/study/14", 555),
        ("study/list/status/all/uploader/9", 599),
        ("setup/list", 670),
        ("setup/list/run/5", 671),
        ("setup/list/flow/x", 672),
        ("setup/list/flow/999", 674),
        ("setup/list/flow/11/offset/3", 675),
        ("setup/list/limit/1001", 676),
        ("run/list/limit/5?api_key=wrong", 103),
    ],
)
def test_errors_have_openmls_numbers(server: OpenMLServer, path: str, expected: int) -> None:
    assert code(get(f"{server.url}/{path}")) == expected


def test_too_many_rows_without_a_limit_are_refused(world: World) -> None:
    with OpenMLServer(world, page_limit=20) as server:
        assert code(get(f"{server.url}/run/list/task/1")) == 513
        assert code(get(f"{server.url}/evaluation/list/function/kappa")) == 543
        assert code(get(f"{server.url}/evaluation/list/task/1/per_fold/true/limit/5")) == 548
        assert code(get(f"{server.url}/setup/list/flow/11")) == 673
        assert len(ids(get(f"{server.url}/run/list/task/1/limit/20"))) == 20
        window = ",".join(map(str, range(1000, 1900)))
        assert code(get(f"{server.url}/evaluation/list/function/kappa/run/{window}")) == 543
        server.page_limit = 1000
        assert len(ids(get(f"{server.url}/evaluation/list/function/kappa/run/{window}"))) > 20


def test_other_methods_need_a_key(server: OpenMLServer) -> None:
    assert code(requests.post(f"{server.url}/setup/exists", timeout=10)) == 102


def test_long_urls_are_refused(server: OpenMLServer) -> None:
    fitting = ",".join(str(2_000_000 + i) for i in range(1000))
    assert get(f"{server.url}/evaluation/list/run/{fitting}").status_code == 412
    assert get(f"{server.url}/evaluation/list/run/{fitting},{fitting}").status_code == 414


def test_paths_may_double_slashes_and_leave_the_format_out(server: OpenMLServer) -> None:
    plain = get(f"{server.url}/run/list/limit/5/offset/0")
    assert get(f"{server.origin}/api/v1//run/list//offset/0/limit/5").content == plain.content


def test_json_listing_has_numbers_and_escaped_parameters(server: OpenMLServer) -> None:
    path = f"evaluation/setup/list/function/{ACCURACY}/run/{generated.OLD_TEXTS_RUN},1000/limit/5"
    old, new = get(f"{server.json_url}/{path}").json()["evaluations"]["evaluation"]
    assert (new["run_id"], old["value"]) == (1000, 0.75)
    assert {"uploader", "data_id", "evaluation_engine_id"}.isdisjoint(new)
    values = {parameter["parameter_name"]: parameter["value"] for parameter in new["parameters"]}
    assert values["criterion"].startswith("&quot;")
    special = f"evaluation/setup/list/function/{ACCURACY}/run/{generated.SPECIAL_VALUES_RUN}"
    with pytest.raises(ValueError, match="escape"):
        get(f"{server.json_url}/{special}").json()  # the backslash stands there as it is


def test_json_of_other_answers_is_made_of_the_xml(server: OpenMLServer) -> None:
    alone = get(f"{server.json_url}/setup/list/setup/9905").json()["setups"]["setup"]
    assert (alone["setup_id"], alone["parameter"]["value"]) == ("9905", "0.1")  # not in lists
    bare = get(f"{server.json_url}/setup/list/setup/9911,9905").json()["setups"]["setup"]
    assert len(bare) == 2
    empty = get(f"{server.json_url}/data/qualities/101").json()["data_qualities"]["quality"]
    assert {"name": "MeanMutualInformation", "value": []} in empty
    flow = get(f"{server.json_url}/flow/{generated.J48}").json()["flow"]
    assert flow["description"].endswith("d\u00e9cision trees.")
    assert get(f"{server.json_url}/run/list/task/999").json()["error"]["code"] == "512"
    assert get(f"{server.json_url}/evaluation/list/run/1000").json()["evaluations"]["evaluation"]


def test_rows_show_their_engine_and_their_values_per_fold(server: OpenMLServer) -> None:
    run = generated.TWO_ENGINES_RUN
    page = get(f"{server.url}/evaluation/list/function/{ACCURACY}/run/{run}/sort_order/desc")
    rows = ElementTree.fromstring(page.content)
    shown = [(row.findtext(f"{OML}evaluation_engine_id"), row.findtext(f"{OML}value")) for row in rows]
    assert shown == [("2", "0.8"), ("1", "0.75")]
    folds = get(f"{server.url}/evaluation/list/run/1000/per_fold/true").content
    assert len(json.loads(ElementTree.fromstring(folds).findtext(f".//{OML}values") or "")) == 10


def test_only_the_parameters_are_missing_of_a_setup_that_does_not_resolve(server: OpenMLServer) -> None:
    runs = f"{generated.HIDDEN_SETUP_RUN},{generated.NO_SETUP_RUN}"
    page = ElementTree.fromstring(get(f"{server.url}/evaluation/setup/list/run/{runs}").content)
    assert [row.findtext(f"{OML}run_id") for row in page] == [str(generated.HIDDEN_SETUP_RUN)]
    assert page.find(f".//{OML}parameters") is not None
    assert page.find(f".//{OML}parameter") is None


def test_tags_repeat_the_parameters_of_a_setup(server: OpenMLServer, world: World) -> None:
    setup = generated.TWICE_TAGGED_RUN + generated.SETUP_AFTER_RUN
    page = ElementTree.fromstring(get(f"{server.url}/setup/list/tag/first").content)
    assert len(page.findall(f".//{OML}parameter")) == 2 * len(world.parameters(setup))


def test_answers_are_compressed_for_those_who_can_read_it(world: World) -> None:
    for compress, encoding in ((True, "gzip"), (False, None)):
        with OpenMLServer(world, compress=compress) as server:
            response = get(f"{server.url}/flow/list", stream=True)
            body = response.raw.read()
            assert response.headers.get("Content-Encoding") == encoding
            assert b"weka.J48" in (gzip.decompress(body) if encoding else body)
            plain = get(f"{server.url}/flow/list", headers={"Accept-Encoding": "identity"})
            assert "Content-Encoding" not in plain.headers


def test_order_can_change_between_requests(world: World) -> None:
    with OpenMLServer(world, unstable_order=True) as server:
        pages = [ids(get(f"{server.url}/run/list/limit/1000")) for _ in range(2)]
    assert pages[0] != pages[1]
    assert sorted(pages[0]) == sorted(pages[1])


def test_one_awkward_row_spoils_its_page() -> None:
    with OpenMLServer(generated_world(unreadable=True)) as server:
        assert ids(get(f"{server.url}/run/list/limit/1000"))
        with pytest.raises(ElementTree.ParseError):
            ids(get(f"{server.url}/run/list/limit/1000/show_errors/true"))


def test_world_changes_while_it_is_served() -> None:
    world = generated_world()
    with OpenMLServer(world) as server:
        path = f"{server.url}/evaluation/list/function/{ACCURACY}/task/1"
        before = ids(get(path))
        world.remove_run(before[0])
        world.add_run(500, 1, before[1] + generated.SETUP_AFTER_RUN)
        world.add_evaluation(500, ACCURACY, "0.5")
        world.add_evaluation(generated.UNEVALUATED_RUN, ACCURACY, "0.25")
        world.add_dataset(replace(world.datasets[102], status="deactivated"))
        assert ids(get(path)) == [500, *before[1:]]
        assert generated.UNEVALUATED_RUN in ids(
            get(f"{server.url}/evaluation/list/function/{ACCURACY}/task/2")
        )
        assert 102 not in ids(get(f"{server.url}/data/list"), "did")


# ---- faults -------------------------------------------------------------------------------------


@pytest.fixture
def faulty(world: World) -> Iterator[OpenMLServer]:
    with OpenMLServer(world, faults=Faults(0, slow_seconds=0.01)) as running:
        yield running


def _plan(server: OpenMLServer, *kinds: str | None) -> None:
    server.faults = Faults(0, planned=kinds, slow_seconds=0.01, retry_after=0.5)


@pytest.mark.parametrize("dialect", ["xml", "json"])
@pytest.mark.parametrize("kind", KINDS)
def test_request_that_met_a_fault_succeeds_when_asked_again(
    faulty: OpenMLServer, dialect: str, kind: str
) -> None:
    url = f"{faulty.origin}/api/v1/{dialect}/run/list/limit/20/offset/20"
    right = get(url).content
    _plan(faulty, kind)
    with suppress(requests.RequestException):
        assert (get(url).content == right) == (kind == "slow")
    assert get(url).content == right
    met = faulty.requests[1]
    assert (met.fault, met.complete) == (kind, kind in ("slow", "doubled"))
    assert faulty.count("run/list") == 3


def test_faults_look_as_they_are_named(faulty: OpenMLServer) -> None:
    url = f"{faulty.url}/run/list/limit/20"
    right = get(url).content
    _plan(
        faulty, "unavailable", "too_many", "overloaded", "empty", "truncated", "html", "malformed_json_or_xml"
    )
    assert get(url).status_code == 503
    too_many = get(url)
    assert (too_many.status_code, too_many.headers["Retry-After"]) == (429, "0.5")
    assert code(get(url)) == 107
    assert get(url).content == b""
    assert right.startswith(get(url).content)
    for _ in range(2):
        broken = get(url)
        assert broken.status_code == 200
        with pytest.raises(ElementTree.ParseError):
            ElementTree.fromstring(broken.content)


def test_reset_breaks_the_connection_inside_the_body(faulty: OpenMLServer) -> None:
    _plan(faulty, "reset")
    with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError)):
        get(f"{faulty.url}/run/list/limit/1000", headers={"Accept-Encoding": "identity"})


def test_doubled_page_shows_rows_of_the_page_before(faulty: OpenMLServer) -> None:
    first, second = (f"{faulty.url}/run/list/limit/20/offset/{offset}" for offset in (0, 20))
    before, right = ids(get(first)), ids(get(second))
    _plan(faulty, "doubled", "doubled")
    assert ids(get(second)) == [*before[-5:], *right]
    assert ids(get(first)) == [*before[:5], *before]


def test_faults_hit_their_share_of_the_listed_endpoints(world: World) -> None:
    faults = Faults(0.3, ("empty", "html"), seed=1, endpoints=("run/list",))
    with OpenMLServer(world, faults=faults) as server, requests.Session() as session:
        for _ in range(100):
            session.get(f"{server.url}/run/list/limit/1", timeout=10)
            session.get(f"{server.url}/flow/list/limit/1", timeout=10)
        assert server.count("flow/list", complete=True) == 100
        assert 55 <= server.count("run/list", complete=True) <= 85
        assert server.counts() == {"run/list": 100, "flow/list": 100}


def test_run_can_come_in_between_two_pages() -> None:
    world = generated_world()
    faults = Faults(0)
    setup = next(iter(world.setups))
    faults.insert_between_pages(2, lambda: world.add_run(1, 1, setup), endpoint="run/list")
    with OpenMLServer(world, faults=faults) as server:
        pages = [ids(get(f"{server.url}/run/list/limit/20/offset/{offset}")) for offset in (0, 20)]
    assert pages[1][0] == pages[0][-1]


def test_unknown_faults_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown kinds of faults: .*flood"):
        Faults(kinds=("flood",))


# ---- the real runs ------------------------------------------------------------------------------


def test_real_runs_are_served_as_they_stand_in_the_files(shared_data: Path) -> None:
    world = real_world(shared_data, runs_per_flow=600, measures=(ACCURACY, "usercpu_time_millis"))
    assert len(world.runs) == 1200
    assert [len(world.slots(flow)) for flow in (6969, 6970)] == [31, 31]
    forest, boosting = (world.setup_ids([flow])[0] for flow in (6969, 6970))
    tuned = {
        "randomforestclassifier__bootstrap": "true",
        "randomforestclassifier__criterion": '"entropy"',
        "randomforestclassifier__max_depth": "null",
        "randomforestclassifier__max_features": "0.8026968345397216",
        "randomforestclassifier__min_samples_leaf": "18",
        "randomforestclassifier__min_weight_fraction_leaf": "0.0",
        "columntransformer__numeric__imputer__strategy": '"median"',
    }
    assert tuned.items() <= world.parameters(forest).items()
    assert world.parameters(boosting)["adaboostclassifier__base_estimator__max_depth"] == "9"
    with OpenMLServer(world) as server:
        page = get(f"{server.url}/evaluation/setup/list/function/{ACCURACY}/limit/1").content
        names = [node.text for node in ElementTree.fromstring(page).iter(f"{OML}full_name")]
        assert "sklearn.ensemble.forest.RandomForestClassifier(27)_max_features" in names
        assert ElementTree.fromstring(page).findtext(f".//{OML}value") is not None
        accuracy = ElementTree.fromstring(page).find(f"{OML}evaluation")
        assert accuracy is not None
        assert accuracy.findtext(f"{OML}value") == "0.96965"


def test_large_pages_are_quick(shared_data: Path) -> None:
    world = real_world(shared_data, flows=(6969,), runs_per_flow=1000)
    with OpenMLServer(world) as server:
        url = f"{server.url}/evaluation/setup/list/function/{ACCURACY}/limit/1000"
        started = time.perf_counter()
        page = get(url, headers={"Accept-Encoding": "identity"}).content
        assert len(page) > 10_000_000
        assert time.perf_counter() - started < 5
