"""What is recommended for a dataset: the configurations, what they rest on, and the document of both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from ingest.flows import Flow
from ingest.reading.datasets import Dataset
from ingest.reading.roles import NOT_LEARNED_FROM
from metalearners.predictions import Predictor
from metalearners.stored_model import StoredModel
from recommend.cautions import Caution
from recommend.evidence import Outside, Place
from recommend.expectations import Expectation
from recommend.seeds import SCHEMA
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.declaration import declaration
from warehouse.configurations.searched_flow import SearchedFlow
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption
from warehouse.support.text import counted

if TYPE_CHECKING:
    from recommend.explanation import Explanation
    from recommend.racing import Race
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
            choice=f"Recommended by Headstart, as number {rank} to try, after"
            f" {counted(self.model.runs, 'runs')} on {counted(self.model.datasets, 'datasets')}.",
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
