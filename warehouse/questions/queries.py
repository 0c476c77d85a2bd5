"""Queries for learners on the warehouse, with data frames as results.

Every function takes `ask`, which runs one SELECT over the warehouse's tables and returns an Arrow table.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.questions.normalized_accuracy import normalized_accuracy
from warehouse.questions.openml_qualities import harmonized
from warehouse.questions.sampling import (
    MOST_LEARNED,
    ON_TRAINING_ROWS,
    SEARCHES,
    TASKS,
    Ask,
    RunSample,
    choose_sample,
)
from warehouse.support.errors import TooFewRuns, UnknownName
from warehouse.vocabulary.declaration import read_declaration
from warehouse.vocabulary.inference import inferred_flow
from warehouse.vocabulary.measures import ACCURACY, NORMALIZED, known_name
from warehouse.vocabulary.parameters import Scale
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow
from warehouse.vocabulary.table import SEPARATOR, ConfigurationTable, split_name
from warehouse.vocabulary.task_types import TASK_TYPES, TaskType

# Value of a hyperparameter that a setup's flow lacks; None is a value.
ABSENT = float("nan")

_COLUMNS = ["run", "dataset", "family", "task", "flow", "algorithm", "setup", "train_rows", "value"]


@dataclass(frozen=True)
class RunTable:
    """Successful runs on one measure, and their configurations.

    `runs` has one row per run, in source order: run, dataset, family (equal for near copies), task, flow,
    algorithm, setup, train_rows (missing: all rows), value (of the measure). If a dataset has runs with
    several training sizes, `runs` has those with the size of most configurations (with ties, the smallest)
    and those without a stated size; `larger` and `smaller` have the runs with larger and smaller sizes, with
    the same columns. `configurations` has one row per setup of `runs`, in order of first run; its
    hyperparameters are Python values (None, bool, int, float, str) or `ABSENT`, in alphabetical order.
    `scales` has the scale on which a hyperparameter's numbers compare, by column, if it was declared for a
    flow. `related` has the values of related measures by run (index) and measure (columns), NaN if missing;
    its runs may differ from those of `runs`. Runs of searches (`SEARCHES`) have none: they were chosen by the
    measure, which biases the others.
    """

    flow: str | None
    measure: str
    runs: pd.DataFrame
    configurations: ConfigurationTable
    scales: Mapping[str, Scale] = field(default_factory=dict)
    larger: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=_COLUMNS))
    smaller: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=_COLUMNS))
    related: pd.DataFrame = field(default_factory=pd.DataFrame)
    declared: Mapping[str, SearchedFlow] = field(default_factory=dict)
    """The flow of each algorithm with a declared space."""
    is_sample: bool = False
    """Whether the warehouse has more such runs (`warehouse.questions.sampling`)."""

    def searched_flow(self, algorithm: str) -> SearchedFlow:
        """The flow of an algorithm with its space: as declared, else inferred from its runs.

        Raises:
            BadInput: no space can be inferred (`warehouse.vocabulary.inference`).
        """
        known = self.declared.get(algorithm)
        if known is not None:
            return known
        table = self.configurations
        values = table.parameters[(table.algorithms == algorithm).to_numpy()]
        if table.joint:
            names = [str(name) for name in values if split_name(str(name))[0] == algorithm]
            values = values[names].set_axis([split_name(name)[1] for name in names], axis=1)
        return inferred_flow(algorithm, values)


@dataclass(frozen=True)
class RunAnswers:
    """Rows of a `RunTable`, in the form in which samples are stored."""

    flow: str | None
    measure: str
    task_type: TaskType
    is_sample: bool
    rows: Mapping[str, pa.Table]
    """runs, hyperparameters, scales, spaces, and related (if requested, or always in a sample)."""


def run_answers(
    ask: Ask,
    flow: str | None,
    measure: str,
    *,
    task_type: TaskType,
    related: bool,
    only: Sequence[str],
) -> RunAnswers:
    """Rows for a `RunTable`.

    Args:
        flow: a flow ("openml:6969", or "6969" for short), an algorithm ("random_forest": all its flows), or
            None for all runs; then the configurations are a joint table.
        measure: any measure of the runs, or an alias (`warehouse.vocabulary.measures`); `normalized_accuracy`
            is computed from the accuracy if it is not stored.
        task_type: type of the runs' tasks.
        related: whether to include the values of related measures, which only learners need.
        only: flows whose runs a joint table has, named as in `flow`; empty = all.

    Raises:
        BadInput: an unknown flow or measure; the message names the known ones.
    """
    ask = _on_tasks_of(task_type, ask)
    resolved, flows = _resolve_flow(ask, flow)
    if only:
        flows = sorted({one for name in only for one in _resolve_flow(ask, name)[1] or ()})
    measure, joint = _stored_name(ask, measure), flow is None
    sample = choose_sample(ask, flows, measure, joint=joint)
    flows = sample.flows
    runs = _runs(ask, sample, measure)
    if not runs.num_rows and measure == NORMALIZED:
        accuracies = _runs(ask, choose_sample(ask, flows, ACCURACY, joint=joint), ACCURACY)
        normalized = normalized_accuracy(accuracies.to_pandas(), metafeatures(ask))
        runs = pa.Table.from_pandas(normalized, schema=accuracies.schema, preserve_index=False)
    if not runs.num_rows:
        _refuse_without_runs(ask, measure, flows, task_type)
    naming = _naming(flows, joint=joint)
    setups = None if sample.runs is None else pc.unique(runs["setup"]).to_pylist()
    rows = {
        "runs": runs,
        "hyperparameters": ask(_HYPERPARAMETERS, {**naming, "setups": setups}),
        "scales": ask(_SCALES, naming),
        "spaces": ask(_SPACES, {"flows": flows}),
    }
    is_sample = sample.runs is not None
    others = task_type.related_measures(measure) if related or is_sample else ()
    if others:
        rows["related"] = _ask_sample(ask, _RELATED, sample, measures=others, searches=SEARCHES)
    return RunAnswers(resolved, measure, task_type, is_sample, rows)


def with_experiments(ask: Ask, sample: RunAnswers, datasets: Collection[str]) -> RunAnswers:
    """A sample, followed by all runs of own experiments on some datasets with the sample's flows."""
    ask = _on_tasks_of(sample.task_type, ask)
    drawn = sample.rows["runs"]
    ours = ask(_EXPERIMENTS, {"datasets": [*datasets]})["run"]
    more = ours.filter(pc.invert(pc.is_in(ours, pc.unique(drawn["run"])))).to_pylist()
    if not more:
        return sample
    flows = pc.unique(drawn["flow"]).to_pylist()
    runs = _runs(ask, RunSample(flows, more), sample.measure)
    setups = pc.unique(runs["setup"])
    unknown = setups.filter(pc.invert(pc.is_in(setups, pc.unique(drawn["setup"])))).to_pylist()
    naming = _naming(flows, joint=sample.flow is None)
    rows = {"runs": runs, "hyperparameters": ask(_HYPERPARAMETERS, {**naming, "setups": unknown})}
    joined = {name: pa.concat_tables([sample.rows[name], others]) for name, others in rows.items()}
    return replace(sample, rows={**sample.rows, **joined})


