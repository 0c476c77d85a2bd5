"""The project's documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documents() -> list[Path]:
    """Every Markdown file of the project, outside of hidden folders and of `build`.

    Environments in those have a hundred thousand files, so they are not even listed.
    """
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name != "build"]
    within = [path for folder in folders if folder.name[0] != "." for path in folder.rglob("*.md")]
    paths = sorted([*ROOT.glob("*.md"), *within])
    return [path for path in paths if "/." not in f"/{path.relative_to(ROOT).as_posix()}"]
