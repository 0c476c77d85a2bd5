"""Warehouses in object storage, on a server of the S3 API: as on disk, several writers, damage, refusals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.warehouse.worlds import runs, values
from warehouse import mirror as mirror_module
from warehouse.mirror import Mirror
from warehouse.objects import Objects
from warehouse.schema import TABLES
from warehouse.store import Warehouse
from warehouse.support.errors import UnusableWarehouse

KEY, SECRET = "access-key-of-tests", "secret-of-tests"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
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
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
    ).create_bucket(Bucket="runs")
    yield url
    server.stop()


@pytest.fixture
def on_machine(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Go on as another machine would: with its own cache, and the same access to the server."""
    access = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": server,
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in access.items():
        monkeypatch.setenv(name, value)

    def switch(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    switch("a machine")
    return switch


@pytest.fixture
def url(on_machine: Callable[[str], None], request: pytest.FixtureRequest) -> str:
    """URL of a place that is empty, as the first machine sees it."""
    on_machine("first machine")
    return f"s3://runs/{request.node.name.partition('[')[0]}"


def content(warehouse: Warehouse) -> dict[str, list[dict[str, object]]]:
    """All rows but those of `ingests`, which say when."""
    return {
        name: warehouse.arrow(f"SELECT * FROM {name} ORDER BY ALL").to_pylist()
        for name in TABLES
        if name != "ingests"
    }


def fill(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    warehouse.write(runs(name="b", accuracies={"openml:1": 0.7}), source="test")
    warehouse.write({"datasets": runs()["datasets"].assign(name="corrected")}, source="test")


def test_it_holds_what_a_warehouse_on_disk_does_under_the_same_versions(
    url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    here, there = Warehouse.create(tmp_path / "local"), Warehouse.create(url)
    for warehouse in (here, there):
        fill(warehouse)
    on_machine("second machine")
    read = Warehouse.open(url)
    assert content(read) == content(here)
    assert (read.version, read.fingerprint, read.location) == (3, here.fingerprint, url)
    assert content(Warehouse.open(url, version=1)) == content(Warehouse.open(here.path, version=1))
    assert not Warehouse.verify(url, deep=True).findings
    assert not Warehouse.verify(url).findings


def test_it_is_exported_merged_and_restored_as_on_disk(
    url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    local = Warehouse.create(tmp_path / "local")
    fill(local)
    copy = local.export(url)
    assert (content(copy), copy.version, copy.fingerprint) == (content(local), 3, local.fingerprint)
    with pytest.raises(UnusableWarehouse, match="has a warehouse already"):
        local.export(url)
    on_machine("second machine")
    local.write(runs(name="c", accuracies={"openml:3": 0.6}), source="test")
    merged = Warehouse.open(url)
    assert merged.merge(local).added["runs"] == 1
    assert values(merged) == values(local)
    assert merged.merge(local).ingest is None
    merged.restore(3)
    assert content(Warehouse.open(url)) == content(copy)
    back = Warehouse.open(url).export(tmp_path / "back")
    assert content(back) == content(copy)
    assert not Warehouse.verify(url, deep=True).findings


@contextmanager
def one_machine_each(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Every new `Mirror` has a copy of its own, as on machines that share nothing."""
    count = iter(range(1000))
    monkeypatch.setattr(mirror_module, "cache_directory", lambda: folder / str(next(count)))
    yield


def test_what_writers_on_several_machines_write_at_once_is_neither_lost_nor_doubled(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(url)
    with one_machine_each(monkeypatch, tmp_path):

        def write(number: int) -> None:
            warehouse = Warehouse.open(url)
            for part in range(2):
                new = runs(name=f"{number}-{part}", accuracies={f"openml:{number}": 0.5, "openml:0": 0.4})
                warehouse.write(new, source="test")

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, range(1, 4)))
        read = Warehouse.open(url)
        assert read.version == 6
        assert read.sql("SELECT count(*) AS n, count(DISTINCT run) AS d FROM runs")[
            ["n", "d"]
        ].values.tolist() == [[12, 12]]
        assert read.sql("SELECT version FROM ingests")["version"].tolist() == [1, 2, 3, 4, 5, 6]
        assert not Warehouse.verify(url, deep=True).findings


def test_rows_that_depend_on_the_warehouse_are_made_anew_when_another_was_faster(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(url)
    with one_machine_each(monkeypatch, tmp_path):
        other, seen = Warehouse.open(url), []

        def rows(now: Warehouse) -> dict[str, object]:
            seen.append(now.version)
            if len(seen) == 1:
                other.write(runs(name="faster"), source="test")
            return runs(name="slower")

        assert Warehouse.open(url).write(rows, source="test").version == 2
        assert seen == [0, 1]


class Killed(BaseException):
    """In the place of a kill."""


@pytest.mark.parametrize(("step", "version"), [("upload", 1), ("_take_turn", 1), ("_finish", 2)])
def test_a_writer_that_is_killed_leaves_one_version_or_the_next(
    step: str,
    version: int,
    url: str,
    on_machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"{url}-{step}"
    Warehouse.create(url).write(runs(), source="test")
    on_machine("second machine")
    warehouse = Warehouse.open(url)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        if step == "_finish":  # which also mends what an earlier writer left: only ours is to be kept from it
            publish = Mirror._take_turn
            patched.setattr(
                Mirror,
                "_take_turn",
                lambda self, made: publish(self, made) and patched.setattr(Mirror, step, die) is None,
            )
        else:
            patched.setattr(Objects if step == "upload" else Mirror, step, die)
        with pytest.raises(Killed):
            warehouse.write(runs(name="b"), source="test")
    on_machine("third machine")
    assert Warehouse.open(url).version == version
    assert Warehouse.verify(url, deep=True).damage == []
    assert Warehouse.open(url).write(runs(name="c"), source="test").version == version + 1
    assert Warehouse.verify(url, deep=True).damage == []


def test_every_flipped_bit_is_found_and_mended_where_the_file_was_read(url: str) -> None:
    fill(Warehouse.create(url))
    objects = Objects(url)
    for name in sorted(objects.listing()):
        if name.partition("/")[0] not in (*TABLES, "commits"):
            continue
        before = objects.read(name)
        flipped = bytearray(before)
        flipped[len(flipped) // 2] ^= 1
        if name.startswith(("runs/", "commits/", "ingests/")):
            objects.write(name, bytes(flipped))
            assert name in {finding.path for finding in Warehouse.verify(url, deep=True).damage}, name
            assert name in Warehouse.repair(url).mended
            assert objects.read(name) == before


def test_a_file_that_nobody_has_read_stays_lost_and_is_named(
    url: str, on_machine: Callable[[str], None]
) -> None:
    fill(Warehouse.create(url))
    objects = Objects(url)
    lost = next(name for name in objects.listing() if name.startswith("runs/") and name.endswith(".parquet"))
    objects.delete(lost)
    on_machine("second machine")
    with pytest.raises(UnusableWarehouse, match=lost):
        Warehouse.open(url)
    assert [finding.path for finding in Warehouse.verify(url).damage] == [lost]
    assert [file.path for file in Warehouse.repair(url).damaged] == [lost]
    on_machine("first machine")
    assert Warehouse.repair(url).mended == [lost]


def test_another_warehouse_in_the_place_of_one_is_read_from_the_start(
    url: str, on_machine: Callable[[str], None]
) -> None:
    fill(Warehouse.create(url))
    objects = Objects(url)
    on_machine("second machine")
    for name in objects.listing():
        objects.delete(name)
    Warehouse.create(url).write(runs(name="other"), source="test")
    on_machine("first machine")
    assert Warehouse.open(url).sql("SELECT setup FROM setups")["setup"].tolist() == ["openml:6969/other"]


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "s3://runs/x", "does not answer"),
        ({}, "s3://no-such-bucket/x", "no such bucket"),
        ({}, "s3://runs/nothing-here", "there is no warehouse at s3://runs/nothing-here"),
        ({"AWS_ALLOW_HTTP": ""}, "s3://runs/x", "AWS_ALLOW_HTTP"),
        ({}, f"s3://{KEY}:{SECRET}@runs/x", "must not hold credentials"),
        ({}, "s3://runs/../x", "no URL of object storage"),
        ({}, "s3:/runs", "no URL of object storage"),
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
    with pytest.raises(UnusableWarehouse, match=said) as refused:
        Warehouse.open(place)
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_place_with_something_else_in_it_takes_no_warehouse(url: str) -> None:
    Objects(url).write("notes.txt", b"mine")
    with pytest.raises(UnusableWarehouse, match="holds other objects"):
        Warehouse.create(url)


def test_no_secret_is_in_the_copy_or_in_the_storage(url: str, tmp_path: Path) -> None:
    fill(Warehouse.create(url))
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    objects = Objects(url)
    written += [objects.read(name) for name in objects.listing()]
    assert len(written) > 20
    assert not [content for content in written if SECRET.encode() in content or KEY.encode() in content]
