"""Datasets by their OpenML number: downloaded once, checked, and read within the limits of files."""

import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ingest.openml.api import published
from ingest.openml.api.published import open_connection, published_dataset
from ingest.reading.datasets import load_dataset
from ingest.reading.limits import ReadingLimits
from tests.openml_server import OpenMLServer, World
from warehouse.support.errors import BadInput, Failed

pytestmark = pytest.mark.usefixtures("_own_folders")


@pytest.fixture
def configure(tmp_path: Path) -> Callable[[str], None]:
    """Name a server in the configuration file of OpenML's client."""

    def name(server: str) -> None:
        folder = tmp_path / "config" / "openml"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config").write_text(f"apikey = 0\nserver = {server}\n")

    return name


@pytest.fixture
def server(world: World, configure: Callable[[str], None]) -> OpenMLServer:
    server = OpenMLServer(world, api_key="0")
    configure(server.url)
    return server


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_dataset_is_loaded_from_the_server_of_openmls_configuration(server: OpenMLServer) -> None:
    with server:
        dataset = load_dataset("openml:101")
    assert (dataset.key, dataset.target.name) == ("openml:101", "class")
    assert [request.endpoint for request in server.requests] == ["data", "download"]
    assert [("api_key=0" in request.path) for request in server.requests] == [True, False]


def test_a_downloaded_dataset_is_found_without_the_network(server: OpenMLServer) -> None:
    with server:
        first = load_dataset("openml:101")
    again = load_dataset("openml:101")
    assert (again.content_hash, again.target.name) == (first.content_hash, first.target.name)
    with pytest.raises(Failed, match="has not answered properly in 3 tries"):
        load_dataset("openml:102")


def test_a_file_that_was_damaged_on_this_machine_is_downloaded_again(
    server: OpenMLServer, tmp_path: Path
) -> None:
    with server:
        first = load_dataset("openml:101")
        for number, path in enumerate(sorted(files_of(tmp_path / "cache"))):
            path.write_bytes(path.read_bytes()[:-9])
            assert load_dataset("openml:101").content_hash == first.content_hash
            assert len(server.requests) == 2 * (number + 2)


def test_a_file_with_another_checksum_than_described_is_refused(
    server: OpenMLServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hashlib, "md5", lambda content=b"", **_: hashlib.new("md5", content + b"!"))
    with (
        server,
        pytest.raises(BadInput, match=r"openml:101 can't be had .* the MD5 checksum \w{32}, not \w{32}"),
    ):
        published_dataset(101, open_connection(), 1 << 20)
    assert not files_of(tmp_path / "cache")


def test_a_file_beyond_the_limit_is_refused_and_not_kept(server: OpenMLServer, tmp_path: Path) -> None:
    with server, pytest.raises(BadInput, match=r"more than 100 bytes, the limit; .*HEADSTART_LIMITS=off"):
        load_dataset("openml:101", limits=ReadingLimits(download_bytes=100))
    assert not files_of(tmp_path / "cache")


def test_a_file_that_unpacks_beyond_the_limits_is_refused(server: OpenMLServer, world: World) -> None:
    with server:
        limits = ReadingLimits(packed_expansion=1, unpacked_bytes=10)
        world.add_dataset(replace(world.datasets[101], arff=None))
        world.parquet[101] = gzip.compress(b"a,class\n" + b"1,x\n2,y\n" * 100)
        with pytest.raises(BadInput, match="of the gzip file are"):
            load_dataset("openml:101", limits=limits)


def test_the_parquet_file_is_used_if_the_uploaded_one_has_no_checksum(
    server: OpenMLServer, world: World
) -> None:
    frame = pd.DataFrame({"width": [1.5, 2.5] * 9, "class": ["x", "y"] * 9})
    world.add_dataset(replace(world.datasets[101], arff=None))
    world.parquet[101] = frame.to_parquet()
    with server:
        assert load_dataset("openml:101").features["width"].tolist() == frame["width"].tolist()


def test_the_parquet_file_is_used_if_the_uploaded_one_is_gone(
    server: OpenMLServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"width": [1.5, 2.5] * 9, "class": ["x", "y"] * 9})
    world.parquet[101] = frame.to_parquet()
    monkeypatch.setattr(server, "_uploaded", lambda _: None)
    with server:
        assert load_dataset("openml:101").features["width"].tolist() == frame["width"].tolist()


def test_a_dataset_that_the_server_does_not_have_is_one_line(server: OpenMLServer) -> None:
    with server, pytest.raises(BadInput, match=r"^openml:999 can't be had from http://\S+: 111: "):
        load_dataset("openml:999")


def test_a_folder_that_cannot_be_written_is_one_line(server: OpenMLServer, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder belongs")
    with server, pytest.raises(BadInput, match="can't be written: Not a directory"):
        load_dataset("openml:101")


def test_files_are_encrypted_if_requests_are() -> None:
    address = published._address
    assert (
        address("http://www.openml.org/data/31", "https://www.openml.org/api/v1")
        == "https://www.openml.org/data/31"
    )
    assert address("http://127.0.0.1/data/31", "http://127.0.0.1/api/v1") == "http://127.0.0.1/data/31"
    assert address("/data/31", "https://host/api/v1") == "https://host/data/31"


def test_a_damaged_configuration_is_ignored(configure: Callable[[str], None], tmp_path: Path) -> None:
    configure("x")
    (tmp_path / "config" / "openml" / "config").write_bytes(b"\xff[[[")
    assert open_connection().server == "https://www.openml.org/api/v1"


def test_no_configuration_of_openmls_client_is_written(tmp_path: Path) -> None:
    folders = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path / "cache", "XDG_CONFIG_HOME": tmp_path / "config"}
    environment = {**os.environ, **{name: str(folder) for name, folder in folders.items()}}
    environment["https_proxy"] = "http://127.0.0.1:9"  # no server listens there
    done = subprocess.run(
        [sys.executable, "-m", "recommend", "openml:31"],
        env=environment,
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert not [path for path in tmp_path.rglob("*") if "openml" in path.name and "cache" not in path.parts]
