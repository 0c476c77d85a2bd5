"""Writing pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.support.errors import Failed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture, in the format that the name ends with.

    Raises:
        Failed: matplotlib has no such format, or the file can't be written.
    """
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise Failed(f"{path}: the picture can't be written: {error}") from error
