"""Flows: search space, pipeline builder, and the OpenML flows of the same algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from warehouse.support.errors import MissingPackage, UnfitConfiguration
from warehouse.support.extras import install_command
from warehouse.vocabulary.parameters import Choice, Number, Value, configuration_space
from warehouse.vocabulary.searched_flow import SearchedFlow, listed
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from ingest.flows.preprocessing import Encoding
    from ingest.reading.column_types.roles import Role

Values = Mapping[str, Any]
"""Hyperparameter -> `Value`."""

IMPUTATION = Choice("imputation", ("mean", "median", "most_frequent"), default="median")
SCALING = Choice("scaling", ("standard", "quantile"), default="standard")
CLASS_WEIGHT = Choice("class_weight", ("none", "balanced"), default="none")
TARGET_TRANSFORMATION = Choice("target_transformation", ("none", "log1p", "quantile_normal"), default="none")
LOSS = Choice("loss", ("squared", "absolute"), default="squared")
"""Loss of a regressor, also used for early stopping."""
NAMED_NUMBERS: Mapping[str, tuple[str, ...]] = {"max_features": ("sqrt", "log2")}
"""Hyperparameter -> words that scikit-learn accepts in place of a number, and that no range here has."""

LAST_STEP: Mapping[TaskType, str] = {CLASSIFICATION: "classifier", REGRESSION: "regressor"}
"""Task type -> name of the estimator in a pipeline."""


@dataclass(frozen=True)
class Make:
    """Inputs of the function that makes an estimator."""

    values: Values
    """Hyperparameters, complete, without those of the preprocessing."""
    seed: int
    n_categorical: int
    """How many leading columns of the matrix are category codes; 0 if categories become indicators."""
    for_use: bool = True
    """Whether the estimator is fitted for use, not for a run (`Flow.pipeline`)."""

    @property
    def class_weight(self) -> str | None:
        """scikit-learn's word for the hyperparameter `class_weight`."""
        return None if self.values["class_weight"] == "none" else str(self.values["class_weight"])


def from_sklearn(
    path: str,
    *,
    seeded: bool = False,
    within: Callable[[BaseEstimator], BaseEstimator] = lambda made: made,
    **settings: Any,
) -> Callable[[Make], BaseEstimator]:
    """Return a function that makes a scikit-learn estimator, with hyperparameters as its parameters.

    Args:
        path: of the class below `sklearn`, such as `svm.SVC`.
        seeded: whether it takes a random state.
        within: wraps the estimator.
        settings: parameters that all configurations share.
    """

    def estimator(make: Make) -> BaseEstimator:
        own: dict[str, Any] = {"random_state": make.seed} if seeded else {}
        if CLASS_WEIGHT.name in make.values:
            own[CLASS_WEIGHT.name] = make.class_weight
        return within(of_sklearn(path)(**{**settings, **make.values, **own}))

    return estimator


