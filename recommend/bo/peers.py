"""Optimizers of others, as `recommend.bo.simulation` sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.errors import BadInput

if TYPE_CHECKING:
    from recommend.bo.simulation import Search
    from recommend.bo.tasks import Task

PEERS: tuple[str, ...] = ()


def new_peer(name: str, task: Task, first: Sequence[int], seed: int) -> Search:
    """An optimizer of another project."""
    raise BadInput(f"unknown peer {name!r} for {task.dataset}, {first}, {seed}")
