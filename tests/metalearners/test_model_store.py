"""Trained models: found by their training data, never half-written, never unpickled."""

import hashlib
import io
import json
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metalearners import LEARNERS, model_store, new_learner
from metalearners.codec import encode
from metalearners.encoding.training_data import without_datasets
from metalearners.learners import calibrated
from metalearners.model_files import read_arrays, read_content, user_cache, write_files
from metalearners.model_store import trained_fit_times, trained_model
from metalearners.stored_model import (
    FIGURES,
    FORMAT,
    VERSION,
    StoredModel,
    load_model,
    save_model,
    with_figures,
)
from tests.cases import each
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput, DamagedModel, Unwritable

SETTINGS = {"trees": 10, "leaves": 4}
FIGURED = {name: {"mean": 0.5} for name in FIGURES}


def train(warehouse: Warehouse, **options: object) -> StoredModel:
    return trained_model(warehouse, **{"learner": "lightgbm", "settings": SETTINGS, **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models folder of a toy warehouse, with one model."""
    copy = Warehouse.open(shutil.copytree(toy_folder, tmp_path_factory.mktemp("trained") / "warehouse"))
    train(copy)
    return copy.models


@pytest.fixture
def model(toy_warehouse: Warehouse, trained: Path) -> StoredModel:
    """The model of the toy warehouse, stored there."""
    shutil.copytree(trained, toy_warehouse.models)
    return train(toy_warehouse)


@pytest.fixture
def folder(model: StoredModel) -> Path:
    assert model.path is not None
    return model.path


def test_a_model_is_trained_once_and_then_found(
    toy_warehouse: Warehouse, model: StoredModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Warehouse, "run_table", lambda *_: pytest.fail("trained again"))
    again = train(toy_warehouse)
    assert again.path == model.path == toy_warehouse.path / "models" / model.origin.key
    assert again.description() == model.description()


@each(
    "options",
    [
        {"leave_out": frozenset({"toy:3"})},
        {"flow": "toy"},
        {"flow": "forest"},
        {"settings": {"trees": 11, "leaves": 4}},
    ],
)
def test_other_settings_give_another_model(
    toy_warehouse: Warehouse, model: StoredModel, options: dict[str, object]
) -> None:
    assert train(toy_warehouse, **options).path != model.path


def test_an_alias_of_the_measure_leads_to_the_same_model(
    toy_warehouse: Warehouse, model: StoredModel
) -> None:
    assert train(toy_warehouse, measure="ACC").path == model.path
    with pytest.raises(BadInput, match="unknown measure 'beauty'; known are"):
        train(toy_warehouse, measure="beauty")


def test_a_left_out_dataset_is_not_learned_from(toy_warehouse: Warehouse, model: StoredModel) -> None:
    without = train(toy_warehouse, leave_out={"toy:1", "toy:3"})
    assert (model.datasets, model.runs) == (12, 240)
    assert (without.datasets, without.runs) == (10, 200)
    assert without.description()["left_out"] == ["toy:1", "toy:3"]


def test_the_model_is_stored_in_the_cache_if_the_warehouse_is_read_only(toy_warehouse: Warehouse) -> None:
    older = Warehouse.open(toy_warehouse.path, version=toy_warehouse.version)
    model = train(older)
    assert model.path == user_cache() / model.origin.key
    assert train(older).path == model.path


def test_a_model_that_cannot_be_stored_is_still_returned(toy_warehouse: Warehouse, tmp_path: Path) -> None:
    for blocked in (toy_warehouse.path / "models", tmp_path / "cache"):
        blocked.write_text("a file where a folder should be")
    model = train(toy_warehouse)
    assert model.path is None
    assert model.summary() == "Learned from 240 runs on 12 datasets (lightgbm, warehouse version 1)"


def test_a_model_that_must_be_stored_is_not_trained_if_it_cannot_be(
    toy_warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = train(toy_warehouse)
    assert not list(toy_warehouse.models.glob(".*"))
    monkeypatch.setattr(model_store, "_train", lambda *_: pytest.fail("trained"))
    cache = tmp_path / "cache"
    cache.write_text("a file where a folder should be")
    toy_warehouse.models.rename(tmp_path / "elsewhere")
    toy_warehouse.models.write_text("another one")
    with pytest.raises(Unwritable, match=f"{toy_warehouse.models}: File exists; {cache}.*: Not a directory"):
        train(toy_warehouse, must_be_stored=True)
    toy_warehouse.models.unlink()
    (tmp_path / "elsewhere").rename(toy_warehouse.models)
    assert train(toy_warehouse, must_be_stored=True).path == stored.path


def test_saving_leaves_nothing_unfinished_behind(model: StoredModel, folder: Path) -> None:
    save_model(model, folder.parent)
    assert [entry.name for entry in folder.parent.iterdir()] == [model.origin.key]
    assert sorted(entry.name for entry in folder.iterdir()) == ["arrays.npz", "model.json"]


def evaluation_of(model: StoredModel, **changes: object) -> dict[str, object]:
    """Output of `metalearners evaluate`, as far as a model stores it."""
    origin = model.origin
    return {
        "learner": origin.learner,
        "settings": dict(origin.settings),
        "flow": origin.flow,
        "measure": origin.measure,
        "warehouse": {"version": origin.warehouse_version, "fingerprint": origin.warehouse_fingerprint},
        **FIGURED,
        **changes,
    }


def test_a_model_keeps_the_figures_of_its_evaluation(model: StoredModel, folder: Path) -> None:
    assert model.figures is None
    figured = with_figures(model, evaluation_of(model))
    assert figured.path == folder
    assert load_model(folder).figures == FIGURED
    assert figured.description() == model.description()


@each(
    "change",
    [
        {"learner": "knn"},
        {"settings": {}},
        {"flow": "openml:6969"},
        {"measure": "kappa"},
        {"warehouse": {"fingerprint": "other"}},
    ],
)
def test_figures_of_another_evaluation_are_refused(model: StoredModel, change: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"the {next(iter(change))} of the evaluation"):
        with_figures(model, evaluation_of(model, **change))


def test_a_damaged_model_is_trained_again(toy_warehouse: Warehouse, folder: Path) -> None:
    (folder / "arrays.npz").write_bytes(b"")
    train(toy_warehouse)
    assert load_model(folder).runs == 240


def forged(folder: Path, arrays: Mapping[str, np.ndarray] | None = None, **changes: object) -> None:
    """Write other content with matching checksums: damage that is not an accident."""
    content = read_content(folder, FORMAT, VERSION)
    write_files(folder, {**content, **changes}, read_arrays(folder, content) if arrays is None else arrays)


def test_models_that_cannot_be_used_are_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "whole")
    text = (folder / "model.json").read_text()

    def refused(message: str) -> None:
        with pytest.raises(BadInput, match=message) as caught:
            load_model(folder)
        assert "\n" not in str(caught.value)
        shutil.copytree(tmp_path / "whole", folder, dirs_exist_ok=True)

    (folder / "arrays.npz").unlink()
    refused("arrays.npz is missing")
    (folder / "model.json").write_text(text[:200])
    refused("cut off or not a model")
    (folder / "model.json").write_text("[]")
    refused("lacks the format 'headstart.model'")
    forged(folder, version=99)
    refused(f"this Headstart reads {VERSION}")
    forged(folder, origin={"learner": "lightgbm"})
    refused("damaged")
    forged(folder, state={})
    refused("it is damaged: it lacks encoding")
    forged(folder, arrays={"feature": np.zeros(3)})
    refused("it is damaged: it lacks centre")
    forged(folder, origin=json.loads(text)["origin"] | {"learner": "oracle"})
    refused("unknown learner 'oracle'")
    (folder / "model.json").unlink()
    refused("there is no model")


def packed(header: bytes) -> bytes:
    """An archive of one array with this header."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        return file.getvalue()


def objects() -> bytes:
    with io.BytesIO() as file:
        np.savez(file, feature=np.array([object()]))
        return file.getvalue()


@pytest.mark.parametrize(
    "arrays",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x80\x04pickled", id="a pickle"),
        pytest.param(b"PK\x03\x04 no archive", id="no archive"),
        pytest.param(objects(), id="pickled objects"),
        pytest.param(
            packed(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n"), id="8 TB"
        ),
    ],
)
def test_invalid_arrays_are_refused_even_with_a_matching_checksum(folder: Path, arrays: bytes) -> None:
    (folder / "arrays.npz").write_bytes(arrays)
    with pytest.raises(DamagedModel, match=r"arrays.npz does not match its checksum"):
        load_model(folder)
    content = json.loads((folder / "model.json").read_text())
    content["checksum"]["arrays.npz"] = hashlib.sha256(arrays).hexdigest()
    (folder / "model.json").write_text(json.dumps(content))
    with pytest.raises(DamagedModel, match=r"arrays.npz is missing, cut off or not an array file"):
        load_model(folder)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_every_flipped_bit_is_found(folder: Path, place: float, bit: int) -> None:
    """Except those that change nothing: JSON has blanks, and two forms of some numbers and letters."""
    before = load_model(folder)
    for file in ("model.json", "arrays.npz"):
        content = (folder / file).read_bytes()
        damaged = bytearray(content)
        damaged[int(place * len(content))] ^= 1 << bit
        (folder / file).write_bytes(damaged)
        try:
            assert load_model(folder).description() == before.description()
        except DamagedModel:
            continue
        finally:
            (folder / file).write_bytes(content)
        assert file == "model.json"


def test_a_model_in_the_place_of_another_is_not_used(toy_warehouse: Warehouse, folder: Path) -> None:
    other = load_model(folder)
    forged(folder, origin=encode(replace(other.origin, warehouse_fingerprint="0123456789abcdef"))[0])
    train(toy_warehouse)
    assert load_model(folder).origin == other.origin


def test_loading_a_model_imports_nothing_heavy(folder: Path) -> None:
    command = (
        "import sys; from metalearners.stored_model import load_model; load_model(sys.argv[1])\n"
        "print(sorted({'lightgbm', 'sklearn', 'scipy', 'joblib', 'rich'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", command, str(folder)], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@each("measure", ["predictive_accuracy", "area_under_roc_curve", "log_loss", "balanced_accuracy"])
def test_the_bundled_starter_includes_its_models(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Warehouse, "run_table", lambda *_: pytest.fail("trained again"))
    assert trained_model(Warehouse.open(STARTER), measure=measure).datasets > 200


def test_the_bundled_starter_includes_its_fit_times(tmp_path: Path) -> None:
    trained_fit_times(Warehouse.open(STARTER))
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_every_learner_is_found_again(
    toy_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model(learner: str) -> Path | None:
        return trained_model(toy_warehouse, learner, settings=quick.get(learner)).path

    quick = {"lightgbm": SETTINGS, "lightgbm-ranker": SETTINGS, "pmf": {"epochs": 1, "steps": 1}}

    learners = [name for name in LEARNERS if name != "pmf" or find_spec("torch") is not None]
    paths = {name: model(name) for name in learners}
    monkeypatch.setattr(model_store, "_learned_from", lambda *_: pytest.fail("trained again"))
    assert {name: model(name) for name in learners} == paths
    assert None not in paths.values()


def with_families(warehouse: Warehouse) -> Warehouse:
    """The toy warehouse, where toy:1 is a near copy of toy:3."""
    datasets = warehouse.sql("SELECT * FROM datasets")
    family = datasets["dataset"].where(datasets["dataset"] != "toy:1", "toy:3")
    warehouse.write({"datasets": datasets.assign(family=family)}, source="families")
    return warehouse


def test_datasets_are_removed_from_a_stored_model_without_a_training(
    toy_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = with_families(toy_warehouse)
    of_all = trained_model(warehouse, "functional-pca")
    monkeypatch.setattr(Warehouse, "run_table", lambda *_: pytest.fail("trained again"))
    without = trained_model(warehouse, "functional-pca", leave_out={"toy:5"})
    assert (of_all.datasets, without.datasets, without.runs) == (12, 11, 220)
    assert without.description()["left_out"] == ["toy:5"]
    assert without.path is None


@pytest.mark.parametrize("learner", ["lightgbm", "average-rank"])
def test_leaving_out_a_known_dataset_takes_one_fit_if_there_is_a_model_of_all(
    toy_warehouse: Warehouse, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calibration, which takes five fits, is reused from the model of all datasets."""
    settings = SETTINGS if learner == "lightgbm" else {}
    of_all = trained_model(toy_warehouse, learner, settings=settings)
    runs = without_datasets(toy_warehouse.run_table(None, "predictive_accuracy"), {"toy:5"})
    metafeatures = toy_warehouse.metafeatures().drop(index="toy:5")
    trained = new_learner(learner, settings).fit(runs, metafeatures)
    monkeypatch.setattr(calibrated, "_expected_without_families", lambda *_: pytest.fail("calibrated again"))
    without = trained_model(toy_warehouse, learner, leave_out={"toy:5"}, settings=settings)
    assert (of_all.datasets, without.datasets, without.seconds) == (12, 11, None)
    new = toy_warehouse.metafeatures().loc["toy:5"]
    of_both = [model.predict(runs.configurations, new).mean for model in (without.fitted, trained)]
    np.testing.assert_array_equal(*of_both)
    assert trained_model(toy_warehouse, learner, leave_out={"toy:5"}, settings=settings).path == without.path


def test_near_copies_are_left_out_together(toy_warehouse: Warehouse) -> None:
    """Two of twelve datasets are too many to remove, so a model is trained without them."""
    without = trained_model(with_families(toy_warehouse), "functional-pca", leave_out={"toy:1"})
    assert not {"toy:1", "toy:3"} & without.runs_on.keys()
    assert without.datasets == 10
    assert without.path is not None


def test_a_training_is_announced_with_its_expected_time_unless_it_is_short(
    toy_warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    """The starter's models state the time per run, which is negligible for the toy's 240 runs."""
    caplog.set_level("INFO")
    short = trained_model(toy_warehouse, "functional-pca")
    train(toy_warehouse)
    assert [record.getMessage() for record in caplog.records] == [
        "training lightgbm on 240 runs on 12 datasets"
    ]
    caplog.clear()
    save_model(replace(short, seconds=1000.0 * short.runs), toy_warehouse.path / "models")
    trained_model(toy_warehouse, "functional-pca", flow="toy")
    assert caplog.records[-1].getMessage().endswith("on 240 runs on 12 datasets, about 240000 s")


def test_a_new_model_replaces_that_of_an_earlier_version(toy_warehouse: Warehouse, folder: Path) -> None:
    kept = train(toy_warehouse, settings={"trees": 11})
    evaluations = toy_warehouse.sql("SELECT run FROM runs ORDER BY run LIMIT 1")
    toy_warehouse.write(
        {"evaluations": evaluations.assign(measure="predictive_accuracy", value=0.0, flow="toy")},
        source="correction",
    )
    newer = train(toy_warehouse)
    assert newer.path is not None
    assert newer.path.is_dir()
    assert not folder.exists()
    assert kept.path is not None
    assert kept.path.is_dir(), "other settings are another model"
