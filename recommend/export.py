"""Seeds for other tuners: Optuna, SMAC3, FLAML, Ray Tune and scikit-learn, and their space in ConfigSpace.

In a space of one flow, hyperparameters are named as in the seeds (`max_features`). A space of several flows
has `algorithm`, and names of the form ALGORITHM:HYPERPARAMETER (`random_forest:max_features`), as in the
joint spaces of `recommend.space.Space`. Ray and FLAML's `tune.run` use a dot instead of the colon
(`random_forest.max_features`), since FLAML expects a number after a colon. FLAML's `AutoML` and scikit-learn
use their own names (`recommend.flaml_points`, `recommend.sklearn_grids`).

Seeds are checked against the space of the tool: a tuner may use a value out of its range (Optuna does),
ignore an unknown name, or take True for 1. Here that is an error with the value and the expectation. If a
space has a number for `max_features`, the words `sqrt` and `log2` of a seeds file become shares of the
dataset's features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ingest.flows import Flow, find_flow, get_flow, native_values, with_preprocessing
from recommend.domains import Domain, configspace_domain, optuna_domain
from recommend.flaml_points import flaml_point
from recommend.sklearn_grids import sklearn_grid
from recommend.space import Space, with_shares
from warehouse.support.errors import (
    BadOption,
    MissingPackage,
    UnfitConfiguration,
    UnknownName,
    UnreadableInput,
    one_line,
)
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.declaration import read_declaration
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow
from warehouse.vocabulary.table import ALGORITHM, joint_name

if TYPE_CHECKING:
    import ConfigSpace
    from ConfigSpace import ConfigurationSpace
    from ConfigSpace.hyperparameters import Hyperparameter
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import BaseTrial

Seeds = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A seeds file as `recommend.seeds.read_seeds` reads it, or its list `configurations`."""

PROVENANCE = ("rank", "flow", "openml_flows", "predicted")
"""Facts about its seed that an Optuna trial keeps as user attributes."""


def configurations_of(seeds: Seeds) -> list[Configuration]:
    """The configurations to run, in order; hyperparameters missing from a seed have their default.

    Raises:
        BadInput: a seed names an unknown flow or hyperparameter.
    """
    return [seed.configuration for seed in _read(seeds)]


def space_of(seeds: Seeds) -> Space:
    """The search space of the seeds' flows, with preprocessing if a seed has it.

    Raises:
        BadInput: as for `configurations_of`, or there is no seed.
    """
    values: dict[str, list[Mapping[str, Value]]] = {}
    for configuration in configurations_of(seeds):
        values.setdefault(configuration.algorithm, []).append(configuration.values)
    if not values:
        raise BadOption("no seed to export")
    declared = _declared(seeds)
    flows = [declared.get(name) or _narrowest(get_flow(name), own) for name, own in values.items()]
    return Space(flows, joint=len(flows) > 1)


def _narrowest(flow: Flow, tried: Sequence[Mapping[str, Value]]) -> Flow:
    return flow if all(map(flow.searches, tried)) else with_preprocessing(flow)


def _declared(seeds: Seeds) -> dict[str, SearchedFlow]:
    """Flows that Headstart does not build, by key, with their spaces in the seeds file."""
    spaces = seeds.get("spaces", {}) if isinstance(seeds, Mapping) else {}
    if not isinstance(spaces, Mapping):
        raise UnreadableInput("`spaces` of seeds is an object {flow: space}")
    return {name: read_declaration(name, name.removeprefix(OTHER), own) for name, own in spaces.items()}


def enqueue_seeds(study: Study, seeds: Seeds, distributions: Mapping[str, BaseDistribution]) -> None:
    """Have an Optuna study try the seeds first, in their order.

    The origin of a seed is kept in its trial's user attributes (`PROVENANCE`). A seed that the study already
    has is not tried again, so a script can be repeated on the same storage. Hyperparameters that the
    objective suggests and a seed lacks are left to the sampler.

    Args:
        distributions: name -> distribution, as the objective suggests them (see `optuna_distributions`).

    Raises:
        BadInput: a seed does not fit the distributions; then none is enqueued.
    """
    for trial in _optuna_trials(seeds, distributions):
        study.enqueue_trial(**trial, skip_if_exists=True)


def optuna_distributions(space: Space) -> dict[str, BaseDistribution]:
    """The space in Optuna's form: name -> distribution, for `study.ask` and for checking seeds.

    A joint space has the distributions of all its flows. An objective should suggest only those of the chosen
    flow, as `suggest_configuration` does.

    Raises:
        MissingPackage: Optuna is not installed.
    """
    several = len(space.flows) > 1
    distributions = {
        f"{flow.name}:{name}" if several else name: distribution
        for flow in space.flows.values()
        for name, distribution in _distributions_of(flow, historical=space.historical).items()
    }
    if not several:
        return distributions
    from optuna.distributions import CategoricalDistribution

    return {ALGORITHM: CategoricalDistribution(list(space.flows)), **distributions}


