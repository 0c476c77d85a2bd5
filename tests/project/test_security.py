"""Nothing in the packages loads a file that could run code, or hands text to a shell or an interpreter."""

import ast
from collections.abc import Iterator
from pathlib import Path

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
"""It runs the function written by `--code`, which consists of literals and Headstart's names."""
SAFE_WITH = {"np.load": ("allow_pickle", False), "numpy.load": ("allow_pickle", False)}


def test_the_scan_finds_the_packages() -> None:
    assert len(MODULES) > 200


def test_no_module_runs_code_from_files() -> None:
    assert [offence for module in MODULES for offence in offences(module)] == []


def offences(module: Path) -> Iterator[str]:
    """Calls in a module that could run code, with their lines."""
    file = module.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"{file}:{node.lineno}: {name}" for name in imported(node) & MODULES_THAT_RUN_CODE)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if name in CALLS_THAT_RUN_CODE and (file, name) not in ALLOWED:
                yield f"{file}:{node.lineno}: {name}"
            if "shell" in given:
                yield f"{file}:{node.lineno}: a shell"
            option, value = SAFE_WITH.get(name, (None, None))
            if option and (option not in given or ast.literal_eval(given[option]) is not value):
                yield f"{file}:{node.lineno}: {name} without {option}={value}"


def imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Top-level names of imported modules."""
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").split(".")[0]}
    return {alias.name.split(".")[0] for alias in node.names}
