"""Ranking of the known configurations for a dataset, by what the meta-learner expects of each.

The candidates are the configurations of the warehouse that still build today. Nothing here imports LightGBM
unless a model has to be trained first; scikit-learn is for the meta-features that the model asks for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ingest.flows import Flow, find_flow, get_flow
from ingest.flows.preprocessing import refuse_without_features
from ingest.keys import setup_of
from ingest.metafeatures import compute_metafeatures
from ingest.reading.datasets import Dataset
from ingest.reading.roles import NOT_LEARNED_FROM
from ingest.reading.targets import alternatives
from metalearners import DEFAULT_LEARNER
from metalearners.encoding.scores import oriented, standard_scores
from metalearners.encoding.training_data import without_datasets
from metalearners.gp.conditioned import Conditioned
from metalearners.model_store import StoredModel, trained_model
from metalearners.predictions import InOwnUnit, Predictor
from recommend.candidates import find_candidates, flow_of, flows_to_install, not_built
from recommend.cautions import Caution, cautions
from recommend.cost import Choice, choose_within, fit_seconds, worthwhile
from recommend.evidence import NAMED, Outside, Place, evidence_for, outside_of_known, scores_on
from recommend.expectations import Expectation, expectations
from recommend.own_trials import OwnTrials, failures_on, own_trials, runs_on
from recommend.seeds import SCHEMA, STRATEGIES, choose_delta
from recommend.usual_measure import usual_measure
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.declaration import declaration
from warehouse.configurations.searched_flow import SearchedFlow
from warehouse.configurations.table import ConfigurationTable
from warehouse.measures import canonical_measure
from warehouse.qualities import GROUPS
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Flags, Floats, Positions
from warehouse.support.errors import BadOption, TooFewRuns, UnknownName, UnusableDataset
from warehouse.support.parallel import one_thread

if TYPE_CHECKING:
    from recommend.explanation import Explanation
    from recommend.racing import Race, RaceProgress
    from recommend.ranges import FlowRanges


@dataclass(frozen=True)
class RankedConfiguration:
    """One configuration to try."""

    rank: int
    configuration: Configuration
    predicted: float
    """Expected score in standard deviations of the dataset's own runs, 0 = an average configuration."""
    std: float | None
    """Standard deviation of the score around `predicted`, where the learner states one."""
    on_nearest: float | None
    """Mean standard score that it had on the datasets that count most; None if it was not run there."""
    delta: float | None
    """The delta that chose it (eq. 6.2), None where it was chosen for its prediction alone."""
    on_dataset: float | None
    """Value of the measure that it had on this very dataset; None if it was not tried there."""
    fit_seconds: float | None
    """Expected seconds of one fit on all rows, on this machine; None where nothing is known."""
    expectation: Expectation | None
    """What a run is expected to give in the unit of the measure; None where only scores are known."""
    flow: SearchedFlow
    """The algorithm: a `Flow` where Headstart builds it."""
    beats_first: float | None = None
    """Probability of beating the first one, where it was chosen to complement that rather than for its own
    expectation."""
    places: Sequence[Place] = ()
    """Where it came on the datasets that speak for it most."""


