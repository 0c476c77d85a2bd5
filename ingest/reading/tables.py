"""Raw tables from wherever they are kept: a file of any kind we know, OpenML, scikit-learn, a data frame."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ingest.reading.arff import is_arff, read_arff
from ingest.reading.delimited import read_delimited
from ingest.reading.encoding import quoted, read_bytes, to_utf8
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.parquet import PARQUET_MAGIC, read_parquet, without_pandas_notes
from warehouse.support.errors import Failed, UnknownName, UnreadableInput, one_line

_BUILT_IN = ("breast_cancer", "digits", "iris", "wine")
_SUFFIXES = re.compile(r"(?:\.(?:csv|tsv|txt|tab|dat|data|arff|parquet|pq))?(?:\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class RawTable:
    """A table as it was read: text names that occur once, columns in whatever form the source has.

    `target` is the target that the source itself names, `repeated` the names that several columns had;
    `remarks` are for the user.
    """

    name: str
    source: str
    frame: pd.DataFrame
    target: str | None = None
    remarks: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()


def read_table(source: str | Path | pd.DataFrame, limits: ReadingLimits = DEFAULT_LIMITS) -> RawTable:
    """Read a file (told by content, not by name), `openml:<id>`, `sklearn:<name>`, or a data frame.

    The index of a data frame is ignored, and `limits` are of files alone.

    A second column `x` becomes `x.1`, a nameless one `Unnamed: <position>`. Raises `BadInput` for what is
    no table of at least two columns and one row, `Failed` when OpenML cannot be reached.
    """
    if isinstance(source, pd.DataFrame):
        raw = RawTable("frame", "data frame", source.reset_index(drop=True))
    elif isinstance(source, str) and source.startswith("openml:"):
        raw = _read_openml(source)
    elif isinstance(source, str) and source.startswith("sklearn:"):
        raw = _read_built_in(source)
    elif isinstance(source, str) and re.match(r"[a-z][a-z0-9+]+://", source):
        raise UnreadableInput(f"{quoted(source)} is an address; download the file and give its path")
    else:
        raw = _read_file(Path(source), limits)
    rows, columns = raw.frame.shape
    if columns < 2:
        raise UnreadableInput("a dataset needs at least two columns, a feature and the target")
    if rows == 0:
        raise UnreadableInput("the table has columns but no rows")
    names = _texts(raw.frame.columns)
    repeated = frozenset(name for name, count in Counter(names).items() if count > 1)
    return replace(raw, frame=raw.frame.set_axis(column_names(raw.frame.columns), axis=1), repeated=repeated)


def column_names(names: Iterable[Hashable]) -> list[str]:
    """Names of columns as text that occurs once; see `read_table`."""
    return list(_unique(_texts(names)))


def _read_file(path: Path, limits: ReadingLimits) -> RawTable:
    content = read_bytes(path, limits)
    name = _SUFFIXES.sub("", path.name) or path.name
    if content.startswith(PARQUET_MAGIC):
        return RawTable(name, str(path), _frame(read_parquet(content, limits)))
    text = to_utf8(content, limits)
    if is_arff(text):
        return RawTable(name, str(path), read_arff(text, limits).frame)
    frame, remarks = read_delimited(text, limits)
    return RawTable(name, str(path), frame, remarks=tuple(remarks))


def _frame(table: pa.Table) -> pd.DataFrame:
    try:
        # What pandas says in the file about the types of its frame is not needed, and may be damaged.
        frame: pd.DataFrame = without_pandas_notes(table).to_pandas()
    except (pa.ArrowException, ValueError) as error:
        raise UnreadableInput(f"the Parquet file holds no table ({one_line(error)[:200]})") from error
    return frame


def _read_openml(source: str) -> RawTable:
    identifier = source.removeprefix("openml:")
    if not identifier.isdecimal():
        raise UnreadableInput(f"{quoted(source)}: expected openml:<dataset number>, such as openml:31")
    import openml

    try:
        dataset = openml.datasets.get_dataset(int(identifier))
        frame = pd.DataFrame(dataset.get_data()[0])
    except Exception as error:  # the client lets every kind of network and parser error through
        raise Failed(f"cannot get {source} from OpenML ({one_line(error)[:200]})") from error
    return RawTable(
        dataset.name, source, frame.reset_index(drop=True), target=dataset.default_target_attribute
    )


def _read_built_in(source: str) -> RawTable:
    name = source.removeprefix("sklearn:")
    if name not in _BUILT_IN:
        raise UnknownName(
            f"scikit-learn comes with no {quoted(name)}; the datasets are {', '.join(_BUILT_IN)}"
        )
    from sklearn import datasets

    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return RawTable(name, source, frame, target="target")


def _texts(names: Iterable[Hashable]) -> list[str]:
    return [
        (str(name).strip() if name is not None else "") or f"Unnamed: {position}"
        for position, name in enumerate(names)
    ]


def _unique(names: list[str]) -> Iterator[str]:
    """Each name once: a second `x` becomes `x.1`, or the next number that no column has."""
    given = set(names)
    used: set[str] = set()
    for name in names:
        candidate, number = name, 0
        while candidate in used or (number > 0 and candidate in given):
            number += 1
            candidate = f"{name}.{number}"
        used.add(candidate)
        yield candidate
