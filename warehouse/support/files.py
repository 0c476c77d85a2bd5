"""Files of users, written atomically, with one-line errors."""

import contextlib
import json
import os
import secrets
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from filelock import FileLock

from warehouse.support.errors import UnreadableInput, Unwritable, reason_of


def read_json(path: str | Path) -> Any:
    """The content of a JSON file.

    Raises:
        BadInput: there is no such file, or it is not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInput(f"{path}: can't be read: {reason_of(error)}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: not a JSON file: {error}") from error


def crc32(content: bytes) -> str:
    """Checksum of 8 hexadecimal digits, which detects any single flipped bit and most other damage."""
    return f"{zlib.crc32(content):08x}"


def write_text(path: str | Path, text: str) -> None:
    """Write text in UTF-8, as `write_bytes` writes bytes."""
    write_bytes(path, text.encode())


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON value on several lines, as `write_bytes` writes bytes.

    Raises:
        ValueError: a number is infinite or NaN, which JSON lacks.
        Unwritable: the file can't be written.
    """
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def refuse_unwritable(*paths: Path | None) -> None:
    """Refuse files that can't be written, before the work whose results they are to hold.

    Raises:
        Unwritable: a name is that of a folder, or its folder is missing or read-only; None stands for no
            file.
    """
    for path in filter(None, paths):
        folder = path.parent
        if path.is_dir():
            raise Unwritable(f"{path} can't be written: it is a folder")
        if not folder.is_dir():
            raise Unwritable(f"{path} can't be written: there is no folder {folder}")
        if not path.exists() and not os.access(folder, os.W_OK):
            raise Unwritable(f"{path} can't be written: {folder} is read-only for you")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write `content` to `path` atomically: if it fails, an older file stays unchanged.

    The content is on disk when this returns. A symbolic link is followed, and a replaced file keeps its
    permissions.

    Raises:
        Unwritable: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)  # a pipe or a device can't be replaced
        else:
            _replace(target, content)
    except OSError as error:
        raise Unwritable(f"{path} can't be written: {reason_of(error)}") from error


def _replace(target: Path, content: bytes) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # A random name, so that nobody can put a link there. It does not contain the file's name, which may
    # already have the maximum length.
    written = target.with_name(f".{secrets.token_hex(8)}")
    handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                written.chmod(mode)  # despite the umask
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(written, target)
    except OSError:
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)
        raise


def put_in_place(made: Path, target: Path) -> None:
    """Rename a file or folder whose content is on disk; the new name is on disk when this returns.

    Raises:
        OSError: the disk refuses.
    """
    made.replace(target)
    sync_directory(target.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they exist; they are on disk when this returns.

    Raises:
        OSError: the disk refuses.
    """
    made = list(takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    for one in made:
        sync_directory(one.parent)


def sync_file(path: Path) -> None:
    """Sync the content of a file, and its name, to disk.

    Raises:
        OSError: the disk refuses.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())
    sync_directory(path.parent)


def sync_directory(folder: Path) -> None:
    """Sync the entries of a directory, so that a renamed file stays renamed after a power cut.

    Raises:
        OSError: the disk refuses.
    """
    if not hasattr(os, "O_DIRECTORY"):  # Windows, which has no such call
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Make an empty `folder` for the duration of the block, replacing one left by a killed process."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_UNFINISHED = ".headstart-unfinished-"


@contextlib.contextmanager
def unfinished_folder(place: Path) -> Iterator[Path]:
    """Make a folder in `place` for the duration of the block, for results to be renamed once complete.

    Several processes may have one in the same place. Those left by killed processes are removed.

    Raises:
        OSError: the disk refuses.
    """
    for left in place.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError), FileLock(left / ".lock", timeout=0):
            shutil.rmtree(left)
    with contextlib.ExitStack() as stack:
        while True:
            folder = Path(tempfile.mkdtemp(dir=place, prefix=_UNFINISHED))
            with contextlib.suppress(FileNotFoundError):
                stack.enter_context(FileLock(folder / ".lock"))
            if (folder / ".lock").exists():  # else another process removed it before it was locked
                break
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
