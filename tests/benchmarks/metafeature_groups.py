"""Contribution of each group of meta-features: leave-one-dataset-out evaluation with and without it.

    python -m tests.benchmarks.metafeature_groups [--warehouse DIR] [--flow FLOW] [--jobs 2]

The learner is LightGBM, which takes any meta-features; with `none` it only knows the hyperparameters.
"""

import argparse
from collections.abc import Iterator

from metalearners.evaluation.protocol import evaluate
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.qualities import DEFAULT, GROUPS, SHAPE


def selections() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name and meta-features of each compared selection."""
    everything = tuple(name for names in GROUPS.values() for name in names)
    yield "none", ()
    yield "shape", SHAPE
    for group, names in GROUPS.items():
        yield f"shape + {group}", tuple(dict.fromkeys(SHAPE + names))
    yield "default", DEFAULT
    for group, names in GROUPS.items():
        if not set(names) <= set(DEFAULT):
            yield f"default + {group}", tuple(dict.fromkeys(DEFAULT + names))
        elif not set(names) & set(SHAPE):
            yield f"default - {group}", tuple(name for name in DEFAULT if name not in names)
    yield "all", everything


def main() -> None:
    """Print a line per selection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouse", default=STARTER)
    parser.add_argument("--flow")
    parser.add_argument("--measure", default="predictive_accuracy")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(options.flow, options.measure), warehouse.metafeatures()
    print(f"{'meta-features':<26} {'number':>6}   {'tau (95 % interval)':<22} regret of the best of 1, 3, 5")
    for name, chosen in selections():
        result = evaluate(runs, metafeatures, "lightgbm", {"metafeatures": chosen}, jobs=options.jobs)
        tau = result.tau
        regrets = "  ".join(f"{result.regret(top).mean:.3f}" for top in (1, 3, 5))
        print(
            f"{name:<26} {len(chosen):>6}   {tau.mean:.3f} ({tau.low:.3f} to {tau.high:.3f})   {regrets}",
            flush=True,
        )


if __name__ == "__main__":
    main()
