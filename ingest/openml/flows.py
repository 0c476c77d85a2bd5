"""Flows of OpenML: components, parameters, and which versions are the same algorithm.

A flow is a tree of components. A new version of a library makes new flows of the same tree, and setups name
parameters by component and version: `sklearn.ensemble.forest.RandomForestClassifier(27)_max_features`. Stable
are only the path of steps to the component, and the parameter's name in it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.flows import Flow, find_flow
from ingest.openml.api.documents import is_number, parse
from ingest.openml.values import is_structure
from ingest.parameter_names import is_tunable, plain_parameter_name
from warehouse.vocabulary.parameters import Scale

_VERSION = re.compile(r"\(\d+\)")
_CLASS = re.compile(r"(?<![\w.])(sklearn|imblearn|lightgbm|xgboost|catboost)(?:\.\w+)*\.(\w+)\b")
"""A class of a Python package that may move between modules, while its name stays unique."""


@dataclass(frozen=True)
class FlowParameter:
    """A parameter of one component of a flow."""

    component: str
    """Path of the component in the flow; empty for the flow itself."""
    component_flow: str
    """Id of the component's own flow."""
    name: str
    """Name of the parameter in its component."""
    parameter: str
    """Name of the parameter in the flow, in the warehouse."""
    tunable: bool
    data_type: str | None
    default_value: str | None
    scale: Scale | None = None
    """Declared scale of its numbers, if Headstart builds the flow."""

    @property
    def value_left_out(self) -> str | None:
        """Raw value in setups that omit it; None if unknown. Weka's setups omit flags that are off."""
        return "false" if self.data_type == "flag" and self.default_value is None else self.default_value


@dataclass(frozen=True)
class Component:
    """A part of a flow, or the flow itself."""

    path: str
    flow: str
    name: str
    version: int | None


@dataclass(frozen=True)
class OpenMLFlow:
    """A flow with all its components."""

    id: str
    name: str
    version: int | None
    external_version: str | None
    uploader: str | None
    algorithm: str
    """Canonical name: Headstart's if it builds the flow, else the structure."""
    components: tuple[Component, ...]
    """The flow itself first."""
    parameters: tuple[FlowParameter, ...]

    @property
    def structure(self) -> str | None:
        """Name without versions, equal for flows of one algorithm; None if only the name is known.

        scikit-learn has made modules private (`sklearn.tree.tree` became `sklearn.tree._classes`), so for it
        and similar packages only the package and the class count. Other names stay whole: `mlr.classif.rpart`
        and `mlr.regr.rpart` are two algorithms.
        """
        return structure_of(self.name) if self.components else None


def structure_of(name: str) -> str:
    """Structure of a pipeline from its name: without versions, and without modules of known Python packages.

    >>> structure_of("sklearn.pipeline.Pipeline(tree=sklearn.tree._classes.DecisionTreeClassifier)(3)")
    'sklearn.Pipeline(tree=sklearn.DecisionTreeClassifier)'
    >>> structure_of("mlr.classif.ranger.tuned(2)")
    'mlr.classif.ranger.tuned'
    """
    without_versions = _VERSION.sub("", name)
    return _CLASS.sub(r"\1.\2", without_versions)


def read_flow(body: bytes) -> OpenMLFlow:
    """The flow in the answer to `flow/{id}`."""
    root = parse(body, "flow")
    flow = _text(root, "id") or ""
    parts = list(_components(root, ""))
    found = [
        (component, parameter)
        for component, element in parts
        for parameter in element.findall("parameter")
        if _text(parameter, "name")
    ]
    keys = [(component.path, _text(parameter, "name") or "") for component, parameter in found]
    ours = known_flow(flow, keys)
    names = _names_in(ours, keys) if ours else _plain_names(keys)
    return OpenMLFlow(
        id=flow,
        name=_text(root, "name") or "",
        version=_number(root, "version"),
        external_version=_text(root, "external_version"),
        uploader=_text(root, "uploader"),
        algorithm=ours.name if ours else structure_of(_text(root, "name") or ""),
        components=tuple(component for component, _ in parts),
        parameters=tuple(
            FlowParameter(
                component=component.path,
                component_flow=component.flow,
                name=key[1],
                parameter=name,
                tunable=_is_tunable(ours, component, parameter, name),
                data_type=_text(parameter, "data_type"),
                default_value=_text(parameter, "default_value"),
                scale=ours.scales.get(name) if ours else None,
            )
            for (component, parameter), key, name in zip(found, keys, names, strict=True)
        ),
    )


def known_flow(flow: str, parameters: list[tuple[str, str]]) -> Flow | None:
    """Headstart's flow for the runs of this OpenML flow.

    Another server may use the id for something else, so most parameters must match.

    Args:
        parameters: (path of the component, name) pairs.
    """
    ours = find_flow(flow)
    if ours is None:
        return None
    names = {plain_parameter_name(f"{path}__{name}") for path, name in parameters}
    tuned = ours.openml_names - ours.fixed.keys()
    return ours if len(names & tuned) * 2 > len(tuned) else None


def _components(element: ET.Element, path: str) -> Iterator[tuple[Component, ET.Element]]:
    """The flow itself and all below it, each with its element."""
    flow, name = _text(element, "id") or "", _text(element, "name") or ""
    yield Component(path, flow, name, _number(element, "version")), element
    for part in element.findall("component"):
        below, step = part.find("flow"), _text(part, "identifier") or ""
        if below is not None:
            yield from _components(below, f"{path}__{step}" if path else step)


def _is_tunable(ours: Flow | None, component: Component, parameter: ET.Element, name: str) -> bool:
    if ours is not None:
        # The hyperparameters that Headstart sets; the rest never varies there.
        return name in ours.openml_names
    named = _text(parameter, "name") or ""
    default, description = _text(parameter, "default_value"), _text(parameter, "description")
    return is_tunable(named, component.name, description or "") and not (default and is_structure(default))


def _names_in(ours: Flow, parameters: list[tuple[str, str]]) -> list[str]:
    """The name in Headstart's flow of each (path, name); the whole path for parameters that it does not set.

    Numeric and nominal columns may each have an imputer: Headstart's is the one for numeric columns.
    """
    wanted = ours.openml_names
    whole = ["__".join(filter(None, key)) for key in parameters]
    plain = [plain_parameter_name(name) for name in whole]
    chosen = {}
    for name in wanted:
        places = [n for n, short in enumerate(plain) if short == name]
        if len(places) > 1:
            places = [n for n in places if "numeric" in whole[n]]
        if len(places) == 1:
            chosen[places[0]] = name
    return [chosen.get(n, name) for n, name in enumerate(whole)]


def _plain_names(parameters: list[tuple[str, str]]) -> list[str]:
    """The warehouse's name of each (path, name): the plain one, or the whole path if two share it.

    Run files, whose columns are named by path, have the same rule, so that both sources agree.
    """
    whole = ["__".join(filter(None, key)) for key in parameters]
    plain = [plain_parameter_name(name) for name in whole]
    counts = Counter(plain)
    return [short if counts[short] == 1 else long for short, long in zip(plain, whole, strict=True)]


def _text(element: ET.Element, name: str) -> str | None:
    return element.findtext(name) or None


def _number(element: ET.Element, name: str) -> int | None:
    text = element.findtext(name)
    return int(text) if text and is_number(text) else None
