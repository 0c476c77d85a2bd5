"""Parse hyperparameter values written by Python, R and Weka."""

import re
from collections.abc import Mapping

from warehouse.vocabulary.parameters import Value

_WORDS: Mapping[str, Value] = {
    "None": None, "null": None, "NULL": None, "NA": None,
    "True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False,
    "nan": "NaN", "inf": "Infinity", "Inf": "Infinity", "-inf": "-Infinity", "-Inf": "-Infinity",
}  # fmt: skip
_INTEGER = re.compile(r"([+-]?[0-9]{1,300})L?")
_NUMBER = re.compile(r"[+-]?([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)([eE][+-]?[0-9]++)?")
_QUOTED = re.compile(r'"([^"\\]*)"')
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Address in Python's text of a function; it differs in each process."""


def typed(text: str) -> Value:
    """Convert text to a hyperparameter value.

    `None` and `True` are Python's, `NULL`, `TRUE` and `1L` R's, and the quotes of `"rbf"` those of OpenML's
    Python client; infinite numbers, which JSON lacks, become texts. Anything else stays text, but for the
    address of a function.

    >>> [typed(text) for text in ("None", "true", "5", "5.0", "1e-3", "1L", "log2", '"log2"', "Inf")]
    [None, True, 5, 5.0, 0.001, 1, 'log2', 'log2', 'Infinity']
    >>> typed("<function f_classif at 0x7f6d40>")
    '<function f_classif>'
    """
    if text in _WORDS:
        return _WORDS[text]
    if whole := _INTEGER.fullmatch(text):
        return int(whole[1])
    if _NUMBER.fullmatch(text):
        return float(text)
    return between[1] if (between := _QUOTED.fullmatch(text)) else _ADDRESS.sub("", text)
