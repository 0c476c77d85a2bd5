"""Scripts read files of every kind like Headstart, and hostile content stays text."""

import ast
import gzip
import subprocess
import sys
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.reading.datasets import Dataset, load_dataset
from recommend.code.reading import find_reading
from tests.recommend.code.scripts import (
    assert_same_predictions,
    code_of,
    our_predictions,
    run_scripts,
)
from tests.recommend.code.test_syntax import HOSTILE
from warehouse.support.errors import BadInput

ROWS = 60


def table() -> pd.DataFrame:
    random = np.random.default_rng(1)
    label = np.tile(["ja", "nein", "weiß nicht"], ROWS // 3)
    return pd.DataFrame(
        {
            "größe": (random.normal(size=ROWS) + (label == "ja")).round(3),
            "farbe": random.choice(["rot", "grün", "blau, hell"], ROWS),
            "preis": random.integers(1000, 9999, ROWS),
            "seit": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 500, ROWS), unit="D"),
            "class": label,
        }
    )


def comma_separated(path: Path) -> None:
    table().to_csv(path, index=False)


def semicolons_and_decimal_commas(path: Path) -> None:
    table().to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252", date_format="%d.%m.%Y")


def utf16_with_tabs(path: Path) -> None:
    table().to_csv(path, index=False, sep="\t", encoding="utf-16", na_rep="N/A")


def packed_under_another_name(path: Path) -> None:
    path.write_bytes(gzip.compress(table().to_csv(index=False).encode("utf-8-sig")))


def no_header(path: Path) -> None:
    table().to_csv(path, index=False, header=False)


def blanks_between(path: Path) -> None:
    table().drop(columns=["seit", "farbe"]).replace({"weiß nicht": "unklar"}).to_csv(
        path, index=False, sep=" "
    )


def money_and_missing(path: Path) -> None:
    frame = table().assign(preis=[f"$ {number:,}.50" for number in table()["preis"]])
    frame["größe"] = frame["größe"].astype(str)
    frame.loc[::7, ["preis", "größe"]] = "-"
    frame.loc[::11, "class"] = "?"
    frame.to_csv(path, index=False)


def spreadsheet_notations(path: Path) -> None:
    frame = table().assign(preis=[f"€{number / 1000}K" for number in table()["preis"]])
    frame["größe"] = [f"{abs(size)}-" if size < 0 else f"{size}*" for size in frame["größe"]]
    frame["rund"] = [f"{number % 50}.-" for number in table()["preis"]]
    minutes = table()["preis"] % 720
    frame["um"] = [f"{one // 60 + 1}:{one % 60:02} {'ap'[one % 2]}m" for one in minutes]
    frame["dauer"] = pd.to_timedelta(minutes - 300, unit="min")
    frame["flug"] = [f"{one % 9}h {one % 60}m" if one % 5 else f"{one % 9 + 1} h" for one in minutes]
    frame["hoch"] = [f"{one % 3 + 4}'{one % 12}\"" for one in minutes]
    frame["wert"] = [f"Fr. {one}'{one:03}.50" if one < 700 else f"Fr.-{one}" for one in minutes]
    frame["menge"] = [f"{one} g" if one == minutes[5] else f"{one / 100} kg" for one in minutes]
    hours = pd.Timestamp("2024-01-01") + pd.to_timedelta(minutes, unit="h")
    frame["post"] = hours.dt.strftime("%a, %d %b %Y %H:%M:%S +0200")
    frame["lang"] = [f"{one % 3}:{one % 60:02}:{one / 100:06.3f}" for one in minutes]
    frame.to_csv(path, index=False, date_format="%m/%d/%Y %I:%M %p")


def numbers_as_classes(path: Path) -> None:
    codes = {"ja": "1.0", "nein": "2.0", "weiß nicht": "3.0"}
    table().replace({"class": codes}).to_csv(path, index=False)


