"""Imports of libraries that other libraries make without need."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    """Has `import pandas` fail, as if it were not installed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the protocol's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def spare_pandas() -> None:
    """Have pyarrow do without pandas until somebody asks it for a data frame.

    With the first array that pyarrow makes of a list it imports pandas, to tell lists from columns of data
    frames, which takes half a second and 45 MiB. A program that has no data frames calls this before it makes
    an array. In other programs a column of pandas might be taken for a list. Where pandas is imported
    already, nothing is done.
    """
    if "pandas" in sys.modules:
        return
    no_pandas = _NoPandas()
    sys.meta_path.insert(0, no_pandas)
    try:
        pa.array([None])
    finally:
        sys.meta_path.remove(no_pandas)
