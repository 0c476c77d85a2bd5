"""Comparison of evaluated learners: ranks and p by hand, and files that can't be compared."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners.evaluation.comparison import compare_evaluations, read_evaluations
from tests.cases import each
from warehouse.support.errors import BadInput, BadOption, UnreadableInput

pytest.importorskip("statsmodels", reason="comparing needs the extra `compare`")


def results(**learners: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        learners, index=[f"d{number}" for number in range(len(next(iter(learners.values()))))]
    )


def test_ranks_by_hand_with_a_tie() -> None:
    """On d0: b 1, a 2, c 3; on d1: a and b share 1.5, c 3."""
    found = compare_evaluations(results(a=[0.5, 0.4], b=[0.6, 0.4], c=[0.1, 0.3]), larger_is_better=True)
    assert found.learners == ("b", "a", "c")
    assert found.ranks == {"b": 1.25, "a": 1.75, "c": 3.0}
    assert found.means["a"].mean == pytest.approx(0.45)
    assert found.datasets == 2


def test_p_of_two_learners_by_hand() -> None:
    """One is better on all six datasets; the chance is 1 in 2^6 for either of them: 2 / 64."""
    better = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    found = compare_evaluations(
        results(a=(better + better**2).tolist(), b=better.tolist()), larger_is_better=True
    )
    assert found.pairs["a"]["b"] == found.pairs["b"]["a"] == pytest.approx(2 / 64)
    assert found.pairs["a"]["a"] == 1
    assert found.friedman is None


def test_p_of_three_learners_is_corrected_for_three_pairs() -> None:
    """Each uncorrected p is 2 / 64; by Holm the smallest counts three times, and no other is smaller.

    Friedman's statistic is 12 n / (k (k + 1)) * sum of (mean rank - 2)^2 = 12 * 6 / 12 * 2 = 12; p = exp(-6).
    """
    base = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    found = compare_evaluations(
        results(a=(3 * base).tolist(), b=(2 * base).tolist(), c=base.tolist()), larger_is_better=True
    )
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        assert found.pairs[one][other] == pytest.approx(3 * 2 / 64)
    assert found.friedman == pytest.approx(np.exp(-6))


def test_equal_learners_on_a_single_dataset_have_a_valid_document() -> None:
    """No interval is known, and nothing speaks for a difference."""
    found = compare_evaluations(results(a=[0.5], b=[0.5], c=[0.5]), larger_is_better=True).document()
    assert found["learners"][0] == {"learner": "a", "mean": 0.5, "low": None, "high": None, "rank": 2.0}
    assert found["friedman"] == 1.0


def evaluation(learner: str, tau: dict[str, float], **changes: Any) -> dict[str, Any]:
    """Output of `metalearners evaluate`, as far as it is compared; regrets are 1 - tau."""
    return {
        "learner": learner,
        "flow": "toy",
        "measure": "predictive_accuracy",
        "warehouse": {"fingerprint": "same"},
        "per_dataset": [
            {"dataset": dataset, "tau": value, "regret": dict.fromkeys(("1", "3", "5"), 1 - value)}
            for dataset, value in tau.items()
        ],
        **changes,
    }


def written(folder: Path, **documents: Any) -> list[Path]:
    files = [folder / f"{name}.json" for name in documents]
    for file, document in zip(files, documents.values(), strict=True):
        file.write_text(json.dumps(document))
    return files


def test_results_are_read_by_dataset_whatever_their_order(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        one=evaluation("knn", {"d0": 0.5, "d1": 0.25}),
        other=evaluation("pmf", {"d1": 0.75, "d0": 0.0}),
    )
    expected = pd.DataFrame({"knn": [0.5, 0.25], "pmf": [0.0, 0.75]}, index=["d0", "d1"])
    pd.testing.assert_frame_equal(read_evaluations(files, "tau"), expected)
    pd.testing.assert_frame_equal(read_evaluations(files, "regret3"), 1 - expected)


def test_learners_with_the_same_name_are_distinguished_by_their_files(tmp_path: Path) -> None:
    document = evaluation("lightgbm", {"d0": 0.5})
    files = written(tmp_path, few_leaves=document, many_leaves=document)
    assert list(read_evaluations(files, "tau").columns) == ["few_leaves", "many_leaves"]


@each(
    ("other", "refusal", "message"),
    [
        (evaluation("pmf", {"d0": 0.1}, flow="svm"), BadOption, "differ in flow, measure or warehouse"),
        (evaluation("pmf", {"d0": 0.1}, measure="kappa"), BadOption, "differ in flow, measure or warehouse"),
        (
            evaluation("pmf", {"d0": 0.1}, warehouse={"fingerprint": "new"}),
            BadOption,
            "differ in flow, measure or warehouse",
        ),
        (evaluation("pmf", {"d9": 0.1}), BadOption, "left out different datasets"),
        ([1, 2], UnreadableInput, "other.json: not an evaluation"),
        ({"learner": "pmf"}, UnreadableInput, "other.json: not an evaluation"),
    ],
)
def test_incomparable_evaluations_are_refused_in_one_line(
    tmp_path: Path, other: Any, refusal: type[BadInput], message: str
) -> None:
    files = written(tmp_path, one=evaluation("knn", {"d0": 0.5}), other=other)
    with pytest.raises(refusal, match=message) as caught:
        read_evaluations(files, "tau")
    assert "\n" not in str(caught.value)
