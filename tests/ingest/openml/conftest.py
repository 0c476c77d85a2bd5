"""Servers, connections, and warehouses to fill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.openml.api.connection import Connection
from tests.ingest.openml.listings import Open
from tests.openml_server import Faults, OpenMLServer, World, generated_world


@pytest.fixture
def world() -> World:
    return generated_world()


@pytest.fixture
def start() -> Iterator[Open]:
    """A server with planned faults, a connection to it, and the waits of the connection."""
    running = []

    def begin(*planned: str | None, **options: float) -> tuple[OpenMLServer, Connection, list[float]]:
        faults = Faults(
            rate=0, planned=planned, slow_seconds=0, retry_after=int(options.pop("retry_after", 0))
        )
        server = OpenMLServer(generated_world(), faults=faults)
        server.__enter__()
        running.append(server)
        waits: list[float] = []
        return server, Connection(server.url, rate=1e6, sleep=waits.append, **options), waits

    yield begin
    for server in running:
        server.__exit__(None, None, None)


@pytest.fixture
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No earlier dataset, and no configuration of OpenML's client."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
