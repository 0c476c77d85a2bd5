"""Whether the statements of `recommend` come true on held-out real tables, where everything is really run.

    python -m tests.benchmarks.left_out_tables FOLDER --results results.jsonl [--task regression]
        [--tables 40] [--plot FILE.svg]

FOLDER holds tables, and an index.csv with their names and targets. One table per family is used, and N of
these, evenly spaced by size. The recommendation for each ignores the runs on the table and its family. Its
three configurations and LightGBM's default are run like the starter's runs: with cross-validation on up to
4,000 rows; beyond that on a part of the rows, `--most-rows` at most, for which the recommendation is made,
and tested on others. Each configuration is also fitted once on all rows of the recommendation, to which the
stated time refers.

Tables are in random order, and finished ones are stored in the results file: the same command resumes after
being killed, and the results so far are a fair sample. Prints tables in Markdown, and draws how often stated
probabilities came true.

Notation
    n         tables, configurations or fits
    kept      share of the stated 80 % intervals that contain the value
    stated    mean probability that a configuration is better than LightGBM's default
    true      share of the configurations that are better; ties count half
    95 %      Wilson's interval of a share, with the number of tables as the number of observations: the three
              configurations on a table are not independent
"""

from __future__ import annotations

import argparse
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.target.strata import strata_of
from ingest.running.blocks import Split
from ingest.running.limits import run_limited
from ingest.running.plan import Plan, SplitRule, Tier
from metalearners.encoding.scores import oriented
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.target_kinds import REFERENCES, target_kind
from recommend.ranking.task import describe_task
from recommend.recommendation import Recommendation
from recommend.recommender import recommended
from recommend.reporting.terminal import in_words
from tests.benchmarks.held_out import TOP, TableFile, chosen_tables, tables_in
from tests.benchmarks.promises import PROBABILITIES, ROWS
from tests.benchmarks.real_fits import measures_and_time
from tests.benchmarks.report import markdown
from tests.benchmarks.task_kinds import KINDS, PLANS
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Positions
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import TaskName

PLAN = PLANS / "starter.toml"
FACTOR = 2.0
"""A stated time counts as right if it is too long or too short by at most this factor."""
SHORTEST = 0.1
"""Seconds; shorter times are printed, and counted, as this."""
MEMORY = 8 * 1024**3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--most-rows", type=int, default=8000, help="to learn from")
    parser.add_argument("--seconds", type=float, default=300.0, help="of processor time for a configuration")
    parser.add_argument("--plot", type=Path, help="draw what came true into this file")
    options = parser.parse_args()
    journal = Journal(options.results)
    records = list(journal.records())
    done = {record["table"] for record in records}
    warehouse = Warehouse.open(STARTER)
    of_family: dict[str, TableFile] = {}
    for file in tables_in(options.folder, warehouse):
        of_family.setdefault(file.family, file)
    for file in chosen_tables([*of_family.values()], options.tables):
        if file.name not in done:
            record = judged(warehouse, file, options.task, options.most_rows, options.seconds)
            journal.append(record)
            records.append(record)
            print(f"{len(records)}: {record['table']}", flush=True)
    report(records, options.plot)


def split_rules() -> Plan:
    """A plan with only the split rules of the starter's datasets, as it needs no folder of datasets."""
    return Plan([], {}, splits=[SplitRule(**rule) for rule in tomllib.loads(PLAN.read_text())["splits"]])


def judged(
    warehouse: Warehouse, file: TableFile, task_name: TaskName, most_rows: int, seconds: float
) -> dict[str, Any]:
    """Statements about one table, and how they came out."""
    warnings.simplefilter("ignore")
    table: dict[str, Any] = {"table": file.name}
    try:
        dataset = load_dataset(file.path, target=file.target, task=task_name, rare_classes="drop")
        strata = strata_of(dataset.target)
        resampling = split_rules().resampling(len(strata), Tier(train_rows=most_rows))
        repetitions = list(resampling.splits(strata, seed=0))
        rows = np.arange(len(strata)) if resampling.folds > 1 else repetitions[0][0][0]
        measure = target_kind(dataset).default_measure(warehouse)
        task = describe_task(dataset, warehouse=warehouse, measure=measure)  # finds copies of all rows
        known = gather(replace(task, dataset=dataset.take(rows)))
        found = recommended(known, find_candidates(known), TOP, explain=True)
    except BadInput as error:
        return table | {"refused": str(error)}
    run = partial(outcome, dataset, repetitions, rows, seconds)
    flow = get_flow(target_kind(dataset).defaults[0])
    return table | {
        "measure": found.measure,
        "rows": len(rows),
        "off": sum_error(found),
        "default": run(Configuration(flow.name, flow.default())),
        "printed": in_words(found, is_default_measure=True, details=True),
        "configurations": [
            {**stated, "came": run(item.configuration)}
            for stated, item in zip(found.document()["configurations"], found.configurations, strict=True)
        ],
    }


def sum_error(found: Recommendation) -> float:
    """Largest deviation of a prediction from the sum of contributions that explains it."""
    if found.explanation is None:
        return float("nan")
    return max(
        abs(parts.total + reasons.trials - reasons.predicted)
        for reasons in found.explanation.configurations
        for parts in (reasons.datasets, reasons.traits, reasons.hyperparameters)
        if parts is not None
    )


