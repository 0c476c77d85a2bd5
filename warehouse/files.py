"""Writing files for users: whole or not at all."""

import os
from pathlib import Path

from warehouse.errors import Failed


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` in UTF-8; if that fails, what was there before is still there.

    Raises:
        Failed: the file can't be written.
    """
    path = Path(path)
    # A pipe or a device is written to, not replaced.
    replaces = path.is_file() or not path.exists()
    written = path.with_name(f".{path.name}.{os.getpid()}") if replaces else path
    try:
        written.write_text(text, encoding="utf-8")
        if replaces:
            written.replace(path)
    except OSError as error:
        if replaces:
            written.unlink(missing_ok=True)
        raise Failed(f"{path} can't be written: {error.strerror or error}") from error
