"""Code that reads a dataset's file with pandas, column by column as it was read here.

The code is verified: the file is read again with the very call and functions of the script
(`recommend.code.snippets`), and each column has to equal the dataset's.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.column_types.dates import likely_formats
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.datasets import Dataset
from ingest.reading.formats.arff import read_arff
from ingest.reading.formats.arrow import ARROW_MAGIC
from ingest.reading.formats.encoding import decoded, quoted, read_bytes
from ingest.reading.formats.layout import Layout
from ingest.reading.formats.packing import compression_of, is_excel
from ingest.reading.formats.parquet import PARQUET_MAGIC
from ingest.reading.new_rows import truth_words
from ingest.reading.tables import TextFormat
from recommend.code import snippets
from recommend.code.syntax import Call, Raw
from recommend.code.targets import target_code
from warehouse.support.errors import UnusableDataset
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zip": "zip", ".xz": "xz", ".zst": "zstd"}
"""Suffix that pandas decompresses by itself -> method."""
_TOP_ROWS = 50
"""Rows of a sheet searched for its header."""
_MISSING = (snippets.MISSING, ["", "?"])
"""Missing-value markers: the usual ones, and those of a file that declares its categories."""
_AS_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False}


@dataclass(frozen=True)
class TableSource:
    """A file as pandas reads it, each cell as text."""

    cells: pd.DataFrame
    call: Call
    """The same call as source, of a file named `path`."""
    then: str = ""
    """Source of the steps applied to the table afterwards."""
    remark: str = ""
    """Remark on the file for the script's user."""


@dataclass
class ColumnReading:
    """Conversion of a table's columns to the input of a pipeline."""

    table: TableSource
    missing: list[str]
    target: tuple[str, ...]
    """Functions of `snippets` that convert the target's cells to labels or numbers, in order."""
    numeric: list[str] = field(default_factory=list)
    decorated: list[str] = field(default_factory=list)
    """Numbers with a currency, a unit, or commas between thousands."""
    times: list[str] = field(default_factory=list)
    """Times of day and durations."""
    commas: list[str] = field(default_factory=list)
    """Numbers with decimal commas."""
    categorical: list[str] = field(default_factory=list)
    coded: list[str] = field(default_factory=list)
    """Categories written as numbers in varying notation."""
    truths: dict[str, list[str]] = field(default_factory=dict)
    """Boolean column -> its words for false and true."""
    dates: dict[str, str] = field(default_factory=dict)
    """Column -> format."""
    text: list[str] = field(default_factory=list)


def find_reading(dataset: Dataset, frame: pd.DataFrame | None = None) -> ColumnReading:
    """The code with which a script reads the dataset.

    Args:
        frame: original table, with its target, of a dataset that does not come from a file.

    Raises:
        BadInput: pandas alone can't read the file as it was read here; the message says which column differs.
    """
    reason = "pandas can't read it as a table"
    for read in _ways(dataset, frame):
        try:
            table = read()
        except (ValueError, LookupError, OSError, ImportError) as error:
            reason = " ".join(str(error).split())[:200]
            continue
        for missing in _MISSING:
            try:
                return _planned(table, dataset, missing)
            except _Differs as difference:
                reason = str(difference)
    raise UnusableDataset(f"no script can read {dataset.source} with pandas alone: {reason}")


class _Differs(Exception):  # noqa: N818 (said in raise statements alone)
    """A column differs from the dataset's."""


def _ways(dataset: Dataset, frame: pd.DataFrame | None) -> Iterator[Callable[[], TableSource]]:
    """Calls of pandas that may read the dataset, the plainest first."""
    path = Path(dataset.source)
    if not path.is_file():
        yield partial(_of_memory, dataset, frame)
        return
    content = read_bytes(path)
    if content.startswith(PARQUET_MAGIC):
        yield partial(_typed, "pd.read_parquet", pd.read_parquet, path)
    elif content.startswith(ARROW_MAGIC):
        yield partial(_typed, "pd.read_feather", pd.read_feather, path)
    elif is_excel(content):
        yield partial(_excel, path, str(dataset.target.name))
    elif dataset.text is None:
        text = decoded(content)
        names = [attribute.name.strip() for attribute in read_arff(text.utf8).attributes]
        for quote in ("'", '"'):
            yield partial(_arff, path, names, quote, text.encoding)
    else:
        layout = dataset.text.layout
        options = _options(dataset.text, content) | _packing(path)
        for ragged in (False, True):
            for named in (False, True) if layout.header else (True,):
                yield partial(_delimited, path, layout, options, named=named, ragged=ragged)


