"""Rows of the tables that a world holds, with the columns that OpenML's answers show.

Texts are kept as the server would write them before escaping: a value of 0.5 is "0.5", a missing one None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Feature(NamedTuple):
    """A column of a dataset: `values` are those of a nominal one."""

    name: str
    data_type: str  # numeric or nominal
    values: tuple[str, ...] = ()
    missing: int = 0


@dataclass(frozen=True)
class Dataset:
    """A dataset. `no_qualities` is the error code (361 to 364) that a request for its qualities gets."""

    did: int
    name: str
    version: int = 1
    status: str = "active"
    uploader: int = 1
    qualities: Mapping[str, str | None] = field(default_factory=dict)
    no_qualities: int | None = None
    features: tuple[Feature, ...] = ()
    target: str = "class"
    arff: str | None = None
    description: str = ""


@dataclass(frozen=True)
class EstimationProcedure:
    """How the runs of a task are evaluated."""

    id: int
    task_type: int
    name: str
    type: str = "crossvalidation"
    repeats: int = 1
    folds: int = 10


@dataclass(frozen=True)
class Task:
    """A dataset with something to do: `task_type` 1 is classification, 2 regression."""

    id: int
    did: int
    procedure: int = 1
    task_type: int = 1
    task_type_name: str = "Supervised Classification"


class Parameter(NamedTuple):
    """A hyperparameter that a flow declares; the default is what its first uploader had set."""

    id: int
    name: str
    data_type: str = ""
    default: str = ""
    description: str = ""
    in_setups: bool = True  # False where its value is a sub-model, which setups do not hold


class Component(NamedTuple):
    """A flow inside a flow."""

    identifier: str
    flow: int


@dataclass(frozen=True)
class Flow:
    """An algorithm or pipeline in one version."""

    id: int
    name: str
    version: int = 1
    external_version: str = ""
    uploader: int = 1
    parameters: tuple[Parameter, ...] = ()
    components: tuple[Component, ...] = ()
    class_name: str | None = None
    description: str = ""
    dependencies: str | None = None
    upload_date: str = "2018-03-07T12:02:39"

    @property
    def full_name(self) -> str:
        """Name with version, as it stands in front of parameters."""
        return f"{self.name}({self.version})"


class Slot(NamedTuple):
    """Where a setup of a flow holds a value: a parameter of the flow or of a component inside it."""

    path: str  # identifiers of the components and the parameter's name, joined by __
    flow: Flow  # the component that declares the parameter
    parameter: Parameter

    @property
    def full_name(self) -> str:
        """The parameter's name in listings of setups."""
        return f"{self.flow.full_name}_{self.parameter.name}"


class Setup(NamedTuple):
    """A configuration: a value per slot of its flow, None where the setup leaves the parameter out.

    One that is not `listed` has its row, so that evaluations show, but setup/list
    does not find it.
    """

    id: int
    flow: int
    values: tuple[str | None, ...]
    listed: bool = True


class Run(NamedTuple):
    """One application of a setup to a task; a run with an error message has failed."""

    id: int
    task: int
    setup: int
    flow: int
    uploader: int
    upload_time: str
    error_message: str = ""


class Evaluation(NamedTuple):
    """A value of a measure for a run by one evaluation engine."""

    run: int
    engine: int
    function: str
    value: str | None
    array_data: str | None = None


@dataclass(frozen=True)
class Study:
    """A suite of tasks."""

    id: int
    alias: str | None
    name: str
    tasks: tuple[int, ...] = ()
