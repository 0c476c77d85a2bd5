"""A classification dataset from whatever holds it: features with roles, target, a name for its content.

`load_dataset` is the one entry: the source is read into a raw table, columns are brought to one form and
given roles, the target is chosen and checked. What cannot be used is refused with one line (`BadInput`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

import numpy as np
import pandas as pd

from ingest.reading.columns import labels, tidied
from ingest.reading.content_hash import content_hash
from ingest.reading.encoding import quoted
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.roles import Role, converted, detect_role
from ingest.reading.tables import RawTable, read_table
from ingest.reading.targets import MOST_CLASSES, alternatives, choose_target, suggestion
from warehouse.support.arrays import Positions
from warehouse.support.errors import UnknownName, UnusableDataset
from warehouse.support.text import counted

NumericTarget = Literal["keep", "binarize"]
RareClasses = Literal["keep", "drop"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with a target to predict: classes, or numbers (`n_classes` is 0 then).

    `features` has a row per instance and, by role: numeric float64/int64; categorical and boolean
    `category` of text (with the values that the source declares but does not use); date datetime64; text
    `str`; constant and identifier in one of these. Missing is NaN (NaT). `target` is a `category` of text
    labels, all of which occur, or float64, without missing values, on the same index. `target_choice`
    says in one sentence why this column is the target, `note` what was changed on the way in, and `doubts`
    what only the user can decide: each is a sentence without its full stop that names the option to set.
    """

    name: str
    features: pd.DataFrame
    target: pd.Series
    roles: Mapping[str, Role]
    target_choice: str
    note: str | None
    source: str
    doubts: tuple[str, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """16 hex digits, independent of file format, order of rows and columns, and names."""
        return content_hash(self.features, self.target)

    @property
    def key(self) -> str:
        """The warehouse's name for the dataset: `openml:<id>` or `local:<name>-<content hash>`."""
        return self.source if self.source.startswith("openml:") else f"local:{self.name}-{self.content_hash}"

    def take(self, rows: Positions) -> Self:
        """The dataset with these rows only, in this order; columns, roles and classes stay."""
        features = self.features.iloc[rows].reset_index(drop=True)
        return replace(self, features=features, target=self.target.iloc[rows].reset_index(drop=True))

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where the target is a number to be predicted."""
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
    source: str | Path | pd.DataFrame,
    *,
    target: str | None = None,
    roles: Mapping[str, Role | str] | None = None,
    numeric_target: NumericTarget = "keep",
    rare_classes: RareClasses = "keep",
    name: str | None = None,
    limits: ReadingLimits = DEFAULT_LIMITS,
) -> Dataset:
    """Load a dataset and choose its target.

    Missing are empty cells, `?`, NA, N/A, nan and null in any case of letters, infinite numbers, and,
    where all other cells of a column are numbers or dates, also None, `-`, `--` and `.` (elsewhere those
    may be categories). Among categories that the source declares (ARFF, pandas) only `?` and empty text are.

    Args:
        source: a file (CSV, TSV, other delimited text, ARFF, Parquet; gzipped or not; told by content),
            `openml:<id>`, `sklearn:<name>` (iris, wine, digits, breast_cancer), or a data frame (its index is
            ignored).
        target: the class column; None = what the source or names tell, else the last one
            (`ingest.reading.targets.choose_target`).
        roles: roles by column that overrule the detected ones. `categorical` for the target accepts a
            numeric target as it is.
        numeric_target: keep a target that looks like a measurement (not whole, or more than 30 different
            numbers) as numbers; or make two classes of any numeric target with more than two values by
            OpenML's rule (`P` below the mean, `N` otherwise).
        rare_classes: keep a class with a single row, or drop the row, which no cross-validation can use.
        name: the dataset's name; default is the file's name without its suffixes.
        limits: on what a file may become in memory; the default is off where HEADSTART_LIMITS is `off`.

    Raises:
        BadInput: the source is no dataset, or nothing can be learned from it; one line says why.
        Failed: the source could not be reached.
    """
    raw = read_table(source, limits)
    chosen, target_choice = choose_target(raw, target)
    if chosen in raw.repeated:
        raise UnusableDataset(f"several columns are named {quoted(chosen)}, the target; rename all but one")
    wanted = _checked_roles(roles or {}, raw)
    candidate = tidied(raw.frame[chosen]).rename(chosen)
    try:
        outcome, notes = _class_labels(candidate, wanted.get(chosen), numeric_target, rare_classes)
    except UnusableDataset as error:
        raise UnusableDataset(f"{error}; {alternatives(raw.frame, chosen)}") from None
    kept = raw.frame if len(outcome) == len(raw.frame) else raw.frame.loc[outcome.index]
    columns = {str(column): tidied(values) for column, values in kept.items() if column != chosen}
    found = {column: wanted.get(column) or detect_role(values, column) for column, values in columns.items()}
    features = {column: _in_role(values, column, found[column]) for column, values in columns.items()}
    return Dataset(
        name=name or raw.name,
        features=pd.DataFrame(features, index=outcome.index).reset_index(drop=True),
        target=outcome.reset_index(drop=True),
        roles=found,
        target_choice=target_choice,
        note="; ".join([*raw.remarks, *notes]) or None,
        source=raw.source,
    )


# ---- roles ---------------------------------------------------------------------------------------


def _checked_roles(roles: Mapping[str, Role | str], raw: RawTable) -> dict[str, Role]:
    checked = {}
    columns = list(raw.frame.columns)
    for column, role in roles.items():
        if column not in columns:
            raise UnknownName(
                f"a role is given for {quoted(column)}, no such column; {suggestion(column, columns)}"
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


# ---- the target's values -------------------------------------------------------------------------


def _class_labels(
    column: pd.Series, role: Role | None, numeric_target: NumericTarget, rare_classes: RareClasses
) -> tuple[pd.Series, list[str]]:
    """The target's labels as categories, or its numbers, on the rows that are kept; notes on the rest."""
    target = quoted(column.name)
    if role not in (None, Role.categorical, Role.boolean):
        raise UnusableDataset(
            f"the target {target} cannot have the role {role}; a target is detected, or categorical"
        )
    present = column.dropna()
    if present.empty:
        raise UnusableDataset(f"the target {target} has no values")
    notes = []
    if dropped := len(column) - len(present):
        notes.append(f"{counted(dropped, 'rows')} without a target value dropped")
    values = present
    if role is None and _is_binarizable(present, numeric_target):
        numbers = present.to_numpy(dtype=float)
        values = pd.Series(
            np.where(numbers < numbers.mean(), "P", "N"), index=present.index, name=column.name
        )
        notes.append("target binarized at its mean")
    elif role is None and _is_measurement(present, target):
        return present.astype(float), notes
    values = labels(values).astype("category")
    _refuse_no_classes(values, target)
    return _without_rare_classes(values, target, notes) if rare_classes == "drop" else (values, notes)


def _is_binarizable(present: pd.Series, numeric_target: NumericTarget) -> bool:
    is_numeric = pd.api.types.is_numeric_dtype(present.dtype)
    return numeric_target == "binarize" and is_numeric and present.nunique() > 2


def _is_measurement(present: pd.Series, target: str) -> bool:
    if pd.api.types.is_datetime64_dtype(present.dtype):
        raise UnusableDataset(f"the target {target} holds dates, not classes")
    if not pd.api.types.is_numeric_dtype(present.dtype):
        return False
    distinct = present.nunique()
    whole = bool((present == np.floor(present)).all())
    return distinct > 2 and (not whole or distinct > MOST_CLASSES)


def _refuse_no_classes(values: pd.Series, target: str) -> None:
    classes = values.cat.categories
    if len(classes) == 1:
        raise UnusableDataset(
            f"the target {target} has one value only ({quoted(classes[0])}); nothing to learn"
        )
    if len(classes) > max(len(values) / 2, 10):
        raise UnusableDataset(
            f"the target {target} has {len(classes)} different values in {counted(len(values), 'rows')}; "
            "it names rows, not classes"
        )


def _without_rare_classes(values: pd.Series, target: str, notes: list[str]) -> tuple[pd.Series, list[str]]:
    counts = values.value_counts()
    rare = counts.index[counts < 2]
    if len(rare) == 0:
        return values, notes
    kept = values[~values.isin(rare)].cat.remove_unused_categories()
    if len(kept.cat.categories) < 2:
        raise UnusableDataset(f"the target {target} has fewer than two classes with more than one row")
    return kept, [*notes, f"{counted(len(rare), 'rows')} dropped, each the only one of its class"]
