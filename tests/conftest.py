"""Fixtures that several test modules share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from distributed import Client
    from playwright.sync_api import Browser

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real OpenML runs and datasets, kept outside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real runs and datasets (../shared/data) are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Client]:
    """Two Dask workers, which may start processes of their own, as trials do."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, where it is installed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed here")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        yield browser
        browser.close()
