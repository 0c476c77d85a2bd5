"""Notebooks with what they print: executed anew, and kept in git without what changes from run to run.

    python -m tests.project.notebook_outputs [NAME ...]

executes the notebooks (all, or those of these names) and writes what they print into their files.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from PIL import Image

FOLDER = Path(__file__).parents[2] / "notebooks"
PATIENCE = {"timeout": 600, "startup_timeout": 600, "iopub_timeout": 600}
"""Seconds that a cell, the kernel and what a cell prints may take: the machine may be busy."""
COLOURS = 64
"""Of a picture."""


def executed(paths: Iterable[Path], setup: str = "") -> Iterator[NotebookNode]:
    """The notebooks after their execution, in one process, which imports what several need once.

    Args:
        setup: code that runs before each of them.
    """
    kernel = AsyncKernelManager()
    try:
        for path in paths:
            notebook = nbformat.read(path, as_version=4)
            notebook.cells.insert(0, new_code_cell(f"%reset -f\n{setup}"))
            folder = {"metadata": {"path": str(FOLDER.parent)}}
            NotebookClient(notebook, km=kernel, resources=folder, **PATIENCE).execute()
            del notebook.cells[0]
            yield notebook
    finally:
        run_sync(kernel.shutdown_kernel)(now=True)


def lasting(notebook: NotebookNode) -> NotebookNode:
    """The notebook without numbers of executions, times and warnings."""
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_lasting(output) for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def _lasting(output: NotebookNode) -> NotebookNode:
    if "execution_count" in output:
        output.execution_count = None
    if "data" in output and "image/png" in output.data:
        output.data = {"image/png": _few_colours(output.data["image/png"])}
    if "data" in output and "text/plain" in output.data:
        output.data = {form: output.data[form] for form in ("text/html", "text/plain") if form in output.data}
    return output


def _few_colours(png: str) -> str:
    """The picture, in base64, with a palette, which takes a third of the bytes."""
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P":
        return png
    file = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def pictures(notebook: NotebookNode) -> list[bytes]:
    """The pictures in it, as PNG files."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(png) for png in shown]


def printed(notebook: NotebookNode) -> list[str]:
    """What each code cell printed, without pictures."""
    return [_printed(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def _printed(outputs: Sequence[NotebookNode]) -> str:
    """Texts of a cell's outputs, a line each; a kernel may cut what is printed anywhere."""
    texts: list[str] = []
    was_stream = False
    for output in outputs:
        if output.get("name") == "stderr" or "image/png" in output.get("data", {}):
            continue
        is_stream = output.output_type == "stream"
        text = output.get("text", "") or output.data["text/plain"]
        if is_stream and was_stream:
            texts[-1] += text
        else:
            texts.append(text)
        was_stream = is_stream
    return "\n".join(texts)


def main() -> None:
    """Execute notebooks and write them."""
    wanted = sys.argv[1:]
    paths = [path for path in sorted(FOLDER.glob("*.ipynb")) if path.stem in wanted or not wanted]
    for path, notebook in zip(paths, executed(paths), strict=True):
        sys.stdout.write(f"{path.name}\n")
        nbformat.write(lasting(notebook), path)


if __name__ == "__main__":
    main()