def suggest_configuration(trial: BaseTrial, space: Space) -> Configuration:
    """The configuration that an Optuna objective should run: an algorithm and its hyperparameters.

    For a finished trial, such as `study.best_trial`, it is the configuration that was run:

        def objective(trial):
            configuration = suggest_configuration(trial, space)
            pipeline = get_flow(configuration.algorithm).pipeline(configuration.values, dataset.roles)
            return cross_val_score(pipeline, dataset.features, dataset.target).mean()

    Optuna has no forbidden combinations.

    Raises:
        TrialPruned: of Optuna, to end a trial of a forbidden combination.
    """
    several = len(space.flows) > 1
    name = trial.suggest_categorical(ALGORITHM, list(space.flows)) if several else next(iter(space.flows))
    flow = space.flows[str(name)]
    distributions = _distributions_of(flow, historical=space.historical)
    prefix = f"{flow.name}:" if several else ""
    values = flow.filled(
        lambda own: _suggested(trial, prefix + own.name, distributions[own.name]), distributions
    )
    if flow.forbids(values):
        from optuna import TrialPruned

        raise TrialPruned
    return Configuration(flow.name, flow.brief(values))


def smac_configurations(seeds: Seeds, configspace: ConfigurationSpace) -> list[ConfigSpace.Configuration]:
    """The seeds as configurations of a ConfigSpace space, for SMAC's initial design.

    They come first only if the design has no configurations of its own, hence `n_configs=0`; otherwise SMAC
    tries them after its Sobol design, which takes up to a quarter of the trials. `n_trials` must be at least
    the number of seeds:

        design = HyperparameterOptimizationFacade.get_initial_design(
            scenario, n_configs=0, additional_configs=smac_configurations(seeds, scenario.configspace)
        )

    Raises:
        BadInput: a seed does not fit the space.
    """
    import ConfigSpace

    domains = {name: configspace_domain(parameter) for name, parameter in configspace.items()}
    configurations = []
    for seed in _read(seeds):
        try:
            configurations.append(ConfigSpace.Configuration(configspace, values=seed.values(domains)))
        except ValueError as error:  # a missing or inactive hyperparameter, or a forbidden combination
            raise UnfitConfiguration(f"{seed.label} does not fit the space: {one_line(error)}") from error
    return configurations


def points_to_evaluate(seeds: Seeds, space: Space | None = None) -> list[dict[str, Value]]:
    """The seeds for FLAML's `tune.run` and Ray Tune's searchers: flat dictionaries of plain Python values.

    Args:
        space: the search space, which determines the names (except for the colon, see above) and against
            which seeds are checked; None = `space_of(seeds)`.

    Raises:
        BadInput: a seed does not fit the space.
    """
    known = (space_of(seeds) if space is None else space).config_space
    domains = {name: configspace_domain(parameter) for name, parameter in known.items()}
    return [
        {name.replace(":", "."): value for name, value in seed.values(domains).items()}
        for seed in _read(seeds)
    ]


def export_document(seeds: Seeds, to: str) -> dict[str, Any]:
    """The seeds, and the space of their flows, as JSON values for a tool in `EXPORTS`.

    optuna       `trials`: each the arguments `params` and `user_attrs` of `Study.enqueue_trial`;
                 `distributions`: name -> text for `optuna.distributions.json_to_distribution`
    smac         `configurations`: values of ConfigSpace's `Configuration`;
                 `configspace`: for `ConfigurationSpace.from_serialized_dict`
    flaml        `starting_points` and `estimator_list`, arguments of `AutoML.fit`;
                 `notes`: sentences about what these can't express
    ray          `points_to_evaluate` of searchers and of FLAML's `tune.run`, each with a value for every
                 name, the default if a condition does not hold: `algorithm` says which count;
                 `param_space`: name -> a function of `ray.tune` and its arguments
    sklearn      `grids`: for each flow the result of `recommend.sklearn_grids.sklearn_grid`
    configspace  the space alone, for `ConfigurationSpace.from_json`

    Raises:
        BadInput: the tool is unknown, there is no seed, a seed does not fit the space of its flow, or FLAML
            or scikit-learn has no equivalent of any seed.
        MissingPackage: the tool's library is needed and not installed.
    """
    if to not in EXPORTS:
        raise UnknownName(f"can't export to {to!r}; known are {', '.join(EXPORTS)}")
    return EXPORTS[to](seeds, space_of(seeds))


