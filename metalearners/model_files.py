"""Files of a model: a directory of JSON and arrays, written atomically, read without running code.

The directory has `model.json` and `arrays.npz`: the result of `metalearners.codec.encode`, and facts about
the model. `model.json` holds the checksums of both.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import shutil
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from metalearners.codec import Arrays
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, DamagedModel, Unwritable, raise_refusal, reason_of
from warehouse.support.files import make_folder, put_in_place, unfinished_folder, write_bytes, write_text
from warehouse.support.paths import cache_directory

logger = logging.getLogger(__name__)

T = TypeVar("T")

_PROBE_BYTES = 2**20
"""Size of the test file that shows whether a model can be written; most models are smaller."""


def write_files(target: Path, content: Mapping[str, Any], arrays: Arrays) -> Path:
    """Write the directory `target`, replacing an existing one, and return it.

    Args:
        content: JSON values, among them the `format` and its `version`.

    Raises:
        OSError, Unwritable: it can't be written.
    """
    make_folder(target.parent)
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    checksum = {"model.json": _content_sum(content), "arrays.npz": _sum(packed.getvalue())}
    with unfinished_folder(target.parent) as scratch:
        made = scratch / target.name
        made.mkdir()
        write_bytes(made / "arrays.npz", packed.getvalue())
        write_text(made / "model.json", json.dumps({**content, "checksum": checksum}, indent=1) + "\n")
        shutil.rmtree(target, ignore_errors=True)
        put_in_place(made, target)
    return target


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
        raise_refusal(error)
        raise DamagedModel(f"there is no model {path}: {file.name}: {reason_of(error)}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedModel(f"{file} is cut off or not a model: {error}; train it again") from error
    if not isinstance(content, dict) or content.get("format") != name:
        raise DamagedModel(f"{file} is not a model: it lacks the format {name!r}")
    if content.get("version") != version:
        raise DamagedModel(
            f"{file} has format version {content.get('version')!r}, this Headstart reads {version}: update"
            " Headstart, or train the model again"
        )
    if _stated_sum(content, "model.json") != _content_sum(content):
        raise DamagedModel(f"{file} does not match its checksum; train the model again")
    return content


def read_arrays(path: Path, content: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays in the directory `path`.

    Args:
        content: the result of `read_content` for the same directory.

    Raises:
        DamagedModel: they are missing or damaged.
    """
    file = path / "arrays.npz"
    try:
        packed = file.read_bytes()
        if _stated_sum(content, "arrays.npz") != _sum(packed):
            raise DamagedModel(f"{file.name} does not match its checksum")
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (
        OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, AttributeError
    ) as error:  # fmt: skip
        if isinstance(error, OSError):  # a damaged file may ask for more memory than there is
            raise_refusal(error)
        raise DamagedModel(f"{file.name} is missing, cut off or not an array file ({error})") from error


def user_cache() -> Path:
    """Directory of models, for users who can't write to their warehouse."""
    return cache_directory() / "models"


def places(warehouse: Warehouse) -> list[Path]:
    """Directories to look for models in: the warehouse's own, then the user's cache."""
    return [warehouse.models, user_cache()]


def folders_for(warehouse: Warehouse) -> list[Path]:
    """Directories to store a model in, best first."""
    found = places(warehouse)
    return found[1:] if warehouse.read_only else found


def kept(name: str, warehouse: Warehouse, read: Callable[[Path], T], again: str) -> T | None:
    """The result of `read` for the first undamaged directory `name`; None if there is none.

    Args:
        again: the consequence of damage, for the log.
    """
    for place in places(warehouse):
        if (place / name).is_dir():
            try:
                return read(place / name)
            except DamagedModel as error:
                logger.warning("%s; %s", error, again)
    return None


def keep(
    name: str,
    content: Mapping[str, Any],
    arrays: Arrays,
    warehouse: Warehouse,
) -> Path | None:
    """Write the results of training to a directory `name` in the first writable folder; returns its path.

    Results in the warehouse's folder are also shared with other machines; if that fails, they stay local.

    Returns: None if no folder is writable.
    """
    for folder in folders_for(warehouse):
        try:
            path = write_files(folder / name, content, arrays)
        except (Unwritable, OSError) as error:
            logger.warning("the results of training can't be stored in %s: %s", folder, reason_of(error))
            continue
        try:
            warehouse.share_model(path)
        except BadInput as error:
            logger.warning("the results of training are stored on this machine only: %s", error)
        return path
    return None


def check_can_keep(warehouse: Warehouse) -> None:
    """Check before training that some folder for its results is writable.

    Raises:
        Unwritable: the disk is full or read-only, or permission is missing.
    """
    reasons = []
    for folder in folders_for(warehouse):
        probe = folder / ".probe"
        try:
            make_folder(folder)
            probe.write_bytes(bytes(_PROBE_BYTES))
        except OSError as error:
            reasons.append(f"{folder}: {reason_of(error)}")
        else:
            return
        finally:
            with suppress(OSError):
                probe.unlink()
    raise Unwritable(f"the model could not be stored: {'; '.join(reasons)}")


def _stated_sum(content: Mapping[str, Any], file: str) -> object:
    stated = content.get("checksum")
    return stated.get(file) if isinstance(stated, dict) else None


def _content_sum(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "checksum"}
    return _sum(json.dumps(rest, sort_keys=True).encode())


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
