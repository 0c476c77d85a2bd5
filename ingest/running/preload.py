"""Set up the fork server of `ingest.running.limits`, which imports modules once for all trials.

Numeric libraries get one thread each: trials run in parallel, one core each. The server and its trials ignore
requests to end, since the process that owns them ends its trials itself. They print to stderr, since standard
output is for that process's results.
"""

import os
import signal
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from warehouse.support.signals import REQUESTS

for _number in REQUESTS:
    # Unlike SIG_IGN, a handler is not inherited by the programs that a trial starts.
    signal.signal(_number, lambda *_: None)
signal.pthread_sigmask(signal.SIG_UNBLOCK, REQUESTS)  # blocked since the server was started
with suppress(OSError):  # stderr is closed
    os.dup2(2, 1)
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
