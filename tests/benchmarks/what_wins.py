"""What wins at which size, what defaults and known configurations are worth, and how ranks change with rows.

    python -m tests.benchmarks.what_wins [--warehouse DIR] [--measure NAME]

Reads the runs that a plan made (`ingest experiments --plan`), of the configurations that most datasets have,
and prints tables in Markdown.

Notation
    regret   (best - value) / (best - worst) of a dataset's runs at one tier, from 0 to 1, means over
             datasets; of several configurations that of the best of them
    tier     the rows that configurations are fitted on at most
    tau      Kendall's tau-b between the values of the configurations that both tiers have
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import pandas as pd
from scipy.stats import kendalltau

from ingest.keys import setup_of
from ingest.running.pool import read_pool
from metalearners.encoding.scores import oriented
from warehouse.measures import canonical_measure
from warehouse.store import Warehouse

POOL = Path(__file__).resolve().parents[2] / "ingest" / "plans" / "pool.json"
SIZES = (0, 1_000, 4_000, 20_000, float("inf"))
COMMON = 0.5
"""Share of the datasets that a configuration has to have been run on: else the rest would be compared."""
FEWEST = 5
"""Configurations of a flow that both tiers must have for their tau to count."""

RUNS = """
SELECT d.dataset, d.rows, f.algorithm, r.setup, e.value, regexp_extract(
    t.estimation_procedure, '^(?:[0-9]+x)?(?:cv[0-9]+|holdout)-([0-9]+)', 1) AS tier
FROM runs r JOIN tasks t USING (task) JOIN datasets d USING (dataset)
JOIN evaluations e USING (run) JOIN flows f ON f.flow = e.flow
WHERE e.measure = $measure AND r.outcome = 'success' AND tier <> ''
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warehouse")
    parser.add_argument("--measure", default="predictive_accuracy", type=canonical_measure)
    options = parser.parse_args()
    runs = Warehouse.open(options.warehouse).sql(RUNS, {"measure": options.measure})
    runs["value"] = oriented(runs["value"].to_numpy(), options.measure)
    runs["tier"] = runs["tier"].astype(int)
    first = common(runs[runs["tier"] == runs["tier"].min()])
    setups, datasets = first["setup"].nunique(), first["dataset"].nunique()
    print(f"{options.measure}: {setups} configurations on {datasets} datasets, {len(first):,} runs\n")
    first["regret"] = regrets(first)
    for table in (winners(first), of_sources(first), of_flows(first), changes(runs)):
        print(markdown(table), end="\n\n")


def common(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of configurations that most datasets have."""
    datasets_of = runs.groupby("setup")["dataset"].nunique()
    return runs[
        runs["setup"].isin(datasets_of.index[datasets_of >= COMMON * runs["dataset"].nunique()])
    ].copy()


def regrets(runs: pd.DataFrame) -> pd.Series:
    """Of each run within its dataset; 0 where all runs of it are equal."""
    groups = runs.groupby("dataset")["value"]
    best, worst = groups.transform("max"), groups.transform("min")
    return ((best - runs["value"]) / (best - worst)).fillna(0.0)


def winners(runs: pd.DataFrame) -> pd.DataFrame:
    """Share of the datasets of a size on which a flow has the best run; ties count in parts."""
    best = runs[runs["regret"] == 0].drop_duplicates(["dataset", "algorithm"])
    best = best.assign(share=1 / best.groupby("dataset")["algorithm"].transform("size"))
    labels = [f"rows to {high:,.0f}" for high in SIZES[1:-1]] + [f"over {SIZES[-2]:,.0f}"]
    size = pd.cut(best["rows"], SIZES, labels=labels)
    table = best.pivot_table("share", "algorithm", size, aggfunc="sum", observed=False)
    counts = table.sum()
    table = table / counts
    table.columns = [f"{name} ({counts[name]:.0f})" for name in table.columns]
    return table.assign(total=best.groupby("algorithm")["share"].sum() / counts.sum()).sort_values(
        "total", ascending=False
    )


def of_sources(runs: pd.DataFrame) -> pd.DataFrame:
    """Regret of what each source of configurations has for a flow: its best on each dataset."""
    source = {setup_of(member.configuration): whose(member.source) for member in read_pool(POOL)}
    known = runs.assign(source=runs["setup"].map(source)).dropna(subset="source")
    best = known.groupby(["source", "algorithm", "dataset"])["regret"].min()
    sizes = known.groupby(["source", "algorithm"])["setup"].nunique().rename("configurations")
    table = best.groupby(["source", "algorithm"]).mean().to_frame("regret of the best").join(sizes)
    return table[table.index.get_level_values("source") != "default"]


def of_flows(runs: pd.DataFrame) -> pd.DataFrame:
    """Regret of each flow's default, and of its best configuration on each dataset."""
    setups = {setup_of(member.configuration) for member in read_pool(POOL) if member.source == "default"}
    default = runs[runs["setup"].isin(setups)].groupby("algorithm")["regret"].mean()
    best = runs.groupby(["algorithm", "dataset"])["regret"].min().groupby("algorithm").mean()
    table = pd.DataFrame({"regret of the default": default, "regret of the best": best})
    return table.sort_values("regret of the default")


def whose(source: str) -> str:
    """The first words of a member's source."""
    return next(
        (name for name in ("AutoGluon", "FLAML", "auto-sklearn 2", "search") if name in source), source
    )


def changes(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean tau between one tier and the next, over datasets, within each flow and over all."""
    tiers = sorted(runs["tier"].unique())
    rows = []
    for low, high in pairwise(tiers):
        both = runs[runs["tier"] == low].merge(
            runs[runs["tier"] == high], on=["dataset", "setup", "algorithm"]
        )
        for name, part in [("all", both), *both.groupby("algorithm")]:
            taus = [
                kendalltau(own["value_x"], own["value_y"]).statistic
                for _, own in part.groupby("dataset")
                if len(own) >= FEWEST
            ]
            if taus:
                rows.append(
                    {
                        "tiers": f"{low} and {high}",
                        "flow": name,
                        "tau": pd.Series(taus).mean(),
                        "datasets": len(taus),
                    }
                )
    return pd.DataFrame(rows)


def markdown(table: pd.DataFrame) -> str:
    """The table as Markdown, three digits."""
    if table.empty:
        return "(no runs on several tiers yet)"
    flat = table.reset_index() if table.index.name or table.index.names[0] else table
    rows = [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in flat.to_numpy(object)
    ]
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
