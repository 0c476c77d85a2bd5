"""The notebooks run on the bundled starter and print the output stored in them."""

import ast
import re
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from tests.cases import each
from tests.project.notebook_outputs import FOLDER, executed, lasting, pictures, printed

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+(?:[,.]\d+)*(?:e-?\d+)?")
UNDRAWN = "%matplotlib agg"
"""Make figures without drawing them, which takes a third of the time: pictures are not compared."""
OURS = {"warehouse", "ingest", "metalearners", "recommend"}
MOST_BYTES = 320_000
MOST_BYTES_OF_A_PICTURE = 60_000


def test_there_are_notebooks() -> None:
    names = {
        "feature_importance",
        "latent_space",
        "metalearners_compared",
        "recommend_and_tune",
        "regression",
        "size_of_the_data",
        "warehouse_tour",
    }
    assert {path.stem for path in NOTEBOOKS} >= names


def test_notebooks_are_small_and_do_not_change_between_runs() -> None:
    for path in NOTEBOOKS:
        assert path.stat().st_size <= MOST_BYTES
        notebook = nbformat.read(path, as_version=4)
        assert max(map(len, pictures(notebook))) <= MOST_BYTES_OF_A_PICTURE
        assert notebook == lasting(nbformat.read(path, as_version=4))


@each("path", NOTEBOOKS)
def test_a_notebook_imports_public_names_only(path: Path) -> None:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for node in ast.walk(ast.parse("\n".join(cells))):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in OURS:
            public = getattr(import_module(str(node.module)), "__all__", ())
            assert {name.name for name in node.names} <= {*public}, node.module


def test_tables_are_shown_as_html() -> None:
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", ()):
                if output.output_type == "execute_result":
                    assert "<table" in output.data["text/html"]


def test_notebooks_run_and_print_their_stored_output() -> None:
    for path, notebook in zip(NOTEBOOKS, executed(NOTEBOOKS, UNDRAWN), strict=True):
        there = nbformat.read(path, as_version=4)
        for here, was in zip(printed(notebook), printed(there), strict=True):
            assert NUMBER.sub("#", here) == NUMBER.sub("#", was), path.name
            assert numbers(here) == pytest.approx(numbers(was), rel=0.02, abs=0.02), path.name


def numbers(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]
