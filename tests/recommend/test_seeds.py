"""The choice of seeds (thesis eq. 6.2) and the file that carries them."""

import json
from pathlib import Path

import numpy as np
import pytest

from recommend.ranking.choice import choose_delta
from recommend.seeds import SCHEMA, read_seeds, write_seeds
from warehouse.support.errors import BadInput, Unwritable


def test_delta_takes_the_best_first() -> None:
    assert choose_delta(np.array([-1.0, 2.0, 0.5]), 1) == [(1, 0.0)]


def test_delta_follows_equation_6_2() -> None:
    """Worked by hand for p = 0, 0.1, ..., 1.

    d = 0.1: (1 - p)^0.1 + p is 1.0 at p = 1, 1.69433 at 0.9, 1.65134 at 0.8: the seed is p = 0.9.
    d = 0.2: 1.53096 at 0.9, 1.52478 at 0.8: still p = 0.9.
    d = 0.3: 1.40119 at 0.9, 1.41703 at 0.8, 1.39685 at 0.7: the seed is p = 0.8.
    """
    p = np.arange(11) / 10
    assert choose_delta(p, 3) == [(10, 0.0), (9, 0.1), (8, pytest.approx(0.3))]


def test_delta_does_not_depend_on_the_scale_of_predictions() -> None:
    predicted = np.random.default_rng(0).normal(size=50)
    assert choose_delta(predicted, 3) == choose_delta(3 * predicted + 7, 3)


def test_delta_never_takes_the_worst_while_there_are_others() -> None:
    for seed in range(20):
        predicted = np.random.default_rng(seed).normal(size=30)
        chosen = [position for position, _ in choose_delta(predicted, 3)]
        assert len(set(chosen)) == 3
        assert int(predicted.argmin()) not in chosen


def test_delta_fills_up_with_the_next_best() -> None:
    assert choose_delta(np.array([0.0, 1.0]), 2) == [(1, 0.0), (0, None)]
    assert choose_delta(np.array([2.0, 2.0]), 3) == [(0, 0.0), (1, None)]


def test_seeds_survive_the_file(tmp_path: Path) -> None:
    document = {"schema": SCHEMA, "configurations": [{"rank": 1}]}
    write_seeds(document, tmp_path / "seeds.json")
    assert read_seeds(tmp_path / "seeds.json") == document
    assert [path.name for path in tmp_path.iterdir()] == ["seeds.json"]


def test_seeds_that_cannot_be_written_leave_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "seeds.json"
    path.write_text("precious")
    with pytest.raises(ValueError, match="nan"):
        write_seeds({"predicted": float("nan")}, path)
    assert path.read_text() == "precious"
    with pytest.raises(Unwritable, match="can't be written"):
        write_seeds({}, tmp_path / "nowhere" / "seeds.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "can't be read"),
        ("{", "not a JSON file"),
        ("[]", "no list `configurations`"),
        (json.dumps({"configurations": []}), "written as None"),
        (json.dumps({"schema": "headstart-seeds/2", "configurations": []}), "headstart-seeds/2"),
    ],
)
def test_foreign_seeds_are_refused_in_one_line(tmp_path: Path, content: str | None, reason: str) -> None:
    path = tmp_path / "seeds.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadInput, match=reason) as caught:
        read_seeds(path)
    assert "\n" not in str(caught.value)
