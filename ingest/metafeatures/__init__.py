"""Meta-features (OpenML's qualities) of a dataset: one extractor for every source of data.

Their definitions are in `warehouse.vocabulary.qualities`; this package computes them, group by group.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from threading import Thread

from ingest.metafeatures.columns import cardinality, information, pca, statistical
from ingest.metafeatures.landmarkers import landmarkers
from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.relative import relative
from ingest.metafeatures.simple import of_classes, simple
from ingest.metafeatures.target import target, target_correlations
from ingest.metafeatures.target_landmarkers import target_landmarkers
from ingest.metafeatures.trees import model
from ingest.metafeatures.values import Values
from ingest.reading.datasets import Dataset
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.qualities import GROUPS, QUALITIES

__all__ = ["EXTRACTOR", "Metafeatures", "compute_metafeatures", "importing_ahead"]

EXTRACTOR = "headstart-4"  # version of the definitions; changes whenever a value may change


@dataclass(frozen=True)
class _Extractor:
    """How to compute a group, and roughly how long it takes (measured on one processor of 2024)."""

    extract: Callable[[Prepared], Values]
    seconds: float = 0.0
    per_million_cells: float = 0.0
    per_thousand_columns: float = 0.0
    fits: bool = False
    """Whether it fits models, which takes scikit-learn and a sample in which attributes and target vary."""

    def expected_seconds(self, prepared: Prepared) -> float:
        columns = prepared.dataset.features.shape[1]
        seconds = self.seconds + self.per_thousand_columns * columns / 1e3
        seconds += self.per_million_cells * prepared.n * columns / 1e6
        return seconds + (1.0 if self.fits and "sklearn.tree" not in sys.modules else 0.0)


# The cheapest first. The first group that uses the sample draws it.
_EXTRACTORS = {
    "simple": _Extractor(simple),
    "class": _Extractor(of_classes),
    "target": _Extractor(target),
    "cardinality": _Extractor(cardinality, per_million_cells=0.05, per_thousand_columns=0.03),
    "statistical": _Extractor(statistical, per_million_cells=0.01, per_thousand_columns=0.03),
    "information": _Extractor(information, per_million_cells=0.01, per_thousand_columns=0.1),
    "pca": _Extractor(pca, 0.05, per_million_cells=0.025, per_thousand_columns=0.15),
    "target_correlations": _Extractor(target_correlations, 0.03),
    "model": _Extractor(model, 0.03, fits=True),
    "landmarkers": _Extractor(landmarkers, 0.3, fits=True),
    "target_landmarkers": _Extractor(target_landmarkers, 0.3, fits=True),
    "relative": _Extractor(relative, 0.4, fits=True),
}
assert _EXTRACTORS.keys() == GROUPS.keys()


@contextmanager
def importing_ahead() -> Iterator[None]:
    """Import scikit-learn, which takes a second, in a thread while other work mostly waits.

    That work must not import SciPy or scikit-learn itself: two threads that import modules of one package in
    different orders may each see the other's half-imported.
    """
    importing = Thread(target=import_module, args=("sklearn.svm",))
    importing.start()
    try:
        yield
    finally:
        importing.join()


@dataclass(frozen=True)
class Metafeatures:
    """Meta-features of one dataset."""

    values: dict[str, float]
    """Name -> value, in the registry's order; NaN if missing."""
    reasons: dict[str, str]
    """Reason for each NaN."""
    sample: str | None = None
    """The sample seen by groups that use one, if it was not the whole dataset."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of each group."""


def compute_metafeatures(
    dataset: Dataset,
    names: Iterable[str] | None = None,
    *,
    budget: float | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Metafeatures:
    """Meta-features of `dataset`; undefined ones are NaN, with the reason.

    Args:
        names: names to compute; None = all that are defined for the dataset's task type. A group is computed
            as a whole.
        budget: time limit in seconds. The cheapest group is always computed; others are left out if their
            estimated time exceeds what is left.
        report: called with the name of each group before it is computed.
    """
    task_type = dataset.task_type
    defined = {quality.name for quality in QUALITIES if quality.is_defined_for(task_type)}
    wanted = defined if names is None else set(names)
    prepared = Prepared(dataset)
    found: Values = dict.fromkeys(wanted - defined, f"the task is {task_type.words}")
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    for group, extractor in _EXTRACTORS.items():
        if (wanted & defined).isdisjoint(GROUPS[group]):
            continue
        began = time.perf_counter()
        if budget is not None and seconds and began - start + extractor.expected_seconds(prepared) > budget:
            reason = f"left out: it may exceed the time budget of {budget:g} s"
            found |= dict.fromkeys(defined.intersection(GROUPS[group]), reason)
            continue
        report(group)
        with warnings.catch_warnings(), one_thread():  # folds run in parallel, on small matrices
            # Warnings of few rows per class or an SVM that has not converged are irrelevant to a landmarker.
            warnings.filterwarnings("ignore", module="sklearn")
            missing = prepared.no_sample if extractor.fits else None
            found |= dict.fromkeys(GROUPS[group], missing) if missing else extractor.extract(prepared)
        seconds[group] = time.perf_counter() - began
    chosen = {
        quality.name: found[quality.name] for quality in QUALITIES if quality.name in wanted & found.keys()
    }
    return Metafeatures(
        values={name: float("nan") if isinstance(value, str) else value for name, value in chosen.items()},
        reasons={name: value for name, value in chosen.items() if isinstance(value, str)},
        sample=prepared.sample.note if "sample" in vars(prepared) else None,
        seconds=seconds,
    )
