"""How long optimizers take to choose the next configuration after 250 trials, side by side.

    LOKY_MAX_CPU_COUNT=1 OMP_NUM_THREADS=1 python -m tests.benchmarks.ask_overhead [--repeats 5]

The space has ten hyperparameters: eight numbers, two of them logarithmic and two whole, and two choices.
Every optimizer is told 250 random configurations as its warm start, is asked once, and then eight times in a
row; what counts is the mean of those eight, because SMAC3 learns and looks for configurations only every
eighth time and has the other seven in a queue. The others do both every time. Telling counts, too.

    smac, optuna-*, flaml         as simulations use them (`simulation/peers.py`): the defaults of SMAC3's
                                  facade for hyperparameters, Optuna's samplers and FLAML's BlendSearch
    gbqr, forest, blend           our surrogates in `recommend.bo.optimizer.Optimizer`, with 10,000 random
                                  candidates and local search

The values are a smooth function with noise. The meta-learner that `blend` rests on is functional PCA of
default size, trained on runs that are made up likewise: 40 datasets with 200 configurations each, whose
functions have their optima near each other. Medians are over repeats with other trials and seeds.
Times are those of a clock
on the wall and of the processor; other work on the machine adds to the first. Without LOKY_MAX_CPU_COUNT=1
SMAC3's forest starts threads for every prediction and sleeps until they are done, as it does by default. The
split of ours, in processor time, is

    fit          learning from the trials
    encode       what the surrogate makes of new candidates
    predict      the surrogate on candidates, tried configurations and neighbours
    candidates   drawing candidates and neighbours, their tables, the acquisition function and the rest
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ingest.flows import FLOWS, Flow
from metalearners import new_learner
from metalearners.encoding.training_data import without_datasets
from metalearners.gp.posterior import HasPrior
from metalearners.predictions import Prediction
from recommend.bo.candidates import Candidate
from recommend.bo.optimizer import Optimizer
from recommend.bo.scoring import Scorer
from recommend.bo.simulation.peers import PEERS, new_peer
from recommend.bo.simulation.searches import SearchMethod
from recommend.bo.simulation.tasks import ModelTask
from recommend.bo.surrogates import Ingredients, Surrogate, new_surrogate
from recommend.space import Configurations, Space
from tests.tables import flow_table
from warehouse.configurations.parameters import Choice, Number
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats

TRIALS, IN_A_ROW = 250, 8
DATASETS, SETUPS = 40, 200
OURS = ("gbqr", "forest", "blend")
PARTS = ("fit", "encode", "predict")


def no_estimator(values: object, seed: int) -> Any:
    """Nothing is fitted here."""
    raise NotImplementedError


TEN = Flow(
    "ten",
    "Ten hyperparameters",
    (
        *(Number(f"fraction_{number}", 0.0, 1.0, 0.5) for number in range(4)),
        *(Number(f"rate_{number}", 1e-5, 1.0, 1e-2, log=True) for number in range(2)),
        *(Number(f"count_{number}", 1, 50, 10) for number in range(2)),
        Choice("kernel", ("linear", "rbf", "sigmoid"), "rbf"),
        Choice("weighted", (True, False), False),
    ),
    no_estimator,
)


def values_on(dataset: int, configurations: Configurations, random: np.random.Generator) -> Floats:
    """(n,) made-up accuracies: a bowl over the numbers, a level for each choice, and noise."""
    own = np.random.default_rng([7, dataset])
    columns = configurations.vectors.T
    values = np.full(len(configurations), 0.9)
    for number, (column, size) in enumerate(zip(columns, configurations.categories, strict=True)):
        if size:
            values += own.normal(scale=0.02, size=size)[column.astype(np.intp)]
        else:
            optimum = 0.3 + 0.05 * number + own.normal(scale=0.15)
            values -= 0.1 * own.uniform() * (column - optimum) ** 2
    return values + random.normal(scale=0.005, size=len(values))


def made_up_runs() -> tuple[RunTable, pd.DataFrame]:
    """Runs of the same configurations on all datasets, and sizes of these."""
    random = np.random.default_rng(0)
    space = Space([TEN], joint=False)
    configurations = space.configurations(space.sample(SETUPS, random))
    setups = [f"setup {number}" for number in range(SETUPS)]
    names = [f"made up {number}" for number in range(DATASETS)]
    runs = pd.DataFrame(
        {
            "dataset": np.repeat(names, SETUPS),
            "setup": np.tile(setups, DATASETS),
            "value": np.concatenate(
                [values_on(number, configurations, random) for number in range(DATASETS)]
            ),
        }
    )
    runs = runs.assign(
        run=runs.index.astype(str),
        flow=TEN.id,
        algorithm=TEN.name,
        task=runs["dataset"],
        family=runs["dataset"],
        train_rows=np.nan,
    )
    metafeatures = pd.DataFrame(
        {
            "NumberOfInstances": random.integers(100, 10_000, DATASETS).astype(float),
            "NumberOfFeatures": random.integers(5, 200, DATASETS).astype(float),
            "NumberOfClasses": random.integers(2, 10, DATASETS).astype(float),
        },
        index=pd.Index(names, name="dataset"),
    )
    parameters = configurations.table.parameters.set_axis(setups).astype(object)
    return RunTable(TEN.id, "predictive_accuracy", runs, flow_table(parameters, TEN.name)), metafeatures


class Timed:
    """A surrogate whose parts are timed."""

    def __init__(self, surrogate: Surrogate[Any]) -> None:
        self.acquisition = surrogate.acquisition
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._surrogate = surrogate

    def encode(self, configurations: Configurations) -> Any:
        return self._timed("encode", lambda: self._surrogate.encode(configurations))

    def fit(self, X: Any, y: Floats, random: np.random.Generator) -> None:
        self._timed("fit", lambda: self._surrogate.fit(X, y, random))

    def predict(self, X: Any) -> Prediction:
        return self._timed("predict", lambda: self._surrogate.predict(X))

    def _timed(self, part: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        self.seconds[part] += time.process_time() - start
        return result


class OwnSearch:
    """A search of ours whose surrogate is timed."""

    def __init__(self, name: str, task: ModelTask, learner: HasPrior, first: list[int], seed: int) -> None:
        self.timed = Timed(new_surrogate(name, Ingredients(task.known, task.metafeatures, learner)))
        starts = [task.start(position) for position in first]
        self._optimizer = Optimizer(task.candidates(seed), Scorer(self.timed), starts=starts, seed=seed)

    def ask(self) -> list[Candidate]:
        proposal = self._optimizer.ask()
        self._number = proposal.number
        return [proposal.candidate]

    def tell(self, value: float) -> None:
        self._optimizer.tell(self._number, value)


def measured(search: SearchMethod, random: np.random.Generator) -> dict[str, float]:
    """Seconds per trial after the warm start: `wall`, `cpu`, and the parts of a search of ours."""

    def step() -> Floats:
        begun = _clocks()
        (candidate,) = search.ask()
        asked = _clocks()
        value = float(values_on(0, candidate.configuration, random)[0])
        valued = _clocks()
        search.tell(value)
        return asked - begun + _clocks() - valued

    for _ in range(TRIALS + 1):
        step()
    before = dict(search.timed.seconds) if isinstance(search, OwnSearch) else {}
    wall, cpu = sum(step() for _ in range(IN_A_ROW)) / IN_A_ROW
    seconds = {"wall": float(wall), "cpu": float(cpu)}
    if isinstance(search, OwnSearch):
        seconds |= {part: (search.timed.seconds[part] - before[part]) / IN_A_ROW for part in PARTS}
        seconds["candidates"] = seconds["cpu"] - sum(seconds[part] for part in PARTS)
    return seconds


def _clocks() -> Floats:
    """Seconds on the wall, of the processor."""
    return np.array([time.perf_counter(), time.process_time()])


def report(found: dict[str, list[dict[str, float]]]) -> None:
    """Print medians over repeats."""
    for clock in ("wall", "cpu"):
        medians = {name: median(one[clock] for one in of) for name, of in found.items()}
        print(
            f"\n{clock} milliseconds per trial after {TRIALS} trials; ratio of medians to SMAC and Optuna GP"
        )
        print(f"{'':<12}{'median':>9}{'least':>9}{'most':>9}{'/ smac':>9}{'/ gp':>9}")
        for name, of in found.items():
            seconds = sorted(one[clock] for one in of)
            figures = [1e3 * figure for figure in (medians[name], seconds[0], seconds[-1])]
            ratios = [medians[name] / medians[other] for other in ("smac", "optuna-gp")]
            cells = [*(f"{one:>9.1f}" for one in figures), *(f"{one:>9.2f}" for one in ratios)]
            print(f"{name:<12}" + "".join(cells))
    parts = (*PARTS, "candidates")
    print(f"\n{'cpu milliseconds of ours':<25}" + "".join(f"{part:>12}" for part in parts))
    for name in OURS:
        split = [1e3 * median(one[part] for one in found[name]) for part in parts]
        print(f"{name:<25}" + "".join(f"{milliseconds:>12.1f}" for milliseconds in split))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    FLOWS[TEN.name] = TEN  # tasks look the space of runs up there
    runs, metafeatures = made_up_runs()
    searched = str(metafeatures.index[0])
    others = without_datasets(runs, [searched])
    with threadpool_limits(1):
        task = ModelTask(
            runs, metafeatures, searched
        )  # the space and its configurations; its values are not used
        start = time.process_time()
        model = new_learner("functional-pca").fit(others, metafeatures.drop(index=searched))
        print(f"{len(others.runs):,} made-up runs learned from in {time.process_time() - start:.1f} s")
        found: dict[str, list[dict[str, float]]] = {name: [] for name in (*PEERS, *OURS)}
        for repeat in range(options.repeats):
            first = list(range(repeat * TRIALS, (repeat + 1) * TRIALS))
            for name, of in found.items():
                search = (
                    new_peer(
                        name,
                        task.space,
                        [task.start(place) for place in first],
                        repeat,
                        TRIALS + 1 + IN_A_ROW,
                    )
                    if name in PEERS
                    else OwnSearch(name, task, model, first, repeat)
                )
                of.append(measured(search, np.random.default_rng([repeat, 1])))
            print(f"repeat {repeat + 1} of {options.repeats} done", flush=True)
    report(found)


if __name__ == "__main__":
    main()
