"""Headstart's Bayesian optimization as a sampler of Optuna.

`Study.optimize`, storages, dashboard and workers are Optuna's; proposals come from
`recommend.bo.optimizer.Optimizer`. The sampler's only memory is the study: at every trial the optimizer is
told the study's other trials again. So a loaded study continues as if it had not stopped, and workers that
share a storage learn from one another.

What the optimizer is told about a trial:
    complete            its value, negated if the study minimizes
    failed, pruned      that it failed
    running             that it is running
Parameters outside the space are ignored. Hyperparameters that no trial has, because the objective sets them
itself, count as defaults. A trial that lacks others, or has values outside the space, is ignored with a
warning.
"""

from __future__ import annotations

import logging
import math
import threading
import zlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ingest.flows import find_flow, flow_for
from ingest.reading.datasets import Dataset
from metalearners import DEFAULT_LEARNER
from recommend.bo.candidates import Candidate, SpaceCandidates
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.scoring import CandidateScorer
from recommend.bo.surrogates import DEFAULT_SURROGATE, Surrogate, SurrogateInputs, get_surrogate
from recommend.domains import optuna_domain
from recommend.export import configurations_of, named, optuna_distributions
from recommend.recommender import recommend
from recommend.space import Space, with_shares
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, BadOption, UnfitConfiguration
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number, Value
from warehouse.vocabulary.searched_flow import SearchedFlow
from warehouse.vocabulary.table import ALGORITHM

logger = logging.getLogger(__name__)

_STATES = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.RUNNING)
_ONE_AT_A_TIME = threading.Lock()
"""The threads of a study share its sampler, whose surrogate is fitted in place."""

_ATTEMPTS = 20
"""Most proposals for finding one that differs from all trials in the suggested hyperparameters."""

_Key = tuple[str, int]  # name of a study, number of a trial


class SeveralObjectivesError(BadInput, ValueError):
    """A study with several objectives. Also a ValueError, which Optuna's own samplers raise."""


