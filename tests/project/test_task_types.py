"""Classification is reached through its task type: few modules refer to classes."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLASSES = re.compile(
    r"(?:^|_)(?:n_classes|classes|class_(?!name$)\w+|(?:of|by)_class|majority|minority|predict_proba|probabilities|"
    r"classifier|imbalanced?)(?:_|$)",
    re.IGNORECASE,
)
"""Names of a target's classes, and of functions of classifiers."""
MOST = 42
"""Modules that may use them: readers of targets, flows, meta-features and strategies of classification."""


def identifiers(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for attribute in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, attribute, None), str):
                names.add(name)
    return names


def test_few_modules_refer_to_classes() -> None:
    """A second task type adds entries and strategies, but no condition on the main path."""
    paths = [
        path
        for top in ("warehouse", "ingest", "metalearners", "recommend")
        for path in (ROOT / top).rglob("*.py")
    ]
    naming = [path for path in paths if any(map(CLASSES.search, identifiers(path)))]
    assert len(naming) <= MOST, [str(path.relative_to(ROOT)) for path in naming]


def test_the_paths_of_recommendations_and_fits_do_not_refer_to_classes() -> None:
    paths = [
        *(ROOT / "recommend").glob("rec*.py"),
        ROOT / "recommend" / "verification.py",
        *(ROOT / "recommend" / "bo").rglob("*.py"),
        *(ROOT / "metalearners").glob("*.py"),
        *(
            ROOT / "ingest" / "running" / f"{name}.py"
            for name in ("evaluation", "resampling", "splitting", "blocks")
        ),
        *(
            ROOT / "recommend" / "ranking" / f"{name}.py"
            for name in ("task", "knowledge", "candidates", "choice")
        ),
    ]
    naming = {
        str(path.relative_to(ROOT)): found
        for path in paths
        if (found := sorted(filter(CLASSES.search, identifiers(path))))
    }
    assert naming == {"metalearners/fit_times.py": ["classes"]}  # a dataset size for timing fits
