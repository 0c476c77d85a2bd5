"""The report of `real_tables` from its records, one per split of a table.

    task, table, split, rows   task type, table, number of the split, training size
    skewness                   of the target
    fits                       measures of candidates by key, see `real_tables.Fits`
    defaults                   key of the default of each flow
    several                    keys of the candidates of each peer, the first of which is also evaluated
                               alone; empty if only single configurations were fitted
    recommended                by measure: keys `ours`, `portfolio` and `untransformed`, statements about ours
                               in `stated`, and measures `averaged`
    published                  RMSE in CTR23 by learner; None if not compared

Contenders are compared table by table, by the mean over splits of the unitless measure that is learned in
place of the requested one and orders contenders the same way, on the scale of its link
(`metalearners.encoding.links`).

Notation
    mean rank        of the contenders of a table, 1 = best; ties get their mean rank
    below LightGBM   median percent by which the error (1 minus the value, for measures where more is better)
                     is below that of default LightGBM
    won              tables on which ours is better - on which it is worse, and its share of both
    p                Wilcoxon's signed-rank test, two-sided, Holm over all tests of a measure
    kept             share of the stated 80 % intervals that contain the value; the same for RRSE and R2
    stated           mean probability of being better than default LightGBM
    true             share of tables on which it is better, on the mean over splits; ties count half
    below none       median percent by which the error is below that of the same configuration without a
                     transformation of the target
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metalearners.encoding.links import LINKS
from metalearners.encoding.scores import oriented
from recommend.ranking.averaging import SHARES
from tests.benchmarks.report import comparison, holm, markdown
from tests.benchmarks.task_kinds import TaskKind
from warehouse.support.arrays import Floats
from warehouse.support.text import counted
from warehouse.vocabulary.measures import MAE, MEASURES, RMSE, larger_is_better

SKEWED = 2.0
"""Absolute skewness of a target above which the benefit of its transformation is evaluated."""
FIRST, AVERAGED, OURS = "first", "averaged", "ours"
MEMBER, MEMBERS = "member ", "members"
REFERENCE = "default lightgbm"
P = {f"p of {one}" for one in (FIRST, AVERAGED, OURS)}
"""Columns of p values."""
PEERS = ("xgboost", "ranger")
"""Learners of CTR23: XGBoost with 500 trials, and a random forest with its defaults."""

Record = Mapping[str, Any]
Values = Mapping[str, Mapping[str, float]]
"""Measures on the held-out rows by contender."""


def report(records: Sequence[Record], kind: TaskKind, measures: Sequence[str]) -> None:
    """Print a comparison of the contenders for each measure of the recommendations."""
    usable = [record for record in records if "fits" in record]
    for record in records:
        if "refused" in record:
            print(f"{record['table']}: {record['refused']}")
    for table, candidate, reason in failures(usable):
        print(f"{table}: {reason} ({candidate[:60]})")
    if not usable:
        print("no table is usable")
        return
    for measure in measures:
        print(f"\n## {measure}: {extent(usable)}")
        for title, rows in sections(usable, kind, measure).items():
            if rows:
                print(f"\n{title}\n\n{markdown(pd.DataFrame(rows))}")


def sections(records: Sequence[Record], kind: TaskKind, measure: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of each table of the report by title; empty if there is nothing to report."""
    learned = kind.task_type.learned_measure(measure)
    one = by_table([alone(record, measure) for record in records], records, learned)
    reference = one[REFERENCE]
    compared = {
        "alone": [*versus(one.drop(columns=MEMBERS), (FIRST, AVERAGED), reference, learned)],
        "the best of three on validation rows": [],
        f"the average over its members, on the link of {learned}": [gain_of_average(one)],
    }
    if all(record["several"] for record in records):
        best = by_table([best_of_three(record, measure) for record in records], records, learned)
        compared["the best of three on validation rows"] = [*versus(best, (OURS,), reference, learned)]
    tests = [(row, column) for rows in compared.values() for row in rows for column in row if column in P]
    for (row, column), p in zip(tests, holm(row[column] for row, column in tests), strict=True):
        row[column] = p
    return {
        **compared,
        f"stated and true, by {learned}": [*stated(records, measure, learned)],
        f"targets with an absolute skewness over {SKEWED:g}": [*transformations(records, measure)],
        "RMSE over that of CTR23's learners": [*published(records, measure)],
    }


