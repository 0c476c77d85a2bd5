"""Fixtures shared by several test modules."""

from __future__ import annotations

import gc
import logging
import pickle
import shutil
import sys
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import settings

from tests.commands import Ended, Run

if TYPE_CHECKING:
    import pandas as pd
    from playwright.sync_api import Page

    from ingest.metafeatures import Metafeatures
    from ingest.reading.datasets import Dataset
    from metalearners.stored_model import StoredModel
    from tests.warehouse.worlds import Templates
    from warehouse.questions.queries import RunAnswers
    from warehouse.store import Warehouse

T = TypeVar("T")

# Tests draw the same examples each time; `--hypothesis-profile search` draws more and new ones.
settings.register_profile("search", derandomize=False, database=None, print_blob=True)
settings.register_profile("same", settings.get_profile("search"), derandomize=True, max_examples=40)
settings.load_profile("same")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
S3_KEY, S3_SECRET = "access-key-of-tests", "secret-of-tests"
PATIENCE = 300_000
"""Timeout of Chromium, in milliseconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write what commands print into the documents")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collected modules and tests, which stay until the end, from the garbage collector."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real OpenML runs and datasets, kept outside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real runs and datasets (../shared/data) are not beside this checkout")
    return SHARED_DATA


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call a command's function with arguments, like a shell."""

    def call(main: Callable[[], None], *arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Ended(int(end.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Small warehouses to copy."""
    from tests.warehouse.worlds import Templates

    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def warehouse(templates: Templates, tmp_path: Path) -> Warehouse:
    """An empty warehouse for each test."""
    return templates.copy(tmp_path / "warehouse")


_KNOWN: dict[object, Any] = {}


@pytest.fixture(scope="module")
def asked_once() -> Iterator[None]:
    """Share meta-features, answers of a warehouse and stored models between all recommendations."""
    from ingest.metafeatures import compute_metafeatures
    from metalearners.stored_model import load_model
    from warehouse.questions import sampling
    from warehouse.store import Warehouse

    def known(key: object, ask: Callable[[], T]) -> T:
        if key not in _KNOWN:
            _KNOWN[key] = ask()
        return _KNOWN[key]

    def described(dataset: Dataset, names: Collection[str] | None = None) -> Metafeatures:
        content = (dataset.features, dataset.target, dict(dataset.roles), names and sorted(names))
        return known(pickle.dumps(content), lambda: compute_metafeatures(dataset, names))

    def answers(warehouse: Warehouse, *asked: Any, **options: Any) -> RunAnswers:
        key = (warehouse.location, warehouse.fingerprint, repr((asked, options, sampling.limits())))
        return known(key, lambda: run_answers(warehouse, *asked, **options))

    def qualities(warehouse: Warehouse) -> pd.DataFrame:
        return known((warehouse.location, warehouse.version), lambda: metafeatures(warehouse)).copy()

    def model(path: str | Path) -> StoredModel:
        file = Path(path) / "model.json"
        return known((file, file.exists() and file.stat().st_mtime_ns), lambda: load_model(path))

    run_answers, metafeatures = Warehouse.run_answers, Warehouse.metafeatures
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Warehouse, "run_answers", answers)
        patch.setattr(Warehouse, "metafeatures", qualities)
        patch.setattr("metalearners.model_store.load_model", model)
        for module in ("recommend.ranking.knowledge", "ingest.running.rows"):
            patch.setattr(f"{module}.compute_metafeatures", described)
        yield


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    """URL of a server with the bucket `runs`."""
    moto_server = pytest.importorskip("moto.server", reason="moto (pip install '.[dev]') is not installed")
    boto3 = pytest.importorskip("boto3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=S3_KEY,
        aws_secret_access_key=S3_SECRET,
    ).create_bucket(Bucket="runs")
    yield url
    server.stop()


@pytest.fixture
def on_machine(s3_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Switch to another machine: with its own cache, and the same access to the server."""
    access = {
        "AWS_ACCESS_KEY_ID": S3_KEY,
        "AWS_SECRET_ACCESS_KEY": S3_SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in access.items():
        monkeypatch.setenv(name, value)

    def switch(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    switch("a machine")
    return switch


@pytest.fixture
def s3_url(on_machine: Callable[[str], None], request: pytest.FixtureRequest) -> str:
    """URL of an empty location, as the first machine sees it."""
    on_machine("first machine")
    return f"s3://runs/{request.node.name.partition('[')[0]}"


@pytest.fixture(scope="module")
def new_page() -> Iterator[Callable[..., Page]]:
    """Open a page of Chromium, if it is installed; on a busy machine this may take minutes."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed here")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options, timeout=PATIENCE)

        def opened(**settings: Any) -> Page:
            page = browser.new_page(**settings)
            page.set_default_timeout(PATIENCE)
            return page

        yield opened
        browser.close()
