"""From a dataset to ranked configurations: what the meta-learner expects of each one we know.

The candidates are the configurations of the warehouse that still build today. Nothing here imports
scikit-learn or LightGBM unless a model has to be trained first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ingest.datasets import Dataset
from ingest.flows import Flow, Value, find_flow, get_flow
from ingest.metafeatures import compute_metafeatures
from metalearners.base import standard_scores
from metalearners.model_store import StoredModel, trained_model
from recommend.seeds import SCHEMA, STRATEGIES, choose_delta, choose_top
from warehouse.errors import BadInput
from warehouse.qualities import STATISTICAL
from warehouse.queries import RunTable
from warehouse.store import Warehouse

MOST_CANDIDATES = 1000
"""Configurations of one algorithm that are ranked; a warehouse may hold tens of thousands."""
NEAREST = 3
"""How many similar datasets a recommendation names."""


@dataclass(frozen=True)
class RankedConfiguration:
    """One configuration to try."""

    rank: int
    flow: Flow
    hyperparameters: dict[str, Value]
    predicted: float
    """Expected score in standard deviations of the dataset's own runs, 0 = an average configuration."""
    delta: float | None
    """The delta that chose it (eq. 6.2), None where it was chosen for its prediction alone."""


@dataclass(frozen=True)
class Recommendation:
    """Ranked configurations and what they rest on."""

    dataset: Dataset
    configurations: list[RankedConfiguration]
    strategy: str
    measure: str
    metafeatures: pd.Series
    nearest: list[tuple[str, float]]
    """Names of the most similar datasets of the warehouse, with their distance."""
    left_out: list[str]
    """Datasets of the warehouse with the same content, which the model has not learned from."""
    warehouse: Warehouse
    model: StoredModel
    candidates: int

    def document(self) -> dict[str, Any]:
        """The recommendation as the JSON document that `seeds.schema.json` describes."""
        return {
            "schema": SCHEMA,
            "dataset": {
                "name": self.dataset.name,
                "source": self.dataset.source,
                "content_hash": self.dataset.content_hash,
                "rows": len(self.dataset.features),
                "features": self.dataset.features.shape[1],
                "classes": self.dataset.n_classes,
                "target": str(self.dataset.target.name),
                "metafeatures": {
                    name: None if math.isnan(value) else value for name, value in self.metafeatures.items()
                },
            },
            "strategy": self.strategy,
            "measure": self.measure,
            "configurations": [
                {
                    "rank": item.rank,
                    "flow": item.flow.id,
                    "openml_flows": list(item.flow.openml),
                    "algorithm": item.flow.name,
                    "hyperparameters": item.hyperparameters,
                    "predicted": item.predicted,
                    "delta": item.delta,
                }
                for item in self.configurations
            ],
            "nearest": [{"dataset": name, "distance": distance} for name, distance in self.nearest],
            "warehouse": {
                "version": self.warehouse.version,
                "fingerprint": self.warehouse.fingerprint,
                "left_out": self.left_out,
                "candidates": self.candidates,
            },
            "model": self.model.description(),
        }


def recommend(
    dataset: Dataset,
    *,
    warehouse: Warehouse | None = None,
    top: int = 3,
    flows: Sequence[str] = (),
    strategy: str = "top",
    measure: str = "predictive_accuracy",
) -> Recommendation:
    """Rank the warehouse's configurations for a dataset and choose the first ones to try.

    Args:
        dataset: see `ingest.datasets.load_dataset`.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        top: how many configurations to choose.
        flows: names of the flows to choose from; empty = all.
        strategy: `top` = the highest predictions, `delta` = a diverse choice (`recommend.seeds`).
        measure: the evaluation measure to be good at.

    Raises:
        BadInput: an unknown flow or strategy, or the warehouse has nothing to learn from.
    """
    if strategy not in STRATEGIES:
        raise BadInput(f"unknown strategy {strategy!r}; known are {', '.join(STRATEGIES)}")
    if top < 1:
        raise BadInput(f"can't recommend {top} configurations; ask for 1 or more")
    wanted = {get_flow(name).name for name in flows}
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    same = warehouse.sql(
        "SELECT dataset, name FROM datasets WHERE content_hash = ? ORDER BY dataset", [dataset.content_hash]
    )
    model = trained_model(warehouse, measure=measure, leave_out=frozenset(same["dataset"]))
    configurations, setups = _candidates(
        warehouse.run_table(None, measure), wanted, rows=len(dataset.features)
    )
    metafeatures = pd.Series(compute_metafeatures(dataset), dtype=float)
    predicted = model.predict(configurations, metafeatures).mean
    choose = choose_delta if strategy == "delta" else choose_top
    return Recommendation(
        dataset=dataset,
        configurations=[
            RankedConfiguration(rank, *setups[position], float(predicted[position]), delta)
            for rank, (position, delta) in enumerate(choose(predicted, top), start=1)
        ],
        strategy=strategy,
        measure=measure,
        metafeatures=metafeatures,
        nearest=_nearest(warehouse, metafeatures, frozenset(same["dataset"])),
        left_out=list(same["name"]),
        warehouse=warehouse,
        model=model,
        candidates=len(setups),
    )


