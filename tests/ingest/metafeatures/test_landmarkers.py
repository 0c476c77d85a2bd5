"""The learners behind landmarkers: equal to scikit-learn's where those exist, right by hand where not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from ingest.metafeatures.cfs import AttributeSelection
from ingest.metafeatures.landmarkers import Fold, cross_validated
from ingest.metafeatures.prepared import Prepared, Sample
from ingest.metafeatures.trees import (
    GrownTree,
    by_held_out_error,
    by_pessimistic_error,
    grow,
    grow_by_gini,
    to_depth,
)
from ingest.reading.datasets import load_dataset


def sample_of(frame: pd.DataFrame) -> Sample:
    return Prepared(load_dataset(frame)).sample


@pytest.fixture(scope="module")
def blobs() -> Sample:
    """Three classes of 50 rows, four numbers, no ties."""
    random = np.random.default_rng(0)
    label = np.repeat(np.arange(3), 50)
    X = random.normal(size=(150, 4)) + label[:, None] * np.array([1.5, 0.5, 0, -1])
    return sample_of(pd.DataFrame(X).add_prefix("x").assign(**{"class": [f"c{i}" for i in label]}))


def predicted(sample: Sample, estimator: object, X: np.ndarray) -> np.ndarray:
    """(m, C) probabilities of a scikit-learn estimator in the sample's folds."""
    probabilities = np.zeros((len(sample.y), sample.n_classes))
    for number in range(sample.fold.max() + 1):
        train, test = sample.fold != number, sample.fold == number
        probabilities[test] = estimator.fit(X[train], sample.y[train]).predict_proba(X[test])  # type: ignore[attr-defined]
    return probabilities


def pooled(sample: Sample, learner: object) -> np.ndarray:
    """(m, C) probabilities of one of our learners."""
    found = np.zeros((len(sample.y), sample.n_classes))

    def remember(fold: Fold) -> np.ndarray:
        found[fold.test] = learner(fold)  # type: ignore[operator]
        return found[fold.test]

    cross_validated(sample, {"it": remember})
    return found


# ---- scores --------------------------------------------------------------------------------------


def test_scores_equal_scikit_learns(blobs: Sample) -> None:
    probabilities = predicted(blobs, GaussianNB(), blobs.numbers)
    scores = cross_validated(blobs, {"it": lambda fold: probabilities[fold.test]})["it"]
    label = probabilities.argmax(axis=1)
    assert scores["ErrRate"] == pytest.approx((label != blobs.y).mean())
    assert scores["Kappa"] == pytest.approx(cohen_kappa_score(blobs.y, label))
    expected = roc_auc_score(blobs.y, probabilities, multi_class="ovr", average="weighted")
    assert scores["AUC"] == pytest.approx(expected)


def test_a_constant_prediction_tells_nothing(blobs: Sample) -> None:
    scores = cross_validated(blobs, {"it": lambda fold: np.tile([1.0, 0, 0], (len(fold.test), 1))})["it"]
    assert scores == pytest.approx({"AUC": 0.5, "ErrRate": 2 / 3, "Kappa": 0})


# ---- naive Bayes and neighbours ------------------------------------------------------------------


def test_naive_bayes_of_numbers_is_scikit_learns(blobs: Sample) -> None:
    expected = predicted(blobs, GaussianNB(var_smoothing=0), blobs.numbers)
    assert pooled(blobs, Fold.naive_bayes) == pytest.approx(expected, abs=1e-9)


def test_naive_bayes_of_categories_is_scikit_learns() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.choice(list("uvw"), (100, 3))).add_prefix("c")
    sample = sample_of(frame.assign(**{"class": ["a", "b"] * 50}))
    estimator = CategoricalNB(min_categories=3)
    expected = predicted(sample, estimator, sample.categories)
    assert pooled(sample, Fold.naive_bayes) == pytest.approx(expected, abs=1e-9)


def test_naive_bayes_learns_nothing_from_a_missing_cell() -> None:
    """A column of gaps but for two rows leaves the prediction of the other rows as it is."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=40), "class": ["a", "b"] * 20})
    gaps = np.full(40, np.nan)
    gaps[:2] = [1.0, 2.0]
    with_gaps = sample_of(frame.assign(y=gaps))
    error = cross_validated(with_gaps, {"it": Fold.naive_bayes})["it"]["ErrRate"]
    plain = cross_validated(sample_of(frame), {"it": Fold.naive_bayes})["it"]["ErrRate"]
    assert abs(error - plain) <= 0.15  # folds are dealt anew: the row's content is another


def test_nearest_neighbour_is_scikit_learns(blobs: Sample) -> None:
    expected = predicted(blobs, KNeighborsClassifier(1), blobs.scaled)
    assert pooled(blobs, Fold.nearest_neighbour) == pytest.approx(expected)


def test_equally_near_neighbours_vote() -> None:
    """Each row's nearest are the other rows with its value, of both classes in the shares 3 : 1."""
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20), "class": (["a"] * 15 + ["b"] * 5) * 2})
    probabilities = pooled(sample_of(frame), Fold.nearest_neighbour)
    assert probabilities[:, 0] == pytest.approx(0.75, abs=0.05)


