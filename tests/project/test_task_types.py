"""Classification is reached through its task type: few modules know of classes."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLASSES = re.compile(
    r"(?:^|_)(?:n_classes|classes|class_(?!name$)\w+|(?:of|by)_class|majority|minority|predict_proba|probabilities|"
    r"classifier|imbalanced?)(?:_|$)",
    re.IGNORECASE,
)
"""Names of classes of a target, and of what only classifiers do."""
MOST = 42
"""Modules that may name them: readers of targets, flows, meta-features and strategies of classification."""


def identifiers(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for attribute in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, attribute, None), str):
                names.add(name)
    return names


def test_few_modules_name_classes() -> None:
    """A second task type adds entries and strategies, and no condition to the main path."""
    paths = [
        path
        for top in ("warehouse", "ingest", "metalearners", "recommend")
        for path in (ROOT / top).rglob("*.py")
    ]
    naming = [path for path in paths if any(map(CLASSES.search, identifiers(path)))]
    assert len(naming) <= MOST, [str(path.relative_to(ROOT)) for path in naming]


def test_the_path_of_a_recommendation_and_of_a_fit_does_not_name_them() -> None:
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
    assert naming == {
        "metalearners/fit_times.py": ["classes"]
    }  # a size of the datasets that fits are timed on
