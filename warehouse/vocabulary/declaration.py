"""Declarations: search spaces as JSON objects, in files, in the warehouse and in seeds files.

    {"hyperparameters": {
        "eta": {"low": 0.001, "high": 1.0, "log": true, "default": 0.3},
        "booster": {"choices": ["gbtree", "dart"]},
        "rate_drop": {"low": 0.0, "high": 1.0, "when": {"booster": ["dart"]}}},
     "forbidden": [{"booster": "dart", "tree_method": "exact"}]}

A number is whole if both ends are written as whole numbers. The usual default is the middle of a number's
scale, or the first choice. `log`, `when` and `forbidden` are optional.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from warehouse.support.errors import UnfitConfiguration, UnreadableInput
from warehouse.vocabulary.parameters import Choice, Condition, Number, Value, same
from warehouse.vocabulary.searched_flow import SearchedFlow

_OF_NUMBERS = {"low", "high", "log", "default", "when"}
_OF_CHOICES = {"choices", "default", "when"}


def declaration(flow: SearchedFlow) -> dict[str, Any]:
    """The JSON object of a flow's space; `read_declaration` reads it back."""
    hyperparameters: dict[str, Any] = {}
    for own in flow.hyperparameters:
        stated: dict[str, Any] = (
            {"low": own.low, "high": own.high, "log": own.log}
            if isinstance(own, Number)
            else {"choices": list(own.choices)}
        )
        stated["default"] = own.default
        if own.when:
            stated["when"] = {parent: list(values) for parent, values in own.when.items()}
        hyperparameters[own.name] = stated
    content: dict[str, Any] = {"hyperparameters": hyperparameters}
    return {**content, "forbidden": list(map(dict, flow.forbidden))} if flow.forbidden else content


def read_declaration(name: str, title: str, content: object) -> SearchedFlow:
    """The flow with the space declared by a JSON object.

    Args:
        name: key of the flow in the warehouse.
        title: its name for people.

    Raises:
        BadInput: it is not a valid declaration; the message says why.
    """
    if not isinstance(content, dict) or not isinstance(content.get("hyperparameters"), dict):
        raise UnreadableInput("a space is an object with an object `hyperparameters`")
    _refuse_strangers("the space", content, {"hyperparameters", "forbidden"})
    declared = {parameter: _read(parameter, own) for parameter, own in content["hyperparameters"].items()}
    for own in declared.values():
        for parent, values in own.when.items():
            _check_values(f"the condition of {own.name}", declared, parent, values)
    forbidden = content.get("forbidden", [])
    if not isinstance(forbidden, list) or not all(isinstance(one, dict) and one for one in forbidden):
        raise UnreadableInput("`forbidden` is a list of objects {hyperparameter: value}")
    for combination in forbidden:
        for parent, value in combination.items():
            _check_values("a forbidden combination", declared, parent, [value])
    ordered = tuple(declared[parameter] for parameter in _parents_first(declared))
    return SearchedFlow(name, title, ordered, forbidden=tuple(forbidden))


def _read(name: str, content: object) -> Number | Choice:
    if not name or ":" in name:
        raise UnreadableInput(f"a hyperparameter can't be called {name!r}")
    if not isinstance(content, dict):
        raise UnreadableInput(f"{name}: expected an object with low and high, or with choices")
    if "choices" in content:
        _refuse_strangers(name, content, _OF_CHOICES)
        return _read_choice(name, content)
    _refuse_strangers(name, content, _OF_NUMBERS)
    return _read_number(name, content)


def _read_number(name: str, content: Mapping[str, Any]) -> Number:
    for end in ("low", "high"):
        if not _is_number(content.get(end)):
            raise UnreadableInput(f"{name}: {end} is {content.get(end)!r}, not a finite number")
    low, high, log = content["low"], content["high"], content.get("log", False)
    if not isinstance(log, bool):
        raise UnreadableInput(f"{name}: log is {log!r}, expected true or false")
    if not low < high:
        raise UnreadableInput(f"{name}: low is {low!r}, and high is {high!r}: it must be larger")
    if log and low <= 0:
        raise UnreadableInput(f"{name}: a log scale begins above 0, and low is {low!r}")
    own = Number(name, low, high, default=low, log=log, when=_read_when(name, content))
    middle: float = math.sqrt(low) * math.sqrt(high) if log else low / 2 + high / 2
    default = content.get("default", math.floor(middle) if own.is_whole else middle)
    return Number(name, low, high, default=_fitting(own, default), log=log, when=own.when)  # type: ignore[arg-type]


def _read_choice(name: str, content: Mapping[str, Any]) -> Choice:
    choices = content["choices"]
    if not isinstance(choices, list) or not choices or not all(map(_is_value, choices)):
        raise UnreadableInput(f"{name}: choices are a list of texts, numbers, true, false or null")
    if any(one == other for place, one in enumerate(choices) for other in choices[:place]):
        raise UnreadableInput(f"{name}: two of its choices are equal")
    own = Choice(name, tuple(choices), default=choices[0], when=_read_when(name, content))
    return Choice(name, own.choices, _fitting(own, content.get("default", choices[0])), own.when)


def _fitting(own: Number | Choice, default: Value) -> Value:
    try:
        return own.fit(default)
    except UnfitConfiguration as error:
        raise UnreadableInput(f"the default of {error}") from error


def _read_when(name: str, content: Mapping[str, Any]) -> Condition:
    when = content.get("when", {})
    if not isinstance(when, dict):
        raise UnreadableInput(f"{name}: when is an object {{hyperparameter: [values]}}")
    conditions = {
        parent: tuple(values) if isinstance(values, list) else (values,) for parent, values in when.items()
    }
    if not all(values and all(map(_is_value, values)) for values in conditions.values()):
        raise UnreadableInput(f"{name}: when is an object {{hyperparameter: [values]}}")
    return conditions


def _check_values(
    where: str, declared: Mapping[str, Number | Choice], parent: str, values: Iterable[Value]
) -> None:
    if parent not in declared:
        raise UnreadableInput(f"{where} names {parent!r}, which is not a hyperparameter of the space")
    for value in values:
        try:
            known = declared[parent].fit(value)
        except UnfitConfiguration as error:
            raise UnreadableInput(f"{where} can't hold: {error}") from error
        if not same(known, value):
            raise UnreadableInput(f"{where} can't hold: {parent} is never {value!r}")


def _parents_first(declared: Mapping[str, Number | Choice]) -> list[str]:
    """Names in their order, except that parents come before their children."""
    try:
        TopologicalSorter({name: own.when for name, own in declared.items()}).prepare()
    except CycleError as error:
        raise UnreadableInput(f"conditions go in a circle: {', '.join(error.args[1])}") from error
    ordered: dict[str, None] = {}

    def place(name: str) -> None:
        for parent in declared[name].when:
            place(parent)
        ordered.setdefault(name)

    for name in declared:
        place(name)
    return list(ordered)


def _refuse_strangers(where: str, content: Mapping[str, Any], known: set[str]) -> None:
    strangers = sorted(set(content) - known)
    if strangers:
        raise UnreadableInput(f"{where} has {strangers[0]!r}; known are {', '.join(sorted(known))}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_value(value: object) -> bool:
    return value is None or isinstance(value, bool | str) or _is_number(value)
