"""No answer of a server takes more memory or time than the limits allow."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from ingest.openml.api import connection
from ingest.openml.api.connection import Connection
from ingest.openml.api.published import published_dataset
from ingest.openml.api.transfer import AnswerLimits
from ingest.openml.job import ingest_openml
from ingest.openml.selection import Selection
from tests.cases import each
from tests.commands import PEAK_MEMORY
from tests.openml_server.evil import MODES, EvilServer
from warehouse.store import Warehouse
from warehouse.support.errors import HeadstartError


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "DOCUMENT_LIMITS", AnswerLimits(bytes=1_000_000, seconds=0.2))


def connect(server: EvilServer) -> Connection:
    return Connection(server.url, rate=1e6, patience=3, sleep=lambda _: None)


@pytest.mark.usefixtures("_own_folders")
@each("at, mode", [(at, mode) for at in ("data", "file") for mode in MODES])
def test_an_evil_answer_about_a_dataset_soon_ends_in_one_line(at: str, mode: str) -> None:
    with EvilServer(mode, at=at) as server:
        start = time.monotonic()
        with pytest.raises(HeadstartError) as refused:
            published_dataset(31, connect(server), most=1_000_000)
        assert time.monotonic() - start < 300  # on a busy machine; the limit is a fifth of a second
    assert "\n" not in str(refused.value)
    assert server.requests <= 6


def test_a_job_ends_with_one_line(warehouse: Warehouse) -> None:
    for mode in ("endless body", "slow drip", "redirect loop", "HTML"):
        with EvilServer(mode) as server, pytest.raises(HeadstartError) as refused:
            ingest_openml(warehouse, Selection(measures=("kappa",)), connect(server))
        assert "\n" not in str(refused.value)


DOWNLOADS = f"""{PEAK_MEMORY}
import sys
from ingest.openml.api.connection import Connection
from ingest.openml.api.published import published_dataset
for url in sys.argv[1:]:
    try:
        published_dataset(31, Connection(url, rate=1e6, patience=1), 1 << 20)
    except Exception as error:
        print(type(error).__name__, peak())
"""


def test_evil_documents_take_little_memory(tmp_path: Path) -> None:
    modes = ("endless document", "gzip bomb", "deep XML", "deep and closed XML", "many tags", "entity bomb")
    with ExitStack() as running:
        urls = [running.enter_context(EvilServer(mode)).url for mode in modes]
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
        command = [sys.executable, "-c", DOWNLOADS, *urls]
        said = subprocess.check_output(command, env=environment, cwd=Path(__file__).parents[4], text=True)
    for mode, line in zip(modes, said.splitlines(), strict=True):
        error, peak = line.split()
        assert error in ("UnreadableInput", "Failed"), mode
        assert int(peak) < 500, mode
