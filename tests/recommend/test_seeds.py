"""The file of seeds."""

import json
from pathlib import Path

import pytest

from recommend.seeds import SCHEMA, read_seeds, write_seeds
from warehouse.support.errors import BadInput, Unwritable


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
