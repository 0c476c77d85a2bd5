"""Warehouses in object storage, on a server of the S3 API: as on disk, several writers, damage, refusals."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from tests.conftest import S3_KEY, S3_SECRET
from tests.warehouse.worlds import Killed, content, runs
from warehouse.storage import object_storage
from warehouse.storage.object_storage import Bucket, RemoteWarehouse, each
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, UnusableWarehouse


def fill(warehouse: Warehouse) -> None:
    """Two commits, the second of which changes a row."""
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    warehouse.write(dataset("openml:1", "corrected"), source="test")


def dataset(key: str, name: str = "iris") -> dict[str, pd.DataFrame]:
    return {"datasets": pd.DataFrame({"dataset": [key], "name": name})}


def names(warehouse: Warehouse) -> list[str]:
    return warehouse.sql("SELECT dataset FROM datasets ORDER BY dataset")["dataset"].tolist()


def test_it_has_the_same_content_and_versions_as_a_warehouse_on_disk(
    s3_url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    here, there = Warehouse.create(tmp_path / "local"), Warehouse.create(s3_url)
    for warehouse in (here, there):
        fill(warehouse)
    on_machine("second machine")
    read = Warehouse.open(s3_url)
    assert content(read) == content(here)
    assert (read.version, read.fingerprint, read.location) == (2, here.fingerprint, s3_url)
    assert content(Warehouse.open(s3_url, version=1)) == content(Warehouse.open(here.path, version=1))
    assert not Warehouse.verify(s3_url, deep=True).findings
    assert not Warehouse.verify(s3_url).findings


def test_it_is_exported_merged_and_restored_as_on_disk(
    s3_url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    local = Warehouse.create(tmp_path / "local")
    fill(local)
    copy = local.export(s3_url)
    assert (content(copy), copy.version, copy.fingerprint) == (content(local), 2, local.fingerprint)
    with pytest.raises(UnusableWarehouse, match="has a warehouse already"):
        local.export(s3_url)
    on_machine("second machine")
    local.write(dataset("local:c"), source="test")
    merged = Warehouse.open(s3_url)
    assert merged.merge(local).added["datasets"] == 1
    assert content(merged)["runs"] != []
    assert merged.merge(local).ingest is None
    merged.restore(2)
    assert content(Warehouse.open(s3_url)) == content(copy)
    back = Warehouse.open(s3_url).export(tmp_path / "back")
    assert content(back) == content(copy)
    assert not Warehouse.verify(s3_url, deep=True).findings


@contextmanager
def one_machine_each(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Each opener of a warehouse has its own copy, as on separate machines."""
    count = iter(range(1000))
    monkeypatch.setattr(object_storage, "cache_directory", lambda: folder / str(next(count)))
    yield


def test_concurrent_writes_on_several_machines_are_neither_lost_nor_duplicated(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(s3_url)
    with one_machine_each(monkeypatch, tmp_path):

        def write(number: int) -> None:
            Warehouse.open(s3_url).write(dataset(f"local:{number}"), source="test")

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, range(3)))
        read = Warehouse.open(s3_url)
        assert names(read) == [f"local:{number}" for number in range(3)]
        assert read.sql("SELECT version FROM ingests")["version"].tolist() == [1, 2, 3]
        assert not Warehouse.verify(s3_url, deep=True).findings


