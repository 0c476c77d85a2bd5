"""Agreement of our meta-features with those published by OpenML for the same datasets.

    python -m tests.benchmarks.metafeature_agreement [--data ../shared/data]

Prints, by group and by quality, how many values are equal to 1e-6 and to 1 %, and for all others which rule
of OpenML's engine gives the published value: the rule is applied here and must reproduce it. Landmarkers are
compared by their rank correlation over datasets.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from ingest.metafeatures import compute_metafeatures
from ingest.metafeatures.landmarkers import LEARNERS, Fold, cross_validated
from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.trees import by_pessimistic_error, grow
from ingest.metafeatures.values import summaries
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.formats.arff import read_arff
from ingest.reading.formats.encoding import decoded
from warehouse.questions.openml_qualities import carried_over, harmonized
from warehouse.vocabulary.qualities import GROUPS

TASKS = {
    "3": "kr.vs.kp",
    "6": "letter",
    "11": "balance.scale",
    "15": "breast.w",
    "21": "car",
    "24": "mushroom",
    "28": "optdigits",
    "29": "credit.a",
    "32": "pendigits",
    "37": "diabetes",
    "41": "soybean",
    "58": "waveform5000",
    "3021": "sick",
    "3022": "vowel",
    "3567": "collins",
    "14968": "cylinder.bands",
    "10093": "banknote",
}
"""OpenML task -> file with the same dataset, ARFF in `datasets` or Parquet in `tables`. OpenML's phoneme is
standardized, and so not included."""


def file_of(data: Path, name: str) -> Path:
    """File of a dataset."""
    path = data / "datasets" / f"{name}.arff"
    return path if path.exists() else data / "tables" / f"{name}.parquet"


EXACT_GROUPS = ("simple", "class", "cardinality", "statistical", "information")

# Columns missing from OpenML's copy of a dataset, or declared to be ignored.
_OTHER_COLUMNS = {
    "vowel": ("Train or Test",),
    "cylinder.bands": ("timestamp", "cylinder_number"),
    "collins": ("Counter", "Text"),
}

OTHER_COLUMNS = "OpenML's copy lacks columns of ours, or leaves them out of its statistics"
IDENTIFIERS = "OpenML counts the values of a nominal column that names rows; we leave identifiers out"
FIRST_VALUE = "OpenML counts a missing nominal value as the first value that the attribute declares"
TARGET_COUNTED = "OpenML's older engine counts the target among the nominal attributes"
N_MINUS_1 = "OpenML's newer engine divides the third and fourth moments by n - 1"
CARRIED_OVER = "OpenML's value is one of several datasets at once: its engine carried attributes over"
NO_VALUE = "OpenML writes 0 or -1 where there is no such attribute"


@dataclass(frozen=True)
class Deviation:
    """A computed value that differs by more than 1 % from the published one, and the rule behind it."""

    dataset: str
    quality: str
    computed: float
    published: float
    rule: str | None


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement of the values of a group."""

    compared: int
    equal: int
    """Equal to 1e-6 relative."""
    close: int
    """Within 1 %, including equal ones."""
    deviations: list[Deviation]
    by_quality: Mapping[str, str]
    """Text by quality: number of values that are equal, within 1 %, and compared."""


def load_published(data: Path) -> pd.DataFrame:
    """(tasks, qualities) published by OpenML."""
    return pd.DataFrame(json.loads((data / "openml-runs" / "task_qualities.json").read_text())).T.astype(
        float
    )