def a_row_too_long(path: Path) -> None:
    lines = table().drop(columns="farbe").to_csv(index=False).splitlines()
    path.write_text("\n".join([*lines[:9], f"{lines[9]},1,2", *lines[10:]]), encoding="utf-8")


def blanks_around_names(path: Path) -> None:
    table().rename(columns={"preis": " preis "}).to_csv(path, index=False)


def parquet(path: Path) -> None:
    table().assign(klein=table()["größe"] < 0, farbe=table()["farbe"].astype("category")).to_parquet(path)


def second_sheet_below_a_title(path: Path) -> None:
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        pd.DataFrame({"Report": ["by Bob"]}).to_excel(book, sheet_name="Cover", index=False)
        rows = table().assign(neu=[None, *[True, False] * (ROWS // 2 - 1), True])
        rows.to_excel(book, sheet_name="Data", index=False, startrow=2, startcol=1)


def arff(path: Path) -> None:
    rows = [f"{x},'{c}',{p},{k}" for x, c, p, k in table()[["größe", "farbe", "preis", "class"]].values]
    rows[3] = "?,?,?,ja"
    header = [
        "% a comment",
        "@relation 'some table'",
        "@attribute größe numeric",
        "@attribute farbe {rot,'grün','blau, hell'}",
        "@attribute preis integer",
        "@attribute class {ja,nein,'weiß nicht'}",
        "@DATA",
    ]
    text = "\n".join([*header, *rows]).replace(",weiß nicht", ",'weiß nicht'")
    path.write_text(text, encoding="utf-8")


FILES = (
    comma_separated,
    semicolons_and_decimal_commas,
    utf16_with_tabs,
    packed_under_another_name,
    no_header,
    blanks_between,
    money_and_missing,
    spreadsheet_notations,
    numbers_as_classes,
    a_row_too_long,
    blanks_around_names,
    parquet,
    second_sheet_below_a_title,
    arff,
)


@pytest.fixture(scope="module")
def read_by_scripts(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[Dataset, Path]], str]:
    """Kind of file -> the dataset as read here and the script's predictions; and all error output."""
    folder = tmp_path_factory.mktemp("files")
    found: dict[str, tuple[Dataset, Path]] = {}
    calls: list[tuple[Path | str, ...]] = []
    for write in FILES:
        source, code = folder / f"{write.__name__}.data", folder / f"{write.__name__}.py"
        write(source)
        dataset = load_dataset(source)
        code.write_text(code_of("decision_tree", {"max_depth": 4}, dataset), encoding="utf-8")
        found[write.__name__] = (dataset, folder / f"{write.__name__}.out")
        calls.append((code, source, "--predict", source, "--output", found[write.__name__][1]))
    return found, run_scripts(calls, folder)[1]


@pytest.mark.parametrize("kind", [write.__name__ for write in FILES])
def test_a_script_reads_its_file_like_headstart(
    kind: str, read_by_scripts: tuple[dict[str, tuple[Dataset, Path]], str]
) -> None:
    dataset, predicted = read_by_scripts[0][kind]
    assert predicted.is_file(), read_by_scripts[1]
    expected = our_predictions("decision_tree", {"max_depth": 4}, dataset)
    if kind == "money_and_missing":  # the script predicts rows without a class, too
        lines = predicted.read_text(encoding="utf-8").splitlines()
        kept = [line for row, line in enumerate(lines[1:]) if row % 11]
        predicted.write_text("\n".join([lines[0], *kept]), encoding="utf-8")
    assert_same_predictions(predicted, expected)


def test_no_script_is_written_for_a_file_that_has_changed(tmp_path: Path) -> None:
    comma_separated(tmp_path / "t.csv")
    dataset = load_dataset(tmp_path / "t.csv")
    table().assign(preis=1).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(BadInput, match="column 'preis' is read differently"):
        find_reading(dataset)


# ---- hostile names -------------------------------------------------------------------------------


def test_no_script_is_written_for_an_archive_that_pandas_does_not_open(tmp_path: Path) -> None:
    """Macs pack a second file beside the table, which Headstart ignores and pandas does not."""
    with ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", table().to_csv(index=False))
        archive.writestr("__MACOSX/._t.csv", b"")
    dataset = load_dataset(tmp_path / "t.zip")
    with pytest.raises(BadInput, match=r"no script can read .*: Multiple files found in ZIP file"):
        find_reading(dataset)


INJECTIONS = [
    '"""\nimport os\n"""',
    '"]\nimport os\nX = ["',
    "'); import os; ('",
    "\\",
    '\\"""',
    "{__import__('os')}",
    "%(prog)s %d",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
]
names = st.one_of(
    st.sampled_from(INJECTIONS),
    st.lists(st.one_of(st.text(max_size=4), st.sampled_from(HOSTILE)), min_size=1, max_size=4).map("".join),
)


def structure(code: str) -> str:
    """The code without the texts in it."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def named(number: str, word: str, target: str, label: str) -> str:
    """Code for a frame with these names of columns and of a class."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            number: random.normal(size=30).round(2),
            word: np.tile(["p", "q", label], 10),
            target: np.tile(["no", "yes", label], 10),
        }
    )
    dataset = load_dataset(frame, target=target, roles={word: "categorical"}, name=number)
    return code_of("naive_bayes", {}, dataset)


