"""Checks of a dataset that take milliseconds, for cautions about its recommendation."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ingest.flows.preprocessing import MOST
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.datasets import Dataset
from ingest.reading.formats.encoding import quoted
from ingest.reading.target.strata import strata_of
from recommend.explaining import dependence
from recommend.explaining.target_words import CautionKind, target_words
from warehouse.support.arrays import Flags, Positions
from warehouse.support.text import counted

LEAKED = 0.1
"""A suspicious column leaves at most this share of the errors of always predicting the largest class.

The smallest limit tried that finds most copies of the class with 5 % of noise (study `leaks`,
commit 0dda0a8).
"""
_FEW_TRIALS = 5  # on the dataset, below which forecasts are for random splits; set by hand
_ROWS_LOOKED_AT = 2000
_FEWEST_ERRORS = 10  # of predicting the largest class on the sample, so that a small share is not chance
_FEWEST_NUMBERED = 20  # rows; in fewer, numbers may rise by chance
_REPEATED = 0.05  # of the rows
_CHANCE = 0.01  # most pairs of equal rows to expect, since columns depend on each other
_MANY_VALUES = 0.5  # categories per row, above which a column rather identifies rows


_SIZES = {"NumberOfInstances": "rows", "NumberOfFeatures": "features", "NumberOfClasses": "classes"}
"""Quality -> the size in words."""


@dataclass(frozen=True)
class Outside:
    """A size of a dataset that is smaller or larger than that of every known dataset."""

    quality: str
    """Name of the size; the target counts as a feature."""
    value: float
    least: float
    """Smallest among the known datasets."""
    most: float


@dataclass(frozen=True)
class Caution:
    """Something to check."""

    kind: CautionKind
    text: str
    """One sentence, without its full stop."""


def outside_of_known(known: pd.DataFrame, metafeatures: pd.Series) -> list[Outside]:
    """The sizes of a dataset outside of the range among the known datasets.

    Args:
        known: (datasets, qualities)
        metafeatures: quality -> value of the new dataset.
    """
    found = []
    for name in _SIZES:
        if name in known and name in metafeatures:
            value, least, most = (
                float(of) for of in (metafeatures[name], known[name].min(), known[name].max())
            )
            if value < least or value > most:
                found.append(Outside(name, value, least, most))
    return found


def cautions(dataset: Dataset, outside: Sequence[Outside], *, trials: int = 0) -> list[Caution]:
    """Cautions about a dataset, the most serious first.

    Args:
        outside: its sizes outside of the known datasets' range.
        trials: number of trials on the dataset used for the predictions.
    """
    return [
        *(Caution("reading", doubt) for doubt in dataset.doubts),
        *_extremes(dataset),
        *_totals(dataset),
        *_leaks(dataset),
        *_repeats(dataset),
        *(Caution("dependence", text) for text in dependence.in_words(dataset)),
        *_unmeasured(dataset, trials),
        *_names(dataset),
        *(Caution(kind, text) for kind, text in target_words(dataset).cautions()),
        *map(_beyond, outside),
    ]


def _extremes(dataset: Dataset) -> Iterator[Caution]:
    """Columns with numbers too large to compute with."""
    for name, role in dataset.roles.items():
        if role is not Role.numeric:
            continue
        values = dataset.features[name].to_numpy(dtype=float)
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if (most := max(high, -low)) > MOST:
            text = f"{quoted(name)} has numbers up to {most:.2g} in size; all beyond {MOST:.2g} count alike"
            yield Caution("reading", f"{text}: take logarithms, or a larger unit")


def _totals(dataset: Dataset) -> Iterator[Caution]:
    """A last row with totals, as in reports."""
    columns = [dataset.features[name] for name, role in dataset.roles.items() if role is Role.numeric]
    for column in columns if dataset.n_classes else [*columns, dataset.target]:
        values = column.to_numpy(dtype=float)
        others, last = values[:-1], values[-1]
        is_sum = np.isclose(last, np.nansum(others), rtol=1e-6)
        if is_sum and np.count_nonzero(others > 0) >= _FEWEST_NUMBERED:
            text = f"the last row seems to be a total: its {quoted(column.name)} is the sum of all others"
            yield Caution("reading", f"{text}; if so, delete it from the file")
            return


def share_left(column: pd.Series, strata: Positions) -> float:
    """Share of the errors of always predicting the largest stratum that remain if one column is known.

    A nearest-neighbour rule on one column: every second row votes for its stratum at its value; the other
    rows are predicted by the votes at the nearest value (for categories, at the same value). 1 if the column
    is uninformative, or if there are too few errors to tell.

    Args:
        column: (n,) a feature, numbers or dates or categories.
        strata: (n,) classes, or quantile bins of a number (`ingest.running.scorer.Scorer.strata`).
    """
    is_ordered = pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_dtype(column.dtype)
    if is_ordered:
        x = column.astype("int64" if pd.api.types.is_datetime64_dtype(column.dtype) else float).to_numpy()
        x = np.nan_to_num(x.astype(float), nan=-np.inf)
    else:
        x = pd.factorize(column)[0].astype(float)
    values, place = np.unique(x[::2], return_inverse=True)
    votes = np.zeros((len(values), int(strata.max()) + 1))
    np.add.at(votes, (place, strata[::2]), 1)
    usual = int(votes.sum(axis=0).argmax())
    asked, truth = x[1::2], strata[1::2]
    errors = int((truth != usual).sum())
    if errors < _FEWEST_ERRORS:
        return 1.0
    right = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    left = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore"):
        nearer = np.where(np.abs(asked - values[left]) <= np.abs(values[right] - asked), left, right)
    nearest = np.where(values[right] == asked, right, nearer)
    answers = votes.argmax(axis=1)[nearest]
    if not is_ordered:
        answers = np.where(values[nearest] == asked, answers, usual)
    return float((answers != truth).sum()) / errors


def class_of_gaps(gaps: Flags, target: pd.Series) -> tuple[str, bool, float] | None:
    """The class that is best predicted by whether a column has a value.

    Args:
        gaps: (n,) rows without a value.
        target: (n,) classes.

    Returns:
        The class; whether its rows are those with a value, not those without; and the remaining share of the
        errors of never predicting it (of always, for a majority class). None if all rows have a value or none
        has, or no class has enough rows to tell.
    """
    if not gaps.any() or gaps.all():
        return None
    classes = target.cat.codes.to_numpy()
    sizes = np.bincount(classes)
    without = np.bincount(classes[gaps], minlength=len(sizes))
    # Errors: rows of other classes on the class's side, and rows of the class on the other side.
    wrong = np.array([gaps.sum() + sizes - 2 * without, (~gaps).sum() - sizes + 2 * without])
    errors = np.minimum(sizes, len(classes) - sizes)
    left = np.where(errors >= _FEWEST_ERRORS, wrong / np.maximum(errors, 1), np.inf)
    has_value, place = np.unravel_index(int(left.argmin()), left.shape)
    if np.isinf(left[has_value, place]):
        return None
    return str(target.cat.categories[int(place)]), bool(has_value), float(left[has_value, place])


def _leaks(dataset: Dataset) -> Iterator[Caution]:
    rows = np.random.default_rng(0).permutation(len(dataset.target))[:_ROWS_LOOKED_AT]
    features, target = dataset.features.iloc[rows], dataset.target.iloc[rows]
    words, strata = target_words(dataset), strata_of(target)
    for name in features.columns:
        role = dataset.roles[str(name)]
        if role in NOT_LEARNED_FROM:
            continue
        column = features[name]
        left = 1.0 if role is Role.text else share_left(column, strata)
        if left <= LEAKED:
            yield Caution(
                "leakage",
                f"{str(name)!r} alone tells nearly {words.told(1 - left)}: drop it unless it is known when "
                "you predict",
            )
        elif (
            dataset.n_classes
            and (told := class_of_gaps(column.isna().to_numpy(), target))
            and told[2] <= LEAKED
        ):
            label, has_value, _ = told
            yield Caution(
                "leakage",
                f"{str(name)!r} has {'a value' if has_value else 'gaps'} nearly only in rows of class "
                f"{label!r}, and in nearly all of these: drop it unless that is known when you predict",
            )


def _repeats(dataset: Dataset) -> Iterator[Caution]:
    """Rows that repeat another one, where equal rows are unlikely even with independent columns."""
    used = [name for name, role in dataset.roles.items() if role not in NOT_LEARNED_FROM]
    table = dataset.features[used].assign(**{str(dataset.target.name): dataset.target})
    again = pd.util.hash_pandas_object(table, index=False).duplicated().to_numpy()
    n, repeated = len(table), int(again.sum())
    if repeated < max(_REPEATED * n, 1):
        return
    counts = [column.value_counts(dropna=False).to_numpy() for _, column in table[~again].items()]
    equal = math.prod(float((count * (count - 1)).sum()) / count.sum() ** 2 for count in counts)
    if equal * n**2 / 2 < _CHANCE:
        yield Caution(
            "dependence",
            f"{repeated:,} of {n:,} rows repeat another one: if these are copies, delete them, since models "
            "are tested on rows that they have seen",
        )


def _unmeasured(dataset: Dataset, trials: int) -> Iterator[Caution]:
    """A caution if another split is requested, since predictions are for random splits."""
    if dataset.split is not None and trials < _FEW_TRIALS:
        rows = {"time": "later rows", "group": "rows of new groups"}[dataset.split.kind]
        yield Caution(
            "dependence",
            f"expected values hold for rows drawn at random and may be too good for {rows}: --verify "
            f"measures them",
        )


def _names(dataset: Dataset) -> Iterator[Caution]:
    """Ignored identifiers, and other columns that look like identifiers."""
    grouped = dataset.split.column if dataset.split is not None else None
    ignored = [name for name, role in dataset.roles.items() if role is Role.identifier and name != grouped]
    if ignored:
        more = f" and {len(ignored) - 5} more" if len(ignored) > 5 else ""
        yield Caution(
            "identifier",
            f"ignored as identifiers, since hardly any value repeats: "
            f"{', '.join(map(repr, ignored[:5]))}{more}; to use one as a feature, give "
            f"{_role(ignored[0], Role.categorical)}",
        )
    for name in dataset.features.columns:
        column = dataset.features[name]
        if dataset.roles[str(name)] is Role.categorical and len(column):
            categories = column.nunique()
            if categories > _MANY_VALUES * len(column):
                yield Caution(
                    "identifier",
                    f"{str(name)!r} has {categories:,} different values in {len(column):,} rows, too many to "
                    f"learn much from: if it names rows, give {_role(str(name), Role.identifier)}",
                )
        elif (
            dataset.roles[str(name)] is Role.numeric
            and pd.api.types.is_integer_dtype(column.dtype)
            and len(column) > _FEWEST_NUMBERED
            and _is_numbering(column.to_numpy())
        ):
            yield Caution(
                "identifier",
                f"{str(name)!r} only rises or falls from row to row: if it numbers them, give "
                f"{_role(str(name), Role.identifier)}",
            )


def _role(name: str, role: Role) -> str:
    """The option that sets a column's role, as a shell takes it."""
    return f"--role {shlex.quote(f'{name}={role}')}"


def _is_numbering(values: np.ndarray) -> bool:
    """Whether (n,) numbers only rise or only fall; checks the first few first."""
    steps = np.diff(values[: _FEWEST_NUMBERED + 1])
    if not ((steps > 0).all() or (steps < 0).all()):
        return False
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())


def _beyond(size: Outside) -> Caution:
    """A caution about a size outside of the known range; the target is not counted as a feature."""
    target = 1 if size.quality == "NumberOfFeatures" else 0
    value, least, most = (number - target for number in (size.value, size.least, size.most))
    far = f"{value / most:.1f} times the most" if value > most else f"{least / max(value, 1):.1f} times fewer"
    return Caution(
        "outside",
        f"{counted(round(value), _SIZES[size.quality])} {'is' if value == 1 else 'are'} outside of the known "
        f"datasets' range ({least:,.0f} to {most:,.0f}; {far}), so predictions are less reliable than stated",
    )