def compare_values(data: Path) -> dict[str, GroupAgreement]:
    """Agreement by group of the exact meta-features."""
    published = load_published(data)
    in_one_unit = harmonized(published)
    # Unchanged, to show moments that are not the dataset's own.
    in_one_unit[list(GROUPS["statistical"])] = published[list(GROUPS["statistical"])]
    found: dict[str, list[tuple[str, float, float, Deviation | None]]] = {group: [] for group in EXACT_GROUPS}
    for task, name in TASKS.items():
        path = file_of(data, name)
        dataset = load_dataset(path)
        names = [quality for group in EXACT_GROUPS for quality in GROUPS[group]]
        computed = compute_metafeatures(dataset, names).values
        is_close = {
            quality: math.isnan(published.loc[task, quality])
            or _close(computed[quality], in_one_unit.loc[task, quality], 0.01)
            for quality in names
        }
        rules = [] if all(is_close.values()) else list(_rules(dataset, path, names))  # these take long
        largest = max((dataset.features[name].max() for name in Prepared(dataset).numeric), default=math.inf)
        for group in EXACT_GROUPS:
            for quality in GROUPS[group]:
                ours, theirs = computed[quality], in_one_unit.loc[task, quality]
                raw = published.loc[task, quality]
                if math.isnan(raw):
                    continue  # not published
                deviation = None
                if not is_close[quality]:
                    rule = _explanation(quality, task, published, in_one_unit, rules, largest)
                    deviation = Deviation(name, quality, ours, raw, rule)
                found[group].append((quality, ours, theirs, deviation))
    return {
        group: GroupAgreement(
            compared=len(values),
            equal=sum(_close(ours, theirs, 1e-6) for _, ours, theirs, _ in values),
            close=sum(deviation is None for *_, deviation in values),
            deviations=[deviation for *_, deviation in values if deviation is not None],
            by_quality=_by_quality(values),
        )
        for group, values in found.items()
    }


def _by_quality(values: list[tuple[str, float, float, Deviation | None]]) -> dict[str, str]:
    """Text by quality: number of values that are equal to 1e-6, within 1 %, and compared."""
    counts: dict[str, Counter[str]] = {}
    for quality, ours, theirs, deviation in values:
        own = counts.setdefault(quality, Counter())
        own["compared"] += 1
        own["equal"] += _close(ours, theirs, 1e-6)
        own["close"] += deviation is None
    return {
        quality: f"{own['equal']} equal, {own['close']} within 1 %, of {own['compared']}"
        for quality, own in counts.items()
    }