def test_rows_that_depend_on_the_warehouse_are_made_again_if_another_writer_was_faster(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(s3_url)
    with one_machine_each(monkeypatch, tmp_path):
        other, seen = Warehouse.open(s3_url), []

        def rows(now: Warehouse) -> dict[str, pd.DataFrame]:
            seen.append(names(now))
            if len(seen) == 1:
                other.write(dataset("local:faster"), source="test")
            return dataset("local:slower")

        assert Warehouse.open(s3_url).write(rows, source="test").version == 2
        assert seen == [[], ["local:faster"]]


@pytest.mark.parametrize(("step", "version"), [("upload", 1), ("_append", 1), ("pull", 2)])
def test_a_killed_writer_leaves_the_old_version_or_the_next(
    step: str,
    version: int,
    s3_url: str,
    on_machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    s3_url = f"{s3_url}-{step}"
    Warehouse.create(s3_url).write(dataset("local:a"), source="test")
    on_machine("second machine")
    warehouse = Warehouse.open(s3_url)

    def die(*_: object) -> None:
        raise Killed

    def rows(_: Warehouse) -> dict[str, pd.DataFrame]:
        monkeypatch.setattr(RemoteWarehouse if step == "pull" else Bucket, step, die)
        return dataset("local:b")

    with monkeypatch.context() as monkeypatch, pytest.raises(Killed):
        warehouse.write(rows, source="test")
    on_machine("third machine")
    assert names(Warehouse.open(s3_url)) == ["local:a", "local:b"][:version]
    assert Warehouse.open(s3_url).write(dataset("local:c"), source="test").version == version + 1
    assert Warehouse.verify(s3_url, deep=True).damage == []


@pytest.mark.parametrize("damage", ["flipped", "lost"])
def test_a_damaged_or_lost_file_is_named_and_machines_with_a_copy_can_export(
    damage: str, s3_url: str, on_machine: Callable[[str], None]
) -> None:
    s3_url = f"{s3_url}-{damage}"
    Warehouse.create(s3_url).write(runs(), source="test")
    bucket = Bucket(s3_url)
    file = next(info.path for info in bucket.listing("runs"))
    if damage == "lost":
        bucket.delete([file])
    else:
        stored = bucket.objects.open_input_stream(file).read()
        with bucket.objects.open_output_stream(file) as stream:
            stream.write(stored[:-1] + bytes([stored[-1] ^ 1]))
    assert [finding.path for finding in Warehouse.verify(s3_url, deep=True).damage] == [file]
    with pytest.raises(UnusableWarehouse, match="only a warehouse on disk can be repaired"):
        Warehouse.repair(s3_url)
    copy = Warehouse.open(s3_url).export(f"{s3_url}-again")
    assert content(copy)["runs"] == content(Warehouse.open(s3_url))["runs"]
    on_machine("second machine")
    with pytest.raises(UnusableWarehouse, match=file):
        Warehouse.open(s3_url)
    assert [finding.path for finding in Warehouse.verify(s3_url, deep=True).damage] == [file]


def test_a_replaced_warehouse_is_read_from_the_start(s3_url: str, on_machine: Callable[[str], None]) -> None:
    Warehouse.create(s3_url).write(dataset("local:a"), source="test")
    bucket = Bucket(s3_url)
    on_machine("second machine")
    bucket.delete([info.path for info in bucket.listing()])
    Warehouse.create(s3_url).write(dataset("local:b"), source="test")
    on_machine("first machine")
    assert names(Warehouse.open(s3_url)) == ["local:b"]


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "s3://runs/x", "does not answer"),
        ({}, "s3://no-such-bucket/x", "the bucket does not exist"),
        ({}, "s3://runs/nothing-here", "there is no warehouse at s3://runs/nothing-here"),
        ({"AWS_ALLOW_HTTP": ""}, "s3://runs/x", "AWS_ALLOW_HTTP"),
        ({}, f"s3://{S3_KEY}:{S3_SECRET}@runs/x", "must not hold credentials"),
        ({}, "s3://runs/../x", "not a usable object storage URL"),
        ({}, "s3:/runs", "not a usable object storage URL"),
        (
            {"HEADSTART_STORAGE_TIMEOUT": "soon"},
            "s3://runs/x",
            "HEADSTART_STORAGE_TIMEOUT: 'soon' is not a time",
        ),
    ],
)
@pytest.mark.usefixtures("on_machine")
def test_storage_that_cannot_be_used_is_refused_in_one_line(
    change: dict[str, str],
    place: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=said) as refused:
        Warehouse.open(place)
    assert S3_SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


@contextmanager
def silent() -> Iterator[int]:
    """Port of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def unreachable() -> Iterator[int]:
    """Port whose connections never complete, like those to an address without a route."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as others:
        for _ in range(2):  # fill the queue
            waiting = others.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


