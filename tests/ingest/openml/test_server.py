"""The stand-in OpenML server: errors have OpenML's numbers, and faults are as said.

What it answers is compared with what OpenML's own client reads of it in `test_oracle.py`.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import pytest
import requests

from tests.openml_server import KINDS, Faults, OpenMLServer, World, generated, generated_world

OML = "{http://openml.org/openml}"


@pytest.fixture(scope="module")
def world() -> World:
    return generated_world()


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[OpenMLServer]:
    with OpenMLServer(world) as running:
        yield running


def get(url: str, **options: Any) -> requests.Response:
    return requests.get(url, timeout=10, **options)


def ids(response: requests.Response) -> list[int]:
    """Ids of the runs in a listing."""
    return [int(node.text or "") for node in ElementTree.fromstring(response.content).iter(f"{OML}run_id")]


def code(response: requests.Response) -> int:
    """Number of an error."""
    assert response.status_code == 412
    return int(ElementTree.fromstring(response.content).findtext(f"{OML}code") or "")


ERRORS = {
    "nothing/here": 100,
    "data/999": 111,
    "flow/999": 181,
    "data/list/data_id/999": 372,
    "task/list/task_id/999": 482,
    "run/list": 510,
    "run/list/task/x": 511,
    "run/list/task/999": 512,
    "run/list/function/kappa": 514,
    "run/list/task/1/offset/5": 515,
    "run/list/limit/1001": 516,
    "evaluation/list/": 540,
    "evaluation/list/run/1,,2": 541,
    "evaluation/list/function/nothing/limit/5": 542,
    "evaluation/list/limit/1001": 546,
    "setup/list/setup/1": 674,
    "setup/list/limit/1001": 676,
    "study/999": 601,
    "run/list/limit/5?api_key=wrong": 103,
}


def test_errors_have_openmls_numbers(server: OpenMLServer) -> None:
    assert {path: code(get(f"{server.url}/{path}")) for path in ERRORS} == ERRORS


def test_too_many_rows_without_a_limit_are_refused(world: World) -> None:
    with OpenMLServer(world, page_limit=20) as server:
        assert code(get(f"{server.url}/run/list/task/1")) == 513
        assert code(get(f"{server.url}/evaluation/list/function/kappa")) == 543
        assert code(get(f"{server.url}/setup/list/flow/11")) == 673
        assert len(ids(get(f"{server.url}/run/list/task/1/limit/20"))) == 20
        window = ",".join(map(str, range(1000, 1900)))
        assert code(get(f"{server.url}/evaluation/list/function/kappa/run/{window}")) == 543
        server.page_limit = 1000
        assert len(ids(get(f"{server.url}/evaluation/list/function/kappa/run/{window}"))) > 20


def test_long_urls_are_refused(server: OpenMLServer) -> None:
    fitting = ",".join(str(2_000_000 + i) for i in range(1000))
    assert get(f"{server.url}/evaluation/list/run/{fitting}").status_code == 412
    assert get(f"{server.url}/evaluation/list/run/{fitting},{fitting}").status_code == 414


def test_weka_flow_is_no_xml_until_html_names_are_replaced(server: OpenMLServer) -> None:
    page = get(f"{server.url}/flow/{generated.J48}")
    with pytest.raises(ElementTree.ParseError, match="undefined entity"):
        ElementTree.fromstring(page.content)
    flow = ElementTree.fromstring(page.text.replace("&eacute;", "\u00e9"))
    assert flow.findtext(f"{OML}description", "").endswith("d\u00e9cision trees.")


def test_one_awkward_row_spoils_its_page() -> None:
    with OpenMLServer(generated_world(unreadable=True)) as server:
        assert ids(get(f"{server.url}/run/list/limit/1000"))
        with pytest.raises(ElementTree.ParseError):
            ids(get(f"{server.url}/run/list/limit/1000/show_errors/true"))


# ---- faults -------------------------------------------------------------------------------------


@pytest.fixture
def faulty(world: World) -> Iterator[OpenMLServer]:
    with OpenMLServer(world, faults=Faults(0, slow_seconds=0.01)) as running:
        yield running


def _plan(server: OpenMLServer, *kinds: str | None) -> None:
    server.faults = Faults(0, planned=kinds, slow_seconds=0.01, retry_after=0.5)


def test_request_that_met_a_fault_succeeds_when_asked_again(faulty: OpenMLServer) -> None:
    url = f"{faulty.url}/run/list/limit/20/offset/20"
    right = get(url).content
    for kind in KINDS:
        _plan(faulty, kind)
        with suppress(requests.RequestException):
            assert (get(url).content == right) == (kind == "slow")
        assert get(url).content == right
        met = faulty.requests[-2]
        assert (met.fault, met.complete) == (kind, kind in ("slow", "doubled"))


def test_faults_look_as_they_are_named(faulty: OpenMLServer) -> None:
    url = f"{faulty.url}/run/list/limit/20"
    right = get(url).content
    _plan(faulty, "unavailable", "too_many", "overloaded", "empty", "truncated", "html", "malformed")
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
