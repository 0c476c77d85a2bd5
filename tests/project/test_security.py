"""Nothing in the packages loads a file that could run code, or hands text to a shell or an interpreter."""

import ast
from pathlib import Path

import pytest

from tests.project.documents import ROOT

PACKAGES = ("warehouse", "ingest", "metalearners", "recommend", "docs")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]

MODULES_THAT_RUN_CODE = {
    "pickle",
    "cPickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "yaml",
    "jsonpickle",
}
CALLS_THAT_RUN_CODE = {
    "eval",
    "exec",
    "compile",
    "os.system",
    "os.popen",
    "joblib.load",
    "torch.load",
    "pandas.read_pickle",
    "pd.read_pickle",
    "importlib.import_module",
}
ALLOWED = {("recommend/code/models.py", "exec")}
"""It runs the function that `--code` writes, which is made of literals and names of ours."""
SAFE_WITH = {"np.load": ("allow_pickle", False), "numpy.load": ("allow_pickle", False)}


def test_the_scan_sees_the_packages() -> None:
    assert len(MODULES) > 200


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_runs_no_code_from_files(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert not imported(node) & MODULES_THAT_RUN_CODE, f"line {node.lineno}"
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if (module.relative_to(ROOT).as_posix(), name) not in ALLOWED:
                assert name not in CALLS_THAT_RUN_CODE, f"line {node.lineno}: {name}"
            assert "shell" not in given, f"line {node.lineno}: a shell"
            if name in SAFE_WITH:
                option, value = SAFE_WITH[name]
                assert option in given, f"line {node.lineno}: {name} without {option}={value}"
                assert ast.literal_eval(given[option]) is value


def imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """First parts of the names of modules."""
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").split(".")[0]}
    return {alias.name.split(".")[0] for alias in node.names}