def table_of(answers: RunAnswers) -> RunTable:
    """The answers as data frames."""
    runs, joint = answers.rows["runs"].to_pandas(), answers.flow is None
    size = runs["size"].to_numpy()
    smaller, runs, larger = (runs.loc[size == sign, _COLUMNS].reset_index(drop=True) for sign in (-1, 0, 1))
    algorithms = runs.drop_duplicates("setup").set_index("setup")["algorithm"]
    hyperparameters = _parameters(algorithms.index, answers.rows["hyperparameters"])
    declared = answers.rows["scales"].to_pylist()
    of_others = answers.rows.get("related")
    return RunTable(
        answers.flow,
        answers.measure,
        runs,
        ConfigurationTable(algorithms, hyperparameters, joint),
        {row["parameter"]: row["scale"] for row in declared if row["parameter"] in hyperparameters},
        larger,
        smaller,
        pd.DataFrame() if of_others is None else _pivot(of_others, "run", "measure"),
        {
            row["algorithm"]: read_declaration(row["algorithm"], row["name"], json.loads(row["space"]))
            for row in answers.rows["spaces"].to_pylist()
        },
        answers.is_sample,
    )


def _on_tasks_of(task_type: TaskType, ask: Ask) -> Ask:
    """`ask` for queries with `TASKS`, restricted to this type."""

    def ask_of_type(query: str, parameters: Mapping[str, Any]) -> pa.Table:
        is_of_type = "$task_type" in query
        return ask(query, {**parameters, "task_type": task_type.name} if is_of_type else parameters)

    return ask_of_type


