"""A script that cross-validates, fits, saves and predicts with a configuration or an average of several.

It does not import our packages.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import pandas as pd

from ingest.flows import get_flow
from ingest.flows.preprocessing import MOST, TINY, category_columns
from ingest.reading.datasets import Dataset
from recommend.code import snippets
from recommend.code.fitting import Fitting, find_ensemble, find_fitting
from recommend.code.reading import ColumnReading, find_reading
from recommend.code.splitting import Splitting, find_splitting
from recommend.code.syntax import WIDTH, Raw, assigned, plain, written
from recommend.code.targets import target_code
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration

_FEW_WORDS = 5
"""Longest list whose words are written one by one."""
_MODULES = {
    "argparse": "import argparse",
    "csv": "import csv",
    "gzip": "import gzip",
    "io": "import io",
    "joblib": "import joblib",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "warnings": "import warnings",
}
_FROM_MODULES = {
    "CalibratedClassifierCV": "sklearn.calibration",
    "ColumnTransformer": "sklearn.compose",
    "FrozenEstimator": "sklearn.frozen",
    "SelectKBest": "sklearn.feature_selection",
    "StratifiedGroupKFold": "sklearn.model_selection",
    "StratifiedKFold": "sklearn.model_selection",
    "TimeSeriesSplit": "sklearn.model_selection",
    "TransformedTargetRegressor": "sklearn.compose",
    "VotingClassifier": "sklearn.ensemble",
    "VotingRegressor": "sklearn.ensemble",
    "compute_sample_weight": "sklearn.utils.class_weight",
    "get_scorer": "sklearn.metrics",
    "methodcaller": "operator",
    **{
        name.name: str(node.module)
        for node in ast.parse(inspect.getsource(snippets)).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    },
}
"""Name that any script may use, including functions of `snippets` -> its module."""


@dataclass(frozen=True)
class Origin:
    """Origin of a script's configuration, for its docstring."""

    choice: str
    """How it was chosen, a sentence."""
    expected: str
    """Its expected value, a sentence."""
    measure: str
    """Measure of the cross-validation."""


def script(
    members: Mapping[Configuration, float],
    dataset: Dataset,
    origin: Origin,
    *,
    seed: int = 0,
    frame: pd.DataFrame | None = None,
) -> str:
    """Python source for a configuration, or the weighted average of several, on a dataset's columns.

    It needs pandas, scikit-learn and the libraries of the flows. Fitted on the dataset's file it predicts the
    same as the flows' own pipelines with the same seed; a classifier without probabilities is calibrated.

    Args:
        members: configuration of a flow that Headstart builds -> its weight; one or more.
        frame: see `find_reading`.

    Raises:
        BadInput: pandas alone can't read the file as it was read here, Headstart doesn't build a flow, or a
            classifier of an average gives no probabilities.
    """
    if len(members) > 1:
        fitting = find_ensemble(members, dataset, seed=seed)
    else:
        fitting = find_fitting(next(iter(members)), dataset, seed=seed)
    reading, splitting = find_reading(dataset, frame), find_splitting(dataset)
    own = "\n\n".join(
        [
            _read(reading),
            _OPENED,
            _features(reading),
            *fit_functions(fitting),
            splitting.function(),
            _predict(fitting),
            _main(reading, fitting, splitting),
            'if __name__ == "__main__":\n    main()\n',
        ]
    )
    helpers = _helpers(own)
    constants = _constants(reading, fitting, splitting, origin, seed, _names(own + "".join(helpers)))
    body = "\n\n".join([constants, *helpers, own])
    head = _head([*members], dataset, reading, fitting, origin)
    return f"{head}\n{_imports(body, fitting)}\n{body}"


# ---- head ----------------------------------------------------------------------------------------


