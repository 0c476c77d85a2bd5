"""The task of a recommendation: dataset, measure, and left-out datasets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ingest.flows import find_flow, flow_for
from ingest.flows.preprocessing import refuse_without_features
from ingest.reading.datasets import Dataset
from ingest.reading.near_copies import METHOD, Sketch, near_copies
from ingest.reading.split_by import split_of_key
from metalearners import DEFAULT_LEARNER
from metalearners.samples import flow_named
from recommend.ranking.target_kinds import TargetKind, target_kind
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import UnknownName, UnusableWarehouse
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import TASK_TYPES, TaskType


@dataclass(frozen=True)
class RankingTask:
    """The task, before anything is learned."""

    dataset: Dataset
    warehouse: Warehouse
    asked: str
    """The measure to optimize."""
    flows: frozenset[str]
    """Names of the flows to choose from; empty = all."""
    learner: str | None
    """Name of the meta-learner; None = do not learn from other datasets."""
    same: frozenset[str]
    """Keys of the warehouse's datasets with the same content."""
    left_out: Mapping[str, str]
    """Key -> name of the warehouse's datasets excluded from training: those with the same content, near
    copies, and the families of both."""
    own: frozenset[str]
    """Keys of the datasets whose runs count as trials on this one: same content, same split. Empty if runs
    on the dataset itself are ignored."""

    @property
    def measure(self) -> str:
        """The learned measure, which orders configurations as `asked` does."""
        return self.dataset.task_type.learned_measure(self.asked)

    def shown(self, value: float) -> float:
        """Convert a value of `measure` to `asked`; NaN if it is not determined."""
        return self.target.shown(self.asked, value)

    @property
    def target(self) -> TargetKind:
        """The measures of a target of this kind."""
        return target_kind(self.dataset)


# Leaving out a dataset leaves out its family.
_SAME_OR_NEAR = """
WITH alike AS (
  SELECT dataset, family, content_hash IS NOT DISTINCT FROM $content_hash AS is_same FROM datasets
  WHERE content_hash = $content_hash OR list_contains($near, dataset)
)
SELECT dataset, name, dataset IN (SELECT dataset FROM alike WHERE is_same) AS is_same FROM datasets
WHERE dataset IN (SELECT dataset FROM alike) OR family IN (SELECT family FROM alike)
ORDER BY dataset
"""
# Only datasets with at most one column more or less can share rows.
_SKETCHES = """
SELECT dataset, columns, bits, CASE WHEN abs(columns - $width) <= 1 THEN cells END AS cells
FROM sketches WHERE method = $method ORDER BY dataset
"""
_DATASETS = "SELECT dataset FROM datasets WHERE content_hash IS NOT NULL"
_TASK_TYPES_OF_ALGORITHM = """
SELECT DISTINCT t.task_type
FROM flows f JOIN setups s USING (flow) JOIN runs r USING (setup) JOIN tasks t USING (task)
WHERE coalesce(f.algorithm, f.flow) = $algorithm
"""


def describe_task(
    dataset: Dataset,
    *,
    warehouse: Warehouse,
    flows: Sequence[str] = (),
    measure: str | None = None,
    learner: str | None = DEFAULT_LEARNER,
    leave_out: bool = True,
) -> RankingTask:
    """Describe the task, and find the dataset and its near copies in the warehouse.

    Args:
        warehouse: what to learn from.
        flows: names of the flows to choose from; empty = all.
        measure: a name or an alias of `warehouse.vocabulary.measures`; None = the task type's default.
        learner: name of the meta-learner; None = do not learn from other datasets.
        leave_out: whether to ignore runs on the dataset itself, as in an experiment.

    Raises:
        BadInput: no feature, an unknown flow, a measure that is unknown or does not fit the target, or a
            damaged warehouse.
    """
    refuse_without_features(dataset.roles)
    asked = canonical_measure(measure or dataset.task_type.default_measure)
    target_kind(dataset).check_measure(asked)
    near = near_copies_in(warehouse, dataset)
    found = warehouse.arrow(_SAME_OR_NEAR, {"content_hash": dataset.content_hash, "near": near}).to_pylist()
    same = frozenset(row["dataset"] for row in found if row["is_same"])
    split = None if dataset.split is None else str(dataset.split)
    return RankingTask(
        dataset=dataset,
        warehouse=warehouse,
        asked=asked,
        flows=frozenset(_flow_name(name, dataset.task_type, warehouse) for name in flows),
        learner=learner,
        same=same,
        left_out={row["dataset"]: row["name"] for row in found},
        own=frozenset() if leave_out else frozenset(key for key in same if split_of_key(key) == split),
    )


def _flow_name(name: str, task_type: TaskType, warehouse: Warehouse) -> str:
    """Canonical name of one of our flows that is installed, or key of another flow in the warehouse."""
    if find_flow(name) is None and (known := flow_named(warehouse, name)) is not None:
        found = warehouse.arrow(_TASK_TYPES_OF_ALGORITHM, {"algorithm": known})["task_type"]
        types = [TASK_TYPES[one].words for one in sorted(found.to_pylist()) if one in TASK_TYPES]
        if types and task_type.words not in types:
            raise UnknownName(
                f"all runs of {name} ({known}) are on tasks of {' and '.join(types)}, but this "
                f"dataset is one for {task_type.words}: choose another flow"
            )
        return known
    flow = flow_for(name, task_type)
    flow.refuse_if_not_installed()
    return flow.name


def near_copies_in(warehouse: Warehouse, dataset: Dataset) -> list[str]:
    """Keys of the warehouse's datasets that are near or exact copies of the dataset.

    A warehouse that began as a copy of an earlier starter lacks sketches; today's starter has them.

    Raises:
        BadInput: a sketch is damaged.
    """
    sketches = _sketches(warehouse, dataset)
    if warehouse.path != STARTER and (unknown := {*warehouse.sql(_DATASETS)["dataset"]} - sketches.keys()):
        sketches |= _sketches(Warehouse.open(STARTER), dataset, unknown)
    return sorted(near_copies(dataset, sketches))


def _sketches(
    warehouse: Warehouse, dataset: Dataset, only: Collection[str] | None = None
) -> dict[str, Sketch]:
    width = dataset.features.shape[1] + 1
    found = warehouse.arrow(_SKETCHES, {"width": width, "method": METHOD}).to_pylist()
    try:
        return {
            row["dataset"]: Sketch.from_text(row["columns"], row["bits"], row["cells"])
            for row in found
            if only is None or row["dataset"] in only
        }
    except ValueError as error:
        raise UnusableWarehouse(f"{warehouse.location} has a damaged sketch of a dataset: {error}") from error
