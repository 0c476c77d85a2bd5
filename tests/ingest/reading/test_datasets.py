"""Promises of `load_dataset`: every format gives the same dataset; roles, target and notes are right."""

import gzip
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.roles import Role
from warehouse.support.errors import BadInput, Failed

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


@pytest.mark.parametrize("file_name", WRITERS)
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


def test_the_source_frame_is_left_alone() -> None:
    before = FRAME.copy(deep=True)
    load_dataset(FRAME, roles={"count": "categorical"})
    pd.testing.assert_frame_equal(FRAME, before)


def test_names_come_from_the_file_without_its_suffixes(tmp_path: Path) -> None:
    for file_name, expected in [("a.b.csv.gz", "a.b"), ("credit.a.arff", "credit.a"), ("noext", "noext")]:
        FRAME.to_csv(tmp_path / file_name, index=False)
        assert load_dataset(tmp_path / file_name).name == expected
    assert load_dataset(FRAME, name="mine").key == f"local:mine-{load_dataset(FRAME).content_hash}"


# ---- roles ---------------------------------------------------------------------------------------

LABELS = ["x", "y"] * 15  # 30 rows
COUNTING = list(range(1, 31))

COLUMNS: dict[str, tuple[str, list[Any], Role]] = {
    "numbers": ("a", [0.5, 2.0, -1.0] * 10, Role.numeric),
    "few numbers": ("a", [0, 1] * 15, Role.numeric),
    "numbers as words": ("a", ["1", "2.5", " 3 "] * 10, Role.numeric),
    "numbers with markers": ("a", ["1", "NA", "?", "-", "None", "2"] * 5, Role.numeric),
    "commas that may be decimal signs": ("a", ["1,000", "2,500"] * 15, Role.categorical),
    "thousands separators": ("a", ["1,000", "2,500", "1,000,000"] * 10, Role.numeric),
    "amounts of money": ("a", ["$1,000.50", "$950", "-$3"] * 10, Role.numeric),
    "amounts in two currencies": ("a", ["$5", "€4", "$3"] * 10, Role.categorical),
    "shares in percent": ("a", ["5%", "12.5 %", "-"] * 10, Role.numeric),
    "numbers with a unit": ("a", ["1248 CC", "998.5 CC"] * 15, Role.numeric),
    "numbers with two units": ("a", ["3 days", "4 hours"] * 15, Role.categorical),
    "codes with digits": ("a", ["2WD", "4WD"] * 15, Role.categorical),
    "words that are markers among numbers": ("a", ["none", "oil", "gas"] * 10, Role.categorical),
    "numbers and words": ("a", ["1", "two"] * 15, Role.categorical),
    "unique numbers": ("a", np.random.default_rng(0).permutation(30).tolist(), Role.numeric),
    "unique numbers, named so": (
        "customer_id",
        np.random.default_rng(0).permutation(30).tolist(),
        Role.identifier,
    ),
    "unique numbers, named so in camel case": (
        "CustomerID",
        [i * 17 % 1009 for i in COUNTING],
        Role.identifier,
    ),
    "repeated numbers, named id": ("id", [1, 2, 3] * 10, Role.numeric),
    "measurements, named id": ("id", [i / 7 for i in COUNTING], Role.numeric),
    "a name that ends like id": ("humid", [i * 17 % 1009 for i in COUNTING], Role.numeric),
    "row numbers": ("a", COUNTING, Role.identifier),
    "row numbers from 0": ("a", [i - 1 for i in COUNTING], Role.identifier),
    "years": ("year", [1990 + i for i in COUNTING], Role.numeric),
    "pandas' index": ("", [i + 5 for i in COUNTING], Role.identifier),
    "unique words": ("a", [f"k{i}" for i in COUNTING], Role.identifier),
    "nearly unique words": ("a", [f"k{min(i, 29)}" for i in COUNTING], Role.identifier),
    "words": ("a", [f"k{i % 20}" for i in COUNTING], Role.categorical),
    "truth values": ("a", ["TRUE", "FALSE"] * 15, Role.boolean),
    "yes and no": ("a", ["yes", "no", None] * 10, Role.boolean),
    "one value": ("a", [3.5] * 30, Role.constant),
    "one word": ("a", ["w"] * 30, Role.constant),
    "nothing": ("a", [None] * 30, Role.constant),
    "one word with gaps": ("a", ["w", None] * 15, Role.categorical),
    "one value with gaps": ("a", [1.0, None] * 15, Role.numeric),
    "free text": ("a", [f"a long remark about the number {i % 25}" for i in COUNTING], Role.text),
    "long categories": ("a", [f"a long category with number {i % 5}" for i in COUNTING], Role.categorical),
    "ISO dates": ("a", [f"2020-01-{i:02d}" for i in COUNTING], Role.date),
    "ISO times": ("a", [f"2020-01-{i:02d}T10:00:00Z" for i in COUNTING], Role.date),
    "slashed dates": ("a", [f"{i}/1/2020" for i in COUNTING], Role.date),
    "dotted dates": ("a", [f"{i}.01.2020" for i in COUNTING], Role.date),
    "dates with months in words": ("a", [f"{i:02d}-Jan-2020" for i in COUNTING], Role.date),
    "dates with gaps": ("a", ["2020-01-01", None, "2020-02-01"] * 10, Role.date),
    "dates with markers": ("a", ["2020-01-01", "-", "2020-02-01"] * 10, Role.date),
    "times with short years": ("a", [f"1/{i}/20 9:30" for i in COUNTING], Role.date),
    "dates and words": ("a", ["2020-01-01", "never"] * 15, Role.categorical),
    "ranges of ages": ("a", ["10-19", "20-29", "30-39"] * 10, Role.categorical),
    "times of day": ("a", ["10:30", "11:45", "12:00"] * 10, Role.categorical),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("through", ["frame", "csv"])
def test_roles_are_told_from_values_and_names(tmp_path: Path, kind: str, through: str) -> None:
    name, values, expected = COLUMNS[kind]
    frame = pd.DataFrame({name: values, "b": [0.5, 1.5] * 15, "class": LABELS})
    if through == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    dataset = load_dataset(tmp_path / "t.csv" if through == "csv" else frame)
    assert next(iter(dataset.roles.values())) == expected


def test_day_first_dates_are_recognized_when_a_day_says_so() -> None:
    frame = pd.DataFrame({"a": ["13/02/2020", "01/02/2020"] * 10, "class": ["x", "y"] * 10})
    assert load_dataset(frame).features["a"].dt.month.unique().tolist() == [2]


def test_decorations_of_numbers_do_not_change_their_values() -> None:
    amounts = ["-$1,234.50", "$ 7", "$1,000,000", None]
    frame = pd.DataFrame({"a": amounts * 5, "class": ["x", "y"] * 10})
    assert load_dataset(frame).features["a"].head(3).tolist() == [-1234.5, 7.0, 1_000_000.0]


def test_given_roles_overrule_the_detected_ones() -> None:
    roles = {"count": "categorical", "flag": Role.categorical, "customer": "text", "when": "categorical"}
    dataset = load_dataset(FRAME, roles=roles)
    assert {name: dataset.roles[name] for name in roles} == roles
    assert set(dataset.features["count"].cat.categories) <= set("01234")
    assert dataset.content_hash == load_dataset(FRAME).content_hash


def test_declared_categories_stay_categorical_even_when_they_look_like_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute a {1,2,3}\n@attribute class {x,y}\n@data\n" + "1,x\n2,y\n" * 5)
    dataset = load_dataset(path)
    assert dataset.roles == {"a": Role.categorical}
    assert list(dataset.features["a"].cat.categories) == ["1", "2", "3"]


def test_repeated_names_are_told_apart() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4, "x"], [5, 6, 7, 8, "y"]] * 3, columns=["a", "a", "a.1", "", "class"])
    assert list(load_dataset(frame).features) == ["a", "a.2", "a.1", "Unnamed: 3"]


