"""Warehouses in object storage, on a server of the S3 API: as on disk, several writers, damage, refusals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.warehouse.worlds import runs
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
    """Two commits, the second of which changes a row."""
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    warehouse.write(dataset("openml:1", "corrected"), source="test")


def dataset(key: str, name: str = "iris") -> dict[str, pd.DataFrame]:
    return {"datasets": pd.DataFrame({"dataset": [key], "name": name})}


def names(warehouse: Warehouse) -> list[str]:
    return warehouse.sql("SELECT dataset FROM datasets ORDER BY dataset")["dataset"].tolist()


def test_it_holds_what_a_warehouse_on_disk_does_under_the_same_versions(
    url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    here, there = Warehouse.create(tmp_path / "local"), Warehouse.create(url)
    for warehouse in (here, there):
        fill(warehouse)
    on_machine("second machine")
    read = Warehouse.open(url)
    assert content(read) == content(here)
    assert (read.version, read.fingerprint, read.location) == (2, here.fingerprint, url)
    assert content(Warehouse.open(url, version=1)) == content(Warehouse.open(here.path, version=1))
    assert not Warehouse.verify(url, deep=True).findings
    assert not Warehouse.verify(url).findings


def test_it_is_exported_merged_and_restored_as_on_disk(
    url: str, tmp_path: Path, on_machine: Callable[[str], None]
) -> None:
    local = Warehouse.create(tmp_path / "local")
    fill(local)
    copy = local.export(url)
    assert (content(copy), copy.version, copy.fingerprint) == (content(local), 2, local.fingerprint)
    with pytest.raises(UnusableWarehouse, match="has a warehouse already"):
        local.export(url)
    on_machine("second machine")
    local.write(dataset("local:c"), source="test")
    merged = Warehouse.open(url)
    assert merged.merge(local).added["datasets"] == 1
    assert content(merged)["runs"] != []
    assert merged.merge(local).ingest is None
    merged.restore(2)
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
            for part in "ab":
                warehouse.write(dataset(f"local:{number}{part}"), source="test")

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, range(3)))
        read = Warehouse.open(url)
        assert names(read) == [f"local:{number}{part}" for number in range(3) for part in "ab"]
        assert read.sql("SELECT version FROM ingests")["version"].tolist() == [1, 2, 3, 4, 5, 6]
        assert not Warehouse.verify(url, deep=True).findings


def test_rows_that_depend_on_the_warehouse_are_made_anew_when_another_was_faster(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(url)
    with one_machine_each(monkeypatch, tmp_path):
        other, seen = Warehouse.open(url), []

        def rows(now: Warehouse) -> dict[str, pd.DataFrame]:
            seen.append(names(now))
            if len(seen) == 1:
                other.write(dataset("local:faster"), source="test")
            return dataset("local:slower")

        assert Warehouse.open(url).write(rows, source="test").version == 2
        assert seen == [[], ["local:faster"]]


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
    Warehouse.create(url).write(dataset("local:a"), source="test")
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
            warehouse.write(dataset("local:b"), source="test")
    on_machine("third machine")
    assert names(Warehouse.open(url)) == ["local:a", "local:b"][:version]
    assert Warehouse.verify(url).damage == []
    assert Warehouse.open(url).write(dataset("local:c"), source="test").version == version + 1
    assert Warehouse.verify(url, deep=True).damage == []


@pytest.mark.parametrize("kind", ["runs/part", "datasets/_delta_log", "ingests/part", "commits"])
def test_a_flipped_bit_is_found_and_mended_where_the_file_was_read(kind: str, url: str) -> None:
    objects = Objects(f"{url}-{kind.partition('/')[0]}")
    Warehouse.create(objects.url).write(runs(), source="test")
    name = max(name for name in objects.listing() if name.startswith(kind))
    before = objects.read(name)
    position = len(before) // 2
    objects.write(name, before[:position] + bytes([before[position] ^ 1]) + before[position + 1 :])
    assert name in {finding.path for finding in Warehouse.verify(objects.url, deep=True).damage}
    assert Warehouse.repair(objects.url).mended == [name]
    assert objects.read(name) == before


def test_a_file_that_nobody_has_read_stays_lost_and_is_named(
    url: str, on_machine: Callable[[str], None]
) -> None:
    Warehouse.create(url).write(runs(), source="test")
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
    Warehouse.create(url).write(dataset("local:a"), source="test")
    objects = Objects(url)
    on_machine("second machine")
    for name in objects.listing():
        objects.delete(name)
    Warehouse.create(url).write(dataset("local:b"), source="test")
    on_machine("first machine")
    assert names(Warehouse.open(url)) == ["local:b"]


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
    Warehouse.create(url).write(dataset("local:a"), source="test")
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    objects = Objects(url)
    written += [objects.read(name) for name in objects.listing()]
    assert len(written) > 20
    assert not [content for content in written if SECRET.encode() in content or KEY.encode() in content]


@pytest.mark.usefixtures("on_machine")
def test_what_libraries_say_is_explained_without_secrets() -> None:
    objects = Objects("s3://runs/x")
    with pytest.raises(UnusableWarehouse, match="access is denied") as refused, objects.explained():
        raise OSError(f"AWS Error ACCESS_DENIED during PutObject operation: {SECRET}")
    assert SECRET not in str(refused.value)
    with pytest.raises(UnusableWarehouse, match=r"can't be used: a \*\*\* b") as refused, objects.explained():
        raise OSError(f"a {SECRET}\nb")


def test_models_are_found_by_other_machines_until_they_are_removed(
    url: str, on_machine: Callable[[str], None]
) -> None:
    warehouse = Warehouse.create(url)
    model = warehouse.models / "learner-0123"
    model.mkdir(parents=True)
    for name in ("model.json", "arrays.npz"):
        (model / name).write_text(name)
    warehouse.share_model(model)
    on_machine("second machine")
    found = Warehouse.open(url).models / "learner-0123"
    assert [file.name for file in sorted(found.iterdir())] == ["arrays.npz", "model.json"]
    assert not Warehouse.verify(url, deep=True).findings
    Warehouse.open(url).remove_model(found)
    on_machine("third machine")
    assert not (Warehouse.open(url).models / "learner-0123").exists()


def test_a_damaged_copy_is_named(url: str) -> None:
    copy = Warehouse.create(url).path
    for file in (copy / "commits").iterdir():
        file.unlink()
    (copy / "ingests").rename(copy / "elsewhere")
    (copy / "ingests").write_text("no folder")
    with pytest.raises(UnusableWarehouse, match=f"{copy} can't be used, delete it"):
        Warehouse.open(url)