def _naming(flows: list[str] | None, *, joint: bool) -> dict[str, Any]:
    """Parameters of queries that name the hyperparameters of flows (None: all)."""
    return {"flows": flows, "joint": joint, "separator": SEPARATOR}


def _runs(ask: Ask, sample: RunSample, measure: str) -> pa.Table:
    """Runs in source order; `size` compares their training size with the usual one."""
    return _ask_sample(ask, _RUNS, sample, measure=measure, **_usual_rows(ask, measure))


def _usual_rows(ask: Ask, measure: str) -> dict[str, list[Any]]:
    """Datasets with several training sizes, and the usual size, as parameters of `_OF_MEASURE`."""
    counted = ask(_USUAL_ROWS, {"measure": measure})
    return {"usual": counted["dataset"].to_pylist(), "usual_rows": counted["train_rows"].to_pylist()}


def _ask_sample(ask: Ask, query: str, sample: RunSample, **parameters: Any) -> pa.Table:
    """Rows of a query of runs, restricted to the sample."""
    parameters["flows"] = sample.flows
    if sample.runs is None:
        return ask(query.format(of_sample=""), parameters)
    return ask(query.format(of_sample=_OF_SAMPLE), {**parameters, "sampled": sample.runs})


def metafeatures(ask: Ask) -> pd.DataFrame:
    """Qualities by dataset (index) and quality (columns), NaN where a dataset has none.

    Qualities computed by us precede those published by OpenML, even where we found a quality undefined.
    Published values are first converted to one unit and one rule (`warehouse.questions.openml_qualities`).
    """
    computed = ask(_QUALITIES, {"computed": True}).to_pandas()
    published = harmonized(_pivot(ask(_QUALITIES, {"computed": False}), "dataset", "quality"))
    rows = pd.concat([computed, published.melt(ignore_index=False).reset_index()])
    unique = rows.drop_duplicates(["dataset", "quality"])
    table: pd.DataFrame = unique.pivot(index="dataset", columns="quality", values="value")  # noqa: PD010
    return table


@dataclass(frozen=True)
class TimedFits:
    """Runs with the time of a fit, and their configurations.

    `runs` has one row per run, in source order: setup, algorithm, dataset, family (equal for near copies),
    train_rows (missing: all), seconds (processor time of one fit), stopped (whether a fit took longer than
    that). `configurations` has one row per setup, and `scales` are those of a `RunTable`.
    """

    runs: pd.DataFrame
    configurations: ConfigurationTable
    scales: Mapping[str, Scale]


def fit_times(ask: Ask, *, task_type: TaskType) -> TimedFits:
    """Fits of all runs that state their time.

    A run's ratio of processor time to wall-clock time is applied to its fits. The seconds of a run stopped by
    its time limit are the limit divided by the usual number of fits per run of its task. A very large
    warehouse is sampled, by a hash.
    """
    timed = ask("SELECT count(*) AS runs FROM evaluations WHERE measure = 'fit_seconds'", {})["runs"][
        0
    ].as_py()
    share = min(1.0, MOST_LEARNED / timed) if timed else 0.0
    runs = _on_tasks_of(task_type, ask)(_FIT_TIMES, {"share": share}).to_pandas()
    naming = _naming(None, joint=True)
    algorithms = runs.drop_duplicates("setup").set_index("setup")["algorithm"]
    hyperparameters = ask(_HYPERPARAMETERS, {**naming, "setups": algorithms.index.tolist()})
    return TimedFits(
        runs,
        ConfigurationTable(algorithms, _parameters(algorithms.index, hyperparameters), joint=True),
        {row["parameter"]: row["scale"] for row in ask(_SCALES, naming).to_pylist()},
    )


