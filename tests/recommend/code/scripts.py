"""Run scripts as users do, without Headstart's packages."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from recommend.calibration import with_probabilities
from recommend.code import Origin, script
from recommend.code.targets import target_code
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value

ORIGIN = Origin("Chosen by a test.", "Expected: nothing in particular.", "predictive_accuracy")

_RUN = """
import json, os, runpy, sys, traceback, warnings

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("ingest", "warehouse", "metalearners", "recommend", "tests"):
            raise ImportError(f"{name} is not there for scripts")

sys.meta_path.insert(0, Refused())
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    folder, printed, calls = json.loads(line)
    os.chdir(folder)
    for stream, path in enumerate(printed, 1):
        with open(path, "w") as file:
            os.dup2(file.fileno(), stream)
    for sys.argv in calls:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            print(f"exit code {end.code}", file=sys.stderr)
        except BaseException:
            print(f"FAILED {sys.argv[0]}", file=sys.stderr)
            traceback.print_exc()
    sys.stdout.flush()
    print("done", file=answers, flush=True)
"""


@cache
def _runner() -> subprocess.Popen[str]:
    """A process that runs scripts until the tests end; after the first, their imports are loaded."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def run_scripts(calls: list[tuple[Path | str, ...]], folder: Path) -> tuple[str, str]:
    """Run scripts one after the other in one process; returns their output and error output.

    Args:
        calls: scripts and their arguments.
        folder: working directory.
    """
    printed = [folder / f".printed{stream}" for stream in (1, 2)]
    request = json.dumps([folder, printed, calls], default=str)
    assert _runner().stdin and _runner().stdout
    print(request, file=_runner().stdin, flush=True)
    assert _runner().stdout.readline() == "done\n"
    out, complaints = (path.read_text(encoding="utf-8") for path in printed)
    return out, complaints


def code_of(flow: str, values: Mapping[str, Value], dataset: Dataset) -> str:
    return script({Configuration(flow, get_flow(flow).current(values)): 1.0}, dataset, ORIGIN)


def our_predictions(flow: str, values: Mapping[str, Value], dataset: Dataset) -> pd.DataFrame:
    """Predictions of the flow's own pipeline for its training rows, in the scripts' format.

    A classifier without probabilities is calibrated, unless it is fitted on balanced classes.
    """
    pipeline = get_flow(flow).pipeline(values, dataset.roles)
    if "balancing" not in values:
        pipeline = with_probabilities(pipeline)
    return predictions(pipeline, dataset)


def predictions(model: Any, dataset: Dataset) -> pd.DataFrame:
    """Predictions of a model for its training rows, in the scripts' format."""
    model.fit(dataset.features, target_code(dataset).values(dataset))
    predicted = pd.DataFrame({"prediction": model.predict(dataset.features)})
    if hasattr(model, "predict_proba"):
        names = [f"probability of {label}" for label in model.classes_]
        predicted[names] = model.predict_proba(dataset.features)
    return predicted


def assert_same_predictions(path: Path, expected: pd.DataFrame) -> None:
    assert path.read_text(encoding="utf-8").splitlines() == expected.to_csv(index=False).splitlines()
