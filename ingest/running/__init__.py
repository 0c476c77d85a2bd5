"""Own runs: limited processes, cross-validation, plans of experiments, and rows for the warehouse.

Raises:
    MissingPackage: on import, on systems that can't limit processes, such as Windows.
"""

from warehouse.support.errors import MissingPackage

try:
    import resource  # noqa: F401 (limits of a run's time and memory)
except ImportError as error:
    raise MissingPackage(
        "--verify, tune, HeadstartClassifier and experiments need the Python module resource to limit time "
        "and memory: run them on Linux (on Windows: in WSL)"
    ) from error