# Runs with other training sizes are runs of other tasks on the same dataset. No size means all rows of the
# task. Most datasets have a single size, and so have most runs of a large warehouse: the usual size is
# counted only for datasets with several, and `usual` has only these. Parts of files without any stated size
# are not read.
_USUAL_ROWS = f"""
WITH stated AS (
  SELECT DISTINCT t.dataset FROM runs r JOIN {TASKS} t USING (task) WHERE r.train_rows IS NOT NULL
), several AS (
  SELECT t.dataset FROM stated JOIN {TASKS} t USING (dataset) JOIN runs r USING (task) GROUP BY t.dataset
  HAVING count(r.train_rows) < count(*) OR min(r.train_rows) < max(r.train_rows)
), counted AS (
  SELECT t.dataset, coalesce(r.train_rows, 'infinity'::DOUBLE) AS train_rows,
    count(DISTINCT r.setup) AS setups
  FROM several JOIN {TASKS} t USING (dataset) JOIN runs r USING (task) JOIN evaluations e USING (run)
  WHERE e.measure = $measure AND r.outcome = 'success' AND isfinite(e.value)
  GROUP BY ALL
)
SELECT dataset, first(train_rows ORDER BY setups DESC, train_rows) AS train_rows
FROM counted GROUP BY dataset
"""

# A setup of OpenML whose hyperparameters the server lost: its configuration is unknown.
_IS_KNOWN = """
r.setup NOT IN (
  SELECT setup FROM setups WHERE configuration IS NULL AND regexp_full_match(setup, 'openml:[0-9]+')
)
"""

# OpenML numbers the versions of a dataset, most of which differ little.
_FAMILY = "coalesce(d.family, CASE WHEN d.data_version > 0 THEN lower(d.name) END, t.dataset)"

# The usual rows are asked for separately, as the plan for a few rows differs from that for many.
_OF_MEASURE = f"""
SELECT r.run, t.dataset, {_FAMILY} AS family, r.task, e.flow,
  coalesce(f.algorithm, f.flow) AS algorithm, r.setup, r.train_rows, e.value,
  coalesce(sign(r.train_rows - usual.train_rows), 0) AS size
FROM evaluations e
JOIN runs r USING (run)
JOIN {TASKS} t USING (task)
JOIN flows f ON f.flow = e.flow
JOIN ingests i ON i.ingest = r.ingest
{{of_sample}}
LEFT JOIN datasets d ON d.dataset = t.dataset
LEFT JOIN (SELECT unnest($usual::VARCHAR[]) AS dataset, unnest($usual_rows::DOUBLE[]) AS train_rows) usual
  ON usual.dataset = t.dataset
WHERE e.measure = $measure AND ($flows IS NULL OR list_contains($flows, e.flow)) AND r.outcome = 'success'
  AND isfinite(e.value) AND {_IS_KNOWN}
"""

_RUNS = f"{_OF_MEASURE} ORDER BY i.version, r.position, r.run"

_EXPERIMENTS = f"""
SELECT r.run FROM runs r JOIN {TASKS} t USING (task) JOIN ingests i ON i.ingest = r.ingest
WHERE list_contains($datasets, t.dataset) AND i.source = 'experiments'
"""

_OF_SAMPLE = "JOIN (SELECT unnest($sampled) AS run) drawn ON drawn.run = r.run"

_RELATED = f"""
SELECT e.run, e.measure, e.value
FROM evaluations e
JOIN runs r USING (run)
JOIN {TASKS} t USING (task)
JOIN ingests i ON i.ingest = r.ingest
{{of_sample}}
WHERE list_contains($measures, e.measure) AND ($flows IS NULL OR list_contains($flows, e.flow))
  AND isfinite(e.value) AND NOT list_contains($searches, i.source)
"""

_COLUMN = "CASE WHEN $joint THEN coalesce(f.algorithm, f.flow) || $separator ELSE '' END || parameter"

