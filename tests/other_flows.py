"""Runs of a flow that Headstart does not build: boosted trees with conditional hyperparameters."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

SPACE = {
    "hyperparameters": {
        "eta": {"low": 0.001, "high": 1.0, "log": True, "default": 0.3},
        "booster": {"choices": ["gbtree", "gblinear", "dart"]},
        "max_depth": {"low": 1, "high": 12, "default": 6, "when": {"booster": ["gbtree", "dart"]}},
        "rate_drop": {"low": 0.0, "high": 1.0, "default": 0.1, "when": {"booster": ["dart"]}},
    }
}
"""As a user declares it."""


def runs(per_dataset: int = 40) -> pd.DataFrame:
    """Values of a formula with noise on 12 datasets: large ones want deep trees, small ones a small eta."""
    rng = np.random.default_rng(0)
    parts = []
    for task in range(1, 13):
        eta = (10 ** rng.uniform(-3, 0, per_dataset)).round(6)
        booster = rng.choice(["gbtree", "gblinear", "dart"], per_dataset)
        depth = np.where(booster == "gblinear", np.nan, rng.integers(1, 13, per_dataset))
        drop = np.where(booster == "dart", rng.uniform(0, 1, per_dataset).round(4), np.nan)
        wanted = -1.0 if task > 6 else -2.0
        value = 0.9 - 0.05 * np.abs(np.log10(eta) - wanted)
        value += np.where(np.isnan(depth), -0.1, 0.005 * depth * (1 if task > 6 else -1))
        value -= 0.05 * np.nan_to_num(drop)
        value += rng.normal(0, 0.002, per_dataset)
        columns = {"task_id": task, "eta": eta, "booster": booster, "max_depth": depth, "rate_drop": drop}
        parts.append(pd.DataFrame({**columns, "predictive_accuracy": value.round(5)}))
    return pd.concat(parts)


def write_world(folder: Path) -> None:
    """Write runs.csv, qualities.json, space.json and my.csv to a folder."""
    runs().to_csv(folder / "runs.csv", index=False)
    qualities = {
        str(task): {"NumberOfInstances": 100.0 * task, "NumberOfFeatures": 4.0, "NumberOfClasses": 2.0}
        for task in range(1, 13)
    }
    (folder / "qualities.json").write_text(json.dumps(qualities))
    (folder / "space.json").write_text(json.dumps(SPACE))
    rng = np.random.default_rng(1)
    label = np.arange(600) % 2
    mine = pd.DataFrame({"x": label + rng.normal(size=600).round(3), "z": rng.normal(size=600).round(3)})
    mine.assign(**{"class": np.where(label, "b", "a")}).to_csv(folder / "my.csv", index=False)
