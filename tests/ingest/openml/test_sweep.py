"""The search for all evaluations of a selection, however the server lists them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import Listing, UnreadableError
from ingest.openml.selection import Selection
from ingest.openml.status import job_states
from ingest.openml.sweep import Page, Sweep
from tests.cases import each
from tests.ingest.openml.jobs import ACCURACY, JUST_ACCURACY, connect, evaluations, expected, ingest
from tests.openml_server import Faults, OpenMLServer, World, generated_world
from tests.openml_server import generated as names
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

T = TypeVar("T")

KAPPA = sorted(generated_world().measure_values("kappa"))
"""The runs with a kappa in the generated world."""


@pytest.fixture(scope="module")
def small_pages() -> Iterator[OpenMLServer]:
    """The generated world, twenty rows at a time."""
    with OpenMLServer(generated_world(), page_limit=20) as server:
        yield server


def sweep(connection: Connection, folder: Path, known: Iterable[int] = (), **options: Any) -> Sweep:
    wanted: dict[str, Any] = {"filters": "", "measure": "kappa", "known": set(known)}
    return Sweep(Answers(connection, folder), **wanted | options)


def runs_in(pages: Iterable[Page]) -> list[int]:
    """Runs whose rows are to be stored, in order of arrival."""
    return [int(row["run_id"]) for page in pages for row in page.listing.rows]


def test_late_evaluations_of_old_runs_are_found(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        world.add_evaluation(names.UNEVALUATED_RUN, ACCURACY, "0.75")
        ingest(warehouse, server)
    assert evaluations(warehouse)[names.UNEVALUATED_RUN] == 0.75


def test_runs_that_vanish_are_kept_and_new_ones_still_found(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        before = expected(world)
        for run in sorted(before)[:40]:
            world.remove_run(run)
        world.add_run(600_000, 2, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
        world.add_evaluation(600_000, ACCURACY, "0.25")
        ingest(warehouse, server)
    assert evaluations(warehouse) == before | {600_000: 0.25}


def test_runs_that_vanish_are_counted_and_a_refresh_names_them(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        assert ingest(warehouse, server).unlisted == 0
        gone = sorted(expected(world))[-3:]
        for run in gone:
            world.remove_run(run)
        assert ingest(warehouse, server).unlisted == 3
        (state,) = job_states(warehouse.path)
        assert (state.fewer, state.unlisted) == (3, [])
        assert ingest(warehouse, server, refresh=True).unlisted == 3
        ingest(warehouse, server)
    assert set(gone) <= set(evaluations(warehouse))
    (state,) = job_states(warehouse.path)
    assert (state.fewer, state.unlisted) == (3, gone)


@each(
    ("kept", "planned"),
    [
        (JUST_ACCURACY, ("doubled",)),
        (replace(JUST_ACCURACY, since=1), ()),
        (replace(JUST_ACCURACY, flows=(names.J48,), tasks=(1,), most=2), ()),
    ],
)
def test_no_run_is_falsely_reported_as_vanished(
    warehouse: Warehouse, world: World, kept: Selection, planned: tuple[str, ...]
) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        server.faults = Faults(rate=0, planned=planned)
        assert [ingest(warehouse, server, kept, refresh=again).unlisted for again in (False, True)] == [0, 0]


def test_a_search_with_an_unreadable_row_does_not_name_vanished_runs(
    small_pages: OpenMLServer, tmp_path: Path
) -> None:
    search = sweep(connect(small_pages), tmp_path)
    runs_in(search.pages())
    assert search.not_found([*KAPPA, 1_000_000]) == [1_000_000]
    search.extra_rows.add((0, "unreadable"))
    assert search.not_found([*KAPPA, 1_000_000]) is None


def test_a_run_that_appears_between_two_pages_is_not_lost(warehouse: Warehouse) -> None:
    world, faults = generated_world(), Faults(rate=0)

    def insert() -> None:
        world.add_run(3, 2, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
        world.add_evaluation(3, ACCURACY, "0.25")

    faults.insert_between_pages(3, insert)
    with OpenMLServer(world, page_limit=20, faults=faults) as server:
        ingest(warehouse, server)
    assert evaluations(warehouse) == expected(world)
    assert 3 in evaluations(warehouse)


@given(known=st.sets(st.sampled_from([*KAPPA, 2, 5_000, 10**6])), page=st.sampled_from([15, 100]))
@settings(max_examples=8, deadline=None)
def test_all_unknown_runs_are_found_whichever_are_known(
    small_pages: OpenMLServer, tmp_path_factory: pytest.TempPathFactory, known: set[int], page: int
) -> None:
    """Some known runs are missing from the server."""
    search = sweep(connect(small_pages), tmp_path_factory.mktemp("sweep"), known, page=page)
    stored = runs_in(search.pages())
    assert set(stored) >= set(KAPPA) - known
    assert search.known == set(KAPPA) | known
    assert search.found == len(set(KAPPA) - known)


def test_a_stopped_search_continues_at_its_next_window(small_pages: OpenMLServer, tmp_path: Path) -> None:
    first = sweep(connect(small_pages), tmp_path / "first")
    pages = first.pages()
    before = next(page for page in pages if page.position.window is not None)
    small_pages.forget_requests()
    second = sweep(
        connect(small_pages), tmp_path / "second", first.known, position=before.position, page=first.page
    )
    runs_in(second.pages())
    again = {request.path.split("/xml/")[1].partition("?")[0] for request in small_pages.requests}
    assert not again & set(before.requests)
    low = (before.position.window or 0) * before.position.width
    asked = [path.split("/run/")[1].split(",") for path in again if "/run/" in path]
    assert min(int(ids[0]) for ids in asked) == low
    assert second.known == set(KAPPA)


@each("since", [905, KAPPA[40], KAPPA[-1], KAPPA[-1] + 1])
def test_only_runs_from_a_number_on_are_found(small_pages: OpenMLServer, tmp_path: Path, since: int) -> None:
    search = sweep(connect(small_pages), tmp_path, since=since, page=20)
    assert set(runs_in(search.pages())) == search.known == {run for run in KAPPA if run >= since}


@each("since", [905, 12_000])
def test_runs_beyond_a_long_gap_are_found(tmp_path: Path, since: int) -> None:
    world = generated_world()
    world.add_run(20_000, 2, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
    world.add_evaluation(20_000, "kappa", "0.25")
    with OpenMLServer(world, page_limit=20) as server:
        search = sweep(connect(server), tmp_path, since=since, page=20)
        assert set(runs_in(search.pages())) == {run for run in (*KAPPA, 20_000) if run >= since}


def test_no_more_runs_are_requested_than_wanted(small_pages: OpenMLServer, tmp_path: Path) -> None:
    small_pages.forget_requests()
    search = sweep(connect(small_pages), tmp_path, most=25)
    assert len(set(runs_in(search.pages()))) == search.found == 25
    small_pages.forget_requests()
    assert not list(sweep(connect(small_pages), tmp_path, search.known, most=25).pages())
    assert not small_pages.requests


def test_the_size_of_pages_is_learned_from_the_server(small_pages: OpenMLServer, tmp_path: Path) -> None:
    search = sweep(connect(small_pages), tmp_path)
    list(search.pages())
    assert 10 <= search.page <= 20
    assert search.state()["page"] == search.page


@pytest.mark.parametrize(("filters", "count"), [("", len(KAPPA)), ("flow/99", 0)])
def test_an_estimate_is_within_a_tenth_or_twenty(
    small_pages: OpenMLServer, tmp_path: Path, filters: str, count: int
) -> None:
    found = sweep(connect(small_pages), tmp_path, filters=filters, page=20).estimate()
    assert abs(found - count) <= max(0.1 * count, 20)


def test_the_first_engines_value_counts_or_else_another_engines(world: World, tmp_path: Path) -> None:
    """One run has either engine's value, another only the second's."""
    world.add_evaluation(names.UNEVALUATED_RUN, ACCURACY, "0.9", engine=2)
    with OpenMLServer(world) as server:
        search = sweep(connect(server), tmp_path, measure=ACCURACY)
        rows = [row for page in search.pages() for row in page.listing.rows]
        values = {(int(row["run_id"]), row["value"]) for row in rows}
        assert (names.TWO_ENGINES_RUN, "0.75") in values
        assert (names.TWO_ENGINES_RUN, "0.8") not in values
        assert (names.UNEVALUATED_RUN, "0.9") in values
    state = search.state()
    assert state["extra"] == [(names.TWO_ENGINES_RUN, "2"), (names.UNEVALUATED_RUN, "2")]
    assert state["others"] == [names.UNEVALUATED_RUN]
    assert state["known"] == len(search.known) + 1


class WithoutSetups(Connection):
    """A connection to a server without a listing of evaluations with their setups."""

    def get(
        self, path: str, read: Callable[[bytes], T], received: Callable[[bytes], None] = lambda _: None
    ) -> T:
        if path.startswith("evaluation/setup/list"):
            raise ApiError(404, "Not Found")
        return super().get(path, read, received)


def test_evaluations_are_requested_alone_if_the_server_lacks_the_listing_with_setups(
    small_pages: OpenMLServer, tmp_path: Path
) -> None:
    search = sweep(WithoutSetups(small_pages.url, rate=1e6), tmp_path, with_setups=True)
    pages = list(search.pages())
    assert search.known == set(KAPPA)
    assert not any(page.listing.setups for page in pages)


class WithABadRow(Connection):
    """A connection to a server whose pages with the row of one run are unreadable."""

    bad = KAPPA[30]

    def get(
        self, path: str, read: Callable[[bytes], T], received: Callable[[bytes], None] = lambda _: None
    ) -> T:
        def careful(body: bytes) -> T:
            content = read(body)
            if isinstance(content, Listing) and any(row["run_id"] == str(self.bad) for row in content.rows):
                raise UnreadableError("no XML", complete=True)
            return content

        return super().get(path, careful, received)


@pytest.mark.parametrize("since", [None, 905])
def test_an_unreadable_row_costs_no_other(
    small_pages: OpenMLServer, tmp_path: Path, since: int | None
) -> None:
    """Windows find it by its run, the listing by its position."""
    told: list[str] = []
    connection = WithABadRow(small_pages.url, rate=1e6, sleep=lambda _: None)
    search = sweep(connection, tmp_path, since=since, page=20, unreadable=lambda what, _: told.append(what))
    list(search.pages())
    assert search.known == set(KAPPA) - {WithABadRow.bad}
    assert told
    assert set(told) <= {f"run {WithABadRow.bad}", "row 30 of the listing of kappa"}


def test_a_selection_that_the_server_rejects_is_refused(small_pages: OpenMLServer, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the server does not take this selection: "):
        list(sweep(connect(small_pages), tmp_path, filters="colour/3").pages())
