"""A fit of AutoGluon, in a Python environment of its own, as it needs an older pandas than ours.

    PYTHON autogluon_fit.py FOLDER METRIC SECONDS CLOCK PROBLEM_TYPE

FOLDER holds train.parquet, with the classes or numbers to learn in the column y, and test.parquet. Writes
scores.parquet and took.json beside them: probabilities with a column for each class, or numbers in column 0.
CLOCK is wall or processor, the clock for the seconds. With an empty PROBLEM_TYPE, AutoGluon infers it.
"""

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path

import pandas as pd

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let Linux kill this process when its parent ends, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    from autogluon.tabular import TabularPredictor

    end_with_parent()
    folder, metric, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    train, test = (pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "test"))
    began, used = time.monotonic(), os.times()
    if sys.argv[4] == "processor":
        start = time.time()
        time.time = lambda: start + time.process_time()  # AutoGluon's clock for its time limit
    predictor = TabularPredictor(
        "y",
        problem_type=sys.argv[5] or None,
        eval_metric=metric,
        path=str(folder / "models"),
        verbosity=0,
    )
    predictor.fit(train, presets="medium_quality", time_limit=seconds, num_cpus=1, num_gpus=0)
    took, ended = time.monotonic() - began, os.times()
    found = (
        predictor.predict_proba(test)
        if predictor.can_predict_proba
        else predictor.predict(test).to_frame("0")
    )
    found.columns = found.columns.astype(str)
    found.to_parquet(folder / "scores.parquet")
    processor = sum(ended[:4]) - sum(used[:4])
    (folder / "took.json").write_text(json.dumps({"seconds": took, "processor": processor}))


if __name__ == "__main__":
    main()
