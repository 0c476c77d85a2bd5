"""Readers of external data, as functions of bytes that only raise Headstart's errors, with first inputs."""

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ingest.openml.api.documents import (
    UnreadableError,
    read_error,
    read_evaluations,
    read_qualities,
    read_setups,
    read_tasks,
    texts_in,
)
from ingest.openml.flows import read_flow
from ingest.openml.tables import evaluation_tables, flow_tables
from ingest.reading.datasets import load_dataset
from ingest.reading.options import ReadingOptions
from ingest.run_files import read_run_file
from ingest.spaces import read_space
from metalearners.model_files import _content_sum
from metalearners.stored_model import load_model
from recommend.export import configurations_of
from recommend.seeds import SCHEMA, read_seeds
from warehouse.store import STARTER
from warehouse.support.errors import HeadstartError

ALLOWED = (HeadstartError, UnreadableError)
"""The allowed errors; the second becomes the first if an answer stays unreadable."""


@dataclass(frozen=True)
class Target:
    """A reader, and inputs that it accepts."""

    read: Callable[[bytes], object]
    inputs: Callable[[], Sequence[bytes]]
    words: tuple[bytes, ...] = ()
    """Pieces of the format, for mutations."""


def _in_file(read: Callable[[Path], object], suffix: str = "") -> Callable[[bytes], object]:
    """Turn a reader of files into one of bytes."""

    def of_bytes(content: bytes) -> object:
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            Path(file.name).write_bytes(content)
            return read(Path(file.name))

    return of_bytes


# ---- datasets ------------------------------------------------------------------------------------

_FRAME = pd.DataFrame({
    "id": range(1, 9),
    "size": [1.5, 2.25, None, 4.0, 5e3, -6.0, 7.0, 8.0],
    "word": ["a", "b c", "a", None, "ü", "a", "b", "b"],
    "day": pd.date_range("2024-01-30", periods=8),
    "flag": [True, False, True, None, True, False, False, True],
    "class": pd.Categorical(["x", "y"] * 4),
})  # fmt: skip

_DENSE = rb"""% a comment
@relation 'a name'
@attribute size numeric
@attribute 'a word' {a, 'b c', "d\'e"}
@attribute note string
@attribute day date "yyyy-MM-dd HH:mm"
@attribute class {x,y}
@data
1.5, a, 'it\'s', "2024-01-02 10:30", x
?, 'b c', ?, "2024-02-03 11:45", y
-2e3,"d'e",text,"2024-03-04 12:00",x,{2}
"""
_SPARSE = b"""@RELATION r
@ATTRIBUTE a NUMERIC
@ATTRIBUTE b {x, y}
@ATTRIBUTE c {0,
 1}
@DATA
{0 1.5, 1 y}
{}
{2 1}, {3}
{1 ?, 2 1}
"""


def _arff() -> list[bytes]:
    return [_DENSE, _SPARSE]


def _csv() -> list[bytes]:
    text = _FRAME.to_csv(index=False)
    quoted = '"a","b","class"\n"1,5","x ""y""","u"\n"2,5","line\nbreak","v"\n'
    return [
        text.encode(), text.encode("utf-16"), _FRAME.to_csv(sep=";", decimal=",").encode(), quoted.encode(),
        _FRAME.astype(str).to_string(index=False).encode(), text.replace("\n", "\r\n").encode(),
    ]  # fmt: skip


_ENCODINGS = (
    None, "utf-8", "utf-16", "utf-7", "cp037", "idna", "punycode", "unicode_escape", "undefined", "rot13",
    "a\0",
)  # fmt: skip


def _csv_with_options() -> list[bytes]:
    """Texts after six bytes that encode the options."""
    return [bytes([1, ord(","), 0, 0, 0, 0]) + text for text in _csv()]


def _read_with_options(content: bytes) -> None:
    encoding, delimiter, decimal, missing, skipped, header = content[:6].ljust(6, b"\0")
    options = ReadingOptions(
        encoding=_ENCODINGS[encoding % len(_ENCODINGS)],
        delimiter=chr(delimiter) if delimiter else None,
        decimal=(None, ".", ",", ";")[decimal % 4],
        missing=((), ("a",), ("", " ", "1"))[missing % 3],
        skip_lines=skipped - 1 if skipped else 0,
        header=(None, True, False)[header % 3],
    )
    _in_file(lambda path: load_dataset(path, options=options))(content[6:])