# ---- target --------------------------------------------------------------------------------------

TARGETS = [
    (["a", "b", "class"], None, "class", "of its name"),
    (["Class", "a", "b"], None, "Class", "of its name"),
    (["y", "target", "a"], None, "target", "of its name"),
    (["LABEL", "a", "y"], None, "LABEL", "of its name"),
    (
        ["a", "b", "outcome"],
        None,
        "outcome",
        "it is the last column and none is named class, target, label or y",
    ),
    (["a", "b", "class"], "b", "b", "it was given"),
]


@pytest.mark.parametrize(("columns", "given", "expected", "reason"), TARGETS)
def test_the_target_is_chosen_by_a_rule_that_is_told(
    columns: list[str], given: str | None, expected: str, reason: str
) -> None:
    frame = pd.DataFrame([["p", "q", "r"], ["s", "t", "u"]] * 3, columns=columns)
    dataset = load_dataset(frame, target=given)
    assert dataset.target.name == expected
    assert dataset.target_choice == f"'{expected}' is the target because {reason}"
    assert expected not in dataset.features


@pytest.mark.parametrize(
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


def test_a_numeric_target_is_taken_as_classes_when_its_role_says_so() -> None:
    frame = pd.DataFrame({"a": np.arange(400) % 7, "class": np.arange(400) % 40})
    assert load_dataset(frame, roles={"class": "categorical"}).n_classes == 40
    assert load_dataset(frame).n_classes == 0


def test_a_measured_target_is_kept_as_numbers() -> None:
    frame = _measured()
    dataset = load_dataset(frame)
    assert dataset.n_classes == 0
    assert dataset.target.tolist() == frame["class"].tolist()


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


def test_classes_with_one_row_are_dropped_on_request() -> None:
    labels = FRAME["class"].mask(np.arange(N) == 3, "rare").mask(np.arange(N) == 9, "rarer")
    dataset = load_dataset(FRAME.assign(**{"class": labels}), rare_classes="drop")
    assert list(dataset.target.cat.categories) == ["no", "yes"]
    assert dataset.note == "2 rows dropped, each the only one of its class"
    pd.testing.assert_series_equal(
        dataset.features["size"], FRAME["size"].drop([3, 9]).reset_index(drop=True), check_names=False
    )


# ---- remarks -------------------------------------------------------------------------------------


def test_what_was_left_out_or_guessed_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,class\n" + "1,2,x\n2,3,y\n" * 10 + "1,x\n")
    note = load_dataset(path).note
    assert note == "1 rows with the wrong number of values left out (line 22 has 2 values, 3 expected)"
    path.write_text("1.5,2,x\n2.5,3,y\n" * 3)
    dataset = load_dataset(path)
    assert dataset.note == "no header line found: columns are named by their number"
    assert list(dataset.features) == ["column_1", "column_2"]
    assert len(dataset.features) == 6


# ---- OpenML --------------------------------------------------------------------------------------


class _OpenMLDataset:
    name = "credit-g"
    default_target_attribute = "colour"

    def get_data(self) -> tuple[pd.DataFrame, None, list[bool], list[str]]:
        return FRAME.astype({"colour": "category"}), None, [], []


def _fake_openml(monkeypatch: pytest.MonkeyPatch, get_dataset: Callable[[int], _OpenMLDataset]) -> None:
    client = types.SimpleNamespace(datasets=types.SimpleNamespace(get_dataset=get_dataset))
    monkeypatch.setitem(sys.modules, "openml", client)


def test_a_dataset_comes_from_openml_with_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_openml(monkeypatch, lambda _: _OpenMLDataset())
    dataset = load_dataset("openml:31")
    assert (dataset.key, dataset.name, dataset.target.name) == ("openml:31", "credit-g", "colour")
    assert dataset.target_choice == "'colour' is the target because OpenML says so"


def test_a_network_failure_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> _OpenMLDataset:
        raise ConnectionError("no route\nto host")

    _fake_openml(monkeypatch, fail)
    with pytest.raises(Failed, match=r"^cannot get openml:31 from OpenML \(no route to host\)$"):
        load_dataset("openml:31")


# ---- real files ----------------------------------------------------------------------------------


def test_every_published_dataset_loads_with_the_classes_of_its_index(shared_data: Path) -> None:
    index = pd.read_csv(shared_data / "datasets" / "index.csv")
    assert len(index) == 64
    for name, target, classes in index[["name", "target", "classes"]].itertuples(index=False, name=None):
        dataset = load_dataset(
            shared_data / "datasets" / f"{name}.arff", target=target if isinstance(target, str) else None
        )
        assert not dataset.features.empty
        # The index counts -1 where the target is a number, and declared classes that no row has.
        if classes > 0:
            assert 2 <= dataset.n_classes <= classes
        elif classes < 0:
            assert dataset.n_classes == 0


def test_every_published_dataset_makes_an_experiment_or_is_refused_for_a_reason(shared_data: Path) -> None:
    refused = {}
    for path in sorted((shared_data / "datasets").rglob("*.arff")):
        try:
            dataset = load_dataset(path, numeric_target="binarize", rare_classes="drop")
        except BadInput as error:
            refused[path.stem] = str(error)
        else:
            _assert_labelled(dataset)
    # Its target is known in three rows, and one class has one of them.
    assert list(refused) == ["wseries"]


def _assert_labelled(dataset: Dataset) -> None:
    assert dataset.n_classes >= 2
    assert dataset.target.value_counts().min() >= 2
    assert len(dataset.features) == len(dataset.target)


def test_loading_imports_neither_scipy_nor_scikit_learn() -> None:
    code = (
        "import sys, ingest.reading.datasets, ingest.metafeatures;"
        "print({'scipy', 'sklearn', 'lightgbm', 'openml', 'duckdb', 'ConfigSpace'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