def _head(
    configurations: Sequence[Configuration],
    dataset: Dataset,
    reading: ColumnReading,
    fitting: Fitting,
    origin: Origin,
) -> str:
    flows = [get_flow(one.algorithm) for one in configurations]
    members = Counter(flow.title for flow in flows)
    listed = ", ".join(f"{number} of {title}" for title, number in members.items())
    what = flows[0].title if len(flows) == 1 else f"The average of {len(flows)} configurations ({listed})"
    target = plain(str(dataset.target.name))
    file = plain(Path(dataset.source).name) or plain(dataset.name)
    modules = dict.fromkeys(fitting.imports.values())
    libraries = [name for name in modules if name in ("lightgbm", "xgboost", "catboost")]
    packages = ["pandas", "scikit-learn", *libraries]
    title = f"{what}, to predict {target!r} of {plain(dataset.name)!r}."
    facts = (
        f"{file}: {counted(len(dataset.features), 'rows')}, "
        f"{counted(dataset.features.shape[1], 'features')}, "
        f"{target_code(dataset).size(dataset)}. {plain(reading.table.remark)}"
    )
    needs = f"Needs {', '.join(packages[:-1])} and {packages[-1]}; nothing else."
    usage = textwrap.dedent(
        """
        Cross-validate; fit on all rows and save; fit on all rows and predict others:

            python SCRIPT.py DATA
            python SCRIPT.py DATA --save model.joblib
            python SCRIPT.py DATA --predict NEW --output predictions.csv
        """
    )
    saved = "A saved model (joblib.load) takes the result of features(read(FILE))"
    saved += ", and predicts positions in CLASSES." if fitting.labels_as_numbers else "."
    paragraphs = [
        _wrapped(title),
        "\n".join(map(_wrapped, (facts, plain(origin.choice), plain(origin.expected)))),
        _wrapped(needs) + "\n" + usage.rstrip(),
        _wrapped(saved),
    ]
    return '"""' + "\n\n".join(paragraphs) + '\n"""\n'


def _wrapped(text: str) -> str:
    width = WIDTH - len('"""')  # of the docstring that the first line of the head stands behind
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def imported_names(source: str, fitting: Fitting) -> dict[str, str]:
    """The classes and functions that `source` uses -> the module that each is imported from."""
    used = _names(source)
    return {name: module for name, module in (_FROM_MODULES | fitting.imports).items() if name in used}


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _helpers(own: str) -> list[str]:
    """Source of the functions of `snippets` that `own` needs, in their order there."""
    sources = {
        name: inspect.getsource(function)
        for name, function in vars(snippets).items()
        if inspect.isfunction(function) and function.__module__ == snippets.__name__
    }
    needed: set[str] = set()
    found = _names(own) & sources.keys()
    while found - needed:
        needed |= found
        found = {name for one in needed for name in _names(sources[one])} & sources.keys()
    return [source for name, source in sources.items() if name in needed]


def _imports(body: str, fitting: Fitting) -> str:
    names = _names(body)
    plain_imports = {name: line for name, line in _MODULES.items() if name in names}
    by_module: dict[str, list[str]] = {}
    for name, module in sorted(imported_names(body, fitting).items()):
        by_module.setdefault(module, []).append(name)
    sections = []
    for is_standard in (True, False):
        lines = [
            line
            for line in plain_imports.values()
            if (line.split()[1] in sys.stdlib_module_names) == is_standard
        ]
        lines += [
            _import(module, own)
            for module, own in sorted(by_module.items())
            if (module.partition(".")[0] in sys.stdlib_module_names) == is_standard
        ]
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


# ---- constants -----------------------------------------------------------------------------------


