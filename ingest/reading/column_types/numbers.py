"""Numbers in text columns: units, thousands, decimal commas, parentheses, limits of detection.

A column is judged as a whole, by its distinct words. Notation: a word's *body* is its digits and the signs
between them; a body *proves* a sign's meaning if only one is possible. In 1,234.5 the comma separates
thousands and the point is decimal, in 51,26 the comma is decimal; 1.149 and 1,149 prove nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ingest.reading.column_types.words import NEARLY_ALL, Column, may_be

LONGEST = 60
"""Most characters of a number; parsers take quadratic time for endless digits."""
_LEAST_WITH_UNIT = 10  # distinct words, if no blank precedes the unit: 2L, 3L and 4L may be names
_LEAST_WITH_THOUSANDS = 20  # distinct words: fewer may have three decimals by chance
_LEAST_BESIDE_LIMITS = 10  # numbers: with fewer, ">3" is a category like 1, 2 and 3
_MULTIPLES = frozenset({"k", "K", "m", "M", "B", "T", "mn"})
"""Units that may scale a number (300 K, 5 m), so that it can't be mixed with numbers without a unit."""
POWERS = {"k": "e3", "K": "e3", "M": "e6", "B": "e9"}
POWERS |= {"bn": "e9", "Mio": "e6", "Mrd": "e9", "Lac": "e5", "Cr": "e7"}
POWERS |= {" bn": "e9", " Mio": "e6", " Mrd": "e9", " Lac": "e5", " Cr": "e7"}
"""Multiplying unit, with the blank before it -> its exponent: 1.5K is 1500."""
_MOST_MULTIPLE = 0.5  # of the words

_WORD = re.compile(
    r"""
    (?P<limit>[<>≤≥]=?\s?)?
    (?P<open>\()?
    (?P<sign>[-+\u2212]?)
    (?P<currency>(?:[A-Z]{0,3}[$£¥\u20a0-\u20cf]|[A-Z]{3}\ |(?:S?Fr|Rs|[Kk]r)(?:\.|\ ))?)\ ?
    (?P<inner>[-\u2212]?)
    (?P<body>(?:\d(?:[\d.,'\u2019\ \u00a0\u2009\u202f]*\d)?|[.,]\d+)[.,]?)
    (?P<exponent>(?:[eE][-+]?\d+)?)
    (?P<unit>(?:[\ \u00a0\u202f]?(?:[%‰°$£¥\u20a0-\u20cf*]|°?[^\W\d_]+[²³]?(?:/[^\W\d_]+[²³]?)?))?)
    (?:(?<=[^\W\d_])\.)?
    (?P<after>(?:-|(?<=[.,])(?:--|\u2013|\u2014))?)
    (?P<close>\)?)
    """,
    re.VERBOSE,
)
PLAIN = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?")
"""A number as in programs."""
_GAPS = re.compile(r"[ '\u2019\u00a0\u2009\u202f]")
_OPEN_QUESTION = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")  # the sign is ambiguous
_GROUPED = r"[1-9]\d{0,2}(?:SIGN\d{3})+(?!\d)"  # 089 123 456 and 49 170 1234567 are not amounts
_INDIAN = r"\d{1,2}(?:,\d{2})+,\d{3}"


def looks_like_number(word: str) -> bool:
    """Whether a word may be a number in some notation."""
    return len(word) <= LONGEST and _WORD.fullmatch(word) is not None


def read_numbers(words: pd.Series, decimal: str | None = None, least: float = NEARLY_ALL) -> Column | None:
    """Parse words as numbers, or return None if fewer than `least` of them are.

    All decorated words have one currency or unit. If no word proves the meaning of points and commas,
    `decimal` decides; without it a point is decimal, and words with an ambiguous comma are not numbers.

    Args:
        words: (n,) distinct words without surrounding blanks, NaN for missing ones.
        decimal: decimal sign of the file, "." or ","; None = unknown.
        least: minimum share of the words that are numbers; 0 = a single one suffices.
    """
    present = words.dropna()
    if not may_be(present, looks_like_number, least):
        return None
    short = present.mask(present.str.len() > LONGEST, "")
    if decimal != ",":
        plain = pd.to_numeric(short, errors="coerce").astype(float)  # as in programs
        if plain.notna().all():
            return Column(plain.reindex(words.index), (), (), ".")
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
    return Column(values.reindex(words.index), tuple(present.drop(index=values.index)), tuple(limits), sign)


