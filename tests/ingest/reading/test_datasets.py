"""`load_dataset` gives the same dataset for every format, or one line that says what is wrong."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import load_dataset
from tests.cases import each
from tests.ingest.reading.checks import assert_sound, refusal
from warehouse.support.errors import BadInput

N = 60
RNG = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N).round(3),
        "count": RNG.integers(0, 5, N),
        "gaps": np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(size=N).round(2)),
        "colour": RNG.choice(["red", "green", "blue"], N),
        "flag": RNG.choice([True, False], N),
        "when": pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(N) % 11, unit="D"),
        "remark": [f"the customer called {i} times about the bill" for i in range(N)],
        "always": "same",
        "customer": [f"C{i:04d}" for i in range(N)],
        "class": np.where(np.arange(N) % 3 == 0, "yes", "no"),
    }
)
ROLES = {
    "size": "numeric",
    "count": "numeric",
    "gaps": "numeric",
    "colour": "categorical",
    "flag": "boolean",
    "when": "date",
    "remark": "text",
    "always": "constant",
    "customer": "identifier",
}


def _arff(frame: pd.DataFrame) -> str:
    kinds = {
        "size": "numeric",
        "count": "INTEGER",
        "gaps": "real",
        "when": "date 'yyyy-MM-dd'",
        "remark": "string",
    }
    declared = [
        f"@attribute {name} {kinds.get(str(name)) or '{' + ','.join(map(str, frame[name].unique())) + '}'}"
        for name in frame
    ]
    text = frame.assign(remark="'" + frame["remark"] + "'").to_csv(index=False, header=False, na_rep="?")
    return "\n".join(["@relation r", *declared, "@data", text.replace('"', "")])


WRITERS: dict[str, Callable[[Path], object]] = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "decimal_commas_in_quotes.csv": lambda path: FRAME.to_csv(
        path, index=False, sep=";", decimal=",", quoting=1
    ),
    "semicolons.csv": lambda path: FRAME.to_csv(path, index=False, sep=";", decimal=","),
    "pipes.txt": lambda path: FRAME.to_csv(path, index=False, sep="|", na_rep="NULL"),
    "quoted.csv": lambda path: FRAME.to_csv(path, index=False, quoting=1),
    "blanks.data": lambda path: path.write_text(FRAME.to_csv(index=False, sep=" ", na_rep="?")),
    "utf16.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-16"),
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.parquet": lambda path: FRAME.to_parquet(path),
    "t.arff": lambda path: path.write_text(_arff(FRAME)),
    "t.arff.gz": lambda path: path.write_bytes(gzip.compress(_arff(FRAME).encode())),
    "parquet_called.csv": lambda path: FRAME.to_parquet(path),
    "csv_called.parquet": lambda path: FRAME.to_csv(path, index=False),
}


@each("file_name", WRITERS)
def test_every_format_gives_the_same_dataset(tmp_path: Path, file_name: str) -> None:
    WRITERS[file_name](tmp_path / file_name)
    dataset = load_dataset(tmp_path / file_name)
    expected = load_dataset(FRAME)
    pd.testing.assert_frame_equal(dataset.features, expected.features, check_dtype=False)
    pd.testing.assert_series_equal(dataset.target, expected.target)
    assert dataset.roles == expected.roles == ROLES
    assert dataset.content_hash == expected.content_hash
    assert dataset.note is None


def test_features_have_the_types_of_their_roles() -> None:
    features = load_dataset(FRAME).features
    numeric = features[["size", "count", "gaps"]].to_numpy(dtype=float)
    assert numeric.shape == (N, 3)
    assert set(features["flag"]) == {"True", "False"}
    assert features["when"].dtype.kind == "M"
    assert isinstance(features["remark"].dtype, pd.StringDtype)
    for name in ("colour", "flag", "always", "customer"):
        assert isinstance(features[name].dtype, pd.CategoricalDtype)


def test_the_source_frame_is_not_changed() -> None:
    before = FRAME.copy(deep=True)
    load_dataset(FRAME, roles={"count": "categorical"})
    pd.testing.assert_frame_equal(FRAME, before)


def test_names_come_from_the_file_without_its_suffixes(tmp_path: Path) -> None:
    for file_name, expected in [("a.b.csv.gz", "a.b"), ("credit.a.arff", "credit.a"), ("noext", "noext")]:
        FRAME.to_csv(tmp_path / file_name, index=False)
        assert load_dataset(tmp_path / file_name).name == expected
    assert load_dataset(FRAME, name="mine").key == f"local:mine-{load_dataset(FRAME).content_hash}"


# ---- roles ---------------------------------------------------------------------------------------


def test_given_roles_overrule_the_detected_ones() -> None:
    roles = {"count": "categorical", "flag": Role.categorical, "customer": "text", "when": "categorical"}
    dataset = load_dataset(FRAME, roles=roles)
    assert {name: dataset.roles[name] for name in roles} == roles
    assert set(dataset.features["count"].cat.categories) <= set("01234")
    assert dataset.content_hash == load_dataset(FRAME).content_hash


# ---- target --------------------------------------------------------------------------------------


def test_the_target_is_not_a_feature_and_its_choice_is_explained() -> None:
    frame = pd.DataFrame([["p", "q", "r"], ["s", "t", "u"]] * 3, columns=["a", "class", "b"])
    dataset = load_dataset(frame)
    assert dataset.target.name == "class"
    assert dataset.target_choice == "'class' is the target because of its name"
    assert list(dataset.features) == ["a", "b"]


def test_the_largest_class_has_a_name_and_a_share() -> None:
    dataset = load_dataset(pd.DataFrame({"a": range(8), "class": ["no"] * 6 + ["yes", "perhaps"]}))
    assert dataset.majority == ("no", 0.75)
    with pytest.raises(ValueError, match="no classes"):
        _ = load_dataset(_measured()).majority


def test_labels_of_a_frame_may_be_numbers() -> None:
    frame = pd.DataFrame(RNG.normal(size=(30, 3)))
    dataset = load_dataset(frame, target=2, roles={0: "categorical"})
    assert dataset.target.name == "2"
    assert dataset.roles == {"0": Role.categorical, "1": Role.numeric}


@each(
    ("values", "reason"),
    [
        (pd.date_range("2026-01-01", periods=30), "holds dates"),
        ("same", "has one value only ('same')"),
        (2.5, "has one value only ('2.5')"),
        ([f"row {number}" for number in range(30)], "it names rows, not classes"),
        (None, "has no values"),
        ([np.inf, -np.inf, np.nan] * 10, "has no values"),
        ([*range(29), 1e200], "has numbers too large or too small to square"),
        (np.arange(30) * 1e-200, "has numbers too large or too small to square"),
    ],
)
def test_an_unusable_target_is_refused(values: object, reason: str) -> None:
    line = refusal(pd.DataFrame({"a": range(30), "y": values}), target="y")
    assert line.startswith("the target 'y'")
    assert reason in line
    assert line.endswith("choose another --target")


@each(
    ("values", "labels"),
    [
        ([0, 1], ["0", "1"]),
        ([1.0, 2.0], ["1", "2"]),
        ([0.5, 1.5], ["0.5", "1.5"]),
        ([True, False], ["False", "True"]),
        (["b ", "a"], ["a", "b"]),
        ([10, 9], ["10", "9"]),
    ],
)
def test_labels_are_text_in_alphabetical_order(values: list[Any], labels: list[str]) -> None:
    target = load_dataset(pd.DataFrame({"a": [1.5, 2, 3, 4], "class": values * 2})).target
    assert list(target.cat.categories) == labels


def _measured(rows: int = 40) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(rows) % 7, "class": np.arange(rows) ** 2 / 3})


def test_a_measured_target_is_binarized_at_its_mean_on_request() -> None:
    frame = _measured()
    dataset = load_dataset(frame, numeric_target="binarize")
    below = frame["class"] < frame["class"].mean()
    assert dataset.target.tolist() == np.where(below, "P", "N").tolist()
    assert dataset.note == "target binarized at its mean"


def test_two_numbers_are_classes_and_are_not_binarized() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "class": [0, 1, 0, 1]})
    assert load_dataset(frame, numeric_target="binarize").note is None


def test_a_class_with_one_row_is_kept() -> None:
    labels = FRAME["class"].mask(np.arange(N) == 3, "rare")
    dataset = load_dataset(FRAME.assign(**{"class": labels}))
    assert list(dataset.target.cat.categories) == ["no", "rare", "yes"]
    assert len(dataset.features) == N


def test_rows_without_a_target_are_dropped_and_noted() -> None:
    dataset = load_dataset(FRAME.assign(**{"class": FRAME["class"].where(np.arange(N) > 4)}))
    assert len(dataset.features) == len(dataset.target) == N - 5
    assert dataset.features.index.equals(dataset.target.index)
    assert dataset.note == "5 rows without a target value dropped"


@each(
    ("numbers", "cells"),
    [
        (["-999", "3", "-999", "0"] * 5, "10 cells of 'x' are -999"),
        (["34", "51", "999.0", "28"] * 5, "5 cells of 'x' are 999.0"),
        (["-999", "3", "-2", "0"] * 5, None),
        (["999", "951", "3", "28"] * 5, None),
        (["-999", *map(str, range(20))], None),
        (["-5", "3", "-5", "0"] * 5, None),
        (["-999"] * 20, None),
    ],
)
def test_a_repeated_number_of_nines_far_from_all_others_may_mean_missing(
    numbers: list[str], cells: str | None, tmp_path: Path
) -> None:
    rows = [f"{number},{place % 3},{'yn'[place % 2]}" for place, number in enumerate(numbers)]
    (tmp_path / "a.csv").write_text("\n".join(["x,z,class", *rows]))
    expected = f"{cells}: if this means missing, give --missing={cells.split()[-1]}" if cells else None
    assert next(iter(load_dataset(tmp_path / "a.csv").doubts), None) == expected


@each(
    ("words", "kind"),
    [
        ([f"{n} {'MB' if n % 3 else 'GB'}" for n in range(40)], "amounts, such as '0 GB' and '9 GB'"),
        ([f"{n} x {n + 1} cm" for n in range(40)], "amounts"),
        ([f"{n - 20}.5D+0{n % 3}" for n in range(40)], "amounts"),
        ([f"{n % 28 + 1} août 20{n % 9 + 10}" for n in range(40)], "dates"),
        ([f"2021-{n % 12 + 1:02}-{n % 28 + 1:02} 08:00:00 CE{'S' * (n % 2)}T" for n in range(40)], "dates"),
        ([f"2021-W{n + 10}" for n in range(40)], "dates"),
        ([f"{n} {name} St" for n, name in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMN")], None),
        ([f"http://example.org/2021/12/{n % 28 + 1}" for n in range(40)], None),
        ([f"{n:03}.{n + 100}.456-20" for n in range(40)], None),
        ([f"2021-{n:05}" for n in range(40)], None),
        ([f"item {n}" for n in range(40)], None),
        ([f"{n % 6 + 1}st" for n in range(40)], None),
    ],
)
def test_words_like_amounts_or_dates_in_an_unknown_notation_are_doubts(
    words: list[str], kind: str | None
) -> None:
    """A few categories, addresses with varying words, and identifiers of digits are not."""
    doubts = load_dataset(pd.DataFrame({"a": words, "class": ["x", "y"] * 20})).doubts
    assert len(doubts) == (kind is not None)
    assert all(f"'a' is read as words, though nearly all look like {kind}" in doubt for doubt in doubts)


def test_classes_with_one_row_are_dropped_on_request() -> None:
    labels = FRAME["class"].mask(np.arange(N) == 3, "rare").mask(np.arange(N) == 9, "rarer")
    dataset = load_dataset(FRAME.assign(**{"class": labels}), rare_classes="drop")
    assert list(dataset.target.cat.categories) == ["no", "yes"]
    assert dataset.note == "2 rows dropped, each the only one of its class"
    pd.testing.assert_series_equal(
        dataset.features["size"], FRAME["size"].drop([3, 9]).reset_index(drop=True), check_names=False
    )


# ---- bad input -----------------------------------------------------------------------------------


SMALL = pd.DataFrame({"size": [1, 2, 3, 4], "Colour": list("rgrg"), "class": list("xyxy")})

REFUSED_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "absent target, close to one": ({"target": "colour"}, "did you mean 'Colour'?"),
    "absent target": ({"target": "xyz"}, "the columns are 'size', 'Colour', 'class'"),
    "empty target": ({"target": ""}, "there is no column ''"),
    "role of an absent column": ({"roles": {"sise": "numeric"}}, "did you mean 'size'?"),
    "unknown role": ({"roles": {"size": "big"}}, "the roles are numeric, categorical"),
    "role that values do not fit": (
        {"roles": {"Colour": "numeric"}},
        "'Colour' cannot have the role numeric",
    ),
    "date that is none": ({"roles": {"Colour": "date"}}, "'Colour' cannot have the role date"),
    "role that a target cannot have": ({"roles": {"class": "text"}}, "give --task regression"),
}


@each("trouble", REFUSED_OPTIONS)
def test_options_that_do_not_fit_are_refused_in_one_line(trouble: str) -> None:
    options, part = REFUSED_OPTIONS[trouble]
    assert part in refusal(SMALL, **options)


def _loaded_or_refused(path: Path) -> None:
    try:
        load_dataset(path)
        # As in experiments: classes of two rows or more, whatever the target.
        dataset = load_dataset(path, numeric_target="binarize", rare_classes="drop")
    except BadInput as error:
        assert str(error).isprintable()
    else:
        assert_sound(dataset)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("a1,;\t|\n\r \"'?-.@%{}\x0b\\é"), max_size=80))
def test_any_text_is_loaded_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    _loaded_or_refused(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80))
def test_any_bytes_are_loaded_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.arff"
    path.write_bytes(content)
    _loaded_or_refused(path)


# ---- real files ----------------------------------------------------------------------------------


def test_every_published_dataset_makes_an_experiment(shared_data: Path) -> None:
    """With the classes of the index, which also counts declared but unused ones."""
    index = pd.read_csv(shared_data / "datasets" / "index.csv").set_index("name")
    paths = sorted((shared_data / "datasets").rglob("*.arff"))
    assert len(paths) == 100
    for path in paths:
        dataset = load_dataset(path, numeric_target="binarize", rare_classes="drop")
        assert dataset.n_classes >= 2
        assert dataset.target.value_counts().min() >= 2
        assert len(dataset.features) == len(dataset.target)
        if path.stem in index.index and index.loc[path.stem, "target"] == dataset.target.name:
            assert dataset.n_classes <= max(index.loc[path.stem, "classes"], 2)


def test_loading_imports_neither_scipy_nor_scikit_learn() -> None:
    code = (
        "import sys, ingest.reading.datasets, ingest.metafeatures;"
        "print({'scipy', 'sklearn', 'lightgbm', 'openml', 'duckdb', 'ConfigSpace'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
