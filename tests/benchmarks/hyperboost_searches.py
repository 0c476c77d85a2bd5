"""Searches with racing, as SMAC, Hyperboost and ROAR make them (van Hoof and Vanschoren 2021, section 6.4).

A search is an iterator over its runs, which says after each what it would name as the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from metalearners.learners.base import Model
from recommend.bo.candidates import Candidate
from recommend.bo.intensification import Intensification, Raced
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.scoring import Scorer
from recommend.bo.surrogates import Ingredients, new_surrogate
from recommend.bo.surrogates.boosting import HyperboostSurrogate
from tests.benchmarks.hyperboost_targets import Objective

RANDOM, ROAR, SMAC, WITH_COMPONENTS = "random-2x", "roar-2x", "smac", "hyperboost-pca"
METHODS = (RANDOM, ROAR, "forest", "hyperboost", WITH_COMPONENTS, "gbqr", "blend", SMAC)
MOST_RUNS = 5
"""Runs that racing gives a configuration."""
RANDOM_EVERY = 2
"""Every second configuration is a random one, as in SMAC (van Hoof's thesis, section 2.5.2)."""

Standing = tuple[Candidate, float]
"""What a search would name, and its mean value so far."""
Propose = Callable[[Sequence[Raced]], Candidate | None]


def new_search(
    method: str, objective: Objective, model: Model | None, steps: int, seed: int
) -> Iterator[Standing]:
    """What the method would name after each of so many steps.

    A step is a run, and two runs of the methods that are given twice the time.

    Args:
        model: what `blend` knows from other datasets.
    """
    if method == SMAC:
        return islice(_smac(objective, steps, seed), steps)
    if method in (RANDOM, ROAR):
        propose = _at_random(objective, seed)
        most = 1 if method == RANDOM else MOST_RUNS
        return islice(_raced(objective, propose, most, seed), 1, 2 * steps, 2)
    return islice(_raced(objective, _by_surrogate(objective, method, model, seed), MOST_RUNS, seed), steps)


def _raced(objective: Objective, propose: Propose, most: int, seed: int) -> Iterator[Standing]:
    race = Intensification(propose, most, np.random.default_rng(seed))
    while (run := race.ask()) is not None:
        race.tell(objective.run(run.candidate, run.key))
        if race.incumbent is not None:
            yield race.incumbent.candidate, race.incumbent.mean


def _at_random(objective: Objective, seed: int) -> Propose:
    """The default, and then random configurations."""
    random = np.random.default_rng(seed)

    def propose(raced: Sequence[Raced]) -> Candidate | None:
        if not raced:
            return objective.default
        return objective.candidates.any({one.candidate.key for one in raced}, random)

    return propose


def _by_surrogate(objective: Objective, method: str, model: Model | None, seed: int) -> Propose:
    """The default, and then what a surrogate makes of the mean values so far."""
    candidates = objective.candidates
    given = Ingredients(candidates.space.examples(seed), objective.metafeatures, model)
    surrogate: Any = (
        HyperboostSurrogate(given.known, given.metafeatures, many=0)
        if method == WITH_COMPONENTS
        else new_surrogate(method, given)
    )
    scorer = Scorer(surrogate)

    def propose(raced: Sequence[Raced]) -> Candidate | None:
        # Means change as long as configurations race: the optimizer is told all of them anew.
        starts = [objective.default]
        optimizer = Optimizer(candidates, scorer, starts=starts, random_every=RANDOM_EVERY, seed=seed)
        for number, one in enumerate(raced):
            optimizer.recall(Proposal(number, one.candidate, "model"))
            optimizer.tell(number, one.mean)
        proposal = optimizer.ask()
        return None if proposal is None else proposal.candidate

    return propose


def _smac(objective: Objective, steps: int, seed: int) -> Iterator[Standing]:
    """SMAC3's facade for hyperparameters, with its own racing."""
    from smac.facade import HyperparameterOptimizationFacade as Facade
    from smac.runhistory.dataclasses import TrialValue
    from smac.scenario import Scenario

    space = objective.candidates.space
    with TemporaryDirectory() as directory:  # SMAC writes its settings when it begins, and nothing later
        scenario = Scenario(
            deepcopy(space.config_space), output_directory=Path(directory), n_trials=steps, seed=seed
        )
        facade = Facade(
            scenario,
            intensifier=Facade.get_intensifier(scenario, max_config_calls=MOST_RUNS),
            logging_level=False,
            overwrite=True,
        )

    def candidate_of(config: Any) -> Candidate:
        return objective.candidates.of(space.decoded(config.get_array()[None])[0])

    while True:
        asked = facade.ask()
        value = objective.run(candidate_of(asked.config), asked.seed)
        facade.tell(asked, TrialValue(cost=-value), save=False)
        named = facade.intensifier.get_incumbent()
        yield candidate_of(named), -float(facade.runhistory.average_cost(named))
