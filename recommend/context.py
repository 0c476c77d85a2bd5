"""What the warehouse knows for a dataset, before anything is chosen: runs, a model, candidates, trials."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import find_flow, get_flow
from ingest.flows.preprocessing import refuse_without_features
from ingest.keys import setup_of
from ingest.metafeatures import compute_metafeatures
from ingest.reading.datasets import Dataset, refuse_regression
from ingest.reading.split_by import split_of_key
from metalearners import DEFAULT_LEARNER
from metalearners.encoding.scores import oriented, standard_scores
from metalearners.encoding.training_data import without_datasets
from metalearners.model_store import trained_model
from metalearners.predictions import Predictor
from metalearners.samples import learned_runs
from metalearners.stored_model import StoredModel
from recommend.candidates import find_candidates
from recommend.near_copies import near_copies_in
from recommend.own_trials import OwnTrials, failures_on, own_trials, runs_on
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.table import ConfigurationTable
from warehouse.measures import canonical_measure
from warehouse.qualities import GROUPS
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.errors import TooFewRuns

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RankingContext:
    """What runs on other datasets say about one dataset; each part is found out when it is asked for."""

    dataset: Dataset
    part: Dataset
    """The rows of it that may be looked at, where others are held out."""
    warehouse: Warehouse
    measure: str
    flows: frozenset[str]
    """Names of the flows to choose from; empty = all."""
    metalearner: str | None
    """Name of the learner; None = nothing is to be learned."""
    same: frozenset[str]
    """Keys of the datasets of the warehouse with the same content."""
    left_out: Mapping[str, str]
    """Key -> name of the datasets of the warehouse with the same content, of its near copies, and of the
    families of both."""
    own_runs_count: bool
    """Whether runs on the dataset itself count as trials."""

    @property
    def own(self) -> frozenset[str]:
        """Keys of the same datasets with the same split: only their runs are comparable."""
        split = None if self.dataset.split is None else str(self.dataset.split)
        return frozenset(key for key in self.same if split_of_key(key) == split)

    def trained(self, metalearner: str, settings: Mapping[str, Any] | None = None) -> StoredModel:
        """A meta-learner that has not seen runs on this dataset."""
        return trained_model(
            self.warehouse,
            metalearner,
            self.measure,
            leave_out=self.left_out.keys(),
            only=self.only,
            settings=settings,
        )

    def model(self) -> StoredModel:
        """The meta-learner's model, trained at the first call unless it is stored."""
        return self._model

    def metafeatures(self) -> pd.Series:
        """Quality -> value: the simple ones and those that the model asks for, computed at the first call."""
        return self._metafeatures

    @cached_property
    def _model(self) -> StoredModel:
        return self.trained(self.metalearner or DEFAULT_LEARNER)

    @cached_property
    def _metafeatures(self) -> pd.Series:
        qualities = {*GROUPS["simple"], *GROUPS["class"]}
        if self.metalearner is not None:
            qualities |= {*self.model().fitted.qualities}
        return pd.Series(compute_metafeatures(self.part, qualities).values, dtype=float)

    @cached_property
    def only(self) -> frozenset[str]:
        """The flows whose runs alone are learned from; empty = all.

        Of a warehouse with too many runs a sample is learned from. Where that has none of the flows to choose
        from, these are learned from by themselves.
        """
        return self._scope[0]

    @cached_property
    def all_runs(self) -> RunTable:
        """The runs that count, of all flows or of `only` these, on this measure alone."""
        return self._scope[1]

    @cached_property
    def _scope(self) -> tuple[frozenset[str], RunTable]:
        learned = partial(
            learned_runs,
            self.warehouse,
            None,
            self.measure,
            related=False,
            experiments_on=self.own if self.own_runs_count else (),
        )
        of_all = learned()
        missing = self.flows - {*of_all.configurations.algorithms}
        if not of_all.is_sample or not missing:
            return frozenset(), of_all
        known = self.warehouse.sql(_RUN, {"flows": [*missing], "measure": self.measure})["algorithm"]
        if missing < self.flows or known.empty:
            for name in known:
                logger.info("%s is not in the sample of runs: it has to be asked for by itself", name)
            return frozenset(), of_all
        only = frozenset(known)
        return only, learned(only=sorted(only))

    @cached_property
    def runs(self) -> RunTable:
        """The runs that count, without those on the dataset itself, unless these do."""
        return self.learned_from if self.trials is None else self.all_runs

    @cached_property
    def learned_from(self) -> RunTable:
        """The runs on other datasets: what the model has learned from."""
        return without_datasets(self.all_runs, self.left_out.keys())

    @cached_property
    def own_runs(self) -> pd.DataFrame:
        """The runs on this very dataset that count, as `recommend.own_trials` takes them."""
        return runs_on(self.all_runs, self.own if self.own_runs_count else ())

    @cached_property
    def trials(self) -> OwnTrials | None:
        """What these amount to; None if there are none."""
        return own_trials(self.own_runs, self.all_runs.configurations, self.measure)

    def predictor(self, trials: OwnTrials | None = None) -> Predictor:
        """The model, which also knows trials on the dataset; None = those of the warehouse."""
        model, trials = self.model().fitted, trials or self.trials
        return model if trials is None else model.condition(trials.observations)

    @cached_property
    def scores(self) -> np.ndarray:
        """(m,) standard score of each run."""
        values = oriented(self.runs.runs["value"].to_numpy(), self.measure)
        return standard_scores(values, pd.factorize(self.runs.runs["dataset"])[0])

    @cached_property
    def candidates(self) -> dict[str, Configuration]:
        """The configurations to choose from, by their setup in the warehouse.

        Raises:
            TooFewRuns: there is none, or all of them failed on the dataset.
        """
        found = {setup: one for setup, one in self._built.items() if setup not in self.failures}
        if not found:
            raise TooFewRuns(
                f"each of the {len(self.failures)} configurations to choose from failed on this dataset"
            )
        return found

    @cached_property
    def failures(self) -> dict[str, str]:
        """Setup -> outcome, of what was run on this very dataset, and never successfully; no candidates."""
        if not self.own_runs_count:
            return {}
        failed = failures_on(self.warehouse, self.own)
        # The warehouse may know a configuration by the setup of another flow, such as OpenML's.
        names = {
            setup: {setup, setup_of(one)} & failed.keys() for setup, one in self._built.items() if failed
        }
        return {setup: failed[min(own)] for setup, own in names.items() if own}

    @cached_property
    def _built(self) -> dict[str, Configuration]:
        return find_candidates(self.runs, self.scores, set(self.flows), len(self.part.features))

    @cached_property
    def configurations(self) -> ConfigurationTable:
        """The candidates as the warehouse has them."""
        return self.runs.configurations.of_setups(self.candidates)


