"""The plot of the latent space: its configurations and dataset."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners import new_learner
from metalearners.evaluation.latent_plot import draw_latent_space
from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.model import (
    NO_POSITIONS,
    Factorization,
    FreePositions,
    ScoreLikelihood,
    ZeroMean,
    row_names,
)
from metalearners.stored_model import ModelOrigin, StoredModel
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption, TooFewRuns

pytest.importorskip("matplotlib", reason="drawing needs the extra `compare`")


def stored(fitted: Any, learner: str = "pmf") -> StoredModel:
    """A model, as if trained on the toy runs."""
    origin = ModelOrigin(learner, {}, "predictive_accuracy", "toy", (), 1, "")
    return StoredModel(origin, fitted, runs_on=dict.fromkeys(map(str, range(12)), 20))


def factorization(latent: FreePositions | None) -> StoredModel:
    nearest = new_learner("nearest-25").fit(toy_runs(), toy_metafeatures())
    return stored(Factorization(ZeroMean(nearest), latent or NO_POSITIONS, ScoreLikelihood()))  # type: ignore[arg-type]


def placed(warehouse: Warehouse, dimensions: int, configurations: int = 20) -> FreePositions:
    """Positions of so many of the toy world's 20 configurations."""
    table = warehouse.run_table("toy", "predictive_accuracy").configurations.take(slice(configurations))
    X = np.random.default_rng(0).normal(size=(configurations, dimensions))
    kernel = LatentKernel("rbf", 1.0, np.ones(dimensions), 0.1)
    return FreePositions.anchored(kernel, X, row_names(table.hyperparameters), seed=0)


@pytest.fixture(scope="module")
def warehouse(toy_tables: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The toy world, with a name for toy:5, and 20 runs for toy:7; the others have 10."""
    runs = toy_tables["runs"]
    keep = (runs["task"] == "toy:7/cv3") | runs["setup"].isin([f"setup {number}" for number in range(10)])
    datasets = toy_tables["datasets"]
    tables = {
        **toy_tables,
        "datasets": datasets.assign(name=datasets["name"].replace({"toy:5": "five"})),
        "runs": runs[keep],
        "evaluations": toy_tables["evaluations"][toy_tables["evaluations"]["run"].isin(runs[keep]["run"])],
    }
    warehouse = Warehouse.create(tmp_path_factory.mktemp("world") / "uneven")
    warehouse.write(tables, source="toy")
    return warehouse


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record figures instead of writing them, which takes seconds."""
    figures: list[Any] = []
    monkeypatch.setattr(
        "metalearners.evaluation.latent_plot.save_figure", lambda figure, _: figures.append(figure)
    )
    return figures


def points(figure: Any, panel: int) -> int:
    """Number of configurations in a panel: by algorithm (0) or by score (1)."""
    return sum(len(group.get_offsets()) for group in figure.axes[panel].collections)


@pytest.mark.parametrize(
    ("dataset", "said", "title"),
    [
        (None, "20 configurations, 20 of them run on toy:7", "on toy:7"),
        ("toy:3", "20 configurations, 10 of them run on toy:3", "on toy:3"),
        ("toy:5", "20 configurations, 10 of them run on five", "on five"),
        ("five", "20 configurations, 10 of them run on five", "on five"),
    ],
)
def test_the_dataset_of_this_key_or_name_is_shown(
    warehouse: Warehouse, drawn: list[Any], dataset: str | None, said: str, title: str
) -> None:
    """By default it is the one with most runs."""
    file = Path("latent.svg")
    assert (
        draw_latent_space(factorization(placed(warehouse, 2)), warehouse, file, dataset) == f"{said}: {file}"
    )
    assert title in drawn[0].axes[1].get_title()
    assert [points(drawn[0], panel) for panel in (0, 1)] == [20, 20]


@pytest.mark.parametrize(("dimensions", "panels"), [(2, 1), (4, 6), (8, 15)])
def test_each_pair_of_six_dimensions_is_a_panel(
    warehouse: Warehouse, drawn: list[Any], dimensions: int, panels: int
) -> None:
    """The paper's Figure 2: 15 pairs of six dimensions, each with all configurations."""
    model = factorization(placed(warehouse, dimensions))
    said = draw_latent_space(model, warehouse, Path("pairs.png"), None, pairs=True)
    assert said == "20 configurations: pairs.png"
    shown = [number for number, axes in enumerate(drawn[0].axes) if axes.get_visible()]
    assert [points(drawn[0], number) for number in shown] == [20] * panels


def test_a_model_without_positions_has_nothing_to_draw(warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(TooFewRuns, match="has a position in the model's latent space"):
        draw_latent_space(factorization(None), warehouse, tmp_path / "latent.png", None)


def test_another_learner_has_no_latent_space(warehouse: Warehouse, tmp_path: Path) -> None:
    model = stored(new_learner("knn").fit(toy_runs(), toy_metafeatures()), "knn")
    with pytest.raises(BadOption, match="a model of knn has no latent space"):
        draw_latent_space(model, warehouse, tmp_path / "latent.png", None)