def extent(records: Sequence[Record]) -> str:
    tables = {record["table"] for record in records}
    rows = [record["rows"] for record in records]
    sizes = f"{min(rows):,} to {max(rows):,} rows to learn from"
    return f"{counted(len(tables), 'tables')}, {counted(len(records), 'splits')}, {sizes}"


def failures(records: Sequence[Record]) -> Iterator[tuple[str, str, str]]:
    """Table, candidate and reason."""
    for record in records:
        for key, fit in record["fits"].items():
            if "failed" in fit:
                yield record["table"], key, fit["failed"]


# ---- contenders ----------------------------------------------------------------------------------


def alone(record: Record, measure: str) -> Values:
    """Measures of single candidates, and of the members of the average."""
    fits, own = record["fits"], record["recommended"][measure]
    members = dict.fromkeys(own["ours"])
    flaml = record["several"].get("FLAML")
    return {
        FIRST: fits[own["ours"][0]]["held_out"],
        AVERAGED: own["averaged"],
        "portfolio": fits[own["portfolio"][0]]["held_out"],
        **{f"default {name}": fits[key]["held_out"] for name, key in record["defaults"].items()},
        **({} if flaml is None else {"FLAML's LightGBM": fits[flaml[0]]["held_out"]}),
        **{f"{MEMBER}{place}": fits[key]["held_out"] for place, key in enumerate(members, start=1)},
    }


def best_of_three(record: Record, measure: str) -> Values:
    """Measures of each contender's candidate that is best on validation rows."""
    fits, own = record["fits"], record["recommended"][measure]

    def worth(key: str) -> float:
        value = float(oriented(fits[key]["validated"][measure], measure))
        return -np.inf if np.isnan(value) else value

    several = {OURS: own["ours"], "portfolio": own["portfolio"], **record["several"]}
    return {name: fits[max(keys, key=worth)]["held_out"] for name, keys in several.items()}


def by_table(values: Sequence[Values], records: Sequence[Record], learned: str) -> pd.DataFrame:
    """(tables, contenders) mean over splits on the scale of the measure's link, larger is better.

    Args:
        values: of each record. Members of the average are merged into one column, their weighted mean.
    """
    link = LINKS[MEASURES[learned].link]
    rows = []
    for record, of in zip(records, values, strict=True):
        z = link.to_z(oriented(np.array([measures[learned] for measures in of.values()]), learned))
        row = dict(zip(of, z.tolist(), strict=True))
        members = [row.pop(name) for name in of if name.startswith(MEMBER)]
        if members:
            row[MEMBERS] = np.average(members, weights=SHARES[: len(members)])
        rows.append({"table": record["table"], **row})
    return pd.DataFrame(rows).groupby("table").mean()


def versus(
    z: pd.DataFrame, ours: Sequence[str], reference: pd.Series, learned: str
) -> Iterator[dict[str, Any]]:
    """A row for each contender, with how often each of `ours` is better."""
    ranks = z.dropna().rank(axis=1, ascending=False).mean()
    for name in z:
        row = {
            "": name,
            "mean rank": f"{ranks[name]:.2f}",
            "below LightGBM": below(z[name], reference, learned),
        }
        for one in ours:
            won, p = comparison(z[one] - z[name])
            row |= {f"{one} won": "" if one == name else won, f"p of {one}": p}
        yield row


def below(z: pd.Series, reference: pd.Series, learned: str) -> str:
    """Median percent by which errors are below those of a reference."""
    link = LINKS[MEASURES[learned].link]

    def error(of: pd.Series) -> Floats:
        return float(larger_is_better(learned)) - link.to_values(of.to_numpy())

    return f"{float(np.nanmedian(1 - error(z) / error(reference))):.1%}"


