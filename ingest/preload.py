"""What the fork server of `ingest.trials` imports once for all trials.

Numeric libraries get one thread each: trials run side by side, one core each.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import lightgbm  # noqa: E402, F401
import sklearn.compose  # noqa: E402, F401
import sklearn.ensemble  # noqa: E402, F401
import sklearn.feature_extraction.text  # noqa: E402, F401
import sklearn.linear_model  # noqa: E402, F401
import sklearn.neighbors  # noqa: E402, F401
import sklearn.neural_network  # noqa: E402, F401
import sklearn.pipeline  # noqa: E402, F401
import sklearn.svm  # noqa: E402, F401
import sklearn.tree  # noqa: E402, F401
import ConfigSpace  # noqa: E402, F401

import ingest.evaluation  # noqa: E402, F401
