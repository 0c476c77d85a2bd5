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


def test_contenders_are_read_from_the_tables_of_the_page(drawing: ModuleType) -> None:
    page = """## On whole tables
| the first alone | mean | mean rank | ours better - worse | p |
|---|---|---|---|---|
| **ours** | 0.75 | 1.5 | | |
| forest | 0.74 | 2.5 | 20 - 4 (83 %) | 0.01 |

## Next
| other | mean | mean rank | ours better - worse | p |
"""
    (heading, rows) = drawing.contenders(page)[0]
    assert (heading, len(drawing.contenders(page))) == ("the first alone", 1)
    assert [(row.name, row.better, row.worse, row.p) for row in rows] == [("forest", 20, 4, "0.01")]
