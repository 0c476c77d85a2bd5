"""A picture of the latent space: the paper's Figures 1 and 2 (Fusi, Sheth and Elibol 2018).

Notation
    X       (n, Q) positions of configurations, each dimension times the square root of its gamma
    axes    the two principal directions of X (Figure 1), or pairs of its dimensions (Figure 2)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented, standard_scores
from metalearners.evaluation.figures import save_figure
from metalearners.evaluation.latent_space import principal_axes
from metalearners.published.factorization.model import Factorization
from metalearners.stored_model import StoredModel
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption, TooFewRuns, UnknownName
from warehouse.support.extras import needed_for
from warehouse.support.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from warehouse.support.arrays import Flags, Floats

_PAIRED = 6  # dimensions, as in the paper's Figure 2
_COLOURS = 10  # further algorithms share the last colour


def draw_latent_space(
    model: StoredModel, warehouse: Warehouse, file: Path, dataset: str | None, *, pairs: bool = False
) -> str:
    """Draw the configurations of the model's runs, and return a sentence about the picture.

    Args:
        pairs: draw each pair of the first six latent dimensions by algorithm (the paper's Figure 2), instead
            of the two principal directions by algorithm and by score.
        model: a trained `pmf`.
        dataset: key or name of the dataset whose scores are shown; None = the first one with most runs.

    Raises:
        BadInput: the dataset is unknown or has no run, or no configuration has a position.
        BadInput: the extra `compare` is not installed, or the file can't be written.
    """
    with needed_for("drawing", "compare"):
        from matplotlib.figure import Figure
    fitted = model.fitted
    if not isinstance(fitted, Factorization):
        raise BadOption(f"a model of {model.origin.learner} has no latent space")
    runs = warehouse.run_table(model.origin.flow, model.origin.measure)
    key, name = _dataset(warehouse, runs.runs["dataset"], dataset)
    described = warehouse.metafeatures().reindex([key]).iloc[0]
    latent = fitted.latent
    X = latent.positions(runs.configurations, described) * np.sqrt(latent.kernel.gamma)
    placed = np.flatnonzero(~np.isnan(X).any(axis=1))
    if not len(placed):
        raise TooFewRuns("no configuration of the warehouse has a position in the model's latent space")
    algorithms = runs.configurations.algorithms.iloc[placed]
    if pairs:
        # Principal components sort the dimensions as the paper did before training ("first 6").
        widest = np.argsort(-X[placed].std(axis=0), kind="stable")[:_PAIRED]
        save_figure(_pairs(X[placed][:, widest], algorithms), file)
        return f"{counted(len(placed), 'configurations')}: {file}"
    axes, _ = principal_axes(X[placed])
    places = pd.DataFrame(axes, index=runs.configurations.setups[placed]).reindex(
        columns=[0, 1], fill_value=0.0
    )
    own = runs.runs[(runs.runs["dataset"] == key) & runs.runs["setup"].isin(places.index)]
    values = oriented(own["value"].to_numpy(np.float64), runs.measure)
    scores = pd.Series(standard_scores(values), own["setup"]).groupby(level=0).mean()
    figure = Figure(figsize=(12, 5.5), layout="constrained")
    by_algorithm, by_score = figure.subplots(1, 2, sharex=True, sharey=True)
    _draw_algorithms(by_algorithm, places, algorithms)
    _draw_scores(figure, by_score, places, scores, name)
    save_figure(figure, file)
    return f"{counted(len(places), 'configurations')}, {len(scores):,} of them run on {name}: {file}"


def _dataset(warehouse: Warehouse, with_runs: pd.Series, wanted: str | None) -> tuple[str, str]:
    """Key and name of the requested dataset."""
    names = dict(warehouse.sql("SELECT dataset, name FROM datasets").itertuples(index=False, name=None))
    if wanted is None:
        key = str(with_runs.value_counts(sort=True).index[0])
        return key, str(names.get(key, key))
    keys = [key for key in with_runs.unique() if wanted in (key, names.get(key))]
    if not keys:
        raise UnknownName(f"no dataset {wanted!r} has runs; `warehouse query` lists the table `datasets`")
    return str(keys[0]), str(names.get(keys[0], keys[0]))


def _pairs(X: Floats, algorithm: pd.Series) -> Figure:
    """Every pair of the dimensions of X, (n, q), below the diagonal."""
    from matplotlib.figure import Figure

    many = max(X.shape[1] - 1, 1)
    figure = Figure(figsize=(2.2 * many + 1, 2.2 * many + 1), layout="constrained")
    grid = figure.subplots(many, many, squeeze=False, sharex="col", sharey="row")
    for row in range(many):
        for column in range(many):
            axes = grid[row, column]
            if column > row or X.shape[1] < 2:
                axes.set_visible(False)
                continue
            for colour, label, own in _coloured(algorithm):
                axes.scatter(
                    X[own, column], X[own, row + 1], s=5, color=colour, alpha=0.8, linewidths=0, label=label
                )
            if row == many - 1:
                axes.set_xlabel(f"dimension {column + 1}")
            if column == 0:
                axes.set_ylabel(f"dimension {row + 2}")
    lines, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="upper right", fontsize=9, frameon=False, markerscale=3)
    return figure


def _coloured(algorithm: pd.Series) -> Iterator[tuple[Any, str | None, Flags]]:
    """Colour, label and configurations, (n,), of each algorithm, the most common first."""
    from matplotlib import colormaps

    palette = colormaps["tab10"]
    for number, (name, count) in enumerate(algorithm.value_counts().items()):
        label = f"{name} ({count})" if number < _COLOURS else None
        yield palette(min(number, _COLOURS - 1)), label, (algorithm == name).to_numpy()


def _draw_algorithms(axes: Any, places: pd.DataFrame, algorithm: pd.Series) -> None:
    for colour, label, rows in _coloured(algorithm):
        own = places[rows]
        axes.scatter(own[0], own[1], s=14, color=colour, alpha=0.8, linewidths=0, label=label)
    axes.set(title="configurations by algorithm", xlabel="first direction", ylabel="second direction")
    axes.figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)


def _draw_scores(figure: Any, axes: Any, places: pd.DataFrame, scores: pd.Series, name: str) -> None:
    others = places.drop(index=scores.index)
    axes.scatter(others[0], others[1], s=8, color="0.85", linewidths=0)
    own = places.loc[scores.index]
    points = axes.scatter(own[0], own[1], s=14, c=scores.clip(lower=-2), cmap="viridis", linewidths=0)
    axes.set(title=f"standard scores on {name} (-2 and worse alike)", xlabel="first direction")
    figure.colorbar(points, ax=axes)