class HeadstartSampler(BaseSampler):
    """Proposes the next configurations of `Optimizer`.

        space = Space([get_flow("random_forest"), get_flow("svm")])
        study = optuna.create_study(direction="maximize", sampler=HeadstartSampler(space, ForestSurrogate()))
        study.optimize(lambda trial: score(suggest_configuration(trial, space)), n_trials=50)

    An objective suggests hyperparameters with the names and ranges of
    `recommend.export.optuna_distributions`: with several flows, first `algorithm`, then its hyperparameters.
    Other parameters are drawn at random, as are all once the space is exhausted. Parameters fixed by
    `enqueue_trial` or `PartialFixedSampler` stay fixed; the others are proposed as if nothing was fixed.

    All random numbers of a trial are determined by the seed, its number and the trials known by then.
    """

    def __init__(
        self,
        space: Space,
        surrogate: Surrogate[Any],
        *,
        acquisition: str | None = None,
        starts: Sequence[Configuration] = (),
        seed: int = 0,
    ) -> None:
        """A sampler for a study.

        Args:
            surrogate: the model of the trials, fitted again at every trial.
            acquisition: name of the acquisition function; None = the surrogate's default.
            starts: configurations to try first, in this order, unless the study has tried them.

        Raises:
            BadInput: an unknown acquisition function, one that the surrogate does not support, a start
                outside the space, or a negative seed.
        """
        if seed < 0:
            raise BadOption(f"the seed must be 0 or more, not {seed}")
        self.space = space
        self._distributions = optuna_distributions(space)
        self._domains = {name: optuna_domain(own) for name, own in self._distributions.items()}
        self._scorer = CandidateScorer(surrogate, acquisition=acquisition)
        self._settings = {
            "space": space,
            "surrogate": deepcopy(surrogate),  # before it learns
            "acquisition": acquisition,
            "starts": starts,
            "seed": seed,
        }
        self._seed = seed
        self._candidates = SpaceCandidates(space, seed=seed)
        self._left_out: frozenset[str] = frozenset()  # names that the objective sets itself
        self._starts = [self._start(configuration) for configuration in starts]
        self._proposed: dict[_Key, Candidate] = {}  # to trials
        self._tried: dict[_Key, Candidate | None] = {}  # by finished trials; None: ignored

    def __getstate__(self) -> dict[str, Any]:
        """The settings only, for pickle and `joblib.dump(study)`: all else follows from the study."""
        return self._settings

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:  # noqa: ARG002
        """The distributions of the space, those of all its flows.

        Raises:
            SeveralObjectivesError: the study has more than one.
        """
        _refuse_several(study)
        return dict(self._distributions)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of one configuration; empty if the space is exhausted.

        Raises:
            SeveralObjectivesError: the study has more than one.
        """
        _refuse_several(study)
        with _ONE_AT_A_TIME:
            candidate = self._next(study, trial.number)
            if candidate is None:
                return {}
            self._proposed[study.study_name, trial.number] = candidate
        return {name: value for name, value in self._values(candidate).items() if name in search_space}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A random value, uniform on the distribution's scale.

        Raises:
            SeveralObjectivesError: the study has more than one.
        """
        _refuse_several(study)
        drawn = RandomSampler(self._seed_of(trial.number, zlib.crc32(param_name.encode())))
        return drawn.sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """Do nothing: there is no random state, and draws depend on the trial's number."""

    def _next(self, study: Study, number: int) -> Candidate | None:
        """The configuration for trial `number`; None if all were tried."""
        trials = [one for one in study.get_trials(deepcopy=False, states=_STATES) if one.number != number]
        left_out = self._never_suggested(trials)
        if left_out != self._left_out:
            self._left_out = left_out
            self._tried.clear()
        history, unknown = self._history(study.study_name, trials, number)
        starts = [self._reduced(start) for start in self._starts]
        seed = self._seed_of(number)
        optimizer = Optimizer(self._candidates, self._scorer, starts=starts, seed=seed)
        for place, (candidate, trial) in enumerate(history):
            optimizer.recall(Proposal(place, candidate, "model"))
            if trial is not None and trial.state is not TrialState.RUNNING:
                optimizer.tell(place, _value(trial, study.direction))
        for _ in range(unknown):  # their workers are about to run these proposals
            optimizer.ask()
        taken = {candidate.key for candidate, _ in history}
        for _ in range(_ATTEMPTS):
            proposal = optimizer.ask()
            if proposal is None:
                return None
            reduced = self._reduced(proposal.candidate)
            if reduced.key not in taken:
                return reduced
        return None

    def _never_suggested(self, trials: Sequence[FrozenTrial]) -> frozenset[str]:
        """Names of hyperparameters that finished trials should have, but no trial has."""
        over = [one for one in trials if one.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        lacked = {name for trial in over for name in self._lacked(trial.params)}
        return frozenset(lacked.difference(*(trial.params for trial in trials)))

    def _lacked(self, values: Mapping[str, Any]) -> set[str]:
        """Names of active hyperparameters missing from `values`; empty if these have none of the space."""
        flow = str(values.get(ALGORITHM)) if len(self.space.flows) > 1 else next(iter(self.space.flows))
        prefix, names = self._names_of(flow)
        if not any(prefix + name in values for name in names):
            return set()
        active = self.space.flows[flow].filled(lambda own: values.get(prefix + own.name, own.default), names)
        return {prefix + name for name in active}.difference(values)

    def _reduced(self, candidate: Candidate) -> Candidate:
        """The candidate with the defaults of hyperparameters that the objective sets itself."""
        if not self._left_out:
            return candidate
        values = named(self._candidates.configuration_of(candidate), joint=len(self.space.flows) > 1)
        return self._read({name: value for name, value in values.items() if name not in self._left_out})

    def _history(
        self, study: str, trials: Sequence[FrozenTrial], number: int
    ) -> tuple[list[tuple[Candidate, FrozenTrial | None]], int]:
        """All trials with a known configuration, and the number of those just beginning.

        A trial without a configuration is just beginning if no later trial has one; otherwise its worker
        died. The proposal for an ignored trial is listed without the trial, so that it is not repeated.
        """
        history: list[tuple[Candidate, FrozenTrial | None]] = []
        unknown, left_out = 0, []
        for trial in sorted(trials, key=lambda trial: trial.number):
            try:
                candidate = self._candidate(study, trial)
            except UnfitConfiguration as error:
                left_out.append(f"trial {trial.number}: {error}")
                candidate = None
            proposed = self._proposed.get((study, trial.number))
            if candidate is not None:
                history.append((candidate, trial))
                unknown = 0
            elif proposed is not None:
                history.append((self._reduced(proposed), None))
            elif trial.state is TrialState.RUNNING and trial.number < number:
                unknown += 1
        if left_out:
            logger.warning(
                "study %s: %s not learned from, such as %s",
                study,
                counted(len(left_out), "trials"),
                left_out[0],
            )
        return history, unknown

    def _candidate(self, study: str, trial: FrozenTrial) -> Candidate | None:
        """The configuration of a trial; None if it is unknown.

        Raises:
            BadInput: the trial is finished, and its configuration is not in the space; raised once.
        """
        key = (study, trial.number)
        if trial.state is TrialState.RUNNING:
            try:
                return self._read(trial.params)
            except UnfitConfiguration:  # the objective has not suggested everything yet
                return self._proposed.get(key)
        if key not in self._tried:
            self._tried[key] = None
            self._tried[key] = self._read(trial.params)
        return self._tried[key]

    def _start(self, configuration: Configuration) -> Candidate:
        """The candidate of a start, which has to be in the space unchanged."""
        self.space.vector(configuration)
        try:
            return self._read(named(configuration, joint=len(self.space.flows) > 1))
        except UnfitConfiguration as error:
            raise UnfitConfiguration(
                f"a start of {configuration.algorithm} is not in the space: {error}"
            ) from None

    def _read(self, values: Mapping[str, Any]) -> Candidate:
        """The candidate with these values; additional values are ignored.

        Raises:
            BadInput: one is missing, or is not in the space.
        """
        joint = len(self.space.flows) > 1
        flow = self._fitted(values, ALGORITHM) if joint else next(iter(self.space.flows))
        prefix, names = self._names_of(flow)

        def value_of(own: Number | Choice) -> Value:
            is_left_out = prefix + own.name in self._left_out and prefix + own.name not in values
            return own.default if is_left_out else self._fitted(values, prefix + own.name)

        return self._candidates.of(Configuration(flow, self.space.flows[flow].filled(value_of, names)))

    def _names_of(self, flow: str) -> tuple[str, set[str]]:
        """The prefix of a flow's names in the study, and the names without it; empty for an unknown flow."""
        prefix = f"{flow}:" if len(self.space.flows) > 1 else ""
        return prefix, {name.removeprefix(prefix) for name in self._domains if name.startswith(prefix)}

    def _fitted(self, values: Mapping[str, Any], name: str) -> Any:
        if name not in values:
            raise UnfitConfiguration(f"it has no {name}")
        try:
            return self._domains[name].fit(values[name])
        except UnfitConfiguration as error:
            raise UnfitConfiguration(f"{name} is {values[name]!r}, {error}") from None

    def _values(self, candidate: Candidate) -> dict[str, Any]:
        """The candidate's values in Optuna's terms."""
        values = named(self._candidates.configuration_of(candidate), joint=len(self.space.flows) > 1)
        return {name: self._domains[name].nearest(value) for name, value in values.items()}

    def _seed_of(self, *numbers: int) -> int:
        return int(np.random.SeedSequence([self._seed, *numbers]).generate_state(1)[0])


def headstart_sampler(
    dataset: Dataset,
    flows: Sequence[str],
    *,
    warehouse: Warehouse | None = None,
    measure: str | None = None,
    surrogate: str = DEFAULT_SURROGATE,
    starts: int = 3,
    seed: int = 0,
) -> HeadstartSampler:
    """A sampler that starts with the recommendation, and learns from runs on other datasets.

    Objectives should use `recommend.export.suggest_configuration(trial, sampler.space)`.

    Args:
        dataset: the dataset on which the objective scores configurations.
        flows: names of the flows to search, including flows that Headstart does not build; `lightgbm` is the
            regressor if the target is numeric.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        measure: the measure that the objective returns, or the closest one; None = the default of the
            dataset's task type.
        surrogate: a name of `recommend.bo.surrogates.all_surrogates`.
        starts: number of configurations to start with.

    Raises:
        BadInput: as `recommend.recommender.recommend`, or an unknown surrogate.
    """
    n_features = dataset.features.shape[1]
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    method = get_surrogate(surrogate)
    found = recommend(
        dataset,
        warehouse=warehouse,
        top=max(starts, 1),
        flows=flows,
        measure=measure or dataset.task_type.default_measure,
        metalearner=method.learner or DEFAULT_LEARNER,
    )
    learned = dataset.task_type.learned_measure(found.measure)
    searched = [
        # Flows that Headstart builds need no runs.
        flow_for(name, dataset.task_type) if find_flow(name) else _run_flow(name, warehouse, learned)
        for name in flows
    ]
    space = Space(searched, n_features=n_features)
    known = space.examples(seed)
    model = method.new(SurrogateInputs(known, found.metafeatures, found.model.fitted))
    first = configurations_of(found.document())[:starts]
    in_numbers = [with_shares(configuration, n_features) for configuration in first]
    return HeadstartSampler(space, model, starts=in_numbers, seed=seed)


def _run_flow(name: str, warehouse: Warehouse, measure: str) -> SearchedFlow:
    """A flow that Headstart does not build, with the space inferred from its runs."""
    runs = warehouse.run_table(name, measure)
    return runs.searched_flow(str(runs.configurations.algorithms.iloc[0]))


def _value(trial: FrozenTrial, direction: StudyDirection) -> float | None:
    """Larger is better; None if the trial has no value to compare."""
    if trial.state is not TrialState.COMPLETE or trial.value is None or not math.isfinite(trial.value):
        return None
    return trial.value if direction is StudyDirection.MAXIMIZE else -trial.value


def _refuse_several(study: Study) -> None:
    if len(study.directions) > 1:
        raise SeveralObjectivesError(
            f"HeadstartSampler needs a study with one objective; this study has {len(study.directions)}"
        )
