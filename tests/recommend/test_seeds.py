"""The seeds file."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import recommend
from ingest.flows import FLOWS, get_flow
from ingest.reading.datasets import load_dataset
from recommend.explaining.target_words import target_words
from recommend.seeds import SCHEMA, build_pipeline, read_seeds, write_seeds
from warehouse.support.errors import BadInput, Unwritable


def test_seeds_survive_the_file(tmp_path: Path) -> None:
    document = {"schema": SCHEMA, "configurations": [{"rank": 1}]}
    write_seeds(document, tmp_path / "seeds.json")
    assert read_seeds(tmp_path / "seeds.json") == document
    assert [path.name for path in tmp_path.iterdir()] == ["seeds.json"]


def test_seeds_that_cannot_be_written_do_not_change_the_old_file(tmp_path: Path) -> None:
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


FRAME = pd.DataFrame({"a": np.arange(60.0) % 7, "b": np.arange(60.0) % 11})
TARGETS = {"classes": np.tile(["no", "yes"], 30), "numbers": np.arange(60) / 7}


@pytest.mark.parametrize("kind", TARGETS)
def test_the_schema_covers_both_kinds_of_targets(kind: str) -> None:
    schema = json.loads(Path(recommend.__file__).with_name("seeds.schema.json").read_text(encoding="utf-8"))
    facts = target_words(load_dataset(FRAME.assign(y=TARGETS[kind]), target="y")).facts()
    dataset = {"name": "n", "source": "s", "content_hash": "0", "rows": 60, "features": 2, "target": "y"}
    validator = jsonschema.Draft202012Validator(schema["properties"]["dataset"])
    assert validator.is_valid({**dataset, "metafeatures": {}, **facts})
    assert not validator.is_valid({**dataset, "metafeatures": {}})


@pytest.mark.parametrize("name", ["svm", "svm_regressor", "gaussian_process"])
def test_a_classifiers_pipeline_gives_probabilities_and_a_regressors_is_unchanged(name: str) -> None:
    kind = "numbers" if FLOWS[name].task_type.words == "regression" else "classes"
    dataset = load_dataset(FRAME.assign(y=TARGETS[kind]), target="y")
    pipeline = build_pipeline({"flow": f"headstart:{name}", "hyperparameters": {}}, dataset)
    assert hasattr(pipeline, "predict_proba") == (kind == "classes")
    if kind == "numbers":
        fitted = pipeline.fit(dataset.features, dataset.target)
        own = get_flow(name).pipeline({}, dataset.roles).fit(dataset.features, dataset.target)
        np.testing.assert_array_equal(fitted.predict(dataset.features), own.predict(dataset.features))