def _for_optuna(seeds: Seeds, space: Space) -> dict[str, Any]:
    distributions = optuna_distributions(space)
    from optuna.distributions import distribution_to_json

    return {
        "trials": _optuna_trials(seeds, distributions),
        "distributions": {name: distribution_to_json(own) for name, own in distributions.items()},
    }


def _for_smac(seeds: Seeds, space: Space) -> dict[str, Any]:
    configurations = smac_configurations(seeds, space.config_space)
    return {
        "configurations": [native_values(configuration) for configuration in configurations],
        "configspace": space.config_space.to_serialized_dict(),
    }


def _for_flaml(seeds: Seeds, space: Space) -> dict[str, Any]:
    points_to_evaluate(seeds, space)  # which refuses what is out of the space
    starting_points: dict[str, list[dict[str, Value]]] = {}
    notes = []
    for seed in _read(seeds):
        point = flaml_point(seed.configuration, seed.n_rows, seed.n_features)
        if point is None:
            notes.append(f"{seed.label}: FLAML has no equivalent")
            continue
        known = starting_points.setdefault(point.estimator, [])
        if point.values not in known:
            known.append(point.values)
        if point.left_out:
            notes.append(f"{seed.label}: {point.estimator} leaves out {', '.join(point.left_out)}")
        if point.moved:
            notes.append(f"{seed.label}: clipped to FLAML's range: {', '.join(point.moved)}")
    if not starting_points:
        raise BadOption("FLAML has no equivalent of the flows of these seeds")
    return {"starting_points": starting_points, "estimator_list": [*starting_points], "notes": notes}


def _for_ray(seeds: Seeds, space: Space) -> dict[str, Any]:
    parameters = {name.replace(":", "."): own for name, own in space.config_space.items()}
    distributions = {name: ray_distribution(own) for name, own in parameters.items()}
    # Ray's searchers refuse points without a value for every name of the space.
    defaults = native_values({name: own.default_value for name, own in parameters.items()})
    points = [{**defaults, **point} for point in points_to_evaluate(seeds, space)]
    return {"points_to_evaluate": points, "param_space": distributions}


def ray_distribution(parameter: Hyperparameter[Any, Any]) -> list[Any]:
    """A function of `ray.tune` and `flaml.tune`, and its arguments; upper ends of integers are exclusive."""
    domain, known = configspace_domain(parameter), cast("Any", parameter)
    if domain.choices is not None:
        return ["choice", list(domain.choices)]
    low, high = (int(domain.low), int(domain.high) + 1) if domain.whole else (domain.low, domain.high)
    return [f"{'log' if known.log else ''}{'randint' if domain.whole else 'uniform'}", low, high]


def _for_sklearn(seeds: Seeds, space: Space) -> dict[str, Any]:
    points_to_evaluate(seeds, space)  # which refuses what is out of the space
    values: dict[str, list[Mapping[str, Value]]] = {}
    for seed in _read(seeds):
        if find_flow(seed.configuration.algorithm) is not None:
            values.setdefault(seed.configuration.algorithm, []).append(seed.in_numbers.values)
    if not values:
        raise BadOption(
            "Headstart does not build the flows of these seeds, so their estimators are not known"
        )
    return {"grids": [sklearn_grid(get_flow(name), own) for name, own in values.items()]}


EXPORTS: dict[str, Callable[[Seeds, Space], dict[str, Any]]] = {
    "optuna": _for_optuna,
    "smac": _for_smac,
    "flaml": _for_flaml,
    "ray": _for_ray,
    "sklearn": _for_sklearn,
    "configspace": lambda _, space: space.config_space.to_serialized_dict(),
}
"""Tool -> maker of its document."""


@dataclass(frozen=True)
class _Seed:
    label: str
    """Its name in errors."""
    configuration: Configuration
    provenance: dict[str, Any]
    n_rows: int | None
    """Rows of the seeds' dataset; None = unknown."""
    n_features: int | None
    """Features of the seeds' dataset; None = unknown."""
    left_out: Configuration
    """The same algorithm with the optional hyperparameters that the seed omits, at their defaults."""

    @property
    def in_numbers(self) -> Configuration:
        """The configuration with shares of the features instead of words, if their number is known."""
        if self.n_features is None:
            return self.configuration
        return with_shares(self.configuration, self.n_features)

    def values(self, domains: Mapping[str, Domain]) -> dict[str, Value]:
        """Name -> value, in the form of the space with these domains."""
        algorithms = domains[ALGORITHM].choices if ALGORITHM in domains else None
        joint = any(":" in name for name in domains) or self.configuration.algorithm in (algorithms or ())
        as_it_is = named(self.configuration, joint=joint)
        in_numbers = named(self.in_numbers, joint=joint)
        left_out = named(self.left_out, joint=joint)
        fitted = {name: value for name, value in left_out.items() if name in domains}
        for name in as_it_is:
            if name not in domains:
                raise UnfitConfiguration(
                    f"{self.label}: unknown hyperparameter {name}; the space has {', '.join(domains)}"
                )
            value = (in_numbers if domains[name].choices is None else as_it_is)[name]
            try:
                fitted[name] = domains[name].fit(value)
            except UnfitConfiguration as error:
                raise UnfitConfiguration(f"{self.label}: {name} is {value!r}, {error}") from None
        return fitted