_HYPERPARAMETERS = f"""
SELECT h.setup, h.value, {_COLUMN} AS parameter
FROM hyperparameters h
JOIN setups s USING (setup)
JOIN flows f USING (flow)
WHERE ($flows IS NULL OR list_contains($flows, s.flow)) AND h.tunable IS DISTINCT FROM false
  AND ($setups IS NULL OR h.setup IN (SELECT unnest($setups::VARCHAR[])))
"""

# If several flows share a column, the latest declaration counts.
_SCALES = f"""
SELECT {_COLUMN} AS parameter, last(s.scale ORDER BY i.version, s.flow) AS scale
FROM scales s
JOIN flows f USING (flow)
JOIN ingests i ON i.ingest = s.ingest
WHERE $flows IS NULL OR list_contains($flows, s.flow)
GROUP BY ALL ORDER BY parameter
"""

_SPACES = """
SELECT coalesce(f.algorithm, f.flow) AS algorithm, f.name, s.space
FROM spaces s
JOIN flows f USING (flow)
WHERE $flows IS NULL OR list_contains($flows, s.flow)
ORDER BY s.flow
"""

_FIT_TIMES = f"""
WITH timed AS (
  SELECT run,
    max(value) FILTER (measure = 'fit_seconds') AS fit,
    max(value) FILTER (measure = 'usercpu_time_millis') AS processor,
    max(value) FILTER (measure = 'wall_clock_time_millis') AS passed
  FROM evaluations
  WHERE measure IN ('fit_seconds', 'usercpu_time_millis', 'wall_clock_time_millis')
    AND $share > 0 AND ($share = 1 OR md5_number_lower(run) < 18446744073709551615 * $share)
  GROUP BY run
), ended AS (
  SELECT run, fit * coalesce(least(processor / nullif(passed, 0), 1), 1) AS fit, processor / 1000 AS whole
  FROM timed WHERE fit IS NOT NULL
), fits AS (
  SELECT r.task, median(ended.whole / ended.fit) AS fits
  FROM ended JOIN runs r USING (run)
  WHERE r.outcome = 'success' AND ended.fit > 0.05 -- less is mostly the start of a process
  GROUP BY r.task
)
SELECT r.setup, coalesce(f.algorithm, f.flow) AS algorithm, t.dataset,
  {_FAMILY} AS family, r.train_rows,
  CASE r.outcome
    WHEN 'success' THEN ended.fit
    ELSE TRY_CAST(regexp_extract(r.message, '^stopped after ([0-9.e+]+) s', 1) AS DOUBLE) / fits.fits
  END AS seconds,
  r.outcome = 'timeout' AS stopped
FROM runs r
LEFT JOIN ended USING (run)
LEFT JOIN fits USING (task)
JOIN setups s USING (setup)
JOIN flows f USING (flow)
JOIN {TASKS} t USING (task)
JOIN ingests i ON i.ingest = r.ingest
LEFT JOIN datasets d USING (dataset)
WHERE r.outcome IN ('success', 'timeout') AND seconds IS NOT NULL AND {_IS_KNOWN}
  AND $share > 0 AND ($share = 1 OR md5_number_lower(r.run) < 18446744073709551615 * $share)
ORDER BY i.version, r.position, r.run
"""

_QUALITIES = """
SELECT dataset, quality, CASE WHEN isfinite(value) THEN value END AS value
FROM qualities WHERE (source = 'computed') = $computed
"""


def _resolve_flow(ask: Ask, flow: str | None) -> tuple[str | None, list[str] | None]:
    """Canonical name of the requested flow or algorithm, and its flows (None: all)."""
    if flow is None:
        return None, None
    known = ask("SELECT flow, algorithm FROM flows ORDER BY flow", {}).to_pylist()
    flows = {row["flow"] for row in known}
    for candidate in (flow, f"openml:{flow}", f"{OTHER}{flow}"):
        if candidate in flows:
            return candidate, [candidate]
    of_algorithm = [row["flow"] for row in known if row["algorithm"] == flow]
    if of_algorithm:
        return flow, of_algorithm
    algorithms = {row["algorithm"] for row in known if row["algorithm"]}
    names = sorted(algorithms | (flows - {f"headstart:{algorithm}" for algorithm in algorithms}))
    raise UnknownName(f"unknown flow {flow!r}; the warehouse has: {', '.join(names) or 'none'}")


