"""Asking a server politely: the rate, faults, and when to give up."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import UnreadableError, read_evaluations, rows_in
from tests.cases import each
from tests.ingest.openml.listings import EMPTY, PATH, Open
from tests.openml_server import Faults, OpenMLServer, generated_world
from warehouse.support.errors import BadInput, Failed


@pytest.mark.parametrize(
    "fault", ["unavailable", "too_many", "reset", "truncated", "html", "empty", "overloaded"]
)
def test_a_fault_costs_one_more_request(start: Open, fault: str) -> None:
    server, connection, _ = start(fault)
    assert len(connection.get(PATH, read_evaluations).rows) == 5
    assert len(server.requests) == connection.requests_made == 2


def test_waits_grow_while_faults_continue(start: Open) -> None:
    _, connection, waits = start(*["unavailable"] * 5)
    connection.get(PATH, read_evaluations)
    backoff = [wait for wait in waits if wait > 0.1]
    bounds = [(0.5 * 2**k, 2**k) for k in range(5)]
    assert all(any(low <= wait <= high for wait in backoff) for low, high in bounds)


def test_the_server_says_how_long_to_wait(start: Open) -> None:
    _, connection, waits = start("too_many", retry_after=7)
    connection.get(PATH, read_evaluations)
    assert 7.0 in waits


def test_a_server_that_is_down_is_left_alone(start: Open) -> None:
    server, connection, _ = start(*["html"] * 50)
    with pytest.raises(Failed, match=r"in 10 tries .* earlier results are kept"):
        connection.get(PATH, read_evaluations)
    assert len(server.requests) == 10


def test_no_server_is_one_line() -> None:
    connection = Connection("http://127.0.0.1:9/api/v1", rate=1e6, sleep=lambda _: None, api_key="secret")
    with pytest.raises(Failed, match="ConnectionError") as failed:
        connection.get(PATH, read_evaluations)
    assert "secret" not in str(failed.value)


def test_requests_keep_the_rate() -> None:
    waits: list[float] = []
    with OpenMLServer(generated_world()) as server:
        connection = Connection(server.url, rate=0.5, sleep=waits.append)
        for _ in range(3):
            connection.get(PATH, read_evaluations)
    assert [round(wait) for wait in waits] == [2, 4]  # nobody slept, so the second wait covers both


def test_a_waiting_thread_pauses_when_the_server_asks_another_one_to() -> None:
    waits: list[float] = []

    def while_it_waits(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 1:  # the answer to another request asks for a pause
            connection.get(PATH, read_evaluations)

    faults = Faults(rate=0, planned=(None, "too_many"), slow_seconds=0, retry_after=100)
    with OpenMLServer(generated_world(), faults=faults) as server:
        connection = Connection(server.url, rate=0.5, sleep=while_it_waits)
        connection.get(PATH, read_evaluations)
        connection.get(PATH, read_evaluations)
        assert len(server.requests) == 4
    assert round(waits[0]) == 2
    assert waits[-1] > 100


def test_a_waiting_thread_can_be_stopped() -> None:
    with OpenMLServer(generated_world()) as server, ThreadPoolExecutor(1) as pool:
        connection = Connection(server.url, rate=0.001)
        connection.get(PATH, read_evaluations)
        waiting = pool.submit(connection.get, PATH, read_evaluations)  # its turn is in 1,000 seconds
        connection.stop()
        with pytest.raises(Failed, match="stopped"):
            waiting.result(timeout=300)


def test_refusals_have_their_code(start: Open) -> None:
    _, connection, _ = start()
    with pytest.raises(ApiError) as refused:
        connection.get(EMPTY, read_evaluations)
    assert refused.value.no_results
    with pytest.raises(ApiError) as refused:
        connection.get(PATH.replace("limit/5", "limit/9999"), read_evaluations)
    assert refused.value.too_much
    assert connection.requests_made == 2


def test_a_wrong_key_is_refused_once(start: Open) -> None:
    server, _, _ = start()
    with pytest.raises(ApiError) as refused:
        Connection(server.url, api_key="wrong", rate=1e6).get(PATH, read_evaluations)
    assert refused.value.code == 103


def test_a_document_that_stays_unreadable_is_given_up() -> None:
    read = rows_in("runs", "run")
    with OpenMLServer(generated_world(unreadable=True)) as server:
        connection = Connection(server.url, rate=1e6, sleep=lambda _: None)
        with pytest.raises(UnreadableError):
            connection.get("run/list/show_errors/true/limit/1000/offset/0", read)
        assert connection.get("run/list/limit/1000/offset/0", read)
    assert len(server.requests) == 5


@each(("server", "rate"), [("openml.org", 1.0), ("file:///etc", 1.0), ("http://x", 0.0)])
def test_invalid_server_addresses_are_refused(server: str, rate: float) -> None:
    with pytest.raises(BadInput):
        Connection(server, rate=rate)


def test_lists_of_ids_fit_into_a_path() -> None:
    connection = Connection("https://www.openml.org/api/v1")
    path = "evaluation/setup/list/function/predictive_accuracy/flow/6969,6970/run/"
    assert 990 <= connection.longest_list(path, 7) <= 1010
    assert connection.longest_list(path, 8) < 910