def _rules(dataset: Dataset, path: Path, names: list[str]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Each rule with its values."""
    yield IDENTIFIERS, compute_metafeatures(_without_identifiers(dataset), names).values
    for columns, suffix in (((), ""), (_OTHER_COLUMNS.get(dataset.name, ()), f"; {OTHER_COLUMNS}")):
        if suffix and not columns:
            return
        without = replace(dataset, features=dataset.features.drop(columns=list(columns)))
        if suffix:
            yield OTHER_COLUMNS, compute_metafeatures(without, names).values
        filled = _with_first_values(without, path)
        yield FIRST_VALUE + suffix, compute_metafeatures(filled, names).values
        yield N_MINUS_1 + suffix, _moments_of_newer_engine(without)
        yield TARGET_COUNTED + suffix, _distinct_with_target(without)


def _without_identifiers(dataset: Dataset) -> Dataset:
    """The dataset with nominal identifiers as ordinary columns, and without numeric ones."""
    numeric = [
        name
        for name, role in dataset.roles.items()
        if role == Role.identifier and pd.api.types.is_numeric_dtype(dataset.features[name].dtype)
    ]
    roles = {
        name: Role.categorical if role == Role.identifier else role for name, role in dataset.roles.items()
    }
    return replace(dataset, features=dataset.features.drop(columns=numeric), roles=roles)


def _with_first_values(dataset: Dataset, path: Path) -> Dataset:
    """Gaps of nominal columns filled as by Java's cast of NaN to an index; unchanged for Parquet."""
    if path.suffix != ".arff":
        return dataset
    first = {
        attribute.name: attribute.values[0]
        for attribute in read_arff(decoded(path.read_bytes()).utf8).attributes
        if attribute.values
    }
    filled = {
        name: column.fillna(first[name].strip())
        if isinstance(column.dtype, pd.CategoricalDtype) and column.hasnans and name in first
        else column
        for name, column in dataset.features.items()
    }
    return replace(dataset, features=pd.DataFrame(filled))


def _moments_of_newer_engine(dataset: Dataset) -> dict[str, float]:
    skewness, kurtosis = [], []
    for name in Prepared(dataset).numeric:
        x = dataset.features[name].dropna().to_numpy(float)
        if len(x) > 1 and np.ptp(x) > 0:
            z = (x - x.mean()) / x.std(ddof=1)
            skewness.append((z**3).sum() / (len(x) - 1))
            kurtosis.append((z**4).sum() / (len(x) - 1) - 3)
    values = summaries(np.array(skewness), "SkewnessOfNumericAtts", "") | summaries(
        np.array(kurtosis), "KurtosisOfNumericAtts", ""
    )
    return {name: float(value) for name, value in values.items() if value != ""}


def _distinct_with_target(dataset: Dataset) -> dict[str, float]:
    distinct = [dataset.features[name].nunique() for name in Prepared(dataset).nominal]
    counts = np.array([*distinct, dataset.n_classes])
    return {
        "MeanNominalAttDistinctValues": float(counts.mean()),
        "StdvNominalAttDistinctValues": float(counts.std(ddof=1)) if len(counts) > 1 else 0.0,
    }


def _explanation(
    quality: str,
    task: str,
    published: pd.DataFrame,
    in_one_unit: pd.DataFrame,
    rules: list[tuple[str, Mapping[str, float]]],
    largest: float,
) -> str | None:
    """The rule that gives the published value; None if there is none."""
    value, theirs = published.loc[task, quality], in_one_unit.loc[task, quality]
    for rule, values in rules:
        if quality in values and _close(values[quality], theirs, 1e-4):
            return rule
    if quality in GROUPS["statistical"]:
        if value in (0.0, -1.0) and published.loc[task, "NumberOfNumericFeatures"] == 0:
            return NO_VALUE
        # A mean cannot exceed the largest value.
        if carried_over(published)[task] or published.loc[task, "MaxMeansOfNumericAtts"] > largest:
            return CARRIED_OVER
    return None


def _close(ours: float, theirs: float, tolerance: float) -> bool:
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=1e-12)


# ---- landmarkers ---------------------------------------------------------------------------------


def _c45_of_selected(fold: Fold) -> np.ndarray:
    X = np.ascontiguousarray(fold.sample.tree_columns[:, fold.selected])
    tree = grow(X[fold.train], *fold.classes(fold.train), min_samples_leaf=2)
    closed = by_pessimistic_error(tree, 0.25)
    return fold.shares(tree.counts[tree.ends(closed)[tree.leaves_of(X[fold.test])]])


_ANY_DEPTH = 10**6
IGNORING_OPTIONS = {
    **{f"J48.{confidence}.": ("J48",) for confidence in ("00001", "0001", "001")},
    **{f"REPTreeDepth{depth}": ("REPTree",) for depth in (1, 2, 3)},
    **{f"RandomTreeDepth{depth}": ("RandomTree",) for depth in (1, 2, 3)},
    **{f"CfsSubsetEval_{learner}": ("CFS",) for learner in ("DecisionStump", "NaiveBayes", "kNN1N")},
}
_WITHOUT_OPTIONS = {
    "J48": lambda fold: fold.c45(lambda tree: by_pessimistic_error(tree, 0.25)),
    "REPTree": lambda fold: fold.rep_tree(_ANY_DEPTH),
    "RandomTree": lambda fold: fold.random_tree(_ANY_DEPTH),
    "CFS": _c45_of_selected,
}