def of_sklearn(path: str) -> Any:
    """Import the class or function at a path below `sklearn`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"sklearn.{module}"), name)


@dataclass(frozen=True, repr=False)
class Flow(SearchedFlow):
    """One algorithm with its preprocessing: how it is built today, and how OpenML's old runs describe it.

    `space`, `estimator` and `pipeline` import ConfigSpace, scikit-learn and pandas when they are called, so
    that naming a flow and its values costs nothing.
    """

    estimator: Callable[[Make], BaseEstimator]
    """Makes the unfitted classifier or regressor."""
    task_type: TaskType = CLASSIFICATION
    """Task type of its datasets."""
    openml: tuple[int, ...] = ()
    """Ids of OpenML flows of this algorithm."""
    encoding: Encoding = "indicators"
    """Encoding of categories for the estimator."""
    requires: str | None = None
    """An optional package that it needs, also the name of the extra that installs it."""
    longer_for_use: bool = False
    """Whether a fit for use takes longer than one of a run if it stops early (`pipeline`)."""
    beyond_openml: tuple[str, ...] = ()
    """Hyperparameters that runs of these OpenML flows leave at their default."""
    rows_needed: Callable[[Values], int] = lambda _: 2
    """Minimum number of training rows for a configuration."""
    most_rows: int | None = None
    """Number of rows above which the flow is so slow that it is only recommended by name."""
    fixed: Values = field(default_factory=dict)
    """Parameters that OpenML's runs list but never tune -> the only value that can be built."""
    retired: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """Values of old runs that can no longer be built: parameter -> value -> reason."""
    renamed: Mapping[str, Mapping[Any, Value]] = field(default_factory=dict)
    """Values of old versions under a former name: parameter -> old value -> today's."""
    further: tuple[Number | Choice, ...] = ()
    """Optional hyperparameters outside `space`, see `ingest.flows.pipelines`. One with the name of a
    hyperparameter of `space` adds values to it."""

    def __reduce__(self) -> Any:
        """Pickle a registered flow by its name: some contain functions that can't be pickled."""
        from ingest.flows import FLOWS, get_flow

        return (get_flow, (self.name,)) if FLOWS.get(self.name) is self else super().__reduce_ex__(4)

    def regressor(
        self, *hyperparameters: Number | Choice, estimator: Callable[[Make], BaseEstimator] | None = None
    ) -> Flow:
        """The flow for regression with the same algorithm and its own hyperparameters.

        Args:
            estimator: makes the unfitted regressor; None = the classifier's function makes it, too.
        """
        return Flow(
            name=f"{self.name}_regressor",
            title=self.title,
            task_type=REGRESSION,
            hyperparameters=hyperparameters,
            estimator=estimator or self.estimator,
            encoding=self.encoding,
            requires=self.requires,
            longer_for_use=self.longer_for_use,
            rows_needed=self.rows_needed,
            most_rows=self.most_rows,
        )

    @property
    def id(self) -> str:
        """Key of this flow in the warehouse."""
        return f"headstart:{self.name}"

    @property
    def openml_names(self) -> frozenset[str]:
        """Hyperparameters that runs of its OpenML flows set."""
        tuned = {parameter.name for parameter in self.hyperparameters} - set(self.beyond_openml)
        return frozenset({*tuned, *self.fixed})

    @cached_property
    def known(self) -> tuple[Number | Choice, ...]:
        """All hyperparameters that configurations may have, parents before children."""
        further = {parameter.name: parameter for parameter in self.further}
        own = [further.pop(parameter.name, parameter) for parameter in self.hyperparameters]
        return (*own, *further.values())

    @property
    def decisions(self) -> frozenset[str]:
        """Names of the preprocessing hyperparameters in the search space."""
        return frozenset(own.name for own in self.further if own in self.hyperparameters)

    @property
    def installed(self) -> bool:
        """Whether the required package is installed; checked without importing it."""
        return self.requires is None or find_spec(self.requires) is not None

    @property
    def installation(self) -> str:
        """The command that installs the required package."""
        return install_command(str(self.requires))

    def refuse_if_not_installed(self) -> None:
        """Raise `BadInput` if the required package is missing."""
        if not self.installed:
            raise MissingPackage(f"{self.title} needs the package {self.requires}: {self.installation}")

    def space(self, *, historical: bool = False, seed: int | None = None) -> ConfigurationSpace:
        """The search space.

        Args:
            historical: the space of OpenML's runs: includes retired values, but only what they vary.
            seed: random seed of the space's own sampler.
        """
        if not historical:
            return super().space(seed=seed)
        searched = (own for own in self.hyperparameters if own.name not in self.beyond_openml)
        with_retired = [
            replace(own, choices=(*own.choices, *self.retired.get(own.name, {})))
            if isinstance(own, Choice)
            else own
            for own in searched
        ]
        return configuration_space(self.name, with_retired, self.forbidden, seed=seed)

    def current(self, values: Values) -> dict[str, Value]:
        """Translate `values` of any version to today's hyperparameters, filling in defaults.

        Inactive hyperparameters are removed, and so are optional ones at their default.

        Raises:
            BadInput: an unknown hyperparameter, a value that is out of range or no longer exists, or a
                forbidden combination; the message says which.
        """
        known = {own.name: own for own in self.known}
        return self.brief(
            {
                name: value if value in NAMED_NUMBERS.get(name, ()) else known[name].fit(value)
                for name, value in self._complete(values).items()
            }
        )

    def _complete(self, values: Values) -> dict[str, Value]:
        """Like `current`, but keep optional hyperparameters at their default."""
        translated = {parameter.name: parameter.default for parameter in self.known}
        for parameter, value in values.items():
            if parameter in self.fixed:
                if value != self.fixed[parameter]:
                    raise UnfitConfiguration(
                        f"{self.name}: {parameter}={value!r} can't be built: Headstart always uses "
                        f"{self.fixed[parameter]!r}"
                    )
                continue
            if parameter not in translated:
                tunable = ", ".join(own.name for own in self.hyperparameters)
                raise UnfitConfiguration(f"{self.name} has no hyperparameter {parameter}; it has {tunable}")
            reason = self.retired.get(parameter, {}).get(value)
            if reason is not None:
                raise UnfitConfiguration(f"{self.name}: {parameter}={value!r} can't be built: {reason}")
            translated[parameter] = self.renamed.get(parameter, {}).get(value, value)
        active = self.active(translated)
        if combination := self.forbids(active):
            raise UnfitConfiguration(f"{self.name} can't have {listed(combination)} together")
        return active

    def pipeline(
        self, values: Values, roles: Mapping[str, Role], *, seed: int = 0, for_use: bool = True
    ) -> Pipeline:
        """An unfitted scikit-learn pipeline of this flow for a dataset's columns.

        Args:
            values: hyperparameters; those left out take their default.
            roles: column name -> role, in the order of the dataset's columns.
            seed: random state of the estimator.
            for_use: whether a booster that stops early waits longer, and is then fitted again on all rows if
                there are less than 10,000. It takes about twice as long, and is not done in runs, so that
                they remain comparable.

        Raises:
            BadInput: an unknown hyperparameter, a value that no longer exists, no usable column, or a missing
                package.
        """
        from sklearn.pipeline import Pipeline

        from ingest.flows.balancing import Balanced
        from ingest.flows.features import Preprocessor
        from ingest.flows.preprocessing import NATIVE, category_columns, preprocessor
        from ingest.flows.target import transformed

        self.refuse_if_not_installed()
        complete = self._complete(values)
        imputation = complete.pop("imputation", None)
        chosen = str(complete.pop("preprocessor", "none"))
        encoding: Any = complete.pop("encoding", self.encoding)
        knots: Any = complete.pop("knots", None)
        columns = preprocessor(
            roles,
            encoding=encoding,
            imputation=None if imputation is None else str(imputation),
            scaling=str(complete.pop("scaling", "none")),
            knots=knots,
            task_type=self.task_type,
            seed=seed,
        )
        steps: list[tuple[str, Any]] = [("preprocessing", columns)]
        balancing = str(complete.pop("balancing", "none"))
        if chosen != "none":
            start = f"{chosen}_"
            own = {
                name.removeprefix(start): complete.pop(name) for name in [*complete] if name.startswith(start)
            }
            steps.append(("features", Preprocessor(chosen, own, seed)))
        n_categorical = len(category_columns(roles)) if encoding in NATIVE else 0
        transformation = str(complete.pop(TARGET_TRANSFORMATION.name, TARGET_TRANSFORMATION.default))
        estimator = self.estimator(Make(complete, seed, n_categorical, for_use))
        if balancing != "none":
            estimator = Balanced(estimator, balancing, seed)
        return Pipeline([*steps, (LAST_STEP[self.task_type], transformed(estimator, transformation, seed))])


def native_values(configuration: Mapping[str, Any]) -> dict[str, Value]:
    """Plain Python values of a ConfigSpace configuration, which holds numpy scalars."""
    return {
        name: getattr(value, "item", lambda value=value: value)() for name, value in configuration.items()
    }
