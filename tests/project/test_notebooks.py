"""The notebooks run on the bundled starter, and stand in git without outputs."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"feature_importance", "metalearners_compared"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    assert all(
        not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:  # fewer datasets than a reader leaves out, which take as long each
        cell.source = re.sub(r"^LEFT_OUT = \d+$", "LEFT_OUT = 2", cell.source, flags=re.MULTILINE)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER.parent)}}).execute()
