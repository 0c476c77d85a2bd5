"""Modules that the fork server of `ingest.running.limits` imports once for all trials.

Numeric libraries get one thread each: trials run side by side, one core each.
"""

import os
import signal
from importlib import import_module
from importlib.util import find_spec

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the server belongs to
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

for _module in (
    "catboost",
    *(["xgboost"] if find_spec("xgboost") is not None else []),
    "lightgbm",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.feature_extraction.text",
    "sklearn.discriminant_analysis",
    "sklearn.linear_model",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.tree",
    "ingest.reading.datasets",
    "ingest.running.evaluation",
):
    import_module(_module)
