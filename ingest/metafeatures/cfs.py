"""CFS: select attributes that are informative about the class but not about each other.

Hall, "Correlation-based feature selection for machine learning", 1999: a set of k attributes has the merit
k r_c / sqrt(k + k (k - 1) r_a), with r_c the mean symmetrical uncertainty between its attributes and the
class and r_a that among them. The search is greedy and forward: it adds the attribute with the largest gain
in merit until none gains; then, as in Weka, it adds attributes that are more informative about the class than
about any member. (Weka's search looks five steps further and bins by MDL; here numbers are cut into eighths,
which needs no class.)

Notation
    K       bins of all attributes and the class together; the class comes last
    tables  (K, K) rows that fall into both bins
"""

from __future__ import annotations

import numpy as np

from ingest.metafeatures.columns import entropy
from ingest.metafeatures.prepared import RowSample, Singles
from warehouse.support.arrays import Floats, Positions

_BINS = 8  # with equal numbers of rows; set by hand, Weka bins by minimum description length
_MOST_ATTRIBUTES = 60
"""Candidate attributes: those that alone are most informative about the class."""


class AttributeSelection:
    """Attributes chosen by CFS on the training rows of each fold."""

    def __init__(self, sample: RowSample) -> None:
        self._sample = sample
        codes = [*_binned(sample), *np.maximum(sample.categories, 0).T]
        alone = [_uncertainty_with_class(column, sample.y) for column in codes]
        self._attributes = np.sort(np.argsort(-np.array(alone), kind="stable")[:_MOST_ATTRIBUTES])
        columns = [*(codes[attribute] for attribute in self._attributes), sample.y]
        sizes = [int(column.max()) + 1 for column in columns]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._members = np.zeros((len(sample.y), sum(sizes)), dtype=np.float32)
        for start, column in zip(self._starts, columns, strict=True):
            self._members[np.arange(len(column)), start + column] = 1
        self._tables = self._members.T @ self._members

    def chosen(self, fold: int) -> Positions:
        """Positions of the attributes selected on the training rows of `fold`, at least one, sorted."""
        tested = self._members[self._sample.fold == fold]
        uncertainty = _symmetrical_uncertainty(self._tables - tested.T @ tested, self._starts)
        with_class, among = uncertainty[:-1, -1], uncertainty[:-1, :-1]
        chosen = _with_locally_predictive(_greedy(with_class, among), with_class, among)
        return np.sort(self._attributes[chosen])


def _greedy(with_class: Floats, among: Floats) -> Positions:
    """Positions of the chosen attributes, by the merit defined in the module's docstring."""
    chosen: list[int] = []
    best = -1.0
    to_class, to_chosen = 0.0, np.zeros(len(with_class))
    within = 0.0  # sum over pairs of chosen attributes
    while len(chosen) < len(with_class):
        k = len(chosen) + 1
        merit = (to_class + with_class) / np.sqrt(k + 2 * (within + to_chosen))
        merit[chosen] = -1.0
        candidate = int(merit.argmax())
        if merit[candidate] <= best + 1e-9:
            break
        best = float(merit[candidate])
        chosen.append(candidate)
        to_class += float(with_class[candidate])
        within += float(to_chosen[candidate])
        to_chosen = to_chosen + among[candidate]
    return np.array(chosen, dtype=np.intp)


def _with_locally_predictive(chosen: Positions, with_class: Floats, among: Floats) -> Positions:
    """Add to `chosen`, best first, attributes that tell more about the class than about any before."""
    members = chosen.tolist()
    for attribute in np.argsort(-with_class, kind="stable").tolist():
        if attribute not in members and with_class[attribute] > among[attribute, members].max():
            members.append(attribute)
    return np.array(members, dtype=np.intp)


def _symmetrical_uncertainty(tables: Singles, starts: Positions) -> Floats:
    """(a, a) 2 (H(A) + H(B) - H(A, B)) / (H(A) + H(B)) for all pairs of blocks, which begin at `starts`."""
    total = tables[: starts[1], : starts[1]].sum()
    counts = np.maximum(tables, 1.0)  # 0 log 0 = 1 log 1 = 0
    terms = np.add.reduceat(np.add.reduceat(counts * np.log2(counts), starts, axis=0), starts, axis=1)
    joint = np.log2(total) - terms / total
    single = np.diag(joint)
    both = single[:, None] + single[None, :]
    shared = np.maximum(both - joint, 0.0)
    uncertainty: Floats = 2 * shared / np.maximum(both, 1e-9)
    return uncertainty


def _uncertainty_with_class(codes: Positions, y: Positions) -> float:
    classes = int(y.max()) + 1
    joint = np.bincount(codes * classes + y, minlength=(int(codes.max()) + 1) * classes).reshape(-1, classes)
    attribute, of_class, both = (
        entropy(counts) for counts in (joint.sum(axis=1), joint.sum(axis=0), joint.ravel())
    )
    return 2 * (attribute + of_class - both) / (attribute + of_class) if attribute + of_class > 0 else 0.0


def _binned(sample: RowSample) -> list[Positions]:
    """(m,) the eighth of each numeric attribute that a row falls into; gaps are filled with the mean."""
    edges = sample.ordered[:, len(sample.y) * np.arange(1, _BINS) // _BINS]
    return [
        np.searchsorted(np.unique(limits), column, side="right")
        for limits, column in zip(edges, sample.filled.T, strict=True)
    ]
