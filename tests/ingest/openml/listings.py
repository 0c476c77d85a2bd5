"""Requests of a listing with rows and of an empty one."""

from collections.abc import Callable

from ingest.openml.api.connection import Connection
from tests.openml_server import OpenMLServer

PATH = "evaluation/list/function/predictive_accuracy/limit/5/offset/0"
EMPTY = "evaluation/list/function/f_measure/limit/5/offset/0"

Open = Callable[..., tuple[OpenMLServer, Connection, list[float]]]