def _stored_name(ask: Ask, measure: str) -> str:
    """Name of a measure in the warehouse: as given if runs have it, else the name behind an alias."""
    known = known_name(measure)
    if known is None or known == measure:
        return measure
    as_given = ask("SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": measure})
    return measure if as_given.num_rows else known


def _refuse_without_runs(ask: Ask, measure: str, flows: list[str] | None, task_type: TaskType) -> None:
    """Raise `BadInput` unless some run on tasks of this type, even an unsuccessful one, has the measure."""
    found = ask(_MEASURES_OF_TASKS, {"flows": flows}).to_pylist()
    types = sorted({row["task_type"] for row in found if row["measure"] == measure})
    if not types:
        measures = sorted({row["measure"] for row in found})
        raise UnknownName(
            f"no run has the measure {measure!r}; the warehouse has: {', '.join(measures) or 'none'}"
        )
    if task_type.name not in types:
        kinds = [TASK_TYPES[name].words if name in TASK_TYPES else name.replace("_", " ") for name in types]
        raise TooFewRuns(
            f"all runs that have {measure} are on tasks of {' and '.join(kinds)}: nothing can be learned "
            f"from them for {task_type.words}; choose another measure"
        )


_MEASURES_OF_TASKS = f"""
SELECT DISTINCT e.measure,
  CASE t.estimation_procedure WHEN '{ON_TRAINING_ROWS}' THEN lower('{ON_TRAINING_ROWS}') ELSE t.task_type
  END AS task_type
FROM evaluations e JOIN runs r USING (run) JOIN tasks t USING (task)
WHERE $flows IS NULL OR list_contains($flows, e.flow)
"""


def _parameters(setups: pd.Index, hyperparameters: pa.Table) -> pd.DataFrame:
    """Python values by setup and hyperparameter, for the hyperparameters of `setups`."""
    found = pc.index_in(hyperparameters["setup"], value_set=pa.array(setups, pa.string()))
    if found.null_count:
        hyperparameters, found = hyperparameters.filter(found.is_valid()), found.drop_null()
    rows = found.to_numpy()
    columns, column_names = _codes(hyperparameters["parameter"])
    values, texts = _codes(hyperparameters["value"])
    decoded = np.empty(len(texts), dtype=object)
    decoded[:] = [_plain(text) for text in texts]  # each distinct text only once
    names = sorted(column_names)
    place = pd.Index(names, dtype=str).get_indexer(pd.Index(column_names, dtype=str))
    matrix = np.full((len(setups), len(names)), ABSENT, dtype=object)
    matrix[rows, place[columns]] = decoded[values]
    return pd.DataFrame(matrix, index=setups, columns=names, dtype=object, copy=False)


def _plain(text: str) -> bool | int | float | str | None:
    """The value of a JSON text; lists and objects stay text, as they are no single value."""
    if text[0] in "[{":
        return text
    if text[0] in "-0123456789":  # most values; five times as fast as JSON
        return float(text) if "." in text or "e" in text or "E" in text else int(text)
    value: bool | str | None = json.loads(text)
    return value


def _pivot(cells: pa.Table, index: str, column: str) -> pd.DataFrame:
    """The column `value` of `cells` as a matrix with sorted labels."""
    rows, row_names = _codes(cells[index])
    columns, column_names = _codes(cells[column])
    matrix = np.full((len(row_names), len(column_names)), np.nan)
    matrix[rows, columns] = cells["value"].to_numpy(zero_copy_only=False)
    frame = pd.DataFrame(
        matrix,
        index=pd.Index(row_names, name=index, dtype=str),
        columns=pd.Index(column_names, name=column, dtype=str),
    )
    return frame.sort_index(axis=0).sort_index(axis=1)


def _codes(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Integer codes of a text column, and its distinct texts."""
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