def gain_of_average(z: pd.DataFrame) -> dict[str, Any]:
    gain = z[AVERAGED] - z[MEMBERS]
    won, p = comparison(gain)
    error = gain.std() / np.sqrt(len(gain))
    return {
        "gain": f"{gain.mean():+.4f} ± {error:.4f}",
        "median": f"{gain.median():+.4f}",
        "won": won,
        f"p of {AVERAGED}": p,
    }


# ---- promises ------------------------------------------------------------------------------------


def stated(records: Sequence[Record], measure: str, learned: str) -> Iterator[dict[str, Any]]:
    """Rows for the first choices, and for all three."""
    found = pd.DataFrame([row for record in records for row in promises(record, measure, learned)])
    if found.empty:
        return
    for title, part in (("first", found[found["place"] == 0]), ("all three", found)):
        likely = part.dropna(subset=["stated", "gain"]).groupby(["table", "place"])[["stated", "gain"]].mean()
        yield {
            "": title,
            "n": len(part),
            "kept": f"{part['kept'].mean():.3f}",
            "n of others than the default": len(likely),
            "stated": f"{likely['stated'].mean():.3f}",
            "true": f"{(np.sign(likely['gain']) + 1).mean() / 2:.3f}",
        }


def promises(record: Record, measure: str, learned: str) -> Iterator[dict[str, Any]]:
    """Statements about each of ours that did not fail, and whether they came true."""
    own, fits, default = record["recommended"][measure], record["fits"], record["defaults"]["lightgbm"]
    link = LINKS[MEASURES[learned].link]
    usual = fits[default]["held_out"][learned]
    for place, (key, expected) in enumerate(zip(own["ours"], own["stated"], strict=True)):
        value = fits[key]["held_out"][learned]
        if not expected or "failed" in fits[key]:
            continue
        chance = expected["beats_default"]
        z, of_default = link.to_z(oriented(np.array([value, usual]), learned))
        yield {
            "table": record["table"],
            "place": place,
            "kept": expected["low"] <= value <= expected["high"],
            "stated": np.nan if chance is None else chance,
            "gain": np.nan if key == default else z - of_default,
        }


# ---- targets and published errors ----------------------------------------------------------------


def transformations(records: Sequence[Record], measure: str) -> Iterator[dict[str, Any]]:
    """Rows on the first recommendation compared with the same without a transformation of the target."""
    skewed = [record for record in records if record["recommended"][measure]["untransformed"]]
    for error in (MAE, RMSE) if skewed else ():
        rows = []
        for record in skewed:
            own, fits = record["recommended"][measure], record["fits"]
            first, plain = (fits[key]["held_out"][error] for key in (own["ours"][0], own["untransformed"]))
            has = own["ours"][0] != own["untransformed"]
            rows.append({"table": record["table"], "ratio": np.log(first / plain), "has": has})
        tables = pd.DataFrame(rows).groupby("table").mean()
        own = tables[tables["has"] > 0]
        yield {
            "": error,
            "tables": len(tables),
            "transformed": len(own),
            "below none": f"{-np.expm1(tables['ratio'].median()):.1%}",
            "below none, of those transformed": f"{-np.expm1(own['ratio'].median()):.1%}",
            "won": comparison(-own["ratio"]).won,
        }


def published(records: Sequence[Record], measure: str) -> Iterator[dict[str, Any]]:
    """A row for each table of CTR23, and their medians."""
    rows = []
    for record in records:
        if (others := record.get("published")) is not None:
            own = alone(record, measure)
            rows.append(
                {"table": record["table"]}
                | {
                    f"{one} / {name}": own[one][RMSE] / others[name]
                    for one in (FIRST, AVERAGED)
                    for name in PEERS
                }
            )
    if rows:
        ratios = pd.DataFrame(rows).groupby("table").mean()
        for name, row in ratios.iterrows():
            yield {"": name, **{column: f"{ratio:.3f}" for column, ratio in row.items()}}
        yield {"": "median", **{column: f"{ratios[column].median():.3f}" for column in ratios}}
        yield {"": "share below 1", **{column: f"{(ratios[column] < 1).mean():.0%}" for column in ratios}}
