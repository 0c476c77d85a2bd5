"""A flow with its search space: name, hyperparameters, conditions and forbidden combinations."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.support.errors import UnfitConfiguration
from warehouse.vocabulary.parameters import (
    Choice,
    Number,
    Scale,
    Value,
    configuration_space,
    holds,
    same,
)

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

OTHER = "other:"
"""Prefix of the keys of flows that neither Headstart builds nor OpenML has."""


@dataclass(frozen=True)
class SearchedFlow:
    """A flow with known runs, built by anyone; `ingest.flows.Flow` is one that Headstart builds."""

    name: str
    """Canonical name of the algorithm, e.g. `random_forest`; for flows of others the key in the warehouse."""
    title: str
    """Name for people."""
    hyperparameters: tuple[Number | Choice, ...]
    """Hyperparameters: ranges, scales, defaults and conditions; parents come before their children."""
    forbidden: tuple[Mapping[str, Value], ...] = field(default=(), kw_only=True)
    """Combinations of values that no configuration may have."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.hyperparameters)} hyperparameters)"

    @property
    def id(self) -> str:
        """Key of this flow in the warehouse."""
        return self.name

    @property
    def known(self) -> tuple[Number | Choice, ...]:
        """All hyperparameters that configurations may have; parents come first."""
        return self.hyperparameters

    @property
    def decisions(self) -> frozenset[str]:
        """Hyperparameters of `space` that known runs do not vary, such as preprocessing: none here."""
        return frozenset()

    @property
    def scales(self) -> dict[str, Scale]:
        """Scale of each numeric hyperparameter."""
        return {own.name: own.scale for own in self.known if isinstance(own, Number)}

    def space(self, *, historical: bool = False, seed: int | None = None) -> ConfigurationSpace:
        """The search space.

        Args:
            historical: the space of old runs; the same here.
            seed: of the space's sampler.
        """
        del historical
        return configuration_space(self.name, self.hyperparameters, self.forbidden, seed=seed)

    def default(self) -> dict[str, Value]:
        """The default configuration."""
        return self.current({})

    def active(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The part of `values` whose conditions hold; unknown names stay."""
        present = dict(values)
        for own in self.known:  # parents come first
            if own.when and own.name in present and not holds(own.when, present):
                del present[own.name]
        return present

    def forbids(self, values: Mapping[str, Any]) -> Mapping[str, Value] | None:
        """The forbidden combination in `values`; None if there is none."""
        for combination in self.forbidden:
            if holds({name: (value,) for name, value in combination.items()}, values):
                return combination
        return None

    def searches(self, values: Mapping[str, Any]) -> bool:
        """Whether `space` has these hyperparameters and choices; numbers may be out of range."""
        own = {hyperparameter.name: hyperparameter for hyperparameter in self.hyperparameters}
        return all(
            name in own and (not isinstance(found := own[name], Choice) or value in found.choices)
            for name, value in values.items()
        )

    def written_out(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The active part of `values`, with defaults of the omitted optional hyperparameters of `space`."""
        defaults = {own.name: own.default for own in self.hyperparameters if own.optional}
        return self.active({**defaults, **values})

    def brief(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """`values` without optional ones that have their default: the canonical form of a configuration."""
        defaults = {own.name: own.default for own in self.known if own.optional}
        return {
            name: value
            for name, value in values.items()
            if name not in defaults or not same(value, defaults[name])
        }

    def current(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """`values` in the space's types, completed with defaults.

        Raises:
            BadInput: as for `fit`.
        """
        return self._completed(self.fit(values))

    def fit(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """`values` in the space's types.

        Raises:
            BadInput: an unknown hyperparameter, a value out of range, one whose condition does not hold, or a
                forbidden combination.
        """
        known = {own.name: own for own in self.hyperparameters}
        strangers = [name for name in values if name not in known]
        if strangers:
            raise UnfitConfiguration(
                f"{self.title} has no hyperparameter {strangers[0]}; it has {', '.join(known)}"
            )
        fitted = {name: known[name].fit(value) for name, value in values.items()}
        complete = self._completed(fitted)
        for name in fitted:
            if name not in complete:
                needed = " and ".join(
                    f"{parent} is {' or '.join(map(repr, wanted))}"
                    for parent, wanted in known[name].when.items()
                )
                raise UnfitConfiguration(
                    f"{name} is set to {values[name]!r}, but it applies only where {needed}"
                )
        if combination := self.forbids(complete):
            raise UnfitConfiguration(f"{listed(combination)} is a forbidden combination")
        return fitted

    def filled(self, value_of: Callable[[Number | Choice], Value], names: Container[str]) -> dict[str, Value]:
        """A value for each hyperparameter whose condition holds, from `value_of`, in order.

        Args:
            names: hyperparameters that may get one.
        """
        values: dict[str, Value] = {}
        for own in self.hyperparameters:  # parents come first
            if own.name in names and holds(own.when, values):
                values[own.name] = value_of(own)
        return values

    def _completed(self, values: dict[str, Value]) -> dict[str, Value]:
        names = {own.name for own in self.hyperparameters}
        return self.filled(lambda own: values.get(own.name, own.default), names)


def listed(combination: Mapping[str, Value]) -> str:
    """Hyperparameters and their values, for messages."""
    return ", ".join(f"{name}={value!r}" for name, value in combination.items())
