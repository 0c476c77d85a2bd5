"""Scripts run as their users run them, where none of our packages can be imported."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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
import runpy, sys, traceback, warnings

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("ingest", "warehouse", "metalearners", "recommend", "tests"):
            raise ImportError(f"{name} is not there for scripts")

sys.meta_path.insert(0, Refused())
warnings.simplefilter("ignore")
for line in sys.stdin.read().splitlines():
    sys.argv = line.split("\\t")
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except BaseException:
        print(f"FAILED {sys.argv[0]}", file=sys.stderr)
        traceback.print_exc()
"""


def run_scripts(calls: list[tuple[Path | str, ...]], folder: Path) -> tuple[str, str]:
    """Run scripts one after the other in one process; returns what they print and what they complain of.

    Args:
        calls: of each the script and its arguments.
        folder: where they are run.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN],
        input="\n".join("\t".join(map(str, call)) for call in calls),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    return done.stdout, done.stderr


def code_of(flow: str, values: Mapping[str, Value], dataset: Dataset) -> str:
    return script({Configuration(flow, get_flow(flow).current(values)): 1.0}, dataset, ORIGIN)


def our_predictions(flow: str, values: Mapping[str, Value], dataset: Dataset) -> pd.DataFrame:
    """Predictions of the flow's own pipeline for the rows that it is fitted on, as scripts write them.

    A classifier without probabilities is calibrated, unless it is fitted on balanced classes.
    """
    pipeline = get_flow(flow).pipeline(values, dataset.roles)
    if "balancing" not in values:
        pipeline = with_probabilities(pipeline)
    pipeline.fit(dataset.features, target_code(dataset).values(dataset))
    predicted = pd.DataFrame({"prediction": pipeline.predict(dataset.features)})
    if hasattr(pipeline, "predict_proba"):
        names = [f"probability of {label}" for label in pipeline.classes_]
        predicted[names] = pipeline.predict_proba(dataset.features)
    return predicted


def assert_same_predictions(path: Path, expected: pd.DataFrame) -> None:
    assert path.read_text(encoding="utf-8").splitlines() == expected.to_csv(index=False).splitlines()