def _constants(
    reading: ColumnReading, fitting: Fitting, splitting: Splitting, origin: Origin, seed: int, names: set[str]
) -> str:
    """Source of the constants among these names."""
    usual = reading.missing == snippets.MISSING
    more = [mark for mark in snippets.NO_NUMBER if not usual or mark not in snippets.MISSING]
    dataset = fitting.dataset
    code = target_code(dataset)
    categorical: object = category_columns(dataset.roles)
    if fitting.few and fitting.many and not fitting.members:  # their order may differ
        categorical = Raw("FEW_CATEGORIES + MANY_CATEGORIES")
    groups = [name for name in ("NUMERIC", "CATEGORICAL", "TEXT", "DATES") if name in names]
    values: dict[str, object] = {
        "TARGET": str(dataset.target.name),
        **code.constants(dataset),
        "NUMERIC": reading.numeric,
        "DECIMAL_COMMAS": reading.commas,
        "DECORATED": reading.decorated,
        "CLOCK_TIMES": reading.times,
        "FEW_CATEGORIES": fitting.few,
        "MANY_CATEGORIES": fitting.many,
        "CATEGORICAL": categorical,
        "CODED": reading.coded,
        "TRUTHS": reading.truths,
        "TEXT": reading.text,
        "DATES": reading.dates,
        "COLUMNS": Raw(f"[{', '.join(f'*{name}' for name in groups)}]"),
        "POWERS": snippets.POWERS,
        "FALSE": snippets.FALSE,
        "TRUE": snippets.TRUE,
        "PARTS": snippets.PARTS,
        "DATE_PARTS": Raw('[f"{name}: {part}" for name in DATES for part in PARTS]'),
        "MOST": Raw(f"2.0**{log2(MOST):.0f}"),
        "TINY": TINY,
        "MISSING": _listed(reading.missing),
        "NO_NUMBER": _listed(more, Raw("*MISSING")) if usual else _listed(more),
        **splitting.constants,
        "SCORER": code.scorer(origin.measure, fitting, splitting.fewest),
        "FOLDS": splitting.folds,
        "SEED": seed,
    }
    if "CATEGORICAL" in names and isinstance(categorical, Raw):
        names = names | {"FEW_CATEGORIES", "MANY_CATEGORIES"}
    if "NO_NUMBER" in names and usual:
        names = names | {"MISSING"}
    return "".join(
        _REMARKS.get(name, "") + assigned(name, value) for name, value in values.items() if name in names
    )


def _listed(words: Sequence[str], *first: Raw) -> object:
    """A list of words, after `first`; many words are written as one text, preceded by an empty word if there
    is one."""
    if len(words) <= _FEW_WORDS:
        return [*first, *words]
    text = textwrap.fill(" ".join(filter(None, words)), WIDTH, break_long_words=False, break_on_hyphens=False)
    head = "".join(f"    {written(one)},\n" for one in (*first, *([""] if "" in words else [])))
    return Raw(f'[\n{head}    *r"""\n{text}\n""".split(),\n]')


_REMARKS = {
    "DECIMAL_COMMAS": "# Numbers with decimal commas.\n",
    "DECORATED": "# Numbers with a currency, a unit, a limit, or commas between thousands.\n",
    "CLOCK_TIMES": "# Times of day, or durations.\n",
    "FEW_CATEGORIES": "# One-hot encoded.\n",
    "MANY_CATEGORIES": "# Target-encoded: each category becomes the mean of each class.\n",
    "CODED": "# Categories written as numbers.\n",
    "TRUTHS": "# Their words for false and true.\n",
    "MOST": "# Numbers are clipped to this magnitude.\n",
    "TINY": "# Rounds far smaller differences away, so that scaling does not divide by them.\n",
    "POWERS": "# Suffixes that multiply.\n",
    "MISSING": "# Markers of missing values, case-insensitive.\n",
    "TIME": "# Folds are tested on later values of it than they are fitted on.\n",
    "GROUP": "# Rows with the same value stay in one fold.\n",
    "SCORER": "# See sklearn.metrics.get_scorer_names().\n",
}
"""Constant -> the comment above it."""


# ---- functions -----------------------------------------------------------------------------------


def _read(reading: ColumnReading) -> str:
    table = reading.table
    call = written(table.call, before="return ", after=table.then, indent="    ")
    return (
        "def read(path: str) -> pd.DataFrame:\n"
        '    """The table in a file, every cell as text."""\n'
        f"    {call}\n"
    )


_OPENED = '''def opened(
    path: str, names: list[str], parser: argparse.ArgumentParser
) -> pd.DataFrame:
    """The table in a file; exits with a message if it can't be used."""
    try:
        table = read(path)
    except (OSError, EOFError, ValueError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        parser.exit(2, f"{path}: {reason}\\n")
    lacking = [name for name in names if name not in table]
    if lacking:
        parser.exit(2, f"{path}: no column {', '.join(map(repr, lacking))}\\n")
    return table
'''


