"""Tables that benchmarks print, and the regret of runs."""

import pandas as pd


def regrets(runs: pd.DataFrame) -> pd.Series:
    """Of each run within its dataset; 0 where all runs of it are equal."""
    groups = runs.groupby("dataset")["value"]
    best, worst = groups.transform("max"), groups.transform("min")
    return ((best - runs["value"]) / (best - worst)).fillna(0.0)


def markdown(table: pd.DataFrame) -> str:
    """The table as Markdown, three digits."""
    flat = table.reset_index() if table.index.name or table.index.names[0] else table
    rows = [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in flat.to_numpy(object)
    ]
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