def test_two_categories_are_as_far_apart_as_the_ends_of_a_number() -> None:
    frame = pd.DataFrame(
        {"x": np.tile([0.0, 5.0], 12), "c": np.resize(list("uvw"), 24), "class": np.resize(["a", "b"], 24)}
    )
    sample = sample_of(frame)
    first, others = sample.scaled[0], sample.scaled
    distances = ((others - first) ** 2).sum(axis=1)
    assert set(np.round(distances, 5)) == {0.0, 1.0, 2.0}


# ---- trees ---------------------------------------------------------------------------------------


def tree_of(left: list[int], right: list[int], counts: list[list[float]]) -> GrownTree:
    return GrownTree(np.array(left), np.array(right), np.zeros(len(left), int), np.array(counts), grown=None)


def test_c45_replaces_a_subtree_that_expects_more_errors() -> None:
    """Quinlan's example (C4.5, 1993, section 4.2) at confidence 0.25: leaves of 6, 9 and 1 rows without error
    expect 6 * 0.206 + 9 * 0.143 + 1 * 0.750 = 3.27 errors, one leaf with 1 error of 16 expects 2.51.
    """
    tree = tree_of([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [[15, 1], [6, 0], [9, 1], [9, 0], [0, 1]])
    closed = by_pessimistic_error(tree, 0.25)
    assert closed[0]
    assert tree.ends(closed).tolist() == [0, 0, 0, 0, 0]


def test_c45_keeps_a_split_that_pays() -> None:
    tree = tree_of([1, -1, -1], [2, -1, -1], [[50, 50], [50, 0], [0, 50]])
    assert by_pessimistic_error(tree, 0.001).tolist() == [False, True, True]


def test_held_out_rows_prune_what_only_fits_the_others() -> None:
    tree = tree_of([1, -1, -1], [2, -1, -1], [[6, 4], [6, 0], [0, 4]])
    agree, contradict = np.array([[3, 2], [3, 0], [0, 2]]), np.array([[4, 1], [2, 1], [2, 0]])
    assert by_held_out_error(tree, agree, tree.is_leaf).tolist() == [False, True, True]
    assert by_held_out_error(tree, contradict, tree.is_leaf).tolist() == [True, True, True]


def test_a_tree_grown_by_gini_is_scikit_learns(blobs: Sample) -> None:
    X, y = blobs.tree_columns, blobs.y
    expected = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    tree = grow_by_gini(X, y, 3)
    assert tree.left.tolist() == expected.children_left.tolist()
    assert tree.feature.tolist() == expected.feature.tolist()
    assert tree.counts == pytest.approx(expected.value[:, 0] * expected.weighted_n_node_samples[:, None])


def test_a_weighted_row_counts_as_often_in_a_tree_grown_by_gini(blobs: Sample) -> None:
    X, y = blobs.tree_columns, blobs.y
    times = np.arange(len(y)) % 3 + 1
    weighted = grow_by_gini(X, y, 3, weight=times.astype(float), max_depth=3)
    repeated = grow_by_gini(np.repeat(X, times, axis=0), np.repeat(y, times), 3, max_depth=3)
    assert weighted.feature.tolist() == repeated.feature.tolist()
    assert weighted.counts == pytest.approx(repeated.counts)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tree_cut_at_a_depth_is_the_tree_grown_to_it(blobs: Sample, depth: int) -> None:
    X, y = blobs.tree_columns, blobs.y
    grown, cut = grow(X, y, 3, max_depth=depth), grow(X, y, 3)
    nodes = cut.ends(to_depth(cut, depth))[cut.leaves_of(X)]
    assert cut.counts[nodes] == pytest.approx(grown.counts[grown.leaves_of(X)])


# ---- CFS -----------------------------------------------------------------------------------------


def test_cfs_takes_what_tells_the_class_and_no_copy_of_it() -> None:
    random = np.random.default_rng(0)
    label = np.resize([0, 1], 200)
    telling = label + random.normal(size=200) * 0.3
    also = label * 0.5 + random.normal(size=200) * 0.4
    frame = pd.DataFrame(
        {"telling": telling, "copy": telling * 2, "also": also, "noise": random.normal(size=200)}
    )
    sample = sample_of(frame.assign(**{"class": np.where(label, "a", "b")}))
    strength = [abs(np.corrcoef(column, sample.y)[0, 1]) for column in sample.numbers.T]
    chosen = AttributeSelection(sample).chosen(0)
    kept = sorted(np.array(strength)[chosen].round(2))
    strongest = round(max(strength), 2)
    assert kept.count(strongest) == 1
    assert round(min(strength), 2) not in kept