def _candidates(
    runs: RunTable, wanted: set[str], rows: int
) -> tuple[pd.DataFrame, list[tuple[Flow, dict[str, Value]]]]:
    """The configurations that build today and fit half of `rows`: the learner's frame, flows and values.

    The same configuration of two flows of one algorithm counts once. Of an algorithm with very many, those
    count that came out best somewhere.
    """
    scores = standard_scores(runs.runs["value"].to_numpy(), pd.factorize(runs.runs["dataset"])[0])
    best = pd.Series(scores).groupby(runs.runs["setup"].to_numpy()).max().sort_values(ascending=False)
    frame = runs.configurations.loc[best.index]
    kept, setups, seen = [], [], set()
    for algorithm, part in frame.groupby("algorithm", sort=False):
        flow = find_flow(str(algorithm))
        if flow is None or (wanted and flow.name not in wanted):
            continue
        for setup, values in _values(part.iloc[:MOST_CANDIDATES], f"{algorithm}:"):
            try:
                current = flow.current(values)
            except BadInput:
                continue  # a value that no longer exists
            key = (flow.name, *sorted(current.items()))
            # Half, so that a two-fold cross-validation of what we recommend works as well.
            if key not in seen and flow.rows_needed(current) <= rows // 2:
                seen.add(key)
                kept.append(setup)
                setups.append((flow, current))
    if not setups:
        raise BadInput(
            "the warehouse has no configuration that can be built"
            + (f" of {', '.join(sorted(wanted))}" if wanted else "")
        )
    return frame.loc[kept], setups


def _values(configurations: pd.DataFrame, prefix: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """Setup and hyperparameters of one algorithm's configurations, whose columns start with `prefix`."""
    columns = [name for name in configurations.columns if name.startswith(prefix)]
    names = [name.removeprefix(prefix) for name in columns]
    rows = configurations[columns].to_numpy(dtype=object)
    for setup, row in zip(configurations.index, rows, strict=True):
        # A parameter that the setup does not have is NaN, the one value that differs from itself.
        yield setup, {name: value for name, value in zip(names, row, strict=True) if value == value}


def _nearest(
    warehouse: Warehouse, metafeatures: pd.Series, left_out: frozenset[str]
) -> list[tuple[str, float]]:
    """The most similar datasets: Euclidean distance over the statistical meta-features.

    Each is put on a log scale and divided by its standard deviation over the warehouse; one that is
    missing on either side does not count. An empty list where nothing can be compared.
    """
    known = warehouse.metafeatures().drop(index=list(left_out), errors="ignore")
    common = [
        name
        for name in STATISTICAL
        if name in known.columns
        and known[name].notna().any()
        and not math.isnan(metafeatures.get(name, math.nan))
    ]
    if not common:
        return []
    known = known[known[common].notna().any(axis=1)]
    others = np.log1p(known[common].to_numpy(dtype=float))  # (datasets, features)
    mine = np.log1p(metafeatures[common].to_numpy(dtype=float))
    spread = np.nanstd(others, axis=0)
    differences = (others - mine)[:, spread > 0] / spread[spread > 0]
    distances = np.sqrt(np.nanmean(differences**2, axis=1))
    names = dict(warehouse.sql("SELECT dataset, name FROM datasets").itertuples(index=False, name=None))
    order = np.argsort(distances, kind="stable")[:NEAREST]
    return [(str(names.get(known.index[i], known.index[i])), float(distances[i])) for i in order]