@dataclass(frozen=True)
class Recommendation:
    """Ranked configurations and what they rest on."""

    dataset: Dataset
    configurations: list[RankedConfiguration]
    strategy: str
    measure: str
    metafeatures: pd.Series
    nearest: list[tuple[str, float]]
    """Names of the datasets that count most, with their distance; empty where the learner weighs none."""
    outside: list[Outside]
    """Sizes of the dataset beyond those that are known."""
    left_out: list[str]
    """Datasets of the warehouse with the same content and their near copies; the model has not seen them."""
    near_copies: list[str]
    """Datasets of `left_out` that have another content."""
    trials: int
    """Runs on this very dataset that the model was conditioned on."""
    failed: Mapping[str, int]
    """Outcome -> number of the configurations that are left out, since they only failed on this dataset."""
    warehouse: Warehouse
    model: StoredModel
    predictor: Predictor
    """The model, which also knows the trials on the dataset."""
    candidates: int
    not_installed: list[Flow]
    """Flows of the warehouse that were left out, since the packages that they need are not there."""
    fit_factor: float | None
    """How far off the expected seconds of fits are at most for 80 % of them; None where none is known."""
    not_built: Mapping[str, str] = field(default_factory=dict)
    """Key -> title of flows of the warehouse that were left out, since Headstart does not build them."""
    race: Race | None = None
    """What verified it; None = nothing did."""
    cautions: Sequence[Caution] = ()
    explanation: Explanation | None = None
    """Why these; None = nobody asked."""

    @property
    def of_others(self) -> list[SearchedFlow]:
        """Flows of the configurations that Headstart does not build."""
        flows = {item.flow.name: item.flow for item in self.configurations}
        return [flow for flow in flows.values() if not isinstance(flow, Flow)]

    def code(self, rank: int = 1) -> str:
        """Python source that cross-validates, fits, saves and predicts with the configuration of this rank.

        It needs pandas, scikit-learn and the library of the algorithm, none of our packages, and reads a file
        as the dataset's was read: see `recommend.code`.

        Raises:
            BadInput: there is no such rank, Headstart doesn't build the algorithm, or pandas alone can't read
                the dataset as it was read.
        """
        from recommend.code import Origin, script

        item = next((item for item in self.configurations if item.rank == rank), None)
        if item is None:
            raise BadOption(
                f"there is no configuration of rank {rank}: {len(self.configurations)} are ranked"
            )
        if not isinstance(item.flow, Flow):
            raise BadOption(f"Headstart does not build {item.flow.title}, so there is no code of it")
        origin = Origin(
            choice=f"Recommended by Headstart, as number {rank} to try, after {self.model.runs:,} runs on "
            f"{self.model.datasets:,} datasets.",
            expected=self.expected_of(item.configuration),
            measure=self.measure,
        )
        return script(item.configuration, self.dataset, origin)

    def expected_of(self, configuration: Configuration) -> str:
        """A sentence that says what a configuration is expected to give, whether or not it was chosen."""
        item = next((item for item in self.configurations if item.configuration == configuration), None)
        if item is None:
            return "It is none of those that are recommended after the race: nothing is expected of it."
        promise = item.expectation
        if promise is None:
            return f"Expected: {item.predicted:+.2f} standard deviations from an average configuration."
        interval = f"80 % interval: {promise.low:.3f} to {promise.high:.3f}"
        return f"Expected {self.measure}: {promise.value:.3f} ({interval})."

    def ranges(self) -> dict[str, FlowRanges]:
        """Flow -> where its good configurations lie for the dataset, of the flows of `configurations`.

        Takes a tenth of a second a flow. See `recommend.ranges`.
        """
        from recommend.ranges import learn_ranges

        flows = {item.flow.name: item.flow for item in self.configurations}
        return {name: learn_ranges(flow, self.predictor, self.metafeatures) for name, flow in flows.items()}

    def document(self) -> dict[str, Any]:
        """The recommendation as the JSON document that `seeds.schema.json` describes."""
        return {
            "schema": SCHEMA,
            "dataset": {
                "name": self.dataset.name,
                "source": self.dataset.source,
                "content_hash": self.dataset.content_hash,
                "rows": len(self.dataset.features),
                "features": self.dataset.features.shape[1],
                "classes": self.dataset.n_classes,
                "majority_share": self.dataset.majority[1],
                "target": str(self.dataset.target.name),
                "roles": dict(Counter(map(str, self.dataset.roles.values()))),
                "ignored": {
                    name: str(role) for name, role in self.dataset.roles.items() if role in NOT_LEARNED_FROM
                },
                "metafeatures": {
                    name: None if math.isnan(value) else value for name, value in self.metafeatures.items()
                },
            },
            "strategy": self.strategy,
            "measure": self.measure,
            "configurations": [
                {
                    "rank": item.rank,
                    "flow": item.flow.id,
                    "openml_flows": list(item.flow.openml) if isinstance(item.flow, Flow) else [],
                    "algorithm": item.flow.name,
                    "hyperparameters": dict(item.configuration.values),
                    "predicted": item.predicted,
                    "std": item.std,
                    "on_nearest": item.on_nearest,
                    "delta": item.delta,
                    "on_dataset": item.on_dataset,
                    "fit_seconds": item.fit_seconds,
                    "expectation": None if item.expectation is None else asdict(item.expectation),
                    "beats_first": item.beats_first,
                    "places": [asdict(place) for place in item.places],
                }
                for item in self.configurations
            ],
            "nearest": [{"dataset": name, "distance": distance} for name, distance in self.nearest],
            "outside": [asdict(size) for size in self.outside],
            "cautions": [asdict(caution) for caution in self.cautions],
            "explanation": None if self.explanation is None else self.explanation.document(),
            "warehouse": {
                "version": self.warehouse.version,
                "fingerprint": self.warehouse.fingerprint,
                "left_out": self.left_out,
                "trials": self.trials,
                "failed": dict(self.failed),
                "candidates": self.candidates,
                "not_installed": [flow.name for flow in self.not_installed],
                "not_built": list(self.not_built),
            },
            "model": self.model.description(),
            **(
                {"spaces": {flow.name: declaration(flow) for flow in self.of_others}}
                if self.of_others
                else {}
            ),
            "verification": None if self.race is None else self.race.document(),
        }


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
    """Key -> name of the datasets of the warehouse with the same content, and of their near copies."""
    own_runs_count: bool
    """Whether runs on the dataset itself count as trials."""

    def trained(self, metalearner: str, settings: Mapping[str, Any] | None = None) -> StoredModel:
        """A meta-learner that has not seen runs on this dataset."""
        return trained_model(
            self.warehouse, metalearner, self.measure, leave_out=self.left_out.keys(), settings=settings
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
    def all_runs(self) -> RunTable:
        """Runs of all flows, on this measure alone."""
        return self.warehouse.run_table(None, self.measure, related=False)

    @cached_property
    def runs(self) -> RunTable:
        """Runs of all flows, without those on the dataset itself, unless they count."""
        return self.learned_from if self.trials is None else self.all_runs

    @cached_property
    def learned_from(self) -> RunTable:
        """Runs of all flows on other datasets: what the model has learned from."""
        return without_datasets(self.all_runs, self.left_out.keys())

    @cached_property
    def own_runs(self) -> pd.DataFrame:
        """The runs on this very dataset that count, as `recommend.own_trials` takes them."""
        return runs_on(self.all_runs, self.same if self.own_runs_count else ())

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
        failed = failures_on(self.warehouse, self.same)
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


_SAME_OR_NEAR = """
WITH same AS (SELECT dataset, family FROM datasets WHERE content_hash = ?)
SELECT dataset, name, dataset IN (SELECT dataset FROM same) AS is_same FROM datasets
WHERE dataset IN (SELECT dataset FROM same) OR family IN (SELECT family FROM same)
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
    if not dataset.n_classes:
        raise UnusableDataset(
            f"the target {str(dataset.target.name)!r} is numeric ({dataset.target.nunique()} different "
            "values), and classification is all that there is for now: choose another --target; "
            f"{alternatives(dataset.features, str(dataset.target.name))}"
        )
    refuse_without_features(dataset.roles)
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    same = warehouse.sql(_SAME_OR_NEAR, [dataset.content_hash])
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


def recommend(
    dataset: Dataset,
    *,
    warehouse: Warehouse | None = None,
    top: int = 3,
    flows: Sequence[str] = (),
    strategy: str = "top",
    measure: str | None = None,
    metalearner: str = DEFAULT_LEARNER,
    leave_out: bool = False,
    budget: float | None = None,
    verify: float | None = None,
    jobs: int | None = None,
    report: Callable[[RaceProgress], None] = lambda _: None,
    explain: bool = False,
) -> Recommendation:
    """Rank the warehouse's configurations for a dataset and choose the first ones to try.

    Args:
        dataset: see `ingest.reading.datasets.load_dataset`.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        top: how many configurations to choose.
        flows: names of the flows to choose from; empty = all.
        strategy: `top` = what the meta-learner would try first, `delta` = a diverse choice
            (`recommend.seeds`).
        measure: the evaluation measure to be good at, a name or an alias of `warehouse.measures`; None =
            `usual_measure`: accuracy, unless one class has most of the rows.
        metalearner: name of the learner (`metalearners.LEARNERS`).
        leave_out: whether runs on the dataset itself, which the warehouse may have, count for nothing, as in
            an experiment; else they are the strongest evidence that there is.
        budget: seconds into which one fit of each of the chosen ones is to fit; None = as long as it takes,
            but nothing that takes long without being expected to be worth it (`recommend.cost`).
        verify: seconds for which the first ones are raced on the dataset, beside the defaults that people
            begin with (`recommend.racing`), before the choice is made; None = they are not.
        jobs: runs of the race at the same time; None = one for each processor.
        report: told where the race stands.
        explain: whether to say why (`Recommendation.explanation`).

    Raises:
        BadInput: a numeric target, no feature, an unknown flow, measure or strategy, nothing in the
            warehouse to learn from, or a budget that nothing fits into.
    """
    if strategy not in STRATEGIES:
        raise UnknownName(f"unknown strategy {strategy!r}; known are {', '.join(STRATEGIES)}")
    if top < 1:
        raise BadOption(f"can't recommend {top} configurations; ask for 1 or more")
    if verify is not None and leave_out:
        raise BadOption("what a race on the dataset finds out can't be left out: choose one of them")
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    known = ranking_context(
        dataset,
        warehouse=warehouse,
        flows=flows,
        measure=measure or usual_measure(dataset, warehouse),
        metalearner=metalearner,
        leave_out=leave_out,
    )
    foreign = {one.algorithm for one in known.candidates.values() if find_flow(one.algorithm) is None}
    if verify is not None and foreign:
        raise BadOption(
            f"a race runs configurations, and Headstart does not build {', '.join(sorted(foreign))}"
        )
    raced = None if verify is None else _raced(known, verify, jobs, report)
    return recommended(known, top, strategy=strategy, budget=budget, raced=raced, explain=explain)


def recommended(
    known: RankingContext,
    top: int,
    *,
    strategy: str = "top",
    budget: float | None = None,
    raced: Race | None = None,
    explain: bool = False,
) -> Recommendation:
    """The recommendation for what is known of a dataset and came of a race; arguments as for `recommend`."""
    trials, failures = known.trials, known.failures
    if raced is not None:
        trials, failures = raced.trials, failures | raced.failures
    predictor, metafeatures = known.predictor(trials), known.metafeatures()
    candidates = [(setup, one) for setup, one in known.candidates.items() if setup not in failures]
    if not candidates:
        raise TooFewRuns("each of the configurations to choose from failed in the race")
    configurations = known.configurations.of_setups([setup for setup, _ in candidates])

    def choose(among: Positions) -> Choice:
        if strategy == "delta":
            return [(int(among[place]), delta) for place, delta in choose_delta(predicted.mean[among], top)]
        best = predictor.choose(configurations.take(among), metafeatures, top)
        return [(int(position), None) for position in among[best]]

    with one_thread():
        predicted = predictor.predict(configurations, metafeatures)
        seconds, factor = fit_seconds(known.warehouse, configurations, metafeatures)
        chosen = (
            choose(worthwhile(seconds, predicted.mean))
            if budget is None
            else choose_within(budget, seconds, choose)
        )
        chosen, promised = _by_expectation(chosen, predicted.mean, known, predictor, configurations)
        first = configurations.take([position for position, _ in chosen])
        beats_first = np.full(len(chosen), np.nan)
        if isinstance(predictor, InOwnUnit) and len(chosen) > 1:
            beats_first[1:] = predictor.beats(
                first.take(np.arange(1, len(first))), first.take([0]), metafeatures
            )
        complements = np.zeros(len(chosen), dtype=bool)
        if strategy == "top":
            longest = np.max(seconds[[position for position, _ in chosen]])
            within = (
                worthwhile(seconds, predicted.mean) if budget is None else np.flatnonzero(seconds <= longest)
            )
            complements = _passed_over([position for position, _ in chosen], predicted.mean, within)
            complements &= ~np.isnan(beats_first)
        evidence = evidence_for(known.model().fitted, known.learned_from, metafeatures)
        places = [[]] * len(chosen) if evidence is None else evidence.supporters(first, complements)
    others = known.warehouse.metafeatures().drop(index=list(known.left_out), errors="ignore")
    heaviest = pd.Series(dtype=float) if evidence is None else evidence.weights.iloc[:NAMED]
    on_nearest = scores_on(known.runs.runs, known.scores, heaviest.index)
    on_dataset = {} if trials is None else dict(trials.measured)
    names = dict(known.warehouse.sql("SELECT dataset, name FROM datasets").itertuples(index=False, name=None))
    outside = outside_of_known(others, metafeatures)
    result = Recommendation(
        dataset=known.dataset,
        configurations=[
            RankedConfiguration(
                rank=rank,
                configuration=candidates[position][1],
                predicted=float(predicted.mean[position]),
                std=None if predicted.std is None else float(predicted.std[position]),
                on_nearest=on_nearest.get(candidates[position][0]),
                delta=delta,
                on_dataset=on_dataset.get(candidates[position][0]),
                fit_seconds=None if np.isnan(seconds[position]) else float(seconds[position]),
                expectation=None if promised is None else promised[rank - 1],
                flow=flow_of(candidates[position][1].algorithm, known.runs),
                beats_first=float(beats_first[rank - 1]) if complements[rank - 1] else None,
                places=[
                    replace(place, dataset=str(names.get(place.dataset, place.dataset)))
                    for place in places[rank - 1]
                ],
            )
            for rank, (position, delta) in enumerate(chosen, start=1)
        ],
        strategy=strategy,
        measure=known.measure,
        metafeatures=metafeatures,
        nearest=[
            (str(names.get(key, key)), float(evidence.distances[key]))
            for key in heaviest.index
            if evidence is not None
        ],
        outside=outside,
        left_out=list(known.left_out.values()),
        near_copies=[name for key, name in known.left_out.items() if key not in known.same],
        trials=0 if trials is None else len(trials),
        failed=Counter(failures.values()),
        warehouse=known.warehouse,
        model=known.model(),
        predictor=predictor,
        candidates=len(candidates),
        not_installed=flows_to_install(known.runs, set(known.flows)),
        fit_factor=factor,
        not_built={} if known.flows else not_built(known.runs, known.candidates.values()),
        race=raced,
        cautions=cautions(known.dataset, outside),
    )
    if not explain:
        return result
    from recommend.explanation import explanation

    return replace(result, explanation=explanation(result, first, evidence, others, names))


def _by_expectation(
    chosen: Choice,
    predicted: Floats,
    known: RankingContext,
    predictor: Predictor,
    configurations: ConfigurationTable,
) -> tuple[Choice, list[Expectation] | None]:
    """What was chosen with what is expected of it, the best first."""
    promised = expectations(
        predictor,
        configurations.take([position for position, _ in chosen]),
        known.runs.configurations,
        known.metafeatures(),
        known.measure,
    )
    if promised is not None:
        values = oriented(np.array([promise.value for promise in promised]), known.measure)
    elif isinstance(predictor, Conditioned):
        return chosen, None  # what was tried goes by what came of it, which scores are not
    else:
        values = predicted[[position for position, _ in chosen]]
    order = np.argsort(-values, kind="stable").tolist()
    return [chosen[place] for place in order], promised and [promised[place] for place in order]


def _passed_over(chosen: Sequence[int], predicted: Floats, considered: Positions) -> Flags:
    """Whether more is expected of one of those that were considered and not chosen, for each of `chosen`."""
    others = predicted[np.setdiff1d(considered, chosen)]
    best = others.max(initial=-np.inf)
    return np.array([predicted[position] < best for position in chosen], dtype=bool)


def _raced(
    known: RankingContext, seconds: float, jobs: int | None, report: Callable[[RaceProgress], None]
) -> Race:
    from recommend.racing import race  # which imports what runs configurations

    return race(known, seconds, jobs=jobs, report=report)
