"""Files of users: written whole or not at all, and refused in one line."""

import contextlib
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

from warehouse.support.errors import Failed, UnreadableInput


def read_json(path: str | Path) -> Any:
    """What the JSON file holds.

    Raises:
        BadInput: there is no such file, or it is no JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: not a JSON file: {error}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write text in UTF-8, as `write_bytes` writes bytes."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write `content` to `path`; if that fails, what was there before is still there.

    A symbolic link is followed, and a file that is replaced keeps its permissions.

    Raises:
        Failed: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    # A pipe or a device is written to, not replaced.
    replaces = target.is_file() or not target.exists()
    # The name does not depend on the file's, which may be as long as names can be.
    written = target.with_name(f".{os.getpid()}.{threading.get_ident()}") if replaces else target
    try:
        written.write_bytes(content)
        if replaces:
            if target.exists():
                shutil.copymode(target, written)
            written.replace(target)
    except OSError as error:
        if replaces:
            with contextlib.suppress(OSError):
                written.unlink(missing_ok=True)
        raise Failed(f"{path} can't be written: {error.strerror or error}") from error