@contextmanager
def answering(status: int, code: str) -> Iterator[int]:
    """Port of a server with the same answer to everything."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(f"<Error><Code>{code}</Code><Message>No.</Message></Error>".encode())

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (silent(), "the server does not answer"),
        (unreachable(), "the server does not answer"),
        (answering(500, "InternalError"), "unavailable or overloaded"),
        (answering(503, "SlowDown"), "unavailable or overloaded"),
        (answering(403, "InvalidAccessKeyId"), "access is denied"),
        (answering(403, "SignatureDoesNotMatch"), "access is denied"),
        (answering(404, "NotFound"), "the bucket does not exist"),
    ],
)
@pytest.mark.usefixtures("on_machine")
def test_an_unusable_server_is_given_up_in_time(
    server: AbstractContextManager[int], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSTART_STORAGE_TIMEOUT", "0.3s")
    with server as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        with pytest.raises(UnusableWarehouse, match=said) as refused:
            Warehouse.open("s3://runs/x")
    assert "\n" not in str(refused.value)


def test_no_more_transfers_are_started_after_a_failure() -> None:
    begun = []

    def fail(name: str) -> None:
        begun.append(name)
        raise UnusableWarehouse("no answer")

    with pytest.raises(UnusableWarehouse):
        each(fail, map(str, range(100)))
    assert len(begun) < 100


def test_no_warehouse_is_created_among_other_objects(s3_url: str) -> None:
    with Bucket(s3_url).objects.open_output_stream("notes.txt") as notes:
        notes.write(b"mine")
    with pytest.raises(UnusableWarehouse, match="holds other objects"):
        Warehouse.create(s3_url)


def test_no_secret_is_in_the_copy_or_in_the_storage(s3_url: str, tmp_path: Path) -> None:
    Warehouse.create(s3_url).write(dataset("local:a"), source="test")
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    bucket = Bucket(s3_url)
    written += [bucket.objects.open_input_stream(info.path).read() for info in bucket.listing()]
    assert len(written) > 20
    assert not [stored for stored in written if S3_SECRET.encode() in stored or S3_KEY.encode() in stored]


@pytest.mark.usefixtures("on_machine")
def test_errors_of_libraries_are_explained_without_secrets() -> None:
    bucket = Bucket("s3://runs/x")
    with pytest.raises(UnusableWarehouse, match="access is denied") as refused, bucket.explained():
        raise OSError(f"AWS Error ACCESS_DENIED during PutObject operation: {S3_SECRET}")
    assert S3_SECRET not in str(refused.value)
    with pytest.raises(UnusableWarehouse, match=r"can't be used: a \*\*\* b") as refused, bucket.explained():
        raise OSError(f"a {S3_SECRET}\nb")


def test_models_are_found_by_other_machines_until_they_are_removed(
    s3_url: str, on_machine: Callable[[str], None]
) -> None:
    warehouse = Warehouse.create(s3_url)
    model = warehouse.models / "learner-0123"
    model.mkdir(parents=True)
    for name in ("model.json", "arrays.npz"):
        (model / name).write_text(name)
    warehouse.share_model(model)
    on_machine("second machine")
    found = Warehouse.open(s3_url).models / "learner-0123"
    assert [file.name for file in sorted(found.iterdir())] == ["arrays.npz", "model.json"]
    assert not Warehouse.verify(s3_url, deep=True).findings
    Warehouse.open(s3_url).remove_model(found)
    on_machine("third machine")
    assert not (Warehouse.open(s3_url).models / "learner-0123").exists()


def test_a_damaged_copy_is_named(s3_url: str) -> None:
    copy = Warehouse.create(s3_url).path
    for file in (copy / "commits").iterdir():
        file.unlink()
    (copy / "ingests").rename(copy / "elsewhere")
    (copy / "ingests").write_text("no folder")
    with pytest.raises(UnusableWarehouse, match=str(copy)):
        Warehouse.open(s3_url)