def proved_decimal(columns: Iterable[pd.Series]) -> str | None:
    """The decimal sign that most columns of a file prove; None if none does.

    Args:
        columns: distinct words of each column.
    """
    votes: Counter[str] = Counter()
    for words in columns:
        votes.update(_proved(_bodies_in(words))[:1])
    return votes.most_common(1)[0][0] if votes else None


def are_thousands(words: pd.Series) -> bool:
    """Whether words are numbers with points, all of which may stand between thousands."""
    bodies = _bodies_in(words)
    pointed = bodies[bodies.str.contains(".", regex=False)]
    return len(pointed) >= _LEAST_WITH_THOUSANDS and bool(pointed.str.fullmatch(_OPEN_QUESTION.pattern).all())


def _bodies_in(words: pd.Series) -> pd.Series:
    """Bodies of the words; none unless nearly all may be numbers."""
    present = words.dropna()
    if not may_be(present, looks_like_number, NEARLY_ALL):
        return present.iloc[:0]
    return present.str.extract(f"^{_WORD.pattern}$", flags=re.VERBOSE)["body"].dropna()


def _signed(parts: pd.DataFrame) -> pd.Series:
    """1 or -1 for each word, NaN for an unpaired parenthesis."""
    in_parentheses = (parts["open"] != "") & (parts["close"] != "")
    is_alone = (parts["open"] != "") != (parts["close"] != "")
    is_negative = in_parentheses | parts["sign"].isin(["-", "\u2212"])
    is_even = parts["body"].str.contains(r"[.,]$")  # 12,- has no cents
    is_negative |= (parts["inner"] != "") | ((parts["after"] != "") & ~is_even)
    return pd.Series(np.where(is_negative, -1.0, 1.0), index=parts.index).mask(is_alone)


def _of_one_unit(parts: pd.DataFrame, *, may_be_names: bool) -> pd.Series:
    """Select the words with the most frequent decoration, or none.

    If most words have no multiplying unit, those with one are not numbers: 12B may be a house.

    Args:
        may_be_names: whether words with letters after the digits may be names, such as 2L.
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
    """Digits with a decimal point, "" for bodies that do not fit the column; and its decimal sign."""
    has_gaps = bodies.str.contains(_GAPS)
    is_grouped = bodies.str.contains(rf"^{_grouped(_GAPS.pattern)}(?!{_GAPS.pattern})")
    bodies = bodies.mask(has_gaps & ~is_grouped, "").str.replace(_GAPS, "", regex=True)
    proved = _proved(bodies)
    sign = proved[0] if proved else decimal
    if sign is None and _are_short(bodies):
        sign = "."
    if sign is None:  # the comma is ambiguous
        return bodies.mask(bodies.str.contains(",", regex=False), ""), "."
    thousands = "," if sign == "." else "."
    groups = _grouped(re.escape(thousands)) + (f"|{_INDIAN}" if thousands == "," else "")
    whole, fraction = rf"(?:\d+|{groups})?", rf"(?:{re.escape(sign)}\d*)?"
    fits = bodies.str.fullmatch(whole + fraction)
    plain = bodies.str.replace(thousands, "", regex=False).str.replace(sign, ".", regex=False)
    return plain.where(fits, ""), sign


def _are_short(bodies: pd.Series) -> bool:
    """Whether all whole numbers above 999 have a comma, and some are below: then it separates thousands."""
    whole = bodies[bodies.str.fullmatch(r"\d+")]
    rest = bodies[bodies.str.contains(r"[.,]")]
    return bool(
        len(whole) and (whole.str.len() <= 3).all() and rest.str.fullmatch(r"[1-9]\d{0,2},\d{3}").all()
    )


def _grouped(sign: str) -> str:
    return _GROUPED.replace("SIGN", sign)


def _proved(bodies: pd.Series) -> list[str]:
    """The decimal signs that bodies prove, most frequent first."""
    votes = Counter(sign for body in bodies if (sign := _proof(body)))
    return [sign for sign, _ in votes.most_common()]


def _proof(body: str) -> str | None:
    """The decimal sign that one body proves; None if it is ambiguous."""
    signs = [sign for sign in body if sign in ".,"]
    if not signs or _OPEN_QUESTION.fullmatch(body):
        return None
    other = "," if signs[-1] == "." else "."
    if len(signs) == 1 or len(set(signs)) == 2:
        return signs[-1]  # a fraction, with or without groups in front
    return other  # several groups of thousands
