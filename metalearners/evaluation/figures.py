"""Writing pictures, and colours that all readers can tell apart."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.support.errors import BadOption
from warehouse.support.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), which colour-blind readers can tell apart; yellow is too light for
lines.
"""


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture in the format of the file's extension.

    Raises:
        BadInput: matplotlib has no such format, or the file can't be written.
    """
    content = io.BytesIO()
    try:
        figure.savefig(content, dpi=150, format=path.suffix.removeprefix(".") or None)
    except ValueError as error:
        raise BadOption(f"{path}: the picture can't be written: {error}") from error
    write_bytes(path, content.getvalue())
