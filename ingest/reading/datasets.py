"""Datasets from any source: features with roles, target, and a key by content.

`load_dataset` is the entry point: it reads the source into a raw table, converts columns to a common form,
gives them roles, and chooses and checks the target. Unusable input is refused in one line (`BadInput`).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd

from ingest.reading.column_remarks import doubts_about, doubts_about_words, notes_on
from ingest.reading.column_types.columns import Kind, read_column
from ingest.reading.column_types.role_detection import converted, detect_role
from ingest.reading.column_types.roles import Role
from ingest.reading.content_hash import cell_hashes, content_hash, digest
from ingest.reading.formats.encoding import quoted
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.options import DETECTED, ReadingOptions
from ingest.reading.split_by import SplitBy
from ingest.reading.tables import RawTable, TextFormat, read_table, visible
from ingest.reading.target.classes import NumericTarget, RareClasses, read_target, target_values
from ingest.reading.target.targets import TargetChoice, choose_target, suggestion
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, UnknownName, UnusableDataset
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskName, TaskType


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with a target to predict: classes, or numbers (`n_classes` is 0).

    `features` has a row per instance and, by role: numeric float64/int64; categorical and boolean `category`
    of text (including declared but unused values); date datetime64; text `str`; constant and identifier in
    one of these. Missing is NaN (NaT). `target` has the same index and no missing values: a `category` of
    text labels, all of which occur, or float64. `target_choice` says in one sentence why this column is the
    target and, for three or more different numbers, why they are predicted as classes or as numbers. `note`
    says what was changed while reading, and `doubts` what only the user can decide: each is a sentence
    without its full stop that names the option to set. `split` says how rows are split for training and
    testing; None = at random.
    """

    name: str
    features: pd.DataFrame
    target: pd.Series
    roles: Mapping[str, Role]
    target_choice: str
    note: str | None
    source: str
    doubts: tuple[str, ...] = ()
    text: TextFormat | None = None
    """Format of a delimited text file; None for other sources."""
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """Text column of dates -> format, as a pandas pattern."""
    split: SplitBy | None = None
    weights: Floats | None = None
    """(n,) row weights for fits; None = equal weights. Not part of the content."""

    def __repr__(self) -> str:
        rows, columns = self.features.shape
        return f"Dataset({self.name!r}: {rows:,} rows, {columns:,} features, target {self.target.name!r})"

    @cached_property
    def content_hash(self) -> str:
        """16 hex digits, independent of file format, order of rows and columns, and names."""
        *features, target = self.column_digests
        return content_hash(features, target, len(self.target), has_classes=self.task_type is CLASSIFICATION)

    @cached_property
    def column_digests(self) -> tuple[str, ...]:
        """Hashes of each column's content, independent of row order; the target's is last."""
        columns = (*(column for _, column in self.features.items()), self.target)
        return tuple(digest(cell_hashes(column)) for column in columns)

    @property
    def key(self) -> str:
        """Warehouse key of the dataset: `openml:<id>` or `local:<name>-<content hash>`.

        Split by a column it is a different dataset, `<key> by <split>`: its results are not comparable, and
        nothing may learn from both as one.
        """
        whole = self.source if self.source.startswith("openml:") else f"local:{self.name}-{self.content_hash}"
        return whole if self.split is None else f"{whole} by {self.split}"

    def split_by(self, split: SplitBy | str) -> Self:
        """Split the dataset's rows by a column for training and testing, instead of at random.

        A time stays a feature. A group is not used as one: rows to predict belong to new groups.

        Args:
            split: `time=COLUMN` or `group=COLUMN`; the column is a feature without missing values.

        Raises:
            BadInput: there is no such column, or it is unsuitable.
        """
        by = SplitBy.parse(split) if isinstance(split, str) else split
        if by.column == str(self.target.name):
            raise BadOption(f"{quoted(by.column)} is the target, so rows can't be split by it")
        if by.column not in self.features:
            columns = [str(column) for column in self.features]
            raise UnknownName(
                f"{quoted(by.column)} to split by does not exist; {suggestion(by.column, columns)}"
            )
        if not by.blocks(self.features).any():
            raise UnusableDataset(f"{quoted(by.column)} has one value only, so rows can't be split by it")
        roles = {**self.roles, by.column: Role.identifier} if by.kind == "group" else self.roles
        return replace(self, split=by, roles=roles)

    def take(self, rows: Positions) -> Self:
        """The dataset with only these rows, in this order; columns, roles and classes stay."""
        features = self.features.iloc[rows].reset_index(drop=True)
        weights = None if self.weights is None else self.weights[rows]
        target = self.target.iloc[rows].reset_index(drop=True)
        return replace(self, features=features, target=target, weights=weights)

    @property
    def task_type(self) -> TaskType:
        """Task type of the target: classification or regression."""
        return CLASSIFICATION if isinstance(self.target.dtype, pd.CategoricalDtype) else REGRESSION

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return len(self.target.cat.categories) if isinstance(self.target.dtype, pd.CategoricalDtype) else 0

    @cached_property
    def majority(self) -> tuple[str, float]:
        """The largest class, and its share of the rows.

        Raises:
            ValueError: the target is a number.
        """
        if not self.n_classes:
            raise ValueError("a numeric target has no classes")
        shares = self.target.value_counts(normalize=True)
        return str(shares.index[0]), float(shares.iloc[0])