def _arrow() -> list[bytes]:
    categories = pa.table({"a": pa.array(["x", "y"] * 4).dictionary_encode(), "b": range(8)})
    contents = []
    for table in (pa.Table.from_pandas(_FRAME), categories):
        for compression in (None, "zstd"):
            sink = pa.BufferOutputStream()
            options = pa.ipc.IpcWriteOptions(compression=compression)
            with pa.ipc.new_file(sink, table.schema, options=options) as file:
                file.write_table(table)
            contents.append(sink.getvalue().to_pybytes())
    return contents


def _parquet() -> list[bytes]:
    frames = (
        _FRAME,
        _FRAME.set_index("id"),
        _FRAME.convert_dtypes(),
        pd.DataFrame({"a": [1, 2], "b": [[1], []]}),
    )
    return [frame.to_parquet() for frame in frames]


# ---- runs, spaces, seeds, models ---------------------------------------------------------------

_RUNS = pd.DataFrame({
    "task_id": [3, 3, 31, 31], "criterion": ["gini", "entropy", None, "gini"], "depth": [1, 2.5, None, 4],
    "bootstrap": [True, False, True, True], "predictive_accuracy": [0.5, 0.75, None, 1.0],
})  # fmt: skip


def _runs() -> list[bytes]:
    comment = json.dumps({"flow_id": 7, "col_measures": ["predictive_accuracy"], "col_parameters": ["depth"]})
    text = _RUNS.to_csv(index=False)
    arff = f"% {comment}\n@relation runs\n@attribute task_id integer\n@attribute depth numeric\n"
    arff += "@attribute predictive_accuracy real\n@data\n3,1,0.5\n31,?,0.75\n"
    return [text.encode(), f"# {comment}\n{text}".encode(), arff.encode(), _RUNS.to_parquet()]


def _spaces() -> list[bytes]:
    from ConfigSpace import ConfigurationSpace

    declared = {
        "hyperparameters": {
            "kernel": {"choices": ["rbf", "linear", None, 1], "default": "rbf"},
            "gamma": {"low": 1e-3, "high": 8.0, "log": True, "when": {"kernel": ["rbf"]}},
            "degree": {"low": 2, "high": 5, "default": 3},
        },
        "forbidden": [{"kernel": "linear", "degree": 5}],
    }
    text = io.StringIO()
    ConfigurationSpace({"a": (0.1, 1.0), "b": ["x", "y"], "c": (1, 5)}).to_json(text)
    toml = b'[hyperparameters.c]\nlow = 0.1\nhigh = 10\nlog = true\n[hyperparameters.k]\nchoices = ["a", 1]\n'
    return [json.dumps(declared).encode(), text.getvalue().encode(), toml]


def _read_space(content: bytes) -> None:
    suffix = ".toml" if content.lstrip()[:1] not in (b"{", b"") else ".json"
    _in_file(lambda path: read_space(path, "other:flow"), suffix)(content)


def _seeds() -> list[bytes]:
    forest = {"flow": "random_forest", "hyperparameters": {"criterion": "gini", "min_samples_leaf": 3}}
    document = {"schema": SCHEMA, "configurations": [forest, {**forest, "preprocessing": {}}]}
    return [json.dumps(document).encode()]


_MODEL = next(STARTER.glob("models/functional-pca-*"))


def _models() -> list[bytes]:
    return [(_MODEL / "model.json").read_bytes()]


def _read_model(content: bytes) -> None:
    """Read a model with this JSON and a repaired checksum: otherwise only the checksum would be tested."""
    try:
        facts: Any = json.loads(content)
        facts["checksum"]["model.json"] = _content_sum(facts)
        content = json.dumps(facts).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # then it is read unchanged
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.json").write_bytes(content)
        shutil.copy(_MODEL / "arrays.npz", folder)
        load_model(folder)


# ---- answers of OpenML ---------------------------------------------------------------------------

_XMLNS = b'xmlns:oml="http://openml.org/openml"'
_PARAMETER = b"""<oml:parameter><oml:id>5</oml:id><oml:flow_id>7</oml:flow_id>
<oml:full_name>f(1)_C</oml:full_name>
<oml:parameter_name>C</oml:parameter_name><oml:data_type>float</oml:data_type>
<oml:default_value>1.0</oml:default_value><oml:value>%s</oml:value></oml:parameter>"""
_EVALUATION = b"""<oml:evaluation><oml:run_id>%d</oml:run_id><oml:task_id>3</oml:task_id>
<oml:setup_id>%d</oml:setup_id><oml:flow_id>7</oml:flow_id><oml:flow_name>f(1)</oml:flow_name><oml:function>predictive_accuracy</oml:function>
<oml:upload_time>2020-01-02 03:04:05</oml:upload_time><oml:value>0.9</oml:value>
<oml:parameters>%s</oml:parameters></oml:evaluation>"""


