"""Numbers in text columns: units, thousands, decimal commas, parentheses, limits of detection.

A column is judged as a whole, by its distinct words. Notation: a word's *body* is its digits with the signs
between them; a sign *proves* its part where the body leaves no choice. In 1,234.5 the comma stands between
thousands and the point is decimal, in 51,26 the comma is decimal; 1.149 and 1,149 prove nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

NEARLY_ALL = 0.95
"""Share of the distinct words of a column that make it one of numbers, or of dates; set by hand."""
LONGEST = 60
"""Characters of a number; parsers take quadratic time for endless digits."""
_LOOKED_AT = 100  # distinct words that tell most columns of text
_LEAST_WITH_UNIT = 10  # distinct words, where no blank stands before the unit: 2L, 3L and 4L may be names
_LEAST_WITH_THOUSANDS = 20  # distinct words: fewer may have three decimals by chance
_LEAST_BESIDE_LIMITS = 10  # numbers: where there are fewer, ">3" is a category beside 1, 2 and 3
_MULTIPLES = frozenset({"k", "K", "m", "M", "B", "T", "mn"})
"""Units that may change a number's size (300 K, 5 m), and so can't stand beside numbers without them."""
POWERS = {"k": "e3", "K": "e3", "M": "e6", "B": "e9"}
POWERS |= {"bn": "e9", "Mio": "e6", "Mrd": "e9", "Lac": "e5", "Cr": "e7"}
POWERS |= {" bn": "e9", " Mio": "e6", " Mrd": "e9", " Lac": "e5", " Cr": "e7"}
"""Unit that multiplies, with the blank before it -> the exponent that it stands for: 1.5K is 1500."""
_MOST_MULTIPLE = 0.5  # of the words

_WORD = re.compile(
    r"""
    (?P<limit>[<>≤≥]=?\s?)?
    (?P<open>\()?
    (?P<sign>[-+\u2212]?)
    (?P<currency>(?:[A-Z]{0,3}[$€£¥₹]|[A-Z]{3}\ )?)\ ?
    (?P<inner>[-\u2212]?)
    (?P<body>(?:\d(?:[\d.,'\u2019\ \u00a0\u2009\u202f]*\d)?|[.,]\d+)[.,]?)
    (?P<exponent>(?:[eE][-+]?\d+)?)
    (?P<unit>(?:[\ \u00a0\u202f]?[%‰°$€£¥₹*]|[\ \u00a0\u202f]?°?[^\W\d_]+[²³]?(?:/[^\W\d_]+[²³]?)?)?)
    (?P<after>(?:-|(?<=[.,])(?:--|\u2013|\u2014))?)
    (?P<close>\)?)
    """,
    re.VERBOSE,
)
PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_GAPS = re.compile(r"[ '\u2019\u00a0\u2009\u202f]")
_OPEN_QUESTION = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")  # one sign that may be either
_GROUPED = r"[1-9]\d{0,2}(?:SIGN\d{3})+(?!\d)"  # 089 123 456 and 49 170 1234567 are no amounts
_INDIAN = r"\d{1,2}(?:,\d{2})+,\d{3}"


@dataclass(frozen=True)
class Numbers:
    """A column of words, nearly all numbers."""

    values: pd.Series
    """(n,) float64 beside the words; NaN for words that are not numbers."""
    odd: tuple[str, ...]
    """Words that are not numbers."""
    limits: tuple[str, ...]
    """Words such as `<40`, which count as the limit."""
    decimal: str
    """Decimal sign of the words."""


def looks_like_number(word: str) -> bool:
    """Whether a word may be a number in some way of writing."""
    return len(word) <= LONGEST and _WORD.fullmatch(word) is not None


def read_numbers(words: pd.Series, decimal: str | None = None, least: float = NEARLY_ALL) -> Numbers | None:
    """The numbers that words are, or None where fewer than `least` of them are.

    All decorated words have one currency or unit. Where no word proves what a point or a comma is, `decimal`
    decides; without it a point is decimal, and words with a comma that may be either are no numbers.

    Args:
        words: (n,) distinct words without blanks around, NaN for gaps.
        decimal: decimal sign of the file, "." or ","; None = unknown.
        least: share of the words that have to be numbers; 0 = a single one suffices.
    """
    present = words.dropna()
    if not _may_be_numbers(present, least):
        return None
    short = present.mask(present.str.len() > LONGEST, "")
    if decimal != ",":
        plain = _plain(short)
        if plain.notna().all():
            return Numbers(plain.reindex(words.index), (), (), ".")
    parts = short.str.extract(f"^{_WORD.pattern}$", flags=re.VERBOSE)
    parts = parts[parts["body"].notna()].fillna("")
    bodies, sign = _bodies(parts["body"], decimal)
    powers = parts["unit"].map(POWERS).fillna("")
    values = _signed(parts) * pd.to_numeric(bodies + parts["exponent"] + powers, errors="coerce")
    may_be_names = least > 0 and len(present) < _LEAST_WITH_UNIT
    values = values[_of_one_unit(parts, may_be_names=may_be_names)].dropna()
    is_limit = parts.loc[values.index, "limit"] != ""
    if len(values) < max(least * len(present), 1):
        return None
    if least and is_limit.any() and (~is_limit).sum() < _LEAST_BESIDE_LIMITS:
        return None
    limits = present[values.index[is_limit]]
    return Numbers(values.reindex(words.index), tuple(present.drop(index=values.index)), tuple(limits), sign)


def proved_decimal(columns: Iterable[pd.Series]) -> str | None:
    """The decimal sign that most columns of a file prove, None where none does.

    Args:
        columns: distinct words of each column.
    """
    votes: Counter[str] = Counter()
    for words in columns:
        present = words.dropna()
        if _may_be_numbers(present, NEARLY_ALL):
            bodies = present.str.extract(f"^{_WORD.pattern}$", flags=re.VERBOSE)["body"].dropna()
            votes.update(_proved(bodies)[:1])
    return votes.most_common(1)[0][0] if votes else None


def are_thousands(words: pd.Series) -> bool:
    """Whether words are numbers with points, all of which may stand between thousands."""
    present = words.dropna()
    if not _may_be_numbers(present, NEARLY_ALL):
        return False
    bodies = present.str.extract(f"^{_WORD.pattern}$", flags=re.VERBOSE)["body"].dropna()
    pointed = bodies[bodies.str.contains(".", regex=False)]
    return len(pointed) >= _LEAST_WITH_THOUSANDS and bool(pointed.str.fullmatch(_OPEN_QUESTION.pattern).all())


def _may_be_numbers(present: pd.Series, least: float) -> bool:
    """Whether the first words do not rule it out."""
    first = present.head(_LOOKED_AT)
    # A few odd words may stand at the top, beside the many that are numbers.
    return len(first) > 0 and sum(map(looks_like_number, first)) >= max(min(least, 0.8) * len(first), 1)


def _plain(words: pd.Series) -> pd.Series:
    """Numbers in the way of programs, NaN for all else."""
    return pd.to_numeric(words, errors="coerce").astype(float)


def _signed(parts: pd.DataFrame) -> pd.Series:
    """1 or -1 for each word, NaN where a parenthesis is alone."""
    in_parentheses = (parts["open"] != "") & (parts["close"] != "")
    is_alone = (parts["open"] != "") != (parts["close"] != "")
    is_negative = in_parentheses | parts["sign"].isin(["-", "\u2212"])
    is_even = parts["body"].str.contains(r"[.,]$")  # 12,- has no cents
    is_negative |= (parts["inner"] != "") | ((parts["after"] != "") & ~is_even)
    return pd.Series(np.where(is_negative, -1.0, 1.0), index=parts.index).mask(is_alone)


def _of_one_unit(parts: pd.DataFrame, *, may_be_names: bool) -> pd.Series:
    """Select the words that have the decoration of most decorated words, or none.

    Where most words have no unit that multiplies, those with one are no numbers: 12B may be a house.

    Args:
        may_be_names: whether words with letters behind the digits are names, such as 2L.
    """
    unit = parts["unit"].mask(parts["unit"].isin(POWERS), "")
    is_multiple = unit != parts["unit"]
    decoration = parts["currency"].str.strip() + unit.str.strip()
    usual = decoration[decoration != ""].mode().iloc[:1].tolist()
    if may_be_names:
        decoration = decoration.mask(parts["unit"].str.contains(r"^[^\W\d_]"), "name")
    is_plain = decoration == ""
    if is_plain.any() and not _MULTIPLES.isdisjoint(usual):
        return is_plain
    fits = is_plain | decoration.isin(usual)
    return fits if is_multiple.mean() > _MOST_MULTIPLE else fits & ~is_multiple


def _bodies(bodies: pd.Series, decimal: str | None) -> tuple[pd.Series, str]:
    """Digits with a decimal point, "" for bodies that are no number in the column's way; its decimal sign."""
    has_gaps = bodies.str.contains(_GAPS)
    is_grouped = bodies.str.contains(rf"^{_grouped(_GAPS.pattern)}(?!{_GAPS.pattern})")
    bodies = bodies.mask(has_gaps & ~is_grouped, "").str.replace(_GAPS, "", regex=True)
    proved = _proved(bodies)
    sign = proved[0] if proved else decimal
    if sign is None and _are_short(bodies):
        sign = "."
    if sign is None:  # a comma may be either
        return bodies.mask(bodies.str.contains(",", regex=False), ""), "."
    thousands = "," if sign == "." else "."
    groups = _grouped(re.escape(thousands)) + (f"|{_INDIAN}" if thousands == "," else "")
    whole, fraction = rf"(?:\d+|{groups})?", rf"(?:{re.escape(sign)}\d*)?"
    fits = bodies.str.fullmatch(whole + fraction)
    plain = bodies.str.replace(thousands, "", regex=False).str.replace(sign, ".", regex=False)
    return plain.where(fits, ""), sign


def _are_short(bodies: pd.Series) -> bool:
    """Whether a comma stands in all whole numbers above 999, beside some below: it is between thousands."""
    whole = bodies[bodies.str.fullmatch(r"\d+")]
    rest = bodies[bodies.str.contains(r"[.,]")]
    return bool(
        len(whole) and (whole.str.len() <= 3).all() and rest.str.fullmatch(r"[1-9]\d{0,2},\d{3}").all()
    )


def _grouped(sign: str) -> str:
    return _GROUPED.replace("SIGN", sign)


def _proved(bodies: pd.Series) -> list[str]:
    """The decimal signs that bodies prove, the one that most of them prove first."""
    votes = Counter(sign for body in bodies if (sign := _proof(body)))
    return [sign for sign, _ in votes.most_common()]


def _proof(body: str) -> str | None:
    """The decimal sign that one body proves; None where it leaves the choice."""
    signs = [sign for sign in body if sign in ".,"]
    if not signs or _OPEN_QUESTION.fullmatch(body):
        return None
    other = "," if signs[-1] == "." else "."
    if len(signs) == 1 or len(set(signs)) == 2:
        return signs[-1]  # a fraction, with or without groups in front
    return other  # several groups of thousands
