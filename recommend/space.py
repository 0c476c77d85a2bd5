"""Search spaces: of one flow, or the joint space of several.

Notation
    n, p       configurations, hyperparameters of the space
    vectors    (n, p) ConfigSpace's form: numbers scaled to [0, 1], choices by their position, NaN if a
               configuration does not have the hyperparameter
    table      the form that meta-learners take
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.flows import find_flow
from warehouse.support.arrays import Flags, Floats, Positions
from warehouse.support.errors import BadOption, UnfitConfiguration
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number, Scale, Value
from warehouse.vocabulary.searched_flow import SearchedFlow
from warehouse.vocabulary.table import (
    ALGORITHM,
    SEPARATOR,
    ConfigurationTable,
    joint_name,
)

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

KNOWN = 1000
"""Number of `Space.examples`."""
ROUNDS = 20
"""Draws after which forbidden configurations are no longer replaced."""
DIGITS = 12
"""Significant digits of a number, few enough to survive conversion to a vector and back."""


def with_shares(configuration: Configuration, n_features: int) -> Configuration:
    """`configuration` with a share of the features instead of `sqrt` and `log2`.

    The flow has to be ours. A share is clipped to the flow's range.
    """
    shares = {"sqrt": n_features**-0.5, "log2": max(math.log2(n_features), 1.0) / n_features}
    share = shares.get(str(configuration.values.get("max_features")))
    flow = find_flow(configuration.algorithm)
    if share is None or flow is None:
        return configuration
    for own in flow.hyperparameters:
        if own.name == "max_features" and isinstance(own, Number):
            within = min(max(share, own.low), own.high)
            return Configuration(configuration.algorithm, {**configuration.values, own.name: within})
    return configuration


@dataclass(frozen=True, eq=False)
class Configurations:
    """n configurations in both forms. Compared by identity, so that instances can be cache keys."""

    vectors: Floats
    categories: Positions
    """(p,) number of choices of each hyperparameter, 0 for a number."""
    tabulate: Callable[[], ConfigurationTable]
    """Makes `table`, which not every surrogate needs."""
    depart: Callable[[], Flags] | None = None
    """Makes `departures`; None = there are none."""

    @cached_property
    def departures(self) -> Flags:
        """(n, any) whether configurations use preprocessing steps that no meta-learner knows."""
        return np.zeros((len(self), 0), dtype=bool) if self.depart is None else self.depart()

    @cached_property
    def table(self) -> ConfigurationTable:
        """The form that meta-learners take."""
        return self.tabulate()

    def __len__(self) -> int:
        return len(self.vectors)

    def take(self, rows: Positions | list[int]) -> Configurations:
        """The configurations at these positions."""
        return Configurations(
            self.vectors[rows],
            self.categories,
            lambda: self.table.take(rows),
            None if self.depart is None else lambda: self.departures[rows],
        )


class Space:
    """A ConfigSpace space of flows, with conversions between vectors and tables."""

    def __init__(
        self,
        flows: Sequence[SearchedFlow],
        *,
        joint: bool = True,
        historical: bool = False,
        n_features: int = 10,
    ) -> None:
        """The space of `flows`.

        Args:
            joint: whether to use joint names, as tables of several flows do; otherwise the space has one
                flow.
            historical: whether to admit values that can no longer be built, for reading old runs.
            n_features: number of features of the dataset, to convert `sqrt` and `log2` to shares.

        Raises:
            BadInput: there is no flow, a flow is repeated, or a space that is not joint has several.
        """
        if not flows or len({flow.name for flow in flows}) < len(flows):
            raise BadOption("a search space takes one flow or more, each of them once")
        if not joint and len(flows) > 1:
            raise BadOption("a space of several flows is a joint one")
        self.flows = {flow.name: flow for flow in flows}
        self.joint = joint
        self.historical = historical
        self.n_features = n_features

    @cached_property
    def config_space(self) -> ConfigurationSpace:
        """The same in ConfigSpace, with conditions on `algorithm` if there are several flows."""
        from ConfigSpace import Categorical, ConfigurationSpace

        if not self.joint:
            return next(iter(self.flows.values())).space(historical=self.historical)
        space = ConfigurationSpace(name="+".join(self.flows))
        algorithm = Categorical(ALGORITHM, list(self.flows))
        space.add(algorithm)
        for name, flow in self.flows.items():
            space.add_configuration_space(
                name,
                flow.space(historical=self.historical),
                delimiter=SEPARATOR,
                parent_hyperparameter={"parent": algorithm, "value": name},
            )
        return space

    @cached_property
    def names(self) -> list[str]:
        """(p,) names of the hyperparameters, in the order of the vectors' columns."""
        return list(self.config_space)

    @cached_property
    def categories(self) -> Positions:
        """(p,) number of choices of each hyperparameter, 0 for a number."""
        sizes = [len(getattr(h, "choices", ())) for h in self.config_space.values()]
        return np.array(sizes, dtype=np.intp)

    @cached_property
    def _hyperparameters(self) -> dict[str, Any]:
        """Name -> hyperparameter; faster than ConfigSpace's lookup."""
        return dict(self.config_space)

    def sample(self, n: int, random: np.random.Generator, fixed: Mapping[str, Value] | None = None) -> Floats:
        """(n, p) random vectors, with equally likely algorithms.

        Every hyperparameter is drawn from its own distribution; then those whose conditions do not hold are
        removed, and forbidden combinations are drawn again. There are fewer vectors if nearly all
        combinations are forbidden.

        Args:
            fixed: values of hyperparameters common to all vectors, by the names of `names`.

        Raises:
            BadInput: the space does not have such a hyperparameter or choice.
        """
        fixed = fixed or {}
        found = np.zeros((0, len(self.names)))
        for _ in range(ROUNDS if self._may_have(fixed) else 0):
            missing = n - len(found)
            if not missing:
                break
            state = np.random.RandomState(int(random.integers(2**31)))
            columns = np.array(
                [own.sample_vector(missing, seed=state) for own in self._hyperparameters.values()]
            )
            drawn = self._completed(columns.reshape(-1, missing), fixed)
            found = np.concatenate([found, drawn])
        return self._settled(found)

    def default(self, fixed: Mapping[str, Value]) -> Floats:
        """(1, p) the vector of these values and of the defaults of all others; (0, p) if it is forbidden.

        Raises:
            BadInput: the space does not have such a hyperparameter or choice.
        """
        if not self._may_have(fixed):
            return np.zeros((0, len(self.names)))
        defaults = [float(_place(own, own.default_value)) for own in self._hyperparameters.values()]
        return self._settled(self._completed(np.array(defaults)[:, None], fixed))

    def choices(self, name: str) -> tuple[Value, ...]:
        """Values of a choice, by its name of `names`; empty for a number or an unknown name."""
        return tuple(getattr(self._hyperparameters.get(name), "choices", ()))

    def having(self, vectors: Floats, fixed: Mapping[str, Value]) -> Flags:
        """(n,) whether vectors have these values.

        Raises:
            BadInput: the space does not have such a hyperparameter or choice.
        """
        has: Flags = np.ones(len(vectors), dtype=bool)
        for column, value in self.places(fixed).items():
            has &= vectors[:, column] == value
        return has

    def _may_have(self, fixed: Mapping[str, Value]) -> bool:
        """Whether these values do not exclude each other, whatever the other hyperparameters are."""
        partial = np.full((1, len(self.names)), np.nan)
        for column, value in self.places(fixed).items():
            partial[0, column] = value
        conditions = (
            single
            for name in fixed
            for condition in self.config_space.parent_conditions_of[name]
            for single in _single_conditions(condition)
            if single.parent.name in fixed
        )
        holds = all(single.satisfied_by_vector_array(partial.T).all() for single in conditions)
        return holds and len(self._permitted(partial)) > 0

    def _completed(self, columns: Floats, fixed: Mapping[str, Value]) -> Floats:
        """(any, p) the permitted vectors of (p, n) `columns`, overwritten in place, with these values."""
        for column, value in self.places(fixed).items():
            columns[column] = value
        conditions = self.config_space.parent_conditions_of
        for column, name in enumerate(self.names):  # parents come before their children
            for condition in conditions[name]:
                columns[column, ~condition.satisfied_by_vector_array(columns)] = np.nan
        permitted = self._permitted(columns.T)
        return permitted[self.having(permitted, fixed)]

    def _permitted(self, vectors: Floats) -> Floats:
        """Vectors without the forbidden ones."""
        for clause in self.config_space.forbidden_clauses:
            vectors = vectors[~clause.is_forbidden_vector_array(vectors.T)]
        return vectors

    def places(self, fixed: Mapping[str, Value]) -> dict[int, float]:
        """Column of a vector -> its number, for values of hyperparameters by the names of `names`.

        Raises:
            BadInput: the space does not have such a hyperparameter or choice.
        """
        for name in fixed:
            if name not in self._hyperparameters:
                raise UnfitConfiguration(f"the search space has no hyperparameter {name}")
        return {
            self.names.index(name): _place(self._hyperparameters[name], value)
            for name, value in fixed.items()
        }

    def examples(self, seed: int) -> Configurations:
        """Random configurations that show a surrogate the possible values of hyperparameters."""
        return self.configurations(self.sample(KNOWN, np.random.default_rng(seed)))

    def neighbours(self, vectors: Floats, random: np.random.Generator) -> tuple[Floats, Positions]:
        """(any, p) vectors that differ from one of `vectors` in one hyperparameter and its children.

        (any,) is the position of the vector of which each is a neighbour.

        Every other choice, and four numbers drawn around the current one with a standard deviation of 0.2 of
        the range: the one-exchange neighbourhood of Hutter, Hoos and Leyton-Brown (SMAC, 2011).
        """
        import ConfigSpace
        from ConfigSpace.util import get_one_exchange_neighbourhood

        found = [
            (neighbour.get_array(), place)
            for place, vector in enumerate(vectors)
            for neighbour in get_one_exchange_neighbourhood(
                ConfigSpace.Configuration(self.config_space, vector=vector), seed=int(random.integers(2**31))
            )
        ]
        around = np.array([neighbour for neighbour, _ in found]).reshape(-1, vectors.shape[1])
        return self._settled(around), np.array([place for _, place in found], dtype=np.intp)

    def configurations(self, vectors: Floats) -> Configurations:
        """Configurations of these vectors, in both forms."""
        return Configurations(
            vectors,
            self.categories,
            lambda: self._table(vectors),
            (lambda: self._departures_of(vectors)) if self._departures else None,
        )

    @cached_property
    def _departures(self) -> list[list[tuple[int, int]]]:
        """Columns and places of each preprocessing step, the same step of all algorithms together.

        Defaults do not count: with them a flow's pipeline is that of its known runs.
        """
        found: dict[tuple[str, Value], list[tuple[int, int]]] = {}
        for algorithm, flow in self.flows.items():
            for own in flow.hyperparameters:
                if own.name in flow.decisions and isinstance(own, Choice):
                    column = self.names.index(joint_name(algorithm, own.name) if self.joint else own.name)
                    for place, choice in enumerate(own.choices):
                        if choice != own.default:
                            found.setdefault((own.name, choice), []).append((column, place))
        return list(found.values())

    def _departures_of(self, vectors: Floats) -> Flags:
        return np.column_stack(
            [
                np.any([vectors[:, column] == place for column, place in places], axis=0)
                for places in self._departures
            ]
        )

    def decoded(self, vectors: Floats) -> list[Configuration]:
        """The configuration of each of these vectors."""
        return [
            Configuration(own.algorithm, self.flows[own.algorithm].brief(own.values))
            for own in self._table(vectors).configurations()
        ]

    def vector(self, configuration: Configuration) -> Floats:
        """(p,) the configuration as a vector, equal to that of `sample` and `neighbours`.

        Numbers are clipped to their range and rounded to whole numbers where necessary, and `sqrt` and `log2`
        become shares of the features. Omitted optional hyperparameters have their default.

        Raises:
            BadInput: the space does not have this flow, hyperparameter or choice.
        """
        algorithm = configuration.algorithm
        if algorithm not in self.flows:
            raise UnfitConfiguration(f"the search space has no {algorithm}; it has {', '.join(self.flows)}")
        vector = np.full(len(self.names), np.nan)
        if self.joint:
            vector[self.names.index(ALGORITHM)] = list(self.flows).index(algorithm)
        values = with_shares(configuration, self.n_features).values
        for parameter, value in self.flows[algorithm].written_out(values).items():
            name = joint_name(algorithm, parameter) if self.joint else parameter
            if name not in self.names:
                raise UnfitConfiguration(f"{algorithm} has no hyperparameter {parameter}")
            vector[self.names.index(name)] = _place(self._hyperparameters[name], value)
        return vector

    def _settled(self, vectors: Floats) -> Floats:
        """Vectors, overwritten in place, with each number at the place given by `vector`."""
        for hyperparameter, size, column in zip(
            self._hyperparameters.values(), self.categories, vectors.T, strict=True
        ):
            present = ~np.isnan(column)
            if not size and present.any():
                column[present] = _places(hyperparameter, np.array(_column(hyperparameter, column[present])))
        return vectors

    def _table(self, vectors: Floats) -> ConfigurationTable:
        """The table, with typed columns, which meta-learners read much faster than Python objects."""
        columns = dict(zip(self.names, vectors.T, strict=True))
        codes = (columns.pop(ALGORITHM) if self.joint else np.zeros(len(vectors))).astype(np.intp)
        algorithms = pd.Categorical.from_codes(codes, dtype=_categories(*self.flows))
        parameters = {name: _column(self._hyperparameters[name], column) for name, column in columns.items()}
        index = pd.RangeIndex(len(vectors))
        return ConfigurationTable(pd.Series(algorithms), pd.DataFrame(parameters, index=index), self.joint)