def _of_memory(dataset: Dataset, frame: pd.DataFrame | None) -> TableSource:
    """A table that does not come from a file, read as a CSV file of it."""
    if frame is None:
        frame = dataset.features.assign(**{str(dataset.target.name): dataset.target})
    cells = pd.read_csv(io.StringIO(frame.to_csv(index=False)), **_AS_TEXT)
    remark = f"The data came from {dataset.source}: give it a CSV file of the same table."
    return TableSource(cells, _read_csv(_AS_TEXT), remark=remark)


def _typed(name: str, read: Callable[[Any], pd.DataFrame], path: Path) -> TableSource:
    """A file of columns with types, which pandas reads with the package pyarrow."""
    cells = snippets.as_text(read(path))
    call = Call("as_text", [Call(name, [Raw("path")])])
    return TableSource(cells, call, remark="pandas reads such files with the package pyarrow.")


def _excel(path: Path, target: str) -> TableSource:
    """The sheet of a workbook that has the target's name in one of its first rows, from this row on."""
    tops = pd.read_excel(path, sheet_name=None, header=None, nrows=_TOP_ROWS, dtype=str)
    rows = ((sheet, *np.flatnonzero((top == target).any(axis=1))) for sheet, top in enumerate(tops.values()))
    sheet, row = next((found[:2] for found in rows if len(found) > 1), (0, 0))
    options: dict[str, Any] = {name: int(at) for name, at in (("sheet_name", sheet), ("skiprows", row)) if at}
    options["dtype"] = "object"  # else truth values beside gaps become numbers
    cells = snippets.as_text(pd.read_excel(path, **options))
    call = Call("as_text", [Call("pd.read_excel", [Raw("path")], options)])
    return TableSource(cells, call, remark="pandas reads Excel files with the package openpyxl.")


def _arff(path: Path, names: list[str], quote: str, encoding: str) -> TableSource:
    options = {
        "names": names,
        "header": None,
        "quotechar": quote,
        "escapechar": "\\",
        "skipinitialspace": True,
        **_AS_TEXT,
    }
    cells = pd.read_csv(snippets.arff_rows(str(path), encoding), **options)
    return TableSource(cells, _read_csv(options, Call("arff_rows", [Raw("path"), encoding])))


def _delimited(
    path: Path, layout: Layout, options: Mapping[str, Any], *, named: bool, ragged: bool
) -> TableSource:
    """A delimited text.

    Args:
        named: whether the script states the names of the columns instead of reading them from the file.
        ragged: whether rows with more cells than the others are skipped.
    """
    more: dict[str, Any] = {}
    if named:
        names = [name or f"Unnamed: {position}" for position, name in enumerate(layout.names)]
        more = {"names": names, "header": None}
        more |= {"skiprows": layout.lines} if layout.lines else {}
    elif layout.header is not None:
        start, end = layout.header
        below = [*range(end, layout.lines)]  # units and the like
        skipped = [*range(start), *below] if below else start
        more = {"skiprows": skipped} if skipped else {}
    if ragged:
        more["on_bad_lines"] = "skip"
    options = {**options, **more}
    cells = pd.read_csv(path, **options)
    then = ""
    if any(name != name.strip() for name in map(str, cells.columns)):
        cells, then = cells.rename(columns=str.strip), ".rename(columns=str.strip)"
    if not named and len(without := snippets.without_headers(cells)) < len(cells):
        cells, then = without, f"{then}.pipe(without_headers)"
    return TableSource(cells, _read_csv(options), then)


def _read_csv(options: Mapping[str, Any], file: object = Raw("path")) -> Call:
    constants = {"dtype": Raw("str"), "quoting": Raw("csv.QUOTE_NONE")}
    return Call("pd.read_csv", [file], {name: constants.get(name, value) for name, value in options.items()})


def _options(text: TextFormat, content: bytes) -> dict[str, Any]:
    """Arguments of `pandas.read_csv` for a text."""
    options: dict[str, Any] = {}
    layout = text.layout
    if layout.delimiter != ",":
        options["sep"] = r"\s+" if layout.delimiter == " " else layout.delimiter
    if layout.quote is None:
        if b'"' in content:
            options["quoting"] = csv.QUOTE_NONE
    else:
        if layout.quote != '"':
            options["quotechar"] = layout.quote
        if f"{layout.delimiter} {layout.quote}".encode() in content:
            options["skipinitialspace"] = True
    if layout.escape is not None:
        options["escapechar"] = layout.escape
    if content.startswith(codecs.BOM_UTF8):
        options["encoding"] = "utf-8-sig"
    elif text.encoding != "utf-8":
        options["encoding"] = text.encoding
    if text.missing:
        options["na_values"] = [*text.missing]
    return options | _AS_TEXT


