"""Flows the way scikit-learn models become flows: one per model in a pipeline, nested by identifier."""

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.openml_server.records import Component, Flow, Parameter
from tests.openml_server.world import World

SERIALIZED = "oml-python:serialized_object"


def serialized(kind: str, value: Any) -> str:
    """JSON text of an object that is no plain value."""
    return json.dumps({SERIALIZED: kind, "value": value})


def component_reference(name: str, columns: Iterable[int] | None = None) -> dict[str, Any]:
    """An entry of `steps` or `transformers`."""
    value: dict[str, Any] = {"key": name, "step_name": name}
    if columns is not None:
        value["argument_1"] = list(columns)
    return {SERIALIZED: "component_reference", "value": value}


class FlowBook:
    """Adds flows to a world under ids that count up, and numbers their parameters."""

    def __init__(self, world: World, external_version: str, *, first_parameter: int = 30_000) -> None:
        self.world = world
        self.external_version = external_version
        self._parameter_ids = itertools.count(first_parameter)

    def add(
        self,
        flow: int,
        class_name: str,
        defaults: Mapping[str, str],
        components: Mapping[str, int] | None = None,
        *,
        version: int = 1,
        data_types: Mapping[str, str] | None = None,
    ) -> int:
        """Add a model; a parameter named like a component is one whose value the component is."""
        components = components or {}
        inner = ",".join(f"{name}={self.world.flows[part].name}" for name, part in components.items())
        parameters = (
            Parameter(
                next(self._parameter_ids),
                name,
                (data_types or {}).get(name, ""),
                text,
                in_setups=name not in components,
            )
            for name, text in sorted(defaults.items())
        )
        self.world.add_flow(
            Flow(
                flow,
                f"{class_name}({inner})" if inner else class_name,
                version,
                self.external_version,
                parameters=tuple(parameters),
                components=tuple(Component(*entry) for entry in components.items()),
                class_name=class_name,
                description="Automatically created scikit-learn flow.",
                dependencies=self.external_version,
            )
        )
        return flow

    def add_pipeline(self, flow: int, steps: Mapping[str, int], *, version: int = 1) -> int:
        """Add a pipeline of models that are there."""
        references = json.dumps([component_reference(name) for name in steps])
        defaults = {"memory": "null", "steps": references}
        return self.add(flow, "sklearn.pipeline.Pipeline", defaults, steps, version=version)
