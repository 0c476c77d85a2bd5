"""Adapters for optimizers of other projects, which search a whole space.

    smac         SMAC3's random forest, expected improvement and Sobol design (Lindauer and others 2022)
    optuna-tpe   Optuna's Parzen estimator (Bergstra and others 2011)
    optuna-gp    Optuna's Gaussian process with log expected improvement (Ament and others 2023)
    flaml        FLAML's BlendSearch (Wang and others 2021): cost-aware local search

Each is used through its public interface, with its default settings. A warm start is tried first and replaces
the optimizer's initial random or Sobol design.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from recommend.bo.candidates import Candidate, SpaceCandidates
from recommend.bo.simulation.searches import SearchMethod
from recommend.domains import optuna_domain
from recommend.export import named, optuna_distributions, ray_distribution, suggest_configuration
from recommend.space import Space
from warehouse.support.arrays import Floats
from warehouse.support.errors import MissingPackage, look_up
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

_CHOSEN, _FLOW, _VALUE = "chosen", "flow", "value"
_ATTEMPTS = 100
"""Consecutive empty proposals after which a space counts as exhausted, as in `flaml.tune.run`."""


class _SmacSearch(SearchMethod):
    """SMAC's facade for hyperparameters, which minimizes a cost: the negated value."""

    def __init__(self, space: Space, starts: Sequence[Candidate], seed: int, trials: int) -> None:
        from ConfigSpace import Configuration
        from smac.facade import HyperparameterOptimizationFacade
        from smac.scenario import Scenario

        logging.getLogger("smac").setLevel(logging.CRITICAL)
        self._space = space
        self._candidates = SpaceCandidates(space)
        self._worst = 0.0  # cost so far; also that of a failure
        config_space = deepcopy(space.config_space)  # SMAC seeds its own
        with TemporaryDirectory() as directory:  # SMAC writes its settings only at the beginning
            scenario = Scenario(
                config_space,
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
                        Configuration(config_space, vector=start.configuration.vectors[0]) for start in starts
                    ],
                )
            self._facade = HyperparameterOptimizationFacade(
                scenario, initial_design=design, logging_level=False, overwrite=True
            )

    def ask(self) -> list[Candidate]:
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        try:
            self._asked = self._facade.ask()
        except (
            StopIteration,
            ConfigurationSpaceExhaustedException,
        ):  # a space of few choices may be exhausted
            return []
        vectors: Floats = self._asked.config.get_array()[None]
        return [self._candidates.of(configuration) for configuration in self._space.decoded(vectors)]

    def tell(self, value: float | None, seconds: float | None = None) -> None:
        from smac.runhistory.dataclasses import TrialValue
        from smac.runhistory.enumerations import StatusType

        status = StatusType.CRASHED if value is None else StatusType.SUCCESS
        cost = self._worst if value is None else -value
        self._worst = max(self._worst, cost)
        self._facade.tell(self._asked, TrialValue(cost=cost, time=seconds or 0.0, status=status), save=False)


class _OptunaSearch(SearchMethod):
    """A study in memory, which chooses an algorithm first, and then its hyperparameters."""

    def __init__(self, sampler: BaseSampler, space: Space, starts: Sequence[Candidate]) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        self._candidates = SpaceCandidates(space)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        for start in starts:
            self._study.enqueue_trial(self._values(start))

    def ask(self) -> list[Candidate]:
        from optuna import TrialPruned
        from optuna.trial import TrialState

        for _ in range(_ATTEMPTS):
            self._trial = self._study.ask()
            try:
                return [self._candidates.of(suggest_configuration(self._trial, self._space))]
            except TrialPruned:
                self._study.tell(self._trial, state=TrialState.PRUNED)
        return []

    def tell(self, value: float | None, seconds: float | None = None) -> None:  # noqa: ARG002 (it has no use)
        from optuna.trial import TrialState

        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        self._study.tell(self._trial, value, state)

    def _values(self, start: Candidate) -> dict[str, Any]:
        """The configuration's values in Optuna's terms."""
        configuration = self._candidates.configuration_of(start)
        distributions = optuna_distributions(self._space)
        values = named(configuration, joint=len(self._space.flows) > 1)
        return {name: optuna_domain(distributions[name]).nearest(value) for name, value in values.items()}


def _parzen_estimator(space: Space, starts: Sequence[Candidate], seed: int, trials: int) -> SearchMethod:  # noqa: ARG001
    from optuna.samplers import TPESampler

    return _OptunaSearch(TPESampler(seed=seed, **_design(starts)), space, starts)


