"""Search spaces of flows that we do not build, which say how the numbers of a hyperparameter compare."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ingest.reading.encoding import quoted, read_bytes
from warehouse.support.errors import UnknownName, UnreadableInput, one_line

if TYPE_CHECKING:
    from warehouse.configurations.parameters import Scale
    from warehouse.store import Warehouse
    from warehouse.writing import Commit

_HYPERPARAMETERS = """
SELECT DISTINCT s.flow, h.parameter FROM setups s JOIN hyperparameters h USING (setup)
WHERE s.flow IN ($flow, 'openml:' || $flow) ORDER BY h.parameter
"""


def ingest_space(warehouse: Warehouse, path: str | Path, flow: str) -> Commit:
    """Write to the warehouse on which scale each number of a flow's search space is compared.

    Args:
        path: search space, as `to_json` of ConfigSpace writes it, with hyperparameters of the names that
            they have in the warehouse. Those that are not numbers, and conditions, are not looked at.
        flow: key in the warehouse, "openml:8353" or "8353" for short.

    Raises:
        BadInput: the file is no such space, the warehouse has no setup of the flow, or its setups don't have
            one of the hyperparameters.
    """
    scales = read_scales(path)
    known = warehouse.sql(_HYPERPARAMETERS, {"flow": flow})
    if known.empty:
        raise UnknownName(f"the warehouse has no setup of a flow {quoted(flow)}: ingest its runs first")
    strangers = sorted(scales.keys() - set(known["parameter"]))
    if strangers:
        raise UnknownName(
            f"{path}: the flow {flow} has no hyperparameter {quoted(strangers[0])}; it has "
            f"{', '.join(known['parameter'])}"
        )
    rows = scale_rows({known["flow"][0]: scales})
    return warehouse.write({"scales": rows}, source="search space", location=str(path))


def scale_rows(scales: Mapping[str, Mapping[str, Scale]]) -> pd.DataFrame:
    """Rows of the warehouse's table of scales: key of the flow -> hyperparameter -> scale."""
    rows = [(flow, parameter, scale) for flow, of in scales.items() for parameter, scale in of.items()]
    return pd.DataFrame(rows, columns=["flow", "parameter", "scale"])


def read_scales(path: str | Path) -> dict[str, Scale]:
    """Hyperparameter -> scale of the numbers in a search space, as `to_json` of ConfigSpace writes it.

    Raises:
        BadInput: the file is no such space, or has no number.
    """
    from ConfigSpace import ConfigurationSpace

    content = read_bytes(Path(path))
    try:
        space = ConfigurationSpace.from_json(io.StringIO(content.decode("utf-8-sig")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise UnreadableInput(f"{path} is no search space in ConfigSpace's JSON ({reason})") from error
    numbers = {name: own for name, own in space.items() if hasattr(own, "log")}
    if not numbers:
        raise UnreadableInput(f"{path}: the search space has no number, and only numbers have a scale")
    return {name: "log" if own.log else "linear" for name, own in numbers.items()}