def _packing(path: Path) -> dict[str, Any]:
    """Compression of a file, if its name does not tell."""
    found = compression_of(path.read_bytes())
    if found is None:
        return {"compression": None} if path.suffix in _PACKED else {}
    return {} if _PACKED.get(path.suffix) == found else {"compression": found}


# ---- columns -------------------------------------------------------------------------------------


def _planned(table: TableSource, dataset: Dataset, missing: list[str]) -> ColumnReading:
    target, known = _target(table, dataset, missing)
    rows = table.cells[known].reset_index(drop=True)
    reading = ColumnReading(table, missing, target)
    for name, role in dataset.roles.items():
        if role in NOT_LEARNED_FROM:
            continue
        if name not in rows or not isinstance(rows[name], pd.Series):
            raise _Differs(f"there is no single column {quoted(name)}")
        try:
            _add(reading, name, role, rows[name], dataset.features[name])
        except (ValueError, TypeError, AttributeError, OverflowError):
            raise _Differs(f"column {quoted(name)} is read differently") from None
    for name in reading.dates:
        if any(f"{name}: {part}" in dataset.roles for part in snippets.PARTS):
            raise _Differs(f"another column is named as a part of the date {quoted(name)}")
    return reading


def _target(table: TableSource, dataset: Dataset, missing: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """The functions that read the target, and (n,) which rows have one."""
    name = str(dataset.target.name)
    cells = table.cells.get(name)
    if isinstance(cells, pd.Series):
        wanted = target_code(dataset).values(dataset).tolist()
        for functions in _TARGETS[dataset.task_type]:
            found = _read(cells, functions, missing)
            if found.dropna().tolist() == wanted:
                return functions, found.notna().to_numpy()
    raise _Differs(f"the target {quoted(name)} is read differently")


def _read(cells: pd.Series, functions: tuple[str, ...], missing: list[str]) -> pd.Series:
    for name in functions:
        cells = getattr(snippets, name)(cells, *([missing] if name == "words" else []))
    return cells


_NUMBERS = (
    ("numbers",),
    ("undecorated", "numbers"),
    ("with_points", "numbers"),
    ("with_points", "undecorated", "numbers"),
    ("clock", "numbers"),
)
"""Ways to read numbers, the plainest first."""
_TARGETS: Mapping[TaskType, tuple[tuple[str, ...], ...]] = {
    CLASSIFICATION: (("words",), ("number_words",)),
    REGRESSION: _NUMBERS,
}


def _add(reading: ColumnReading, name: str, role: Role, cells: pd.Series, wanted: pd.Series) -> None:
    """Note how a column is read.

    Raises:
        _Differs: no way reproduces the column.
    """
    if role == Role.numeric:
        numbers = wanted.to_numpy(dtype=float, na_value=np.nan)
        for functions in _NUMBERS:
            found = _read(cells, functions, reading.missing)
            if np.array_equal(found.to_numpy(dtype=float), numbers, equal_nan=True):
                reading.numeric.append(name)
                reading.commas += [name] if "with_points" in functions else []
                reading.decorated += [name] if "undecorated" in functions else []
                reading.times += [name] if "clock" in functions else []
                return
    elif role == Role.date:
        for form in likely_formats(cells.str.strip()):
            found = snippets.dates(cells, form)
            if np.array_equal(found.to_numpy("M8[us]"), wanted.to_numpy("M8[us]"), equal_nan=True):
                reading.dates[name] = form
                return
    else:
        labels = wanted.astype(object).where(wanted.notna(), None).tolist()
        texts = snippets.words(cells, reading.missing)
        if texts.astype(object).where(texts.notna(), None).tolist() == labels:
            (reading.text if role == Role.text else reading.categorical).append(name)
            if role == Role.boolean and (truths := truth_words(frozenset(texts.dropna()))):
                reading.truths[name] = [*truths]
            return
        texts = snippets.number_words(cells)
        if role != Role.text and texts.astype(object).where(texts.notna(), None).tolist() == labels:
            reading.coded.append(name)
            return
    raise _Differs(f"column {quoted(name)} is read differently")