def _gaussian_process(space: Space, starts: Sequence[Candidate], seed: int, trials: int) -> SearchMethod:  # noqa: ARG001
    import torch  # noqa: F401 (otherwise Optuna's import would count as time of a trial)
    from optuna.samplers import GPSampler

    return _OptunaSearch(GPSampler(seed=seed, **_design(starts)), space, starts)


def _design(starts: Sequence[Candidate]) -> dict[str, Any]:
    """Optuna's own number of random trials if there is no warm start."""
    return {"n_startup_trials": len(starts)} if starts else {}


class _FlamlSearch(SearchMethod):
    """BlendSearch on a nested space: an algorithm, and its hyperparameters.

    Choices are given by position, as text, because it converts choices of mixed types to text.
    """

    def __init__(self, space: Space, starts: Sequence[Candidate], seed: int, trials: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its AutoML is not installed
            from flaml.tune.searcher.blendsearch import BlendSearch
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        self._candidates = SpaceCandidates(space)
        spaces = {name: flow.space(historical=space.historical) for name, flow in space.flows.items()}
        self._choices = {name: _choices(own) for name, own in spaces.items()}
        self._search = BlendSearch(
            metric=_VALUE,
            mode="max",
            space={_CHOSEN: _nested(spaces)},
            points_to_evaluate=[self._values(self._candidates.configuration_of(start)) for start in starts],
            num_samples=trials,
            seed=seed,
        )
        self._asked = 0

    def ask(self) -> list[Candidate]:
        for _ in range(_ATTEMPTS):  # it returns None instead of a repetition
            self._asked += 1
            self._config = self._search.suggest(str(self._asked))
            if self._config is not None:
                return [self._candidate(dict(self._config[_CHOSEN]))]
        return []

    def tell(self, value: float | None, seconds: float | None = None) -> None:  # noqa: ARG002 (nor has this)
        if value is None:
            self._search.on_trial_complete(str(self._asked), error=True)
        else:
            self._search.on_trial_complete(str(self._asked), {"config": self._config, _VALUE: value})

    def _values(self, configuration: Configuration) -> dict[str, Any]:
        """A configuration's values in FLAML's terms."""
        choices = self._choices[configuration.algorithm]
        values = {
            name: str(choices[name].index(value)) if name in choices else value
            for name, value in configuration.values.items()
        }
        return {_CHOSEN: {_FLOW: configuration.algorithm, **values}}

    def _candidate(self, values: dict[str, Any]) -> Candidate:
        """The candidate of FLAML's values, where whole numbers may have fractions."""
        flow = values.pop(_FLOW)
        choices = self._choices[flow]
        hyperparameters = {
            name: choices[name][int(value)] if name in choices else float(value)
            for name, value in values.items()
        }
        vector = self._space.vector(Configuration(flow, hyperparameters))
        return self._candidates.of(self._space.decoded(vector[None])[0])


def _nested(spaces: Mapping[str, Mapping[str, Any]]) -> Any:
    """The spaces of flows, by name, in FLAML's form."""
    from flaml.tune.sample import choice

    return choice(
        [
            {_FLOW: flow, **{name: _domain(own) for name, own in hyperparameters.items()}}
            for flow, hyperparameters in spaces.items()
        ]
    )


def _choices(hyperparameters: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Categorical hyperparameter -> its choices."""
    return {name: list(own.choices) for name, own in hyperparameters.items() if hasattr(own, "choices")}


def _domain(hyperparameter: Any) -> Any:
    sample = import_module("flaml.tune.sample")
    if hasattr(hyperparameter, "choices"):
        return sample.choice([str(place) for place in range(len(hyperparameter.choices))])
    kind, *ends = ray_distribution(hyperparameter)
    return getattr(sample, kind)(*ends)


PEERS: dict[str, Callable[[Space, Sequence[Candidate], int, int], SearchMethod]] = {
    "smac": _SmacSearch,
    "optuna-tpe": _parzen_estimator,
    "optuna-gp": _gaussian_process,
    "flaml": _FlamlSearch,
}
"""Name -> factory of a search: (space, starts, seed, trials)."""


def new_peer(name: str, space: Space, starts: Sequence[Candidate], seed: int, trials: int) -> SearchMethod:
    """An optimizer of another project.

    Args:
        starts: configurations of the space to start with; empty = the optimizer's own start.
        trials: planned number: SMAC spends at most a quarter of them on its design.

    Raises:
        BadInput: there is no such optimizer.
        MissingPackage: its library is not installed.
    """
    new = look_up(name, PEERS, "optimizer")
    different = list({start.key: start for start in starts}.values())
    try:
        return new(space, different, seed, trials)
    except ImportError as error:
        library = str(error.name).partition(".")[0]
        raise MissingPackage(f"{name} needs the package {library}: pip install {library}") from error
