"""A server for tests that speaks OpenML's v1 REST API, as far as `ingest openml` and the client ask.

with OpenMLServer(generated_world()) as server:
    openml.config.server = server.url
"""

from tests.openml_server.faults import KINDS, Faults
from tests.openml_server.generated import generated_world
from tests.openml_server.server import OpenMLServer, Request
from tests.openml_server.world import World

__all__ = ["KINDS", "Faults", "OpenMLServer", "Request", "World", "generated_world"]
