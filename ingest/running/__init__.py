"""Runs of our own: limited processes, cross-validation, plans of experiments, and rows for the warehouse.

Raises:
    MissingPackage: on import, where processes can't be limited and files not locked, as on Windows.
"""

from warehouse.support.errors import MissingPackage

try:
    import fcntl  # noqa: F401 (locks of searches)
    import resource  # noqa: F401 (limits of a run's time and memory)
except ImportError as error:
    raise MissingPackage(
        "--verify, tune, HeadstartClassifier and experiments limit the time and memory of trainings, which"
        " takes modules that Python has on Linux (on Windows: within WSL): fcntl and resource"
    ) from error
