"""Importance of hyperparameters and meta-features, for every flow of the starter and for published runs.

    python -m tests.benchmarks.hyperparameter_importance [--flow NAME ...]
    python -m tests.benchmarks.hyperparameter_importance --warehouse runs/ --flow 6969 --flow 6970 \\
        --svm-grid ../shared/data/svm-grid/svm_grid.csv.gz \\
        --output notebooks/results/importance_published.json

The figures of the notebook `feature_importance`. For each flow: importances of the inputs of LightGBM's
meta-learner (`metalearners.evaluation.importance`, on the meta-features of van Hoof's thesis), and a
functional analysis of variance on each dataset (`metalearners.evaluation.functional_anova`), with the default
meta-learner's predictions after the dataset's own runs. The second command is for hundreds of runs per
dataset, which separate hyperparameters that a pool of eight configurations can't: OpenML's random forests and
AdaBoost, and a grid of support vector machines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import FLOWS, get_flow
from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.functional_anova import Design
from metalearners.evaluation.importance import importances
from metalearners.learners.base import Model
from metalearners.model_store import trained_model
from metalearners.predictions import Observations
from recommend.space import Space
from tests.benchmarks.latent_space import RESULTS
from tests.tables import runs_of_flow
from warehouse.questions.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.files import write_text
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.qualities import THESIS
from warehouse.vocabulary.searched_flow import SearchedFlow
from warehouse.vocabulary.table import ALGORITHM, split_name

MEASURE = "predictive_accuracy"
DRAWN = 128
DATASETS = 40
"""Most datasets per flow, spread over those with most of its runs."""
TRAITS = 10
"""Reported meta-features per flow."""
TREES = 200


def anova(
    runs: RunTable, metafeatures: pd.DataFrame, model: Model, flow: SearchedFlow
) -> list[dict[str, Any]]:
    """Each hyperparameter's share on every dataset, and quartiles of its marginal over the datasets."""
    space = Space([flow], joint=runs.configurations.joint)
    Z = space.sample(DRAWN, np.random.default_rng(0))
    design = Design.around(Z, space.categories)
    table = space.configurations(design.vectors).table
    own = runs.runs[(runs.runs["algorithm"] == flow.name) & runs.runs["dataset"].isin(metafeatures.index)]
    often = own["dataset"].value_counts()
    known = sorted(often.index[often == often.max()])
    found = []
    for dataset in known[:: max(1, len(known) // DATASETS)][:DATASETS]:
        configurations, values = runs_on(runs, dataset)
        of_flow = np.flatnonzero((configurations.algorithms == flow.name).to_numpy())
        trials = Observations(configurations.take(of_flow), values[of_flow])
        with one_thread():
            scores = model.condition(trials).predict(table, metafeatures.loc[dataset]).mean
        found.append(design.effects(scores))
    described, row = [], DRAWN
    for place, name in enumerate(space.names):
        active = int((~np.isnan(Z[:, place])).sum())
        size = len(design.levels[place])
        column = None if name == ALGORITHM and runs.configurations.joint else table.parameters[name]
        if column is not None and active:
            levels = [_plain(column.iloc[row + level * active]) for level in range(size)]
            marginals = np.array([effects[place].marginal for effects in found])
            described.append(
                {
                    "name": split_name(name)[1],
                    "scale": flow.scales.get(split_name(name)[1], "choice"),
                    "levels": levels,
                    "marginal": np.quantile(marginals, [0.25, 0.5, 0.75], axis=0).round(3).tolist(),
                    "shares": [round(effects[place].share, 4) for effects in found],
                }
            )
        row += active * size
    return described


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return float(f"{value:.3g}") if isinstance(value, float) else value


def inputs(runs: RunTable, metafeatures: pd.DataFrame) -> list[dict[str, Any]]:
    """Importance of all hyperparameters and the most important meta-features."""
    table = importances(runs, metafeatures, trees=TREES).rename_axis("name").reset_index()
    is_trait = table["kind"] == "meta-feature"
    traits = table[is_trait]
    kept = pd.concat([table[~is_trait], traits.nlargest(TRAITS, "gain")])
    share = {"of_traits": round(float(traits["gain"].sum()), 4)}
    return [*kept.round(4).to_dict("records"), share]


def of_starter(flows: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Importances in flows of the bundled starter."""
    warehouse = Warehouse.open(STARTER)
    metafeatures = warehouse.metafeatures()
    everything = warehouse.run_table(None, MEASURE)
    model = trained_model(warehouse, DEFAULT_LEARNER, MEASURE).fitted
    for name in flows:
        flow = get_flow(name)
        runs = warehouse.run_table(name, MEASURE)
        yield (
            name,
            _described(flow.title, runs, metafeatures)
            | {"anova": anova(everything, metafeatures, model, flow)},
        )


def of_others(warehouse: Warehouse, flows: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Importances in flows of another warehouse, with a separate model for each."""
    metafeatures = warehouse.metafeatures()
    for key in flows:
        runs = warehouse.run_table(key, MEASURE)
        algorithm = str(runs.configurations.algorithms.iloc[0])
        yield key, _by_own_model(get_flow(algorithm).title, runs, metafeatures)


def of_grid(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Importances in the grid of support vector machines; each kernel has its own hyperparameters."""
    grid = pd.read_csv(path)
    kernels = grid[["c1", "c2", "c3"]].to_numpy().argmax(axis=1)
    kernel = pd.Series(np.array(KERNELS)[kernels], index=grid.index)
    values = pd.DataFrame(
        {
            "kernel": kernel,
            "C": grid["c4"],
            "gamma": grid["c5"].where(kernel == "rbf"),
            "degree": grid["c6"].where(kernel == "polynomial"),
        }
    )
    setups = values.groupby(list(values), sort=False, dropna=False).ngroup().astype(str).radd("svm ")
    parameters = values.assign(setup=setups).drop_duplicates("setup").set_index("setup")
    runs = pd.DataFrame({"dataset": grid["dataset"], "setup": setups, "value": grid["accuracy"]})
    metafeatures = grid.groupby("dataset")[list(grid.columns[8:])].first()
    yield (
        "svm-grid",
        _by_own_model("Support vector machine", runs_of_flow(runs, parameters, "svm"), metafeatures),
    )


KERNELS = ("rbf", "polynomial", "linear")


def _by_own_model(title: str, runs: RunTable, metafeatures: pd.DataFrame) -> dict[str, Any]:
    algorithm = str(runs.configurations.algorithms.iloc[0])
    with one_thread():
        model = new_learner(DEFAULT_LEARNER).fit(runs, metafeatures)
    flow = runs.searched_flow(algorithm)
    return _described(title, runs, metafeatures) | {"anova": anova(runs, metafeatures, model, flow)}


def _described(title: str, runs: RunTable, metafeatures: pd.DataFrame) -> dict[str, Any]:
    traits = [name for name in THESIS if name in metafeatures] or list(metafeatures)
    return {
        "title": title,
        "runs": len(runs.runs),
        "datasets": int(runs.runs["dataset"].nunique()),
        "configurations": int(runs.runs["setup"].nunique()),
        "inputs": inputs(runs, metafeatures[traits]),
    }


def main() -> None:
    """Compute, and write after every flow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flow", action="append", default=[], help="default: all of the starter")
    parser.add_argument("--warehouse", type=Path, help="default: the bundled starter")
    parser.add_argument("--svm-grid", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS / "importance.json")
    arguments = parser.parse_args()
    if arguments.warehouse is None:
        parts = [of_starter(arguments.flow or [flow.name for flow in FLOWS.values()])]
    else:
        parts = [of_others(Warehouse.open(arguments.warehouse), arguments.flow)]
    if arguments.svm_grid is not None:
        parts.append(of_grid(arguments.svm_grid))
    results = {}
    for part in parts:
        for key, found in part:
            sys.stderr.write(f"{key}\n")
            results[key] = found
            lines = [f'"{name}": {json.dumps(value)}' for name, value in results.items()]
            write_text(arguments.output, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