def named(configuration: Configuration, *, joint: bool) -> dict[str, Value]:
    """The configuration as one flat dictionary.

    Args:
        joint: whether to name hyperparameters as in a space of several flows.
    """
    if not joint:
        return dict(configuration.values)
    own = {joint_name(configuration.algorithm, name): value for name, value in configuration.values.items()}
    return {ALGORITHM: configuration.algorithm, **own}


def _read(seeds: Seeds) -> list[_Seed]:
    entries = seeds.get("configurations") if isinstance(seeds, Mapping) else seeds
    if not isinstance(entries, Sequence):
        raise UnreadableInput("seeds must be a document with a list `configurations`, or this list")
    dataset = seeds.get("dataset") if isinstance(seeds, Mapping) else None
    n_rows, n_features = (
        dataset.get(size) if isinstance(dataset, Mapping) else None for size in ("rows", "features")
    )
    declared = _declared(seeds)
    read = []
    for place, entry in enumerate(entries, start=1):
        try:
            flow = declared.get(entry["flow"]) or get_flow(entry["flow"])
            configuration = Configuration(flow.name, flow.current(entry["hyperparameters"]))
            left_out = Configuration(flow.name, _left_out(flow, configuration.values))
            provenance = {key: entry[key] for key in PROVENANCE if key in entry}
        except (KeyError, TypeError, AttributeError) as error:
            raise UnfitConfiguration(f"seed {place} needs `flow` and `hyperparameters`") from error
        except (UnknownName, UnfitConfiguration) as error:
            raise UnfitConfiguration(f"seed {place}: {error}") from None
        label = f"seed {place} ({flow.name})"
        read.append(_Seed(label, configuration, provenance, n_rows, n_features, left_out))
    return read


def _left_out(flow: SearchedFlow, values: Mapping[str, Value]) -> dict[str, Value]:
    """Preprocessing hyperparameters missing from `values`, at their defaults, for spaces that list them."""
    complete = (with_preprocessing(flow) if isinstance(flow, Flow) else flow).written_out(values)
    return {name: value for name, value in complete.items() if name not in values}


def _optuna_trials(seeds: Seeds, distributions: Mapping[str, BaseDistribution]) -> list[dict[str, Any]]:
    domains = {name: optuna_domain(distribution) for name, distribution in distributions.items()}
    return [{"params": seed.values(domains), "user_attrs": seed.provenance} for seed in _read(seeds)]


def _distributions_of(flow: SearchedFlow, *, historical: bool) -> dict[str, BaseDistribution]:
    """Hyperparameter -> distribution.

    Choices are listed by value, which is readable: no flow has choices that Optuna treats as equal (True and
    1), since ConfigSpace refuses them.
    """
    try:
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    except ImportError as error:
        raise MissingPackage("this needs the package optuna: pip install optuna") from error
    distributions: dict[str, BaseDistribution] = {}
    parameters: dict[str, Any] = dict(flow.space(historical=historical))
    for name, parameter in parameters.items():
        domain = configspace_domain(parameter)
        if domain.choices is not None:
            distributions[name] = CategoricalDistribution(domain.choices)
        elif domain.whole:
            distributions[name] = IntDistribution(int(domain.low), int(domain.high), log=parameter.log)
        else:
            distributions[name] = FloatDistribution(domain.low, domain.high, log=parameter.log)
    return distributions


def _suggested(trial: BaseTrial, name: str, distribution: BaseDistribution) -> Value:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    known: Any = distribution
    value: Value
    if isinstance(distribution, CategoricalDistribution):
        value = trial.suggest_categorical(name, known.choices)
    elif isinstance(distribution, IntDistribution):
        value = trial.suggest_int(name, known.low, known.high, log=known.log)
    else:
        value = trial.suggest_float(name, known.low, known.high, log=known.log)
    return value
