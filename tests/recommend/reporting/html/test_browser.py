"""Pages in a real browser: no overflow, no errors, no requests."""

import io
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

from ingest.reading.datasets import load_dataset
from recommend import recommend
from recommend.bo.tuning import Budget, tune
from recommend.bo.tuning.page import importance_for, tuning_page
from recommend.reporting.page import recommendation_page
from tests.recommend.bo.tuning.searches import QUICK, noisy
from tests.recommend.reporting.html.pages import HOSTILE
from warehouse.store import Warehouse

TALLEST, MOST_BLANK = 3500, 0.15
"""Maximum height of a page on a phone in pixels, and the share of it that may be blank."""
LINE, FAINTEST = 24, 8
"""Height of a line in pixels, and the largest invisible difference of grey."""
CUT_WORDS = r"""(() => {
    const cut = [], range = new Range()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const word of node.data.matchAll(/[\p{L}\p{N}_.]+/gu)) {
            range.setStart(node, word.index)
            range.setEnd(node, word.index + word[0].length)
            const tops = new Set([...range.getClientRects()].map(one => Math.round(one.top)))
            if (tops.size > 1) cut.push(word[0])
        }
    return cut
})()"""
"""Words broken over two lines; a line may end after a hyphen or a slash."""
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"
EXAMPLES = Path(__file__).parents[4] / "recommend" / "examples"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recommendations, one with long hostile names, a search, and the output of a notebook."""
    folder = tmp_path_factory.mktemp("pages")
    example = load_dataset(EXAMPLES / "subscribers.csv")
    features = example.features.rename(columns={"plan": HOSTILE * 5})
    hostile = load_dataset(features.assign(label=example.target), target="label", name=HOSTILE + "x" * 300)
    world = Warehouse.open(None)
    tuned = tune(noisy(160), QUICK, Budget(3), warehouse=world, folder=folder / "h")
    found = recommend(example, warehouse=world, explain=True)
    numeric = recommend(load_dataset(EXAMPLES / "flats.csv"), warehouse=world, explain=True)
    written = {
        "recommendation": recommendation_page(found),
        "regression": recommendation_page(numeric),
        "hostile": recommendation_page(recommend(hostile, warehouse=world, explain=True)),
        "search": tuning_page(tuned, importance=importance_for(tuned, 30.0)),
        "notebook": f"<!doctype html><h1>Mine</h1>{found._repr_html_()}{tuned._repr_html_()}",
    }
    for name, html in written.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", ["recommendation", "regression", "hostile", "search", "notebook"])
def test_pages_fit_the_screen_without_errors(
    new_page: Callable[..., Page], pages: dict[str, Path], name: str, width: int, scheme: Any
) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    requested: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(pages[name].as_uri())
    page.evaluate(OPEN_ALL)
    sizes = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert sizes[0] <= sizes[1]
    assert complaints == []
    assert requested == [pages[name].as_uri()]
    page.close()


@pytest.mark.parametrize("name", ["recommendation", "regression", "search", "notebook"])
def test_pages_are_short_and_full_on_a_phone(
    new_page: Callable[..., Page], pages: dict[str, Path], name: str
) -> None:
    page = new_page(viewport={"width": 390, "height": 900})
    page.goto(pages[name].as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST
    assert blank_share(page.screenshot(full_page=True)) < MOST_BLANK
    page.evaluate(OPEN_ALL)
    assert page.evaluate(CUT_WORDS) == []
    page.close()


def blank_share(screenshot: bytes) -> float:
    """Share of a page's height in bands without text or lines that are taller than a line of text."""
    pixels = np.asarray(Image.open(io.BytesIO(screenshot)).convert("L"), dtype=np.int16)
    is_blank = np.ptp(pixels, axis=1) <= FAINTEST
    bands = [len([*rows]) for blank, rows in groupby(is_blank) if blank]
    return sum(height for height in bands if height > LINE) / len(pixels)


def test_intervals_lie_within_their_axes(new_page: Callable[..., Page], pages: dict[str, Path]) -> None:
    page = new_page(viewport={"width": 390, "height": 900})
    for name in ("recommendation", "regression"):
        page.goto(pages[name].as_uri())
        ends = page.evaluate(
            """[...document.querySelectorAll('.range > *')].map(part => {
                const own = part.getBoundingClientRect(), axis = part.parentElement.getBoundingClientRect()
                return [own.left - axis.left, axis.right - own.right]
            })"""
        )
        assert ends
        assert min(map(min, ends)) >= 0
    page.close()


def test_labels_of_charts_stay_within_them(new_page: Callable[..., Page], pages: dict[str, Path]) -> None:
    page = new_page(viewport={"width": 390, "height": 900})
    for path in pages.values():
        page.goto(path.as_uri())
        page.evaluate(OPEN_ALL)
        outside = page.evaluate(
            """[...document.querySelectorAll('svg text')].filter(text => {
                const own = text.getBBox(), chart = text.ownerSVGElement.viewBox.baseVal
                const right = own.x + own.width, low = own.y + own.height
                return own.x < -1 || right > chart.width + 1 || low > chart.height + 1
            }).map(text => text.textContent)"""
        )
        assert outside == [], path.name
    page.close()
