"""Constructor calls of estimators, with the arguments that differ from the defaults."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from recommend.code.syntax import Call, Raw

SEED = Raw("SEED")
"""The script's constant for all random seeds."""


class Imports(dict[str, str]):
    """Name of a class or function in a script -> the module that it is imported from."""

    def call(self, estimator: Any, **changed: object) -> Call:
        """The constructor call of `estimator`, unfitted.

        Args:
            changed: arguments that replace the estimator's own.
        """
        if isinstance(estimator, Pipeline):
            return Call("make_pipeline", [self.call(step) for _, step in estimator.steps])
        arguments = dict.fromkeys(inspect.signature(type(estimator).__init__).parameters)
        arguments.pop("self")
        own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else vars(estimator)
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(type(estimator)).parameters.items()
        }
        wanted = {
            name: self.node(own[name])
            for name in arguments
            if name in own and not _same(own[name], defaults.get(name, inspect.Parameter.empty))
        }
        wanted |= {name: SEED for name in wanted if name == "random_state"} | changed
        positional = []
        for name in arguments:  # such as the steps of a pipeline, but not where a reader needs the name
            if name not in ("steps", "transformers", "func", "estimator", "regressor") or name not in wanted:
                break
            positional.append(wanted.pop(name))
        return Call(self.name(type(estimator)), positional, wanted)

    def name(self, thing: Any) -> str:
        """The name of a class or function; notes its import."""
        self[thing.__name__] = public_module(thing)
        return str(thing.__name__)

    def node(self, value: Any) -> object:
        """A value of an argument as a node of `recommend.code.syntax`."""
        if isinstance(value, Raw | Call | str | bool | int | float) or value is None:
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, list | tuple):
            return type(value)(self.node(one) for one in value)
        if isinstance(value, dict):
            return {name: self.node(one) for name, one in value.items()}
        if isinstance(value, partial):
            keywords = {name: SEED if name == "random_state" else one for name, one in value.keywords.items()}
            return Call(self.name(partial), [self.node(value.func)], keywords)
        name = getattr(value, "__name__", "")
        if getattr(np, name, None) is value:
            return Raw(f"np.{name}")
        if inspect.isfunction(value) or inspect.isclass(value):
            return Raw(self.name(value))
        return self.call(value)


def _same(value: Any, default: Any) -> bool:
    if type(value) is not type(default):
        return False
    return value is default or bool(value == default)


def public_module(thing: Any) -> str:
    """The shortest module that exports it: `sklearn.ensemble` of `sklearn.ensemble._forest`."""
    parts = thing.__module__.split(".")
    for end in range(1, len(parts) + 1):
        module = ".".join(parts[:end])
        if getattr(sys.modules.get(module), thing.__name__, None) is thing:
            return module
    return str(thing.__module__)
