"""Which package may import which (CONTRIBUTING, "Architecture"), and what `recommend` must not import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT = {
    "warehouse": set(),
    "ingest": {"warehouse"},
    "metalearners": {"warehouse"},
    "recommend": {"warehouse", "ingest", "metalearners"},
}
HEAVY = {"torch", "openml", "matplotlib", "smac", "lightgbm", "ConfigSpace"}


def imported_packages(path: Path) -> set[str]:
    """Top-level names of everything that a module imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_each_other_in_one_direction(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package}
    for path in (ROOT / package).rglob("*.py"):
        forbidden = (imported_packages(path) & set(MAY_IMPORT)) - allowed
        assert not forbidden, f"{path.relative_to(ROOT)} imports {forbidden}"


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