def ignored_options(published: pd.DataFrame, learner: str) -> pd.Series:
    """(tasks,) whether OpenML ignored a learner's options, as its results for all variants are equal."""
    siblings = [name for name, family in IGNORING_OPTIONS.items() if family == IGNORING_OPTIONS.get(learner)]
    if not siblings:
        return pd.Series(False, index=published.index)
    scores = [published[[f"{name}{score}" for name in siblings]] for score in ("AUC", "ErrRate", "Kappa")]
    return pd.concat([score.eq(score.iloc[:, 0], axis=0) for score in scores], axis=1).all(axis=1)


def landmarker_values(data: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(tasks, learner + score), and where OpenML's engine ignored options, the same without options."""
    published = load_published(data).loc[list(TASKS)]
    is_odd = pd.concat([ignored_options(published, learner) for learner in IGNORING_OPTIONS], axis=1).any(
        axis=1
    )
    defined, ignoring = {}, {}
    for task, name in TASKS.items():
        dataset = load_dataset(file_of(data, name))
        features = dataset.features.drop(columns=list(_OTHER_COLUMNS.get(name, ())))
        sample = Prepared(replace(dataset, features=features)).sample
        defined[task] = _flat(cross_validated(sample, LEARNERS))
        if is_odd[task]:
            # OpenML's older engine ignored the options that it named, depths included.
            with patch.object(Fold, "deepest", None):
                ignoring[task] = _flat(cross_validated(sample, _WITHOUT_OPTIONS))
    return pd.DataFrame(defined).T, pd.DataFrame(ignoring).T


def compare_landmarkers(data: Path) -> pd.DataFrame:
    """Spearman's rank correlation with the published values over datasets, by learner (index) and score.

    If OpenML's engine ignored the options of a learner, the value without options is compared; `ignored` is
    the number of such datasets.
    """
    published = load_published(data).loc[list(TASKS)]
    defined, ignoring = landmarker_values(data)
    rows = {}
    for learner in LEARNERS:
        ignored = ignored_options(published, learner)
        row: dict[str, float] = {"ignored": int(ignored.sum())}
        for score in ("AUC", "ErrRate", "Kappa"):
            ours = defined[f"{learner}{score}"]
            if ignored.any():
                plain = ignoring[f"{IGNORING_OPTIONS[learner][0]}{score}"]
                ours = ours.mask(ignored, plain)
            row[score] = float(spearmanr(ours, published[f"{learner}{score}"]).statistic)
        rows[learner] = row
    return pd.DataFrame(rows).T


def _flat(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{learner}{score}": value for learner, of in scores.items() for score, value in of.items()}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    agreement = compare_values(data)
    print(f"{'group':<12} {'values':>7} {'equal':>6} {'within 1 %':>11} {'explained':>10} {'open':>5}")
    for group, found in agreement.items():
        explained = sum(deviation.rule is not None for deviation in found.deviations)
        left = len(found.deviations) - explained
        print(f"{group:<12} {found.compared:>7} {found.equal:>6} {found.close:>11} {explained:>10} {left:>5}")
    print("\nby quality, where a value is not equal")
    for found in agreement.values():
        for quality, text in found.by_quality.items():
            if not text.endswith(f"of {text.split()[0]}"):
                print(f"{quality:<40} {text}")
    deviations = [deviation for found in agreement.values() for deviation in found.deviations]
    print("\ndeviations by rule")
    for rule, count in Counter(deviation.rule for deviation in deviations).most_common():
        datasets = sorted({deviation.dataset for deviation in deviations if deviation.rule == rule})
        print(f"{count:>5}  {rule or 'NO RULE'}: {', '.join(datasets)}")
    for deviation in deviations:
        if deviation.rule is None:
            print(
                f"       {deviation.dataset} {deviation.quality} {deviation.computed} {deviation.published}"
            )
    print(f"\nlandmarkers: rank correlation over {len(TASKS)} datasets")
    print(compare_landmarkers(data).round(3).to_string())


if __name__ == "__main__":
    main()