def _single_conditions(condition: Any) -> list[Any]:
    """The conditions of a conjunction; a single condition itself."""
    from ConfigSpace.conditions import Conjunction

    return list(condition.dlcs) if isinstance(condition, Conjunction) else [condition]


@lru_cache(maxsize=1024, typed=True)
def _categories(*choices: Any) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(choices, dtype=object))


def _column(hyperparameter: Any, vector: Floats) -> Any:
    """(n,) values of one hyperparameter, missing if the vector is NaN."""
    missing = np.isnan(vector)
    if hasattr(hyperparameter, "choices"):
        codes = np.where(missing, -1, vector).astype(np.intp)
        if None in hyperparameter.choices:  # a category can't be None; the last one represents -1
            return np.array([*hyperparameter.choices, np.nan], dtype=object)[codes]
        return pd.Categorical.from_codes(codes, dtype=_categories(*hyperparameter.choices))
    values = hyperparameter.to_value(np.where(missing, 0.0, vector))
    if np.issubdtype(values.dtype, np.integer):
        return pd.arrays.IntegerArray(values.astype(np.int64), missing)
    return np.where(missing, np.nan, _rounded(values))


def _rounded(numbers: Floats) -> Floats:
    """`numbers` rounded to `DIGITS` significant digits; rounding again changes nothing."""
    with np.errstate(divide="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(numbers)))
    places = np.where(np.isfinite(places), places, 0)
    scale = 10.0 ** np.abs(places)
    rounded: Floats = np.where(
        places >= 0, np.rint(numbers * scale) / scale, np.rint(numbers / scale) * scale
    )
    return rounded


def _places(hyperparameter: Any, numbers: npt.NDArray[Any]) -> Floats:
    """(n,) places of numbers in a vector."""
    places: Floats = np.clip(hyperparameter.to_vector(numbers), 0.0, 1.0)
    return places


def _place(hyperparameter: Any, value: Value) -> float:
    """Place of a value in a vector."""
    if hasattr(hyperparameter, "choices"):
        for place, choice in enumerate(hyperparameter.choices):
            if type(choice) is type(value) and choice == value:
                return place
        raise UnfitConfiguration(
            f"{hyperparameter.name} can't be {value!r}: its choices are {hyperparameter.choices}"
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise UnfitConfiguration(f"{hyperparameter.name} can't be {value!r}: it is a number")
    within = min(max(value, hyperparameter.lower), hyperparameter.upper)
    is_whole = isinstance(hyperparameter.lower, int | np.integer)
    numbers = np.array([round(within)]) if is_whole else _rounded(np.array([within], dtype=np.float64))
    return float(_places(hyperparameter, numbers)[0])


def configurations_of_table(table: ConfigurationTable, scales: Mapping[str, Scale]) -> Configurations:
    """Configurations of runs, in both forms, without a search space.

    A column of numbers is scaled to [0, 1] between its ends, logarithmically if `scales` says so; in any
    other column a value is represented by its position among the occurring ones.

    Args:
        scales: column of the table -> declared scale, as in a `RunTable`.
    """
    columns, sizes = [], []
    codes, known = pd.factorize(table.algorithms, sort=True)
    if len(known) > 1:
        columns.append(codes.astype(np.float64))
        sizes.append(len(known))
    for place, name in enumerate(table.parameters.columns):
        column, size = _coded(table.parameters.iloc[:, place], scales.get(name) == "log")
        columns.append(column)
        sizes.append(size)
    vectors = np.column_stack(columns) if columns else np.zeros((len(table), 0))
    return Configurations(vectors, np.array(sizes, dtype=np.intp), lambda: table)


def _coded(column: pd.Series, logarithmic: bool) -> tuple[Floats, int]:
    """(n,) vector of a column of values, and its number of choices (0 = numbers)."""
    values = column.to_numpy(dtype=object)
    absent = np.array([value is pd.NA or value != value for value in values], dtype=bool)
    present = values[~absent].tolist()
    coded = np.full(len(values), np.nan)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        numbers = np.array(present, dtype=np.float64)
        if logarithmic and len(numbers) and numbers.min() > 0:
            numbers = np.log(numbers)
        low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 0.0)
        coded[~absent] = (numbers - low) / (high - low) if high > low else 0.5
        return coded, 0
    codes, known = pd.factorize(np.array([repr(value) for value in present], dtype=object), sort=True)
    coded[~absent] = codes
    return coded, len(known)