def _answers() -> list[bytes]:
    rows = (b"0.5", b"&quot;auto&quot; &eacute;", b"[1, &#65;]", b"")
    evaluations = b"".join(
        _EVALUATION % (run, run, _PARAMETER % value) for run, value in enumerate(rows, start=1)
    )
    setups = b"".join(
        b"<oml:setup><oml:setup_id>%d</oml:setup_id><oml:flow_id>7</oml:flow_id>%s</oml:setup>"
        % (setup, _PARAMETER % value)
        for setup, value in enumerate(rows, start=1)
    )
    tasks = b"""<oml:task><oml:task_id>3</oml:task_id><oml:did>61</oml:did><oml:status>active</oml:status>
<oml:input name="estimation_procedure">1</oml:input></oml:task>"""
    flow = b"""<oml:id>7</oml:id><oml:name>a.B(c=d.E)</oml:name><oml:version>1</oml:version>
<oml:parameter><oml:name>C</oml:name><oml:data_type>float</oml:data_type><oml:default_value>1</oml:default_value>
</oml:parameter><oml:component><oml:identifier>c</oml:identifier><oml:flow><oml:id>8</oml:id><oml:name>d.E</oml:name>
</oml:flow></oml:component>"""
    quality = b"<oml:quality><oml:name>NumberOfClasses</oml:name><oml:value>2</oml:value></oml:quality>"
    error = b"<oml:code>372</oml:code><oml:message>No results</oml:message>"
    documents = {
        b"evaluations": evaluations,
        b"setups": setups,
        b"tasks": tasks,
        b"flow": flow,
        b"data_qualities": quality,
        b"error": error,
        b"study": b"<oml:tasks><oml:task_id>3</oml:task_id></oml:tasks>",
    }
    return [b"<oml:%s %s>%s</oml:%s>" % (root, _XMLNS, content, root) for root, content in documents.items()]


def _read_answer(content: bytes) -> None:
    """All readers of documents; usually only one accepts the answer."""
    read_error(content)
    read_suite = texts_in("study", "task_id")
    for read in (_read_evaluations, _read_setups, read_tasks, read_qualities, read_suite, _read_flow):
        try:
            read(content)
        except ALLOWED:
            continue


def _read_evaluations(content: bytes) -> None:
    listing = read_evaluations(content)
    evaluation_tables(listing.rows)
    for setup in listing.setups:
        _ = setup.values


def _read_setups(content: bytes) -> None:
    for setup in read_setups(content).setups:
        _ = setup.values


def _read_flow(content: bytes) -> None:
    flow_tables([read_flow(content)])


def _words(*pieces: str) -> tuple[bytes, ...]:
    return tuple(piece.encode("latin-1") for piece in pieces)


_JSON = ("null", "[]", "{}", "-1", "1e999", "NaN", '""', "true")
TARGETS = {
    "arff": Target(
        _in_file(load_dataset),
        _arff,
        _words("@attribute ", "@data\n", "{", "}", "'", '"', "\\", "%", "?", "date "),
    ),
    "csv": Target(
        _in_file(load_dataset), _csv, _words(",", ";", "\t", '"', "'", "\r\n", "\xff\xfe", "1e999", "\0")
    ),
    "options": Target(
        _read_with_options, _csv_with_options, _words(*map(chr, range(12)), ",", ";", '"', "\\", "\r\n")
    ),
    "arrow": Target(_in_file(load_dataset), _arrow, _words("ARROW1", "\xff\xff\xff\xff", "\0\0\0\0")),
    "parquet": Target(
        _in_file(load_dataset), _parquet, _words("PAR1", "index_columns", "null", "{", "[", "\xff\xff")
    ),
    "runs": Target(
        _in_file(lambda path: read_run_file(path, "other:flow")),
        _runs,
        _words("task_id", ",", "nan", "-1", '"', "#"),
    ),
    "space": Target(_read_space, _spaces, _words("low", "high", *_JSON)),
    "seeds": Target(_in_file(lambda path: configurations_of(read_seeds(path))), _seeds, _words(*_JSON)),
    "model": Target(_read_model, _models, _words(*_JSON)),
    "openml": Target(
        _read_answer,
        _answers,
        _words("<oml:parameters>", 'block="9"', "&#", "&eacute;", "<!DOCTYPE", "</", "/>", "\0"),
    ),
}
