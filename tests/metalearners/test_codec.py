"""Dataclasses as JSON and arrays: stored and refused content."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from typing_extensions import TypeAliasType  # typing's own from Python 3.12 on

from metalearners.codec import decode, encode, with_settings
from tests.cases import each
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadInput, DamagedModel


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Square:
    sides: Annotated[Floats, "n"]


@dataclass(frozen=True)
class Scale:
    columns: Annotated[tuple[str, ...], "J"]
    width: Annotated[Floats, "J"]


@dataclass(frozen=True, kw_only=True)
class Everything:
    scale: Scale
    shape: Circle | Square
    x: Annotated[Floats, "n J"]
    pairs: Annotated[Positions, "pairs 2"]
    known: npt.NDArray[np.bool_]
    layers: tuple[Floats, ...]
    colours: Mapping[str, Colour]
    distance: Literal["L1", "L2"]
    share: float
    rows: int | None
    names: tuple[str, ...]
    sure: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict, init=False)


def everything(**changes: Any) -> Everything:
    parts: dict[str, Any] = {
        "scale": Scale(("a", "b"), np.array([1.0, 2.0])),
        "shape": Square(np.array([3.0, 4.0, 5.0])),
        "x": np.arange(6.0).reshape(3, 2),
        "pairs": np.array([[0, 1]]),
        "known": np.array([True]),
        "layers": (np.eye(2), np.ones((1, 2))),
        "colours": {"sky": Colour.RED},
        "distance": "L1",
        "share": 0.5,
        "rows": None,
        "names": ("x", "y"),
        "sure": True,
        "facts": {"any": [1, {"b": None}]},
    }
    return Everything(**parts | changes)


def as_stored(content: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    facts, arrays = encode(content)
    return json.loads(json.dumps(facts)), arrays


def test_written_values_are_read_back() -> None:
    content = everything()
    again = decode(Everything, *as_stored(content))
    facts, arrays = as_stored(again)
    assert facts == as_stored(content)[0]
    assert facts["shape"] == {"kind": "Square"}
    assert sorted(arrays) == ["known", "layers.0", "layers.1", "pairs", "scale.width", "shape.sides", "x"]
    assert again.colours == {"sky": Colour.RED}
    assert again.names == ("x", "y")
    np.testing.assert_array_equal(again.layers[1], [[1.0, 1.0]])


def test_one_of_several_dataclasses_keeps_its_type() -> None:
    assert decode(Everything, *as_stored(everything(shape=Circle(2.0)))).shape == Circle(2.0)


def test_caches_of_a_model_are_not_stored() -> None:
    content = everything()
    content.asked["once"] = 1
    assert "asked" not in as_stored(content)[0]
    assert decode(Everything, *as_stored(content)).asked == {}


def test_a_new_field_has_its_default() -> None:
    facts, arrays = as_stored(everything())
    del facts["facts"]
    assert decode(Everything, facts, arrays).facts == {}


@each(
    ("changes", "reason"),
    [
        ({"scale": None}, "scale is None"),
        ({"shape": {"kind": "Triangle"}}, "Triangle"),
        ({"distance": "L3"}, "distance is 'L3', not one of 'L1', 'L2'"),
        ({"colours": {"sky": "blue"}}, "'blue' is not a valid Colour"),
        ({"share": "half"}, "share is 'half', not a float"),
        ({"share": True}, "share is True, not a float"),
        ({"rows": 2.5}, "rows is 2.5, not a int"),
        ({"sure": 1}, "sure is 1, not a bool"),
        ({"names": "xy"}, "names is 'xy', not a list"),
        ({"names": [1]}, "names.0 is 1, not a str"),
    ],
)
def test_values_of_another_type_are_damage(changes: dict[str, Any], reason: str) -> None:
    facts, arrays = as_stored(everything())
    with pytest.raises(DamagedModel, match=reason):
        decode(Everything, facts | changes, arrays)


@each("name", ["scale", "shape", "distance", "share"])
def test_a_missing_value_is_damage(name: str) -> None:
    facts, arrays = as_stored(everything())
    del facts[name]
    with pytest.raises(DamagedModel, match=f"lacks {name}"):
        decode(Everything, facts, arrays)


@each(
    ("changes", "reason"),
    [
        ({"x": np.zeros((3, 1))}, "scale has 2 J, the rest has 1"),
        ({"x": np.zeros((2, 2))}, "shape has 3 n, the rest has 2"),
        ({"x": np.zeros(3)}, "damaged"),
        ({"scale.width": np.zeros(3)}, "width has 3 J, the rest has 2"),
        ({"pairs": np.zeros((1, 3), np.intp)}, "pairs has 3 2, the rest has 2"),
        ({"pairs": np.array([[0.5, 1.0]])}, "damaged"),
        ({"x": np.array([["1", "2"]] * 3)}, "damaged"),
    ],
)
def test_arrays_that_do_not_fit_are_damage(changes: dict[str, np.ndarray], reason: str) -> None:
    facts, arrays = as_stored(everything())
    with pytest.raises(DamagedModel, match=reason):
        decode(Everything, facts, arrays | changes)


def test_a_missing_array_is_damage() -> None:
    facts, arrays = as_stored(everything())
    for name in arrays:
        with pytest.raises(DamagedModel):
            decode(Everything, facts, {other: array for other, array in arrays.items() if other != name})


Scalar = TypeVar("Scalar", bound=np.generic)
Key = TypeVar("Key")
Array = TypeAliasType(
    "Array", np.ndarray[tuple[Any, ...], np.dtype[Scalar]], type_params=(Scalar,)
)  # as numpy.typing.NDArray in NumPy 2.5
Vector = TypeAliasType("Vector", Array[np.float64])
Perhaps = TypeAliasType("Perhaps", Annotated[Array[Scalar], "n"] | None, type_params=(Scalar,))
Named = TypeAliasType("Named", Mapping[Key, Scalar], type_params=(Scalar, Key))
Shape = TypeAliasType("Shape", Circle | Square)
Itself = TypeAliasType("Itself", Key, type_params=(Key,))


@dataclass(frozen=True)
class Aliased:
    x: Annotated[Array[np.float64], "n J"]
    y: Annotated[Vector, "n"]
    steps: Perhaps[np.intp]
    layers: tuple[Array[np.float32], ...]
    counts: Named[int, str]
    shape: Shape | None
    rows: Itself[int]


def aliased(**changes: Any) -> Aliased:
    parts: dict[str, Any] = {
        "x": np.arange(6.0).reshape(3, 2),
        "y": np.array([1.0, 2.0, 3.0]),
        "steps": np.array([4, 5, 6]),
        "layers": (np.ones((1, 2), np.float32),),
        "counts": {"a": 1},
        "shape": Circle(2.0),
        "rows": 3,
    }
    return Aliased(**parts | changes)


def test_a_type_alias_is_resolved() -> None:
    facts, arrays = as_stored(aliased())
    assert facts["shape"] == {"kind": "Circle", "radius": 2.0}
    again = decode(Aliased, facts, arrays)
    assert again.x.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert (again.y.tolist(), again.steps.tolist()) == ([1.0, 2.0, 3.0], [4, 5, 6])
    assert again.layers[0].dtype == np.float32
    assert (again.counts, again.shape, again.rows) == ({"a": 1}, Circle(2.0), 3)
    nothing = decode(Aliased, *as_stored(aliased(steps=None, shape=None)))
    assert nothing.steps is nothing.shape is None


def test_omitted_settings_have_defaults() -> None:
    assert with_settings(Circle, {"radius": 2}) == Circle(2.0)
    for settings, reason in (
        ({"colour": "red"}, "unknown setting 'colour'; known are radius"),
        ({"radius": "wide"}, "radius is 'wide', not a float"),
        ({}, "lacks radius"),
    ):
        with pytest.raises(BadInput, match=reason):
            with_settings(Circle, settings)