_RUN = """
SELECT DISTINCT coalesce(f.algorithm, f.flow) AS algorithm FROM flows f JOIN evaluations e USING (flow)
WHERE list_contains($flows, coalesce(f.algorithm, f.flow)) AND e.measure = $measure AND e.value IS NOT NULL
ORDER BY algorithm
"""

# A dataset that is left out takes its family with it.
_SAME_OR_NEAR = """
WITH alike AS (
  SELECT dataset, family, content_hash IS NOT DISTINCT FROM $content_hash AS is_same FROM datasets
  WHERE content_hash = $content_hash OR list_contains($near, dataset)
)
SELECT dataset, name, dataset IN (SELECT dataset FROM alike WHERE is_same) AS is_same FROM datasets
WHERE dataset IN (SELECT dataset FROM alike) OR family IN (SELECT family FROM alike)
ORDER BY dataset
"""


def ranking_context(
    dataset: Dataset,
    *,
    warehouse: Warehouse | None = None,
    flows: Sequence[str] = (),
    measure: str = "predictive_accuracy",
    metalearner: str | None = DEFAULT_LEARNER,
    part: Dataset | None = None,
    leave_out: bool = True,
) -> RankingContext:
    """What the warehouse knows for a dataset; arguments and errors as for `recommend`.

    Args:
        metalearner: None = nothing is to be learned from the runs.
        part: the rows that may be looked at, where others are held out; None = all.
        leave_out: whether runs on the dataset itself count for nothing, as in an experiment.
    """
    refuse_regression(dataset)
    refuse_without_features(dataset.roles)
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    near = near_copies_in(warehouse, dataset)
    same = warehouse.sql(_SAME_OR_NEAR, {"content_hash": dataset.content_hash, "near": near})
    return RankingContext(
        dataset=dataset,
        part=dataset if part is None else part,
        warehouse=warehouse,
        measure=canonical_measure(measure),
        flows=frozenset(_named(name, warehouse) for name in flows),
        metalearner=metalearner,
        same=frozenset(same["dataset"][same["is_same"].astype(bool)]),
        left_out=dict(zip(same["dataset"], same["name"], strict=True)),
        own_runs_count=not leave_out,
    )


def _named(name: str, warehouse: Warehouse) -> str:
    """Canonical name of a flow of ours that is installed, or key of one of others in the warehouse."""
    flow = find_flow(name)
    if flow is None:
        known = warehouse.sql(_OF_NAME, {"name": name})["algorithm"].tolist()
        if known:
            return str(known[0])
        flow = get_flow(name)
    flow.refuse_if_not_installed()
    return flow.name


_OF_NAME = """
SELECT coalesce(algorithm, flow) AS algorithm FROM flows
WHERE flow IN ($name, 'openml:' || $name, 'other:' || $name) ORDER BY flow
"""
