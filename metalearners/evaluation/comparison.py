"""Comparison of evaluated learners, with significance tests.

Notation
    results   (datasets, learners) one figure per left-out dataset
    rank      of a learner on a dataset, 1 = best; ties get their mean rank
    p         Wilcoxon's signed-rank test between two learners over datasets, Holm-corrected for the number
              of pairs; Friedman's test over all learners (Demsar 2006)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from metalearners.evaluation.figures import save_figure
from metalearners.evaluation.protocol import TOPS, Interval, interval
from warehouse.support.errors import BadOption, TooFewRuns, UnknownName, UnreadableInput
from warehouse.support.extras import needed_for
from warehouse.support.files import read_json
from warehouse.support.text import counted

FIGURES = ("tau", "error", *(f"regret{top}" for top in TOPS))
"""Figures by which learners can be compared."""
ALPHA = 0.05  # by convention


@dataclass(frozen=True)
class Comparison:
    """Learners, best mean rank first."""

    learners: tuple[str, ...]
    means: dict[str, Interval]
    ranks: dict[str, float]
    """Mean over datasets."""
    friedman: float | None
    """p of Friedman's test; None with fewer than three learners."""
    pairs: dict[str, dict[str, float]]
    """Corrected p by pair of learners; 1 for a learner with itself."""
    datasets: int

    def document(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return {
            "datasets": self.datasets,
            "learners": [
                {"learner": name, **self.means[name].document(), "rank": self.ranks[name]}
                for name in self.learners
            ],
            "friedman": self.friedman,
            "wilcoxon_holm": {
                name: {other: p for other, p in self.pairs[name].items() if other != name}
                for name in self.learners
            },
        }

    def table(self, figure: str) -> str:
        """The comparison as text."""
        width = max(map(len, self.learners))
        best = self.learners[0]
        lines = [
            f"{figure} on {counted(self.datasets, 'datasets')}; p against {best}: Wilcoxon's signed-rank"
            " test, Holm",
            f"{'':<{width}}    mean   95 % interval      rank       p",
        ]
        for name in self.learners:
            mean = self.means[name]
            p = "" if name == best else f"{self.pairs[best][name]:.2g}"
            lines.append(
                f"{name:<{width}}  {mean.mean:>6.3f}   {mean.low:.3f} to {mean.high:.3f}"
                f"  {self.ranks[name]:>8.2f}  {p:>6}"
            )
        if self.friedman is not None:
            lines.append(f"Friedman's test over all: p = {self.friedman:.2g}")
        return "\n".join(lines)


def read_evaluations(files: Sequence[Path], figure: str) -> pd.DataFrame:
    """Results by dataset (rows) and learner (columns), from files written by `metalearners evaluate`.

    Evaluations of the same learner are named by their files.

    Raises:
        BadInput: a file is missing or not an evaluation, the evaluations are of different runs, or `figure`
            is unknown.
    """
    if figure not in FIGURES:
        raise UnknownName(f"can't compare by {figure!r}; known are {', '.join(FIGURES)}")
    if len(files) < 2:
        raise TooFewRuns("a comparison needs two evaluations or more")
    documents = [_read(file) for file in files]
    if figure == "error" and len({one.get("error_in") for one in documents} - {None}) != 1:
        raise BadOption("errors of values and errors of scores can't be compared")
    asked = [(one["flow"], one["measure"], one["warehouse"]["fingerprint"]) for one in documents]
    if len(set(asked)) > 1:
        raise BadOption(
            "the evaluations differ in flow, measure or warehouse; compare evaluations of the same runs"
        )
    names = [one["learner"] for one in documents]
    if len(set(names)) < len(names):
        names = [file.stem for file in files]
    columns = {
        name: {one["dataset"]: _figure(one, figure) for one in document["per_dataset"]}
        for name, document in zip(names, documents, strict=True)
    }
    results = pd.DataFrame(columns)
    if results.isna().any(axis=None):
        raise BadOption("the evaluations left out different datasets")
    return results


def compare_evaluations(results: pd.DataFrame, *, larger_is_better: bool) -> Comparison:
    """Ranks, intervals and tests of `results`, (datasets, learners).

    Raises:
        MissingPackage: the extra `compare` is not installed.
    """
    from scipy.stats import friedmanchisquare, wilcoxon

    with needed_for("comparing", "compare"):
        from statsmodels.stats.multitest import multipletests
    ranks = results.rank(axis=1, ascending=not larger_is_better).mean().sort_values()
    learners = tuple(str(name) for name in ranks.index)
    pairs = list(combinations(learners, 2))
    p = [
        1.0 if (results[a] == results[b]).all() else float(wilcoxon(results[a], results[b]).pvalue)
        for a, b in pairs
    ]
    corrected = multipletests(p, method="holm")[1]
    friedman = None
    if len(learners) > 2:
        are_equal = results.eq(results.iloc[:, 0], axis=0).all(axis=None)
        friedman = 1.0 if are_equal else float(friedmanchisquare(*results.to_numpy().T).pvalue)
    matrix = {name: dict.fromkeys(learners, 1.0) for name in learners}
    for (a, b), value in zip(pairs, corrected.tolist(), strict=True):
        matrix[a][b] = matrix[b][a] = value
    return Comparison(
        learners=learners,
        means={name: interval(results[name].tolist()) for name in learners},
        ranks={name: float(ranks[name]) for name in learners},
        friedman=friedman,
        pairs=matrix,
        datasets=len(results),
    )


def draw_ranks(comparison: Comparison, path: Path, title: str) -> None:
    """Draw the critical-difference diagram: mean ranks, and bars over indistinguishable learners.

    Raises:
        BadInput: the extra `compare` is not installed, or the file can't be written.
    """
    with needed_for("drawing", "compare"):
        import matplotlib as mpl
        from scikit_posthocs import critical_difference_diagram
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 10}):
        figure = Figure(figsize=(8, 1 + 0.3 * len(comparison.learners)), layout="constrained")
        axes = figure.add_subplot()
        critical_difference_diagram(comparison.ranks, pd.DataFrame(comparison.pairs), ax=axes, alpha=ALPHA)
        axes.set_title(f"mean rank by {title}, {counted(comparison.datasets, 'datasets')}")
    save_figure(figure, path)


def _read(file: Path) -> dict[str, Any]:
    document = read_json(file)
    if not isinstance(document, dict) or not {"learner", "per_dataset", "warehouse"} <= set(document):
        raise UnreadableInput(f"{file}: not an evaluation that `metalearners evaluate --output` wrote")
    return document


def _figure(record: dict[str, Any], figure: str) -> float:
    if figure.startswith("regret"):
        return float(record["regret"][figure.removeprefix("regret")])
    return float(record[figure])
