"""Raw tables from files of any known format, OpenML, scikit-learn or data frames."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ingest.openml.api import PublishedDataset
from ingest.reading.formats.arff import is_arff, read_arff
from ingest.reading.formats.arrow import ARROW_MAGIC, read_arrow
from ingest.reading.formats.delimited import read_delimited
from ingest.reading.formats.encoding import decoded, quoted, read_bytes
from ingest.reading.formats.excel import excel_as_csv
from ingest.reading.formats.layout import Layout
from ingest.reading.formats.packing import is_excel
from ingest.reading.formats.parquet import PARQUET_MAGIC, read_parquet, without_pandas_notes
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.options import DETECTED, ReadingOptions
from warehouse.support.errors import UnknownName, UnreadableInput, one_line

_BUILT_IN = ("breast_cancer", "digits", "iris", "wine")
_SUFFIXES = re.compile(
    r"(?:\.(?:csv|tsv|txt|tab|dat|data|arff|parquet|pq|feather|arrow|ipc|xlsx))?(?:\.(?:gz|bz2|xz|zst|lz4|zip))?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextFormat:
    """Format of a delimited text file, as detected."""

    layout: Layout
    encoding: str
    """Encoding, as Python names it."""
    decimal: str | None
    """Decimal sign of its columns, "." or ","; None = unknown."""
    missing: tuple[str, ...]
    """The user's words for missing values."""


@dataclass(frozen=True)
class RawTable:
    """A table as read: distinct text names, and columns in any form of the source.

    Columns of a delimited text are words (`str`). `target` is the target that the source names, `repeated`
    are the names that several columns had; `remarks` are for the user, `doubts` are what only the user can
    decide. `line_of` gives the line of the text where a row ends; None beyond the first rows.
    """

    name: str
    source: str
    frame: pd.DataFrame
    target: str | None = None
    remarks: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()
    doubts: tuple[str, ...] = ()
    text: TextFormat | None = None
    line_of: Callable[[int], int | None] | None = None

    @property
    def targets(self) -> list[str]:
        """The target columns named by the source; OpenML may separate several by commas."""
        named = [self.target] if self.target in self.frame.columns else (self.target or "").split(",")
        return [name.strip() for name in named if name and name.strip() in self.frame.columns]


def read_table(
    source: str | Path | Any,
    limits: ReadingLimits = DEFAULT_LIMITS,
    options: ReadingOptions = DETECTED,
) -> RawTable:
    """Read a file (detected by content, not by name), an OpenML dataset, `sklearn:<name>`, or a data frame.

    An OpenML dataset is `openml:<id>`, or an already downloaded `PublishedDataset`. For data frames see
    `frame_of`; their index is ignored. `limits` apply to files, `options` to text files.

    A second column `x` becomes `x.1`, a nameless one `Unnamed: <position>`; invisible characters are removed
    from names. Raises `BadInput` unless it is a table of at least two columns and one row, `Failed` if OpenML
    can't be reached.
    """
    source = frame_of(source)
    if isinstance(source, pd.DataFrame):
        raw = RawTable("frame", "data frame", source.reset_index(drop=True))
    elif isinstance(source, PublishedDataset):
        raw = _read_published(source, limits)
    elif not isinstance(source, str | Path):
        kind = type(source).__name__
        raise UnreadableInput(
            f"can't read a dataset from {kind}; give a file's path, openml:<number> or a data frame"
        )
    elif isinstance(source, str) and source.startswith("openml:"):
        raw = _read_openml(source, limits)
    elif isinstance(source, str) and source.startswith("sklearn:"):
        raw = _read_built_in(source)
    elif isinstance(source, str) and re.match(r"[a-z][a-z0-9+]+://", source):
        raise UnreadableInput(f"{quoted(source)} is an address; download the file and give its path")
    else:
        raw = _read_file(Path(source), limits, options)
    rows, columns = raw.frame.shape
    if columns < 2:
        raise UnreadableInput("a dataset needs at least two columns, a feature and the target")
    if rows == 0:
        raise UnreadableInput("the table has columns but no rows")
    names = _texts(raw.frame.columns)
    repeated = frozenset(name for name, count in Counter(names).items() if count > 1)
    return replace(raw, frame=raw.frame.set_axis(column_names(raw.frame.columns), axis=1), repeated=repeated)


