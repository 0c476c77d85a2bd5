"""The site in a real browser, as `make docs` built it: it fits, and fetches nothing from elsewhere."""

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page

from tests.project.documents import ROOT

SITE = ROOT / "build" / "site"
QUERY = "[data-md-component=search-query]"
WIDEST = ("index", "reference/commands/tune", "reference/api", "explanation/papers")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served."""
    if not (SITE / "index.html").exists():
        pytest.skip("no site is built here: make docs")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def test_pages_fit_the_screen_and_fetch_nothing_elsewhere(
    address: str, new_page: Callable[..., Page]
) -> None:
    """On a phone, where the least fits."""
    page = new_page(viewport={"width": 390, "height": 900}, color_scheme="dark")
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: request.url.startswith(address) or complaints.append(request.url))
    for name in WIDEST:
        page.goto(f"{address}{name}.html")
        assert page.evaluate(FITS), name
        assert complaints == [], name
    page.close()


def test_the_search_finds_pages_that_are_read_from_the_disk(new_page: Callable[..., Page]) -> None:
    if not (SITE / "index.html").exists():
        pytest.skip("no site is built here: make docs")
    page = new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((SITE / "explanation" / "papers.html").as_uri())
    # The page reads the query once its index is there and at each key: `fill` presses none.
    page.locator(QUERY).press_sequentially("warm start")
    page.wait_for_selector(".md-search-result__item")
    assert "warm" in page.inner_text(".md-search-result__item").lower()
    assert {request.split(":")[0] for request in requests} <= {"file", "about", "data", "blob"}
    page.close()


def test_the_search_index_has_words_of_pages_and_of_generated_parts(address: str) -> None:
    with urlopen(f"{address}search/search_index.json") as answer:
        places = {entry["location"] for entry in json.load(answer)["docs"]}
    assert {
        "glossary.html#landmarker",
        "reference/flows.html#random-forest",
        "explanation/papers.html",
    } <= places
