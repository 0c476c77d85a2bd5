"""Optimizers of other projects, as `recommend.bo.simulation` sees them: on a flow's whole space.

    smac         SMAC3's random forest, expected improvement and Sobol design (Lindauer and others 2022)
    optuna-tpe   Optuna's Parzen estimator of all hyperparameters together (Falkner and others 2018)
    optuna-gp    Optuna's Gaussian process with log expected improvement (Ament and others 2023)

Each is used through its public interface, with the settings that its own users get. A warm start is tried
first and takes the place of the random or Sobol design that the optimizer would begin with.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from recommend.bo.candidates import Candidate
from recommend.bo.space import Floats, Setting
from recommend.bo.tasks import ModelTask, Task
from warehouse.errors import BadInput, Failed

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

    from recommend.bo.simulation import Search


class _SmacSearch:
    """SMAC's facade for hyperparameters, which it minimizes the cost of: minus the value."""

    def __init__(self, task: ModelTask, starts: Sequence[Candidate], seed: int, trials: int) -> None:
        from ConfigSpace import Configuration
        from smac.facade import HyperparameterOptimizationFacade
        from smac.scenario import Scenario

        logging.getLogger("smac").setLevel(logging.CRITICAL)
        self._space = task.space
        self._candidates = task.candidates(0)
        space = deepcopy(task.space.config_space)  # SMAC seeds its own
        with TemporaryDirectory() as directory:  # SMAC writes its settings when it begins, and nothing later
            scenario = Scenario(
                space,
                output_directory=Path(directory),
                deterministic=True,
                n_trials=max(trials, len(starts)),
                seed=seed,
            )
            design = None
            if starts:
                design = HyperparameterOptimizationFacade.get_initial_design(
                    scenario,
                    n_configs=0,
                    additional_configs=[
                        Configuration(space, vector=start.configuration.vectors[0]) for start in starts
                    ],
                )
            self._facade = HyperparameterOptimizationFacade(
                scenario, initial_design=design, logging_level=False, overwrite=True
            )

    def ask(self) -> list[Candidate]:
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        try:
            self._asked = self._facade.ask()
        except (StopIteration, ConfigurationSpaceExhaustedException):  # a space of few choices has an end
            return []
        vectors: Floats = self._asked.config.get_array()[None]
        return [self._candidates.of(setting) for setting in self._space.settings(vectors)]

    def tell(self, value: float) -> None:
        from smac.runhistory.dataclasses import TrialValue

        self._facade.tell(self._asked, TrialValue(cost=-value), save=False)


class _OptunaSearch:
    """A study in memory. A choice is known to it by its position: to Optuna True and 1 are the same."""

    def __init__(self, sampler: BaseSampler, task: ModelTask, starts: Sequence[Candidate]) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._flow = next(iter(task.space.flows))
        self._candidates = task.candidates(0)
        self._hyperparameters: dict[str, Any] = dict(task.space.config_space)
        self._distributions = {name: _distribution(own) for name, own in self._hyperparameters.items()}
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        for start in starts:
            self._study.enqueue_trial(self._values(start.configuration.vectors[0]))

    def ask(self) -> list[Candidate]:
        self._trial = self._study.ask(self._distributions)
        return [self._candidates.of(self._setting(self._trial.params))]

    def tell(self, value: float) -> None:
        self._study.tell(self._trial, value)

    def _values(self, vector: Floats) -> dict[str, float]:
        """What Optuna calls the configuration with this (p,) vector."""
        values: dict[str, float] = {}
        for (name, own), place in zip(self._hyperparameters.items(), vector.tolist(), strict=True):
            if hasattr(own, "choices"):
                values[name] = int(place)
            else:  # Optuna would use a value that rounding put out of the range
                values[name] = np.clip(own.to_value(place), own.lower, own.upper).item()
        return values

    def _setting(self, values: dict[str, Any]) -> Setting:
        """What Optuna calls by these values."""
        hyperparameters = {
            name: own.choices[values[name]] if hasattr(own, "choices") else values[name]
            for name, own in self._hyperparameters.items()
        }
        return Setting(self._flow, hyperparameters)


def _distribution(hyperparameter: Any) -> BaseDistribution:
    """The same in Optuna, choices by their positions."""
    from ConfigSpace.hyperparameters import IntegerHyperparameter
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if hasattr(hyperparameter, "choices"):
        return CategoricalDistribution(range(len(hyperparameter.choices)))
    low, high, log = hyperparameter.lower, hyperparameter.upper, hyperparameter.log
    if isinstance(hyperparameter, IntegerHyperparameter):
        return IntDistribution(int(low), int(high), log=log)
    return FloatDistribution(float(low), float(high), log=log)


def _parzen_estimator(task: ModelTask, starts: Sequence[Candidate], seed: int, trials: int) -> Search:  # noqa: ARG001
    from optuna.samplers import TPESampler

    return _OptunaSearch(TPESampler(seed=seed, **_design(starts)), task, starts)


def _gaussian_process(task: ModelTask, starts: Sequence[Candidate], seed: int, trials: int) -> Search:  # noqa: ARG001
    import torch  # noqa: F401 (Optuna would import it at the first use, which would count as the time of a trial)
    from optuna.samplers import GPSampler

    return _OptunaSearch(GPSampler(seed=seed, **_design(starts)), task, starts)


def _design(starts: Sequence[Candidate]) -> dict[str, Any]:
    """Optuna's own number of random trials where there is no warm start."""
    return {"n_startup_trials": len(starts)} if starts else {}


PEERS: dict[str, Callable[[ModelTask, Sequence[Candidate], int, int], Search]] = {
    "smac": _SmacSearch,
    "optuna-tpe": _parzen_estimator,
    "optuna-gp": _gaussian_process,
}
"""Name -> maker of a search: (task, starts, seed, trials)."""


def new_peer(name: str, task: Task, first: Sequence[int], seed: int, trials: int) -> Search:
    """An optimizer of another project.

    Args:
        first: positions in `task.known` of the configurations to start with; none = as the optimizer starts.
        trials: that there will be: SMAC spends at most a quarter of them on its design.

    Raises:
        BadInput: there is no such optimizer, or the task is a table.
        Failed: its library is not installed.
    """
    if name not in PEERS:
        raise BadInput(f"unknown optimizer {name!r}; known are {', '.join(PEERS)}")
    if not isinstance(task, ModelTask):
        raise BadInput(f"{name} searches a whole space: it takes tasks of the kind model")
    starts = list({start.key: start for start in map(task.start, first)}.values())
    try:
        return PEERS[name](task, starts, seed, trials)
    except ImportError as error:
        raise Failed(f"{name} needs the extra `dev`: pip install 'headstart[dev]'") from error
