"""A recommendation as plain data: ranked configurations, their basis, and the JSON document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ingest.flows import Flow
from ingest.reading.column_types.roles import NOT_LEARNED_FROM
from ingest.reading.datasets import Dataset
from metalearners.predictions import Predictor
from metalearners.stored_model import StoredModel
from recommend.explaining.data_checks import Caution, Outside
from recommend.explaining.explanation import Explanation
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.target_words import target_words
from recommend.ranking.averaging import AveragedRecommendation
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.ranking.worth_installing import WorthInstalling
from recommend.seeds import SCHEMA
from warehouse.questions.run_origins import RunOrigins
from warehouse.support.errors import BadOption
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.declaration import declaration
from warehouse.vocabulary.measures import measure_title
from warehouse.vocabulary.searched_flow import SearchedFlow

if TYPE_CHECKING:
    from recommend.ranges import FlowRanges
    from recommend.verification import Verification

_SHOWN, _LONGEST = 3, 60  # configurations, and characters of a name, in a `repr`


@dataclass(frozen=True)
class WarehouseVersion:
    """The warehouse version used for training."""

    version: int
    fingerprint: str
    origins: RunOrigins


@dataclass(frozen=True)
class Recommendation:
    """Ranked configurations with their basis, as plain values without open resources."""

    dataset: Dataset
    configurations: list[RankedConfiguration]
    average: AveragedRecommendation | None
    """The average of the first configurations; None unless Headstart builds two or more, or if the strategy
    spreads them over the ranking."""
    strategy: str
    measure: str
    metafeatures: pd.Series
    nearest: list[tuple[str, float]]
    """Names of the most similar datasets, with their distance; empty if the learner has no weights of
    datasets."""
    outside: list[Outside]
    """Sizes of the dataset outside the range of the known datasets."""
    left_out: list[str]
    """Names of the warehouse's datasets with the same content and of near copies; they are not in the model's
    training set."""
    near_copies: list[str]
    """Left-out datasets that are near copies, not exact ones."""
    trials: int
    """Number of runs on this dataset on which the model was conditioned."""
    failed: Mapping[str, int]
    """Outcome -> number of configurations left out because all their runs on this dataset failed."""
    warehouse: WarehouseVersion
    model: StoredModel
    predictor: Predictor
    """The model, conditioned on the trials on the dataset."""
    candidates: int
    """Number of configurations that were ranked."""
    not_installed: list[Flow]
    """Flows of the warehouse left out because their packages are not installed."""
    worth_installing: WorthInstalling | None
    """The best configuration of these, if it is expected to be better than the first; None = it is not, or
    unknown."""
    not_built: Mapping[str, str]
    """Key -> title of flows of the warehouse left out because Headstart does not build them."""
    fit_factor: float | None
    """80 % of the fits take at most this many times as long as expected, and at least 1/factor of it; None =
    unknown."""
    verification: Verification | None
    """Trials on the dataset used by the recommendation; None = there were none."""
    cautions: Sequence[Caution]
    explanation: Explanation | None
    """The explanation; None = not requested."""

    def _repr_html_(self) -> str:
        """The ranking as HTML for notebooks."""
        from recommend.reporting.page import ranking_fragment

        return ranking_fragment(self)

    def __repr__(self) -> str:
        """The first configurations with their expected values, and the next methods to call."""
        shown = self.configurations[:_SHOWN]
        more = len(self.configurations) - len(shown)
        return "\n".join(
            [
                f"Recommendation for {self.dataset.name[:_LONGEST]}: {len(self.configurations)} of "
                f"{counted(self.candidates, 'configurations')}, the first to try:",
                *(
                    f"  {item.rank}. {item.flow.title[:_LONGEST]}. {self.expected_of(item.configuration)}"
                    for item in shown
                ),
                *([f"  ... and {more} more"] if more else []),
                "Next: .configurations, .code(rank), .average_code(), .ranges(), .document()",
            ]
        )

    @property
    def of_others(self) -> list[SearchedFlow]:
        """Flows of the recommended configurations that Headstart does not build."""
        flows = {item.flow.name: item.flow for item in self.configurations}
        return [flow for flow in flows.values() if not isinstance(flow, Flow)]

    def code(self, rank: int = 1) -> str:
        """Python source that cross-validates, fits, saves and predicts with the configuration of this rank.

        It needs pandas, scikit-learn and the library of the algorithm, but not Headstart, and reads a file
        as the dataset's was read: see `recommend.code`.

        Raises:
            BadInput: there is no such rank, Headstart doesn't build the algorithm, or pandas alone can't
                reproduce the dataset.
        """
        from recommend.code import Origin, script

        item = next((item for item in self.configurations if item.rank == rank), None)
        if item is None:
            raise BadOption(
                f"no configuration has rank {rank}; the ranks are 1 to {len(self.configurations)}"
            )
        if not isinstance(item.flow, Flow):
            raise BadOption(f"Headstart does not build {item.flow.title}, so it has no script")
        origin = Origin(
            choice=f"Recommended by Headstart, as number {rank} to try, after {self._learned_from}.",
            expected=self.expected_of(item.configuration),
            measure=self.measure,
        )
        return script({item.configuration: 1.0}, self.dataset, origin)

    def average_code(self) -> str:
        """Python source that does the same with the average of the first configurations (`average`).

        Raises:
            BadInput: there is no average, or no script can read the dataset (see `code`).
        """
        from recommend.code import Origin, script

        average = self.average
        if average is None:
            raise BadOption(
                "there is no average to write: it takes two recommendations or more of the strategy top, of"
                " algorithms that Headstart builds"
            )
        origin = Origin(
            choice=f"The first {len(average.members)} recommended by Headstart, after {self._learned_from}.",
            expected=self._expected(average.expectation) or "Its value is not predicted.",
            measure=self.measure,
        )
        return script(average.members, self.dataset, origin)

    @property
    def _learned_from(self) -> str:
        return f"{counted(self.model.runs, 'runs')} on {counted(self.model.datasets, 'datasets')}"

    def expected_of(self, configuration: Configuration) -> str:
        """A sentence about the expected value of a configuration, chosen or not."""
        item = next((item for item in self.configurations if item.configuration == configuration), None)
        if item is None:
            return "It is not among the recommendations, so it has no expected value."
        return (
            self._expected(item.expectation)
            or f"Expected: {item.predicted:+.2f} standard deviations from an average configuration."
        )

    def _expected(self, promise: PerformanceForecast | None) -> str | None:
        if promise is None:
            return None
        number = target_words(self.dataset).number
        interval = f"80 % interval: {number(promise.low)} to {number(promise.high)}"
        return f"Expected {measure_title(self.measure)}: {number(promise.value)} ({interval})."

    def ranges(self) -> dict[str, FlowRanges]:
        """Learn the ranges of good configurations of each recommended flow, by name of the flow.

        Takes a tenth of a second for each flow; see `recommend.ranges`.
        """
        from recommend.ranges import learn_ranges

        flows = {item.flow.name: item.flow for item in self.configurations}
        return {name: learn_ranges(flow, self.predictor, self.metafeatures) for name, flow in flows.items()}

    def document(self) -> dict[str, Any]:
        """The recommendation as the JSON document that `seeds.schema.json` describes."""
        average = self.average
        return {
            "schema": SCHEMA,
            "dataset": {
                "name": self.dataset.name,
                "source": self.dataset.source,
                "content_hash": self.dataset.content_hash,
                "rows": len(self.dataset.features),
                "features": self.dataset.features.shape[1],
                **target_words(self.dataset).facts(),
                "target": str(self.dataset.target.name),
                **({} if self.dataset.split is None else {"split": str(self.dataset.split)}),
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
                    "on_dataset": None if item.on_dataset is None else item.on_dataset.value,
                    "on_dataset_train_rows": None if item.on_dataset is None else item.on_dataset.train_rows,
                    "fit_seconds": item.fit_seconds,
                    "expectation": None if item.expectation is None else item.expectation.document(),
                    "beats_first": item.beats_first,
                    "places": [asdict(place) for place in item.places],
                }
                for item in self.configurations
            ],
            "average": None
            if average is None
            else {
                "members": [
                    {"rank": item.rank, "weight": average.members[item.configuration]}
                    for item in self.configurations
                    if item.configuration in average.members
                ],
                "expectation": None if average.expectation is None else average.expectation.document(),
                "fit_seconds": average.fit_seconds,
            },
            "nearest": [{"dataset": name, "distance": distance} for name, distance in self.nearest],
            "outside": [asdict(size) for size in self.outside],
            "cautions": [asdict(caution) for caution in self.cautions],
            "explanation": None if self.explanation is None else self.explanation.document(),
            "warehouse": {
                **self.warehouse.origins.document(),
                "version": self.warehouse.version,
                "fingerprint": self.warehouse.fingerprint,
                "left_out": self.left_out,
                "trials": self.trials,
                "failed": dict(self.failed),
                "candidates": self.candidates,
                "not_installed": [flow.name for flow in self.not_installed],
                "not_built": list(self.not_built),
            },
            "worth_installing": None if self.worth_installing is None else self.worth_installing.document(),
            "model": self.model.description(),
            **(
                {"spaces": {flow.name: declaration(flow) for flow in self.of_others}}
                if self.of_others
                else {}
            ),
            "verification": None if self.verification is None else self.verification.document(),
        }
