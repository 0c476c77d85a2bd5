"""What was learned, as a directory: JSON and arrays, written whole or not at all, read without running code.

The directory has `model.json` and `arrays.npz`: what `metalearners.codec.encode` makes of it, and what else
is to be known of it.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.support.errors import DamagedModel

Arrays = Mapping[str, np.ndarray]


def write_files(target: Path, content: Mapping[str, Any], arrays: Arrays) -> None:
    """Write the directory `target`, in place of one that is there.

    Args:
        content: JSON values; `format` and `version` say what they are.

    Raises:
        OSError: it can't be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.parent / f".{target.name}.{os.getpid()}"
    try:
        unfinished.mkdir()
        np.savez_compressed(unfinished / "arrays.npz", allow_pickle=False, **arrays)
        (unfinished / "model.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def read_content(path: Path, name: str, version: int) -> dict[str, Any]:
    """The JSON values in the directory `path`.

    Args:
        name: of the format.

    Raises:
        DamagedModel: they are missing or damaged, or of another format or version.
    """
    file = path / "model.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DamagedModel(f"there is no model {path}: {file.name}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedModel(f"{file} is cut off or no model: {error}; train it again") from error
    if not isinstance(content, dict) or content.get("format") != name:
        raise DamagedModel(f"{file} is no model: it lacks the format {name!r}")
    if content.get("version") != version:
        raise DamagedModel(
            f"{file} has format version {content.get('version')!r}, this Headstart reads {version}: update"
            " Headstart, or train the model again"
        )
    return content


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays in the directory `path`.

    Raises:
        DamagedModel: they are missing or damaged.
    """
    file = path / "arrays.npz"
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, AttributeError) as error:
        raise DamagedModel(f"{file.name} is missing, cut off or no array file ({error})") from error
