"""Which package may import which (CONTRIBUTING, "Architecture"), and what `recommend` must not import."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = {"warehouse.support", "warehouse.vocabulary"}
STORE = {*VOCABULARY, "warehouse.storage", "warehouse.questions", "warehouse"}
GP = {*STORE, "metalearners.codec", "metalearners.encoding", "metalearners.predictions", "metalearners.gp"}
LEARNERS = {"metalearners.learners", "metalearners.published"}
RANKING = {*GP, "ingest.reading", "ingest", "metalearners", "metalearners.learners"}
RECOMMEND = {
    *RANKING,
    "recommend.ranking",
    "recommend.verification",
    "recommend.explaining",
    "recommend.reporting.html",
    "recommend.reporting",
    "recommend",
    "recommend.recommender",
}
MAY_IMPORT = {
    "warehouse.support": set(),
    "warehouse.vocabulary": {"warehouse.support"},
    "warehouse.storage": VOCABULARY,
    "warehouse.questions": VOCABULARY,
    "warehouse": STORE,
    "ingest.openml.api": VOCABULARY,
    "ingest.reading": {*VOCABULARY, "ingest.openml.api"},
    "ingest": {*STORE, "ingest.openml.api", "ingest.reading"},
    "metalearners.codec": {"warehouse.support"},
    "metalearners.encoding": {*STORE, "metalearners.codec"},
    "metalearners.predictions": STORE,
    "metalearners.gp": GP - {"metalearners.gp"},
    "metalearners.learners": GP,
    "metalearners.published": {*GP, "metalearners.learners"},
    "metalearners": {*GP, "metalearners.learners"},
    "metalearners.evaluation": {*GP, *LEARNERS, "metalearners"},
    "metalearners.cli": {*GP, *LEARNERS, "metalearners", "metalearners.evaluation"},
    "metalearners.__main__": {"warehouse.support", "metalearners.cli"},
    "recommend.reporting.html": STORE,
    "recommend.ranking": RANKING,
    "recommend.explaining": {*RANKING, "recommend.ranking"},
    "recommend": {
        *RANKING,
        "recommend.ranking",
        "recommend.explaining",
        "recommend.verification",
        "recommend.reporting",
    },
    "recommend.recommender": {*RECOMMEND, "recommend.bo.tuning"},
    "recommend.verification": {*RANKING, "recommend.ranking", "recommend.bo", "recommend.bo.tuning"},
    "recommend.reporting": RECOMMEND - {"recommend.reporting"},
    "recommend.cli": {*RECOMMEND, "recommend.bo.tuning"},
    "recommend.__main__": {"warehouse.support", "recommend.cli"},
    "recommend.bo": RECOMMEND,
    "recommend.bo.published": {*RECOMMEND, "recommend.bo"},
    "recommend.estimators": {*RECOMMEND, "recommend.recommender", "recommend.bo.tuning"},
    "recommend.bo.tuning": {*RECOMMEND, "recommend.bo"},
    "recommend.bo.simulation": {*RECOMMEND, *LEARNERS, "metalearners.evaluation", "recommend.bo"},
    "docs": {*RECOMMEND, "recommend.bo"},
    "recommend.bo.cli": {*RECOMMEND, "recommend.bo", "recommend.bo.tuning", "recommend.bo.simulation"},
    "recommend.bo.__main__": {"warehouse.support", "recommend.bo.cli"},
}
"""Folder or module -> folders that it may import; the innermost entry applies."""
HEAVY = {"torch", "openml", "matplotlib", "smac", "lightgbm", "catboost", "xgboost", "ConfigSpace", "jinja2"}


def imported_modules(path: Path) -> set[str]:
    """Names of all modules and names that a module imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def folder_of(module: str) -> str | None:
    """The innermost of these folders that contains `module`; None for other packages."""
    inside = [folder for folder in MAY_IMPORT if f"{module}.".startswith(f"{folder}.")]
    return max(inside, key=len, default=None)


def test_there_are_no_import_cycles() -> None:
    """Imports for type checking and imports inside functions do not count."""
    tops = ("warehouse", "ingest", "metalearners", "recommend")
    paths = {path.relative_to(ROOT): path for top in tops for path in (ROOT / top).rglob("*.py")}
    names = {
        path.with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path for path in paths
    }
    imported: dict[str, set[str]] = {}
    for name, path in names.items():
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        pairs = [
            (f"{node.module}.{alias.name}", str(node.module))
            for node in body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        imported[name] = {whole if whole in names else module for whole, module in pairs} & names.keys()
    while free := [name for name, needs in imported.items() if not needs & imported.keys()]:
        for name in free:
            del imported[name]
    assert not imported, f"these import each other: {sorted(imported)}"


def test_folders_import_each_other_in_one_direction() -> None:
    for top in {folder.partition(".")[0] for folder in MAY_IMPORT}:
        for path in (ROOT / top).rglob("*.py"):
            name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            folder = folder_of(name)
            assert folder is not None
            imported = {folder_of(module) for module in imported_modules(path)}
            forbidden = imported - MAY_IMPORT[folder] - {folder, None}
            if path.name == "__init__.py":  # it re-exports the folders below
                forbidden = {one for one in forbidden if not str(one).startswith(f"{folder}.")}
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


def test_help_and_refusals_of_recommend_import_no_data_frames() -> None:
    command = (
        "import sys\n"
        "from contextlib import suppress\n"
        "from recommend.cli import main\n"
        "for argument in ('--version', '--help', '--no-such-option', 'no_such_file.csv'):\n"
        "    sys.argv = ['recommend', argument]\n"
        "    with suppress(SystemExit):\n        main()\n"
        "print('loaded:', sorted({'numpy', 'pandas', 'pyarrow', 'duckdb', 'sklearn'} & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1:] == ["loaded: []"], result.stdout + result.stderr
    assert "there is no file 'no_such_file.csv'" in result.stderr


def test_a_search_imports_no_unused_published_method(tmp_path: Path) -> None:
    command = (
        "import sys\n"
        "sys.argv = ['tune', sys.argv[1], '--history', sys.argv[2], '--trials', '1', '--folds', '1',"
        " '--flow', 'decision_tree']\n"
        "from recommend.bo.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "print('loaded:', [name for name in sys.modules if '.published.' in name])"
    )
    example = ROOT / "recommend" / "examples" / "subscribers.csv"
    result = subprocess.run(
        [sys.executable, "-c", command, str(example), str(tmp_path / "history")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.splitlines()[-1:] == ["loaded: []"], result.stdout + result.stderr


def test_runs_are_ingested_without_pandas_which_is_imported_for_frames_only(tmp_path: Path) -> None:
    command = (
        "import sys\n"
        "from warehouse.support.imports import spare_pandas\n"
        "spare_pandas()\n"
        "import ingest.openml.job, pyarrow as pa\n"
        "from ingest.flows import find_flow\n"
        "from warehouse.store import Warehouse\n"
        "warehouse = Warehouse.create(sys.argv[1])\n"
        "warehouse.write({'setups': pa.table({'setup': ['a'], 'flow': ['f']})}, source='test')\n"
        "loaded = 'pandas' in sys.modules\n"
        "print(loaded, find_flow('svm').name, len(warehouse.sql('SELECT * FROM setups')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", command, str(tmp_path / "w")], capture_output=True, text=True, check=False
    )
    assert result.stdout.splitlines()[-1:] == ["False svm 1"], result.stdout + result.stderr
