"""Algorithm selection in a toy world, where one feature tells which of two algorithms is good."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.benchmarks import algorithm_selection as selection
from tests.cases import each

SIGN = np.repeat([-1.0, 1.0], 20)
X = np.column_stack([SIGN + np.linspace(-0.1, 0.1, 40), np.linspace(0, 1, 40) ** 2 * np.tile([1, -1], 20)])
Y = np.column_stack([0.8 + 0.1 * SIGN, 0.8 - 0.1 * SIGN, np.full(40, 0.75)])
NEW = np.array([[-1.05, 0.3], [1.05, np.nan]])


@each("name", selection.METHODS)
def test_each_method_picks_by_the_feature(name: str) -> None:
    assert selection.METHODS[name](X, Y, NEW).argmax(axis=1).tolist() == [1, 0]


def test_the_gap_is_between_the_single_and_the_virtual_best() -> None:
    table = pd.DataFrame(Y)
    picked = pd.DataFrame({"single best": Y[:, 0], "half": (Y[:, 0] + Y.max(axis=1)) / 2})
    closed = selection.report(picked, table)["gap closed"]
    assert closed.tolist() == pytest.approx([0, 0.5, 1])


def test_features_that_do_not_vary_or_are_mostly_missing_are_left_out() -> None:
    mostly_missing = np.where(np.arange(40) < 30, np.nan, np.arange(40.0))
    wide = np.column_stack([X, np.ones(40), mostly_missing])
    assert selection.usable(wide, wide, Y)[0].shape == (40, 2)


def test_a_scenario_is_read_with_its_splits(tmp_path: Path) -> None:
    header = "@RELATION R\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n"
    (tmp_path / "algorithm_runs.arff").write_text(
        f"{header}@ATTRIBUTE algorithm STRING\n@ATTRIBUTE predictive_accuracy NUMERIC\n"
        "@ATTRIBUTE runstatus {ok, timeout}\n@DATA\n3,1,a.One,0.9,ok\n3,1,b.Two,0.8,ok\n6,1,a.One,0.7,ok\n"
    )
    (tmp_path / "feature_values.arff").write_text(
        f"{header}@ATTRIBUTE NumberOfClasses NUMERIC\n@DATA\n3,1,2\n6,1,?\n"
    )
    (tmp_path / "cv.arff").write_text(f"{header}@ATTRIBUTE fold NUMERIC\n@DATA\n6,1,1\n3,1,2\n")
    runs, _, features, splits = selection.read_scenario(tmp_path, tmp_path / "warehouse")
    assert len(runs.configurations) == 2
    assert features["NumberOfClasses"].tolist()[0] == 2
    assert splits.tolist() == [2, 1]
