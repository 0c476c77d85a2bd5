"""Train the latent space of the notebook `latent_space`: the paper's model on the bundled starter.

    python -m tests.benchmarks.latent_space [--epochs 60] [--latent 20]

Every tenth family of datasets is held out, so that the notebook can show the effect of trials on new
datasets. It takes some ten minutes.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from metalearners.encoding.training_data import without_datasets
from metalearners.evaluation.folds import folds_of
from metalearners.evaluation.latent_space import LatentSpace
from metalearners.published.factorization.learner import FactorizationLearner
from warehouse.store import STARTER, Warehouse
from warehouse.support.parallel import one_thread

RESULTS = Path(__file__).parents[2] / "notebooks" / "results"
FOLDS = 10


def main() -> None:
    """Train, and write positions and kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epochs", type=int, default=60, help="rounds over all datasets (the paper: 300)")
    parser.add_argument("--latent", type=int, default=20, help="dimensions (the paper: 20)")
    parser.add_argument("--output", type=Path, default=RESULTS / "latent_space.json")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    warehouse = Warehouse.open(STARTER)
    runs = warehouse.run_table(None, "predictive_accuracy", related=False)
    fold = folds_of(runs, FOLDS)
    left_out = sorted(fold.index[fold == 0])
    known = without_datasets(runs, left_out)
    learner = FactorizationLearner(
        cold_pipelines=False,
        cold_datasets=False,
        scale=False,
        latent=arguments.latent,
        epochs=arguments.epochs,
    )
    with one_thread():
        model = learner.fit(known, warehouse.metafeatures())
    LatentSpace.of_model(model, known.configurations, left_out).write(arguments.output)


if __name__ == "__main__":
    main()