def _features(reading: ColumnReading) -> str:
    lines = []
    if reading.numeric:
        lines.append("for name in NUMERIC:")
        lines.append("    cells = table[name]")
        for names, constant, change in (
            (reading.commas, "DECIMAL_COMMAS", "with_points"),
            (reading.decorated, "DECORATED", "undecorated"),
            (reading.times, "CLOCK_TIMES", "clock"),
        ):
            if names:
                lines.append(f"    cells = {change}(cells) if name in {constant} else cells")
        lines.append("    columns[name] = numbers(cells).clip(-MOST, MOST) + TINY - TINY")
    if reading.categorical or reading.coded:
        lines.append("for name in CATEGORICAL:")
        labels = "words"
        if reading.coded:
            lines.append("    labels = number_words if name in CODED else words")
            labels = "labels"
        lines.append(f'    columns[name] = {labels}(table[name]).fillna("missing").astype(object)')
    if reading.truths:
        lines.append("for name, (false, true) in TRUTHS.items():")
        lines.append("    columns[name] = truths(columns[name], false, true)")
    if reading.text:
        lines.append("for name in TEXT:")
        lines.append('    columns[name] = words(table[name]).fillna("missing")')
    if reading.dates:
        lines.append("for name, form in DATES.items():")
        lines.append("    columns |= date_parts(name, dates(table[name], form))")
    return (
        "def features(table: pd.DataFrame) -> pd.DataFrame:\n"
        '    """The input columns of the model; all others are left out."""\n'
        "    columns = {}\n"
        + "".join(f"    {line}\n" for line in lines)
        + "    return pd.DataFrame(columns)\n"
    )


def fit_functions(fitting: Fitting) -> list[str]:
    """Source of the function `fit`, after those of the members of an ensemble."""
    says = "The pipeline, fitted on these rows."
    if fitting.members:
        averaged = target_code(fitting.dataset).averaged
        says = f"The average of the members' {averaged}, each fitted on these rows."
    members = [
        _fit_function(f"fit_{name}", member, f"Member {name!r} of the average, fitted on these rows.")
        for name, member in fitting.members.items()
    ]
    return [*members, _fit_function("fit", fitting, says)]


def _fit_function(name: str, fitting: Fitting, says: str) -> str:
    return (
        f"def {name}(X: pd.DataFrame, y: np.ndarray) -> {fitting.returns}:\n"
        f'    """{says}"""\n' + "\n".join(fitting.lines) + "\n"
    )


def _predict(fitting: Fitting) -> str:
    says, lines = target_code(fitting.dataset).predicted(fitting)
    return (
        f"def predict(model: {fitting.returns}, X: pd.DataFrame) -> pd.DataFrame:\n"
        f'    """{says}"""\n' + "".join(f"    {line}\n" for line in lines) + "    return table\n"
    )


def _main(reading: ColumnReading, fitting: Fitting, splitting: Splitting) -> str:
    code, target = target_code(fitting.dataset), "table[TARGET]"
    for function in reading.target:
        target = f"{function}({target})"
    return f"""def main() -> None:
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("data", help="file to learn from")
    add("--save", metavar="MODEL", help="write the fitted model to this file")
    add("--predict", metavar="NEW", help="predict the rows of this file")
    add("--output", default="predictions.csv", help="where to write them")
    options = parser.parse_args()

    table = opened(options.data, [*COLUMNS, TARGET], parser)
    {code.cells} = {target}
    known = {code.cells}.notna()
    X, y = features(table[known]), {code.outcomes(fitting)}
    if not (options.save or options.predict):
        scores = {splitting.call}
        spread = f"± {{np.std(scores):{code.precision}}} over {{FOLDS}} folds"
        print(f"{{SCORER}}: {{np.mean(scores):{code.precision}}} {{spread}}")
        return
    model = fit(X, y)
    if options.save:
        # Loading such a file runs code: load none that others may have changed.
        joblib.dump(model, options.save)
        print(f"{{options.save}}: the model, for joblib.load")
    if options.predict:
        new = features(opened(options.predict, COLUMNS, parser))
        predictions = predict(model, new)
        predictions.to_csv(options.output, index=False)
        print(f"{{options.output}}: {{len(predictions):,}} predictions")
"""
