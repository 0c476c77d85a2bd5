"""Keys of setups and runs: hashes of what they are, so that the same thing has the same key everywhere."""

import hashlib


def digest(*parts: str) -> str:
    """16 hexadecimal digits that stand for these texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def setup_key(flow: str, values: str) -> str:
    """Key of a configuration in the warehouse.

    Args:
        flow: key of the flow.
        values: JSON object of the hyperparameters, names sorted.
    """
    return f"{flow}/{digest(values)}"