@cache
def structure_of_plain_names() -> str:
    return structure(named("a", "b", "c", "d"))


@given(st.tuples(names, names, names, names))
@settings(max_examples=30, deadline=None)
def test_names_and_labels_stay_text_in_the_code(four: tuple[str, str, str, str]) -> None:
    number, word, target, _ = four
    assume(len({number.strip(), word.strip(), target.strip()}) == 3)
    assume(all(name == name.strip() and name for name in four))
    try:
        code = named(*four)
    except BadInput:
        assume(False)
    assert structure(code) == structure_of_plain_names()


# ---- other files -------------------------------------------------

NEW = {
    "odd cells": "größe,farbe,preis,seit,ok\nn/k,rot,1e400,2024-05-01,1\n1.5,blau,5,30.2.2024,FALSE\n",
    "the form of the first file": "größe,farbe,preis,seit,ok\n,rot,,2024-05-01,yes\n1.5,blau,5,,no\n",
    "no file": None,
    "an empty file": "",
    "no such columns": "größe,farbe\n1,rot\n",
    "no text": b"\x89PNG\r\n\x1a\n\xff\xfe\x00",
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of new files, a script and its original file."""
    folder = tmp_path_factory.mktemp("new")
    frame = table().assign(ok=np.tile(["yes", "no"], ROWS // 2))
    frame.to_csv(folder / "t.csv", index=False)
    code = code_of("logistic_regression", {}, load_dataset(folder / "t.csv", target="class"))
    (folder / "code.py").write_text(code, encoding="utf-8")
    for name, content in NEW.items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def call_with(name: str) -> tuple[str, ...]:
    return ("code.py", "t.csv", "--predict", name, "--output", f"{name}.csv")


def test_a_script_takes_odd_cells_as_missing_and_truth_values_in_any_spelling(fitted: Path) -> None:
    """There is no warning."""
    call = [sys.executable, "-I", *call_with("odd cells")]
    done = subprocess.run(call, cwd=fitted, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    run_scripts([call_with("the form of the first file")], fitted)
    odd, plain = (fitted / f"{name}.csv" for name in ("odd cells", "the form of the first file"))
    assert odd.read_text(encoding="utf-8") == plain.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("no file", "no file: No such file or directory"),
        ("an empty file", "an empty file: No columns to parse from file"),
        ("no such columns", "no such columns: no column 'preis', 'ok', 'seit'"),
        ("no text", "no text: 'utf-8' codec can't decode byte"),
    ],
)
def test_a_wrong_file_is_one_line_of_a_script(name: str, complaint: str, fitted: Path) -> None:
    line, end = run_scripts([call_with(name)], fitted)[1].splitlines()
    assert line.startswith(complaint)
    assert end == "exit code 2"