def load_dataset(
    source: str | Path | Any,
    *,
    target: Hashable | None = None,
    task: TaskName | None = None,
    roles: Mapping[Any, Role | str] | None = None,
    numeric_target: NumericTarget = "keep",
    rare_classes: RareClasses = "keep",
    name: str | None = None,
    options: ReadingOptions = DETECTED,
    limits: ReadingLimits = DEFAULT_LIMITS,
) -> Dataset:
    """Load a dataset and choose its target.

    Missing values are empty cells, `?`, NA, N/A, nan, null, `\\N`, spreadsheet errors such as `#DIV/0!`,
    infinite numbers and, in columns of numbers or dates, also None, `-`, `.` and the like (elsewhere those
    may be categories). If nearly all words of a column are numbers (dates), the others are missing, too, and
    the note names them. In declared categories (ARFF, pandas), and in columns whose role is given as
    categorical, only `?` and empty text are missing.

    Args:
        source: a file (CSV, TSV, other delimited text, ARFF, Parquet, Feather, Excel if openpyxl is
            installed; also compressed with gzip, bz2, xz, zstd, lz4 or zip; detected by content),
            `openml:<id>`, `sklearn:<name>` (iris, wine, digits, breast_cancer), or a data frame: of pandas
            (its index is ignored, and labels of columns count as text), polars, pyarrow, or any library with
            Arrow's stream or `to_pandas`.
        target: column to predict; None = named by the source, or chosen by name or guessed; a guess is one of
            the dataset's doubts (`ingest.reading.target.targets.choose_target`).
        task: `classification` makes each number of a numeric target a class, `regression` predicts any target
            of three or more different numbers as a number; None = the more likely one
            (`ingest.reading.target.task_choice.choose_task`).
        roles: roles by column, overriding the detected ones. `categorical` for the target makes all its words
            classes, even those that mean a missing value elsewhere.
        numeric_target: keep numbers, or make two classes of any numeric target with more than two values by
            OpenML's rule (`P` below the mean, `N` otherwise).
        rare_classes: keep a class with a single row, or drop the row, which no cross-validation can use.
        name: the dataset's name; default: the file's name without suffixes.
        options: format of a text file, if detection is wrong.
        limits: on a file's size in memory; no limits by default if HEADSTART_LIMITS is `off`.

    Raises:
        BadInput: the source is not a dataset, or nothing can be learned from it; one line says why.
        Failed: the source could not be reached.
    """
    raw = read_table(source, limits, options)
    decimal = None if raw.text is None else raw.text.decimal
    choice = _chosen_target(raw, target)
    chosen = choice.column
    wanted = _checked_roles({visible(name): role for name, role in (roles or {}).items()}, raw)
    words = raw.frame[chosen].rename(chosen)
    role = wanted.get(chosen)
    column = read_target(words, decimal, role, task)
    outcome = target_values(words, column.values.rename(chosen), role, task, numeric_target, rare_classes)
    notes, doubts = outcome.notes, [*raw.doubts, *choice.doubts, *outcome.doubts]
    other_targets = [name for name in raw.targets if name != chosen and len(raw.targets) > 1]
    if other_targets:
        notes += [f"left out, because they are targets as well: {', '.join(other_targets)}"]
    if outcome.task.task_type is REGRESSION:
        notes += notes_on(column, words, raw)
        doubts += doubts_about(column, words, raw)
    kept = raw.frame if len(outcome.values) == len(words) else raw.frame.loc[outcome.values.index]
    columns = {
        str(name): read_column(column, decimal, _KINDS.get(wanted.get(str(name))))
        for name, column in kept.items()
        if name != chosen and name not in other_targets
    }
    found = {name: wanted.get(name) or detect_role(column.values, name) for name, column in columns.items()}
    features = {name: _in_role(column.values, name, found[name]) for name, column in columns.items()}
    for column_name, column in columns.items():
        notes += notes_on(column, kept[column_name], raw)
        doubts += doubts_about(column, kept[column_name], raw) if found[column_name] is Role.numeric else []
        if found[column_name] in (Role.categorical, Role.identifier) and column_name not in wanted:
            doubts += doubts_about_words(column_name, features[column_name])
    return Dataset(
        name=name or raw.name,
        features=pd.DataFrame(features, index=outcome.values.index).reset_index(drop=True),
        target=outcome.values.reset_index(drop=True),
        roles=found,
        target_choice="; ".join(filter(None, [choice.reason, outcome.task.reason])),
        note="; ".join([*raw.remarks, *notes]) or None,
        source=raw.source,
        doubts=tuple(doubts),
        text=raw.text,
        date_formats={
            name: column.form for name, column in columns.items() if found[name] is Role.date and column.form
        },
    )


