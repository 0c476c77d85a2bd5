"""Figures of notebooks, on data with a known answer."""

import numpy as np
import pandas as pd
import pytest

from metalearners import new_learner
from tests.benchmarks.hyperparameter_importance import anova
from tests.benchmarks.warm_starts import FINDINGS, figure, findings
from tests.tables import runs_of_flow

METHODS = sorted({method for finding in FINDINGS for method in finding[:2]})


def curves(regret: dict[str, float], datasets: int = 8) -> pd.DataFrame:
    """Searches of three trials, each of which halves the regret."""
    rows = []
    for d in range(datasets):
        for method in METHODS:
            for trial in (1, 2, 3):
                left = regret[method] * (1 + d / 100) / 2**trial
                rows.append((f"d{d}", method, 0, trial, 1 - left, left))
    return pd.DataFrame(rows, columns=["dataset", "method", "seed", "trial", "best_so_far", "regret"])


def test_ranks_are_among_the_methods_of_a_figure() -> None:
    regret = {method: 0.1 * place for place, method in enumerate(METHODS, start=1)}
    found = figure(curves(regret), (METHODS[4], METHODS[1]))
    assert found[METHODS[1]]["rank"] == [1, 1, 1]
    assert found[METHODS[4]]["rank"] == [2, 2, 2]
    assert found[METHODS[1]]["regret"] == pytest.approx([0.1035, 0.05175, 0.0259], abs=1e-4)


def test_findings_count_datasets() -> None:
    regret = dict.fromkeys(METHODS, 0.1) | {"blend+top": 0.05}
    last = findings(curves(regret))[-1]
    assert (last["better"], last["wins"], last["losses"]) == ("blend+top", 8, 0)
    assert last["p"] < 0.1


def test_the_hyperparameter_that_decides_explains_the_variance() -> None:
    random = np.random.default_rng(0)
    setups = pd.Index([f"s{s}" for s in range(40)], name="setup")
    parameters = pd.DataFrame({"decides": random.random(40), "idle": random.random(40)}, index=setups)
    rows = [(f"d{d}", s, 0.5 + 0.3 * parameters["decides"][s]) for d in range(4) for s in setups]
    runs = runs_of_flow(pd.DataFrame(rows, columns=["dataset", "setup", "value"]), parameters)
    metafeatures = pd.DataFrame(
        {"NumberOfInstances": 100.0, "NumberOfFeatures": 5.0}, index=["d0", "d1", "d2", "d3"]
    )
    model = new_learner("functional-pca").fit(runs, metafeatures)
    effects = {one["name"]: one for one in anova(runs, metafeatures, model, runs.searched_flow("toy"))}
    assert np.mean(effects["decides"]["shares"]) > 0.9
    assert np.mean(effects["idle"]["shares"]) < 0.05
    assert effects["decides"]["marginal"][1] == sorted(effects["decides"]["marginal"][1])
