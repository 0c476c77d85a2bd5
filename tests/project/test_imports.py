"""Which package may import which (CONTRIBUTING, "Architecture"), and what `recommend` must not import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORE = {"warehouse.support", "warehouse.configurations", "warehouse"}
MAY_IMPORT = {
    "warehouse.support": set(),
    "warehouse.configurations": {"warehouse.support"},
    "warehouse": STORE,
    "ingest.reading": {"warehouse.support"},
    "ingest": {*STORE, "ingest.reading"},
    "metalearners": STORE,
    "recommend": {*STORE, "ingest.reading", "ingest", "metalearners"},
}
"""Folder, as a module's name, -> folders that its modules may import; the innermost folder counts."""
HEAVY = {"torch", "openml", "matplotlib", "smac", "lightgbm", "ConfigSpace"}


def imported_modules(path: Path) -> set[str]:
    """Names of everything that a module imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def folder_of(module: str) -> str | None:
    """The innermost of the folders above that `module` is in; None for what is not ours."""
    inside = [folder for folder in MAY_IMPORT if f"{module}.".startswith(f"{folder}.")]
    return max(inside, key=len, default=None)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_folders_import_each_other_in_one_direction(folder: str) -> None:
    for path in (ROOT / folder.replace(".", "/")).rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if folder_of(name) == folder:
            imported = {folder_of(module) for module in imported_modules(path)}
            forbidden = imported - MAY_IMPORT[folder] - {folder, None}
            assert not forbidden, f"{name} imports {forbidden}"


def test_printing_a_recommendation_imports_nothing_heavy() -> None:
    command = (
        "import sys; sys.argv = ['recommend', '--dataset', sys.argv[1], '--top', '3']\n"
        "from recommend.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('loaded:', sorted({HEAVY!r} & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    example = ROOT / "recommend" / "examples" / "subscribers.csv"
    result = subprocess.run(
        [sys.executable, "-c", command, str(example)], capture_output=True, text=True, check=False
    )
    assert result.stdout.splitlines()[-1:] == ["loaded: []"], result.stdout + result.stderr