def outcome(
    dataset: Dataset,
    repetitions: Sequence[Sequence[Split]],
    rows: Positions,
    seconds: float,
    configuration: Configuration,
) -> dict[str, Any]:
    """The measures of a configuration and the time of a fit on `rows`, or the reason of a failure."""
    trial = run_limited(
        measures_and_time,
        dataset,
        repetitions,
        rows,
        configuration,
        seconds=4 * seconds,
        cpu_seconds=seconds,
        memory=MEMORY,
    )
    return trial.result or {"failed": trial.message}


def report(records: Sequence[Mapping[str, Any]], plot: Path | None) -> None:
    """Print and draw what came true."""
    for record in records:
        if "refused" in record:
            print(f"{record['table']}: {record['refused']}")
    usable = [record for record in records if "refused" not in record]
    if not usable:
        print("no table is usable")
        return
    found = pd.DataFrame(list(chain.from_iterable(map(compared, usable))))
    failed = int(found["value"].isna().sum())
    print(f"\n{len(usable)} tables, {len(found)} configurations, of which {failed} failed")
    print(f"largest difference between a sum of parts and its prediction: {found['off'].max():.1e}\n")
    run = found.dropna(subset="value")
    first = run[run["rank"] == 1]
    for title, part in (("first choices", first), ("all three", run)):
        by = {
            "all": pd.Series("all", index=part.index),
            "measure": part["measure"],
            "rows": pd.cut(part["rows"], ROWS).astype(str),
        }
        print(f"intervals of {title}\n")
        print(markdown(pd.concat([shares(part, of, ["kept"]) for of in by.values()])), end="\n\n")
        both = part.dropna(subset="true")
        print(f"better than the default, {title}\n")
        print(markdown(likely(both)), end="\n\n")
    timed = found.dropna(subset="timed")
    print(f"times of fits within a factor of {FACTOR:g}\n")
    by_length = pd.cut(timed["seconds"].fillna(np.inf), (0, 1, 10, np.inf)).astype(str)
    parts = [shares(timed, of, ["timed"]) for of in (pd.Series("all", index=timed.index), by_length)]
    print(markdown(pd.concat(parts)))
    if plot is not None:
        draw(run.dropna(subset="true"), plot)


def compared(record: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A row for each configuration of a table: its statements, and whether they came true."""
    measure = record["measure"]
    default = value_of(record["default"], measure)
    for item in record["configurations"]:
        promise, came = item["expectation"], item["came"]
        value = value_of(came, measure)
        better, worse = (float(part) for part in oriented(np.array([value, default]), measure))
        stated = item["fit_seconds"]
        took = came.get("seconds", np.nan)
        ratio = max(took, SHORTEST) / max(stated, SHORTEST) if stated is not None else np.nan
        is_default = item["algorithm"] in REFERENCES and value == default
        yield {
            "table": record["table"],
            "rank": item["rank"],
            "measure": measure,
            "rows": record["rows"],
            "off": record["off"],
            "value": value,
            "kept": promise["low"] <= value <= promise["high"],
            "stated": promise["beats_default"],
            "true": np.nan if np.isnan(better - worse) or is_default else (np.sign(better - worse) + 1) / 2,
            "seconds": took,
            "timed": np.nan if np.isnan(ratio) else 1 / FACTOR <= ratio <= FACTOR,
        }


def value_of(came: Mapping[str, Any], measure: str) -> float:
    """The value of a run; NaN if it failed."""
    return float(came["measures"][measure]) if "measures" in came else np.nan


def shares(found: pd.DataFrame, by: pd.Series, columns: list[str]) -> pd.DataFrame:
    """Means of columns of numbers from 0 to 1, and the interval of the last column."""
    rows = []
    for name, part in found.groupby(by.to_numpy(), sort=True):
        tables, mean = part["table"].nunique(), float(part[columns[-1]].mean())
        low, high = proportion_confint(mean * tables, tables, method="wilson")
        means = {column: f"{part[column].mean():.3f}" for column in columns}
        rows.append({"": name, "n": len(part), **means, "95 %": f"{low:.3f} to {high:.3f}"})
    return pd.DataFrame(rows)


def likely(found: pd.DataFrame) -> pd.DataFrame:
    """Stated probabilities and how often they came true, in total and by probability."""
    bins = pd.cut(found["stated"], PROBABILITIES).astype(str)
    by = (pd.Series("all", index=found.index), bins)
    return pd.concat([shares(found, of, ["stated", "true"]) for of in by])


def draw(found: pd.DataFrame, path: Path) -> None:
    """Draw how often configurations were better than the default against the stated probability."""
    from matplotlib.figure import Figure

    from metalearners.evaluation.figures import save_figure

    figure = Figure(figsize=(5, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="as stated")
    for _, part in found.groupby(pd.cut(found["stated"], PROBABILITIES), observed=True):
        tables, x, y = part["table"].nunique(), float(part["stated"].mean()), float(part["true"].mean())
        low, high = proportion_confint(y * tables, tables, method="wilson")
        axes.errorbar(x, y, [[max(y - low, 0)], [max(high - y, 0)]], fmt="o", color="#0072b2", capsize=3)
        axes.annotate(f"{len(part)}", (x, y), (6, -12), textcoords="offset points", fontsize=9)
    axes.set(
        xlabel="stated probability of being better than LightGBM's default",
        ylabel="share that was better",
        title=f"{len(found)} configurations on {found['table'].nunique()} tables left out",
        xlim=(0, 1.02),
        ylim=(0, 1.02),
    )
    axes.plot([], [], "o", color="#0072b2", label="observed, with its 95 % interval and number")
    axes.legend(loc="upper left", frameon=False)
    save_figure(figure, path)


if __name__ == "__main__":
    main()
