"""Searches on Manolache's synthetic functions (section 6.1), with base models of five other tasks.

Base models learn from 20 random points of each task; a search begins with three random points. As in
the thesis the functions are costs, and regret is over their range.
"""

import numpy as np
import pandas as pd

from recommend.bo.simulation.runner import SimulationPlan, simulate
from tests.synthetic_functions import Cost, alike, unlike
from tests.tables import runs_of_flow
from warehouse.questions.queries import RunTable

POINTS, KNOWN, TASKS = 201, 20, 6


def tasks_of(cost: Cost, lowest: float) -> RunTable:
    """All points of task 0, and some of the other tasks, with values."""
    x = np.linspace(lowest, 10, POINTS)
    random = np.random.default_rng(0)
    known = [
        np.arange(POINTS) if k == 0 else random.choice(POINTS, KNOWN, replace=False) for k in range(TASKS)
    ]
    runs = pd.concat(
        pd.DataFrame(
            {"dataset": f"task {k}", "setup": [f"x{n}" for n in points], "value": -cost(x[points], k)}
        )
        for k, points in enumerate(known)
    ).reset_index(drop=True)
    return runs_of_flow(runs, pd.DataFrame({"x": x}, index=pd.Index([f"x{n}" for n in range(POINTS)])))


def regrets(cost: Cost, lowest: float, trials: int, *methods: str) -> dict[str, float]:
    """Mean regret of a GP and of these methods on task 0 after this many trials."""
    sizes = {"NumberOfInstances": 100.0, "NumberOfFeatures": 1.0}
    metafeatures = pd.DataFrame(sizes, index=[f"task {k}" for k in range(TASKS)])
    plan = SimulationPlan(("gp", *methods), trials=trials, seeds=5)
    searched = simulate(tasks_of(cost, lowest), metafeatures, plan, datasets=["task 0"])
    regret = [(one.method, (one.best - one.best_so_far[-1]) / (one.best - one.worst)) for one in searched]
    return pd.DataFrame(regret, columns=["method", "regret"]).groupby("method")["regret"].mean().to_dict()


def test_similar_tasks_help() -> None:
    found = regrets(alike, -10, 6, "rgpe", "rlgp", "blend")
    gp = found.pop("gp")
    assert {name: regret for name, regret in found.items() if regret >= gp / 2} == {}


def test_dissimilar_tasks_do_no_harm() -> None:
    found = regrets(unlike, 0, 10, "rgpe", "blend")
    gp = found.pop("gp")
    assert {name: regret for name, regret in found.items() if regret >= gp + 0.02} == {}
