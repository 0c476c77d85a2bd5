"""Tables printed by benchmarks, paired comparisons, and the regret of runs."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests


class Comparison(NamedTuple):
    """Two contenders on the same tables."""

    won: str
    """Tables on which the first was better - on which it was worse, and its share of both."""
    p: float
    """Wilcoxon's signed-rank test, two-sided; NaN if they are equal on all tables."""


def comparison(gain: pd.Series) -> Comparison:
    """Compare two contenders by the gain of one over the other on each table; NaN = not compared there."""
    gain = gain.dropna()
    won, lost = int((gain > 0).sum()), int((gain < 0).sum())
    p = float(wilcoxon(gain).pvalue) if won + lost else np.nan
    return Comparison(f"{won} - {lost} ({won / max(won + lost, 1):.0%})", p)


def holm(values: Iterable[float]) -> list[str]:
    """Holm-corrected p values, as text; NaN is not a test, and gives an empty text."""
    p = np.array([*values], dtype=np.float64)
    tested = ~np.isnan(p)
    if tested.any():
        p[tested] = multipletests(p[tested], method="holm")[1]
    return ["" if np.isnan(value) else f"{value:.2g}" for value in p]


def regrets(runs: pd.DataFrame) -> pd.Series:
    """Regret of each run within its dataset; 0 if all its runs are equal."""
    groups = runs.groupby("dataset")["value"]
    best, worst = groups.transform("max"), groups.transform("min")
    return ((best - runs["value"]) / (best - worst)).fillna(0.0)


def markdown(table: pd.DataFrame) -> str:
    """The table in Markdown, with three digits."""
    flat = table.reset_index() if table.index.name or table.index.names[0] else table
    rows = [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in flat.to_numpy(object)
    ]
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