def _chosen_target(raw: RawTable, target: Hashable | None) -> TargetChoice:
    try:
        choice = choose_target(raw, None if target is None else visible(target))
    except UnknownName as error:
        unsure = [*raw.doubts, *(remark for remark in raw.remarks if "not UTF-8" in remark)]
        raise UnknownName("; ".join([str(error), *unsure])) from None
    if choice.column in raw.repeated:
        raise UnusableDataset(
            f"several columns are named {quoted(choice.column)}, the target; rename all but one"
        )
    return choice


_KINDS: Mapping[Role | None, Kind] = {
    Role.numeric: "numbers",
    Role.date: "dates",
    Role.categorical: "words",
    Role.boolean: "words",
    Role.text: "words",
}
"""Type of words in a column whose role the user gave."""


# ---- roles ---------------------------------------------------------------------------------------


def _checked_roles(roles: Mapping[str, Role | str], raw: RawTable) -> dict[str, Role]:
    checked = {}
    columns = list(raw.frame.columns)
    for column, role in roles.items():
        if column not in columns:
            raise UnknownName(
                f"a role is given for {quoted(column)}, which is not a column; {suggestion(column, columns)}"
            )
        try:
            checked[column] = Role(role)
        except ValueError:
            known = ", ".join(Role)
            raise UnknownName(
                f"unknown role {quoted(role)} for {quoted(column)}; the roles are {known}"
            ) from None
    return checked


def _in_role(values: pd.Series, column: str, role: Role) -> pd.Series:
    try:
        return converted(values, role)
    except ValueError as error:
        raise UnusableDataset(f"column {quoted(column)} cannot have the role {role}: {error}") from None
