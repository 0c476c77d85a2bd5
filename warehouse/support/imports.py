"""Avoiding unnecessary imports made by other libraries."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    """Makes `import pandas` fail, as if it were not installed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the protocol's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def spare_pandas() -> None:
    """Keep pyarrow from importing pandas until a data frame is needed.

    When pyarrow first makes an array of a list, it imports pandas to tell lists from columns of data frames,
    which takes half a second and 45 MiB. Programs without data frames call this before they make an array; in
    others a column of pandas might be taken for a list. Does nothing if pandas is already imported.
    """
    if "pandas" in sys.modules:
        return
    no_pandas = _NoPandas()
    sys.meta_path.insert(0, no_pandas)
    try:
        pa.array([None])
    finally:
        sys.meta_path.remove(no_pandas)
