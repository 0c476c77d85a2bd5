"""The project's documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documents() -> list[Path]:
    """Every Markdown file of the project, outside of hidden folders."""
    paths = sorted(ROOT.rglob("*.md"))
    return [path for path in paths if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]
