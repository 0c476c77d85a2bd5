"""Pages in a real browser: nothing sticks out, nothing is complained about, nothing is fetched."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from ingest.reading.datasets import load_dataset
from recommend import recommend
from recommend.bo.tuning import Budget, tune
from recommend.bo.tuning.page import tuning_page
from recommend.reporting.page import recommendation_page
from tests.recommend.bo.tuning.searches import QUICK, noisy
from tests.recommend.reporting.html.pages import HOSTILE
from warehouse.store import Warehouse

OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"
EXAMPLE = Path(__file__).parents[4] / "recommend" / "examples" / "subscribers.csv"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A recommendation, one with hostile names that are long, too, and a search."""
    folder = tmp_path_factory.mktemp("pages")
    example = load_dataset(EXAMPLE)
    features = example.features.rename(columns={"plan": HOSTILE * 5})
    hostile = load_dataset(features.assign(label=example.target), target="label", name=HOSTILE + "x" * 300)
    world = Warehouse.open(None)
    tuned = tune(noisy(160), QUICK, Budget(6), warehouse=world, folder=folder / "h")
    written = {
        "recommendation": recommendation_page(recommend(example, warehouse=world)),
        "hostile": recommendation_page(recommend(hostile, warehouse=world)),
        "search": tuning_page(tuned),
    }
    for name, html in written.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["recommendation", "hostile", "search"])
def test_pages_fit_the_screen_without_errors(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Any
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
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


def test_labels_of_charts_stay_within_them(browser: Browser, pages: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
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
