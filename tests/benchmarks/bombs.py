"""Files that are made to take all memory or time: how long until each is refused, and in how much memory.

Usage: python -m tests.benchmarks.bombs [NAME ...]

Every file is made in a temporary directory and read by a process of its own, as `recommend` would. The table
has its size in MB, the seconds of waiting and of processor time from `load_dataset` to the refusal, and the
peak memory of the process, of which the last line says what an import of the reader takes.
"""

import argparse
import gzip
import io
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.ingest.reading.parquet_lies import (
    with_empty_columns,
    with_large_page,
    with_small_footer,
)

_MIB = 1 << 20
_BOMBS: dict[str, Callable[[IO[bytes]], None]] = {}


def _bomb(write: Callable[[IO[bytes]], None]) -> Callable[[IO[bytes]], None]:
    _BOMBS[write.__name__] = write
    return write


@_bomb
def gzip_of_5_gb(file: IO[bytes]) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
        packed.write(b"a,b,class\n")
        block = b"1,2,x\n1,3,y\n" * (_MIB // 2)
        for _ in range(5_000 * 1_000_000 // len(block) + 1):
            packed.write(block)


@_bomb
def gzip_of_a_gzip_in_many_members(file: IO[bytes]) -> None:
    file.write(gzip.compress(b"1,2,x\n" * 4_000_000) * 250)


@_bomb
def gzip_of_2_gb_at_200_times(file: IO[bytes]) -> None:
    noise = np.random.default_rng(0).integers(97, 123, 3_000, dtype=np.uint8).tobytes()
    block = (b"1,2,x\n" * 75_000 + noise + b",3,y\n") * 4
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
        packed.write(b"a,b,class\n")
        for _ in range(2_000 * 1_000_000 // len(block) + 1):
            packed.write(block)


@_bomb
def csv_with_1_000_000_columns(file: IO[bytes]) -> None:
    file.write(",".join(f"c{place}" for place in range(1_000_000)).encode())
    file.write((b"\n" + b",".join([b"1"] * 1_000_000)) * 3)


@_bomb
def rows_wider_than_their_header(file: IO[bytes]) -> None:
    file.write(b"a b class\n" + b"1 " * 6_000_000)


@_bomb
def line_of_200_mb(file: IO[bytes]) -> None:
    file.write(b"a,b,class\n1,2,")
    file.write(b"x" * 200_000_000)


@_bomb
def arff_with_100_000_attributes(file: IO[bytes]) -> None:
    file.write(b"@relation r\n")
    file.writelines(b"@attribute a%d numeric\n" % place for place in range(100_000))
    file.write(b"@data\n" + b",".join([b"1"] * 100_000))


@_bomb
def sparse_arff_of_10_000_000_000_cells(file: IO[bytes]) -> None:
    file.write(b"@relation r\n")
    file.writelines(b"@attribute a%d numeric\n" % place for place in range(10_000))
    file.write(b"@data\n" + b"{}\n" * 1_000_000)


@_bomb
def sparse_index_of_18_digits(file: IO[bytes]) -> None:
    file.write(b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n{999999999999999999 1}\n")


@_bomb
def blanks_after_relation(file: IO[bytes]) -> None:
    file.write(b"@relation a" + b" " * 1_000_000 + b"b\n@attribute a numeric\n@data\n1\n")


@_bomb
def blanks_in_a_nominal_value(file: IO[bytes]) -> None:
    file.write(b"@relation r\n@attribute a {x,a" + b" " * 1_000_000 + b"b}\n@data\nx\n")


@_bomb
def blanks_in_a_sparse_row(file: IO[bytes]) -> None:
    file.write(b"@relation r\n@attribute a numeric\n@data\n{0 1" + b" " * 1_000_000 + b"2}\n")


@_bomb
def list_over_many_lines(file: IO[bytes]) -> None:
    file.write(b"@relation r\n@attribute a {x\n" + b",y\n" * 300_000)


@_bomb
def number_of_100_000_digits(file: IO[bytes]) -> None:
    file.write(b"a," + b"1" * 100_000 + b"x\n" + b"1,2\n" * 3)


@_bomb
def parquet_of_200_000_000_cells(file: IO[bytes]) -> None:
    rows = pa.array(np.zeros(2_000_000, dtype=np.int8))
    pq.write_table(pa.table({f"c{place}": rows for place in range(100)}), file, compression="zstd")


@_bomb
def parquet_of_a_text_of_1_mb_in_100_000_rows(file: IO[bytes]) -> None:
    texts = pa.array(["x" * _MIB, "y" * _MIB])
    rows = pa.array(np.arange(100_000, dtype=np.int32) % 2)
    repeated = pa.DictionaryArray.from_arrays(rows, texts)
    pq.write_table(pa.table({"a": repeated, "class": rows}), file, compression="zstd", store_schema=False)


@_bomb
def parquet_of_2_gb_in_one_page(file: IO[bytes]) -> None:
    text = pa.array(["x" * 2_000] * 1_000_000, pa.large_string())
    table = pa.table({"a": text, "class": pa.array(np.zeros(1_000_000, dtype=np.int8))})
    pq.write_table(table, file, compression="zstd", use_dictionary=False, data_page_size=2**30)


@_bomb
def parquet_of_texts_that_share_1_mb(file: IO[bytes]) -> None:
    texts = pa.array([f"{'x' * _MIB}{row}" for row in range(500)])
    table = pa.table({"a": texts, "class": pa.array(np.arange(500) % 2)})
    encoding = {"a": "DELTA_BYTE_ARRAY"}
    with pq.ParquetWriter(
        file, table.schema, compression="zstd", use_dictionary=False, column_encoding=encoding
    ) as writer:
        for _ in range(8):
            writer.write_table(table)


@_bomb
def parquet_of_1_5_gb_in_a_page_that_the_footer_hides(file: IO[bytes]) -> None:
    file.write(with_small_footer(_page_of_texts(15_000)))


@_bomb
def parquet_page_that_says_134_mb(file: IO[bytes]) -> None:
    file.write(with_large_page(_page_of_texts(100), 2**27 - 1))


@_bomb
def parquet_of_1_000_000_columns_without_content(file: IO[bytes]) -> None:
    content = io.BytesIO()
    pq.write_table(pa.table({"a": [1.0]}), content)
    file.write(with_empty_columns(content.getvalue(), 1_000_000))


def _page_of_texts(rows: int) -> bytes:
    """A Parquet file with a page of so many texts of 100 kB."""
    content = io.BytesIO()
    table = pa.table({"a": pa.array(["x" * 100_000] * rows, pa.large_string()), "class": np.arange(rows) % 2})
    options: dict[str, Any] = {"data_page_size": 2**31 - 1, "write_batch_size": rows}
    pq.write_table(table, content, compression="zstd", use_dictionary=False, **options)
    return content.getvalue()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(_BOMBS))
    names = parser.parse_args().names or list(_BOMBS)
    print("| file | MB | seconds | of processor | peak MiB | answer |\n|---|---|---|---|---|---|")
    for row in map(_measured, names):
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\nThe import alone: {_in_child(_import)[2]:.0f} MiB.")


def _measured(name: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        _BOMBS[name](file.file)
        file.flush()
        size = Path(file.name).stat().st_size
        seconds, processor, peak, answer = _in_child(_read, file.name)
    yield name.replace("_", " ")
    yield f"{size / 1e6:.3g}"
    yield from (f"{seconds:.2f}", f"{processor:.2f}", f"{peak:.0f}")
    yield " ".join(answer.replace("|", "").split())


def _in_child(work: Callable[..., str], *arguments: str) -> tuple[float, float, float, str]:
    """Seconds, seconds of processor time and peak MiB of a fresh process, and what `work` returns."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (work, arguments))


def _timed(work: Callable[..., str], arguments: tuple[str, ...]) -> tuple[float, float, float, str]:
    import ingest.reading.datasets  # noqa: F401 (its time is not the bomb's)

    began, processor = time.perf_counter(), time.process_time()
    answer = work(*arguments)
    took = time.perf_counter() - began, time.process_time() - processor
    return *took, _peak_mib(), answer


def _peak_mib() -> float:
    # Not `ru_maxrss`, which a new process begins with at the value of the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _import() -> str:
    return ""


def _read(path: str) -> str:
    from ingest.reading.datasets import load_dataset
    from warehouse.support.errors import HeadstartError

    try:
        dataset = load_dataset(path)
    except HeadstartError as error:
        return str(error).partition(";")[0].replace(path, "FILE")
    return f"read: {len(dataset.features)} rows"


if __name__ == "__main__":
    main()
