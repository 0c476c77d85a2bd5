"""The pictures of the documentation show the current figures."""

import importlib.util
import sys
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.project.documents import ROOT


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawn_pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_up_to_date(drawing: ModuleType) -> None:
    """After a change of figures run: python docs/pictures.py."""
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawing.picture()


@pytest.mark.parametrize("name", ["gains.svg", "overview.svg"])
def test_pictures_have_a_label_for_screen_readers(name: str) -> None:
    picture = ElementTree.parse(ROOT / "docs" / "pages" / "images" / name)
    assert picture.getroot().attrib["aria-label"]


def test_contenders_are_read_from_the_first_table_of_the_section(drawing: ModuleType) -> None:
    page = """## On whole tables

In accuracy:

| | below | mean rank | our first won | p | our average won | p |
|---|---|---|---|---|---|---|
| **the first** | 5 % | 1.5 | | | 3 - 9 | 0.05 |
| forest | | 2.5 | 20 - 4 | 0.01 | 21 - 3 | 0.001 |

In log loss:

| | below | mean rank | our first won | p | our average won | p |
|---|---|---|---|---|---|---|
| forest | | 2.5 | 19 - 5 | 0.01 | 19 - 5 | 0.01 |

## Next
"""
    (_, first), (_, average) = drawing.contenders(page)
    assert [(row.name, row.better, row.worse, row.p) for row in first] == [("forest", 20, 4, "0.01")]
    assert [(row.name, row.better, row.worse, row.p) for row in average] == [("forest", 21, 3, "0.001")]
