"""Keys of setups and runs: hashes of their content, equal on every machine."""

import hashlib
import json

from ingest.flows import find_flow
from warehouse.vocabulary.configuration import Configuration


def digest(*parts: str) -> str:
    """Hash texts to 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def setup_key(flow: str, values: str) -> str:
    """Key of a configuration in the warehouse.

    Args:
        flow: key of the flow.
        values: JSON object of the hyperparameters, names sorted.
    """
    return f"{flow}/{digest(values)}"


def setup_of(configuration: Configuration) -> str:
    """Warehouse key of a configuration of Headstart's flows, or of others loaded by `ingest file`."""
    values = json.dumps(dict(configuration.values), sort_keys=True)
    flow = find_flow(configuration.algorithm)
    return setup_key(configuration.algorithm if flow is None else flow.id, values)