def frame_of(table: Any) -> Any:
    """Convert a table of any library to a pandas data frame; return other objects unchanged.

    Tables are recognized by Arrow's stream (polars, pyarrow, DuckDB) or `to_pandas`.
    """
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return _frame(pa.table(table))
        except pa.ArrowException:  # a single column
            return table
    return table.to_pandas() if hasattr(table, "to_pandas") else table


def column_names(names: Iterable[Hashable]) -> list[str]:
    """Names of columns as distinct texts; see `read_table`."""
    return list(_unique(_texts(names)))


def _read_file(path: Path, limits: ReadingLimits, options: ReadingOptions) -> RawTable:
    content = read_bytes(path, limits)
    name = _SUFFIXES.sub("", path.name) or path.name
    if content.startswith(PARQUET_MAGIC):
        return RawTable(name, str(path), _frame(read_parquet(content, limits)))
    if content.startswith(ARROW_MAGIC):
        return RawTable(name, str(path), _frame(read_arrow(content, limits)))
    if is_excel(content):
        content, remarks = excel_as_csv(content, limits)
        raw = _read_text(content, name, str(path), limits, DETECTED)
        return replace(raw, remarks=(*remarks, *raw.remarks), text=None)
    return _read_text(content, name, str(path), limits, options)


def _read_text(
    content: bytes, name: str, source: str, limits: ReadingLimits, options: ReadingOptions
) -> RawTable:
    text = decoded(content, limits, options.encoding)
    if is_arff(text.utf8):
        return RawTable(name, source, read_arff(text.utf8, limits).frame)
    table = read_delimited(text.utf8, limits, options)
    unsure = (text.remark,) if text.remark else ()
    return RawTable(
        name,
        source,
        table.frame,
        remarks=(*table.remarks, *(() if text.looks_wrong else unsure)),
        doubts=unsure if text.looks_wrong else (),
        text=TextFormat(table.layout, text.encoding, table.decimal, options.missing),
        line_of=table.line_of,
    )


def _frame(table: pa.Table) -> pd.DataFrame:
    try:
        # pandas' metadata about the types of its frame is not needed, and may be damaged.
        frame: pd.DataFrame = without_pandas_notes(table).to_pandas()
    except (pa.ArrowException, ValueError) as error:
        raise UnreadableInput(f"the Parquet file holds no table ({one_line(error)[:200]})") from error
    return frame


def _read_openml(source: str, limits: ReadingLimits) -> RawTable:
    number = source.removeprefix("openml:")
    if not re.fullmatch("[0-9]{1,18}", number):
        raise UnreadableInput(f"{quoted(source)}: expected openml:<dataset number>, such as openml:31")
    from ingest.openml.api.published import open_connection, published_dataset

    return _read_published(published_dataset(int(number), open_connection(), limits.download_bytes), limits)


def _read_published(dataset: PublishedDataset, limits: ReadingLimits) -> RawTable:
    """The table of an OpenML dataset, without the columns to ignore."""
    raw = _read_file(dataset.file, limits, DETECTED)
    ignored = _names(dataset.ignored)
    frame = raw.frame.drop(columns=[name for name in raw.frame.columns if name in ignored])
    source = f"openml:{dataset.number}"
    return replace(raw, name=dataset.name, source=source, frame=frame, target=dataset.target)


def _names(attributes: Sequence[str]) -> set[str]:
    """Names in OpenML's attributes, each of which may have several, separated by commas."""
    return {*attributes, *(name.strip() for several in attributes for name in several.split(","))}


def _read_built_in(source: str) -> RawTable:
    name = source.removeprefix("sklearn:")
    if name not in _BUILT_IN:
        raise UnknownName(f"scikit-learn has no dataset {quoted(name)}; it has {', '.join(_BUILT_IN)}")
    from sklearn import datasets

    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return RawTable(name, source, frame, target="target")


def _texts(names: Iterable[Hashable]) -> list[str]:
    return [
        ("" if name is None else visible(name)) or f"Unnamed: {position}"
        for position, name in enumerate(names)
    ]


def visible(name: Hashable) -> str:
    """A column's name as text, without zero-width characters and surrounding blanks."""
    text = str(name)
    if text.isascii():
        return text.strip()
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cf").strip()


def _unique(names: list[str]) -> Iterator[str]:
    """Make names unique: a second `x` becomes `x.1`, or the next unused number."""
    given = set(names)
    used: set[str] = set()
    for name in names:
        candidate, number = name, 0
        while candidate in used or (number > 0 and candidate in given):
            number += 1
            candidate = f"{name}.{number}"
        used.add(candidate)
        yield candidate
