"""The project's documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documents() -> list[Path]:
    """Every Markdown file of the project, outside of hidden folders and of `build`."""
    paths = sorted(ROOT.rglob("*.md"))
    parts = {path: path.relative_to(ROOT).parts for path in paths}
    return [
        path
        for path in paths
        if parts[path][0] != "build" and not any(part.startswith(".") for part in parts[path])
    ]
