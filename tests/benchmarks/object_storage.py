"""A warehouse in object storage against one on disk: opened, written to, recommended from.

    python -m tests.benchmarks.object_storage TABLE

A server of the S3 API runs on this machine, in a process of its own, so that times are without a network.
Each command is a process, as a user starts it; seconds are of waiting and, in parentheses, of the processor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import boto3

from warehouse.store import STARTER, Warehouse

REPETITIONS = 3


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    table = parser.parse_args().table
    with tempfile.TemporaryDirectory() as scratch, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        os.environ.update(
            AWS_ACCESS_KEY_ID="key-of-benchmark",
            AWS_SECRET_ACCESS_KEY="secret-of-benchmark",
            AWS_REGION="us-east-1",
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
            AWS_ALLOW_HTTP="true",
            XDG_CACHE_HOME=f"{scratch}/cache",
        )
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-p", str(port)], stderr=subprocess.DEVNULL
        )
        try:
            _make_bucket("runs")
            _compare(table, Path(scratch))
        finally:
            server.terminate()
            server.wait()


def _make_bucket(name: str) -> None:
    for _ in range(600):
        try:
            boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).create_bucket(Bucket=name)
        except Exception:  # noqa: BLE001  # the server is not there yet
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server does not start")


def _compare(table: Path, scratch: Path) -> None:
    url, disk = "s3://runs/starter", str(scratch / "disk")
    Warehouse.open(STARTER).export(disk)
    shutil.copytree(STARTER / "models", Path(disk) / "models")
    _row("copy the starter to storage", "warehouse", "export", url, "--warehouse", str(STARTER))
    stored = Warehouse.open(url)
    shutil.copytree(STARTER / "models", stored.models, dirs_exist_ok=True)
    for model in stored.models.iterdir():
        stored.share_model(model)
    shutil.rmtree(scratch / "cache")
    _row("recommend, storage, first time", "recommend", str(table), "--warehouse", url)
    for _ in range(REPETITIONS):
        _row("recommend, storage", "recommend", str(table), "--warehouse", url)
        _row("recommend, disk", "recommend", str(table), "--warehouse", disk)
    for place, name in ((url, "storage"), (disk, "disk")):
        _row(f"info, {name}", "warehouse", "info", "--warehouse", place)
        _row(f"verify --deep, {name}", "warehouse", "verify", "--deep", "--warehouse", place)


def _row(what: str, *command: str) -> None:
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - began, os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"| {what} | {seconds:.1f} s ({processor:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
