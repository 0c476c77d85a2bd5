"""Removal of the files that a killed writer leaves in a warehouse, and that no commit wrote.

A writer leaves its mark (`warehouse.support.locks.HOLDER`) in the warehouse until it is done. Who gets the
lock and finds a mark follows a writer that was killed, that failed, or that a power cut ended.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from warehouse.storage import delta, manifests
from warehouse.storage.verification import Finding, verify
from warehouse.support.locks import HOLDER, introduce
from warehouse.vocabulary.schema import TABLES

MERGING = ".merging"
"""Folder of a merge's temporary files."""

_ROWS = re.compile(r"part-[0-9a-f-]{36,}(-c\d+)?(\.\w+)?\.parquet")
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}|.*\.tmp|(part-|\d{20}\.).*#\d+")
"""Names that `warehouse.support.files` and deltalake give to files until they are whole."""


@contextmanager
def cleared(warehouse: Path) -> Iterator[None]:
    """Mark the warehouse as being written to, after removing what an unfinished writer left.

    The caller holds the lock. Where the block raises, the mark stays for the next writer.

    Raises:
        OSError: the disk refuses.
    """
    mark = warehouse / HOLDER
    left = mark.exists()
    introduce(warehouse)
    is_clear = not left or _clear(warehouse)
    yield
    if is_clear or _clear(warehouse):
        mark.unlink()


def _clear(warehouse: Path) -> bool:
    """Remove what an unfinished writer left; False, removing nothing, if the warehouse is damaged."""
    findings = verify(warehouse).findings
    if any(one.is_damage or one.kind == "unprotected" for one in findings):
        return False  # a file that seems to belong to no commit may be that of a damaged one
    left = [warehouse / one.path for one in findings if _is_of_writer(one)]
    left += [path for path in (warehouse / manifests.FOLDER).iterdir() if _TEMPORARY.fullmatch(path.name)]
    for path in left:
        path.unlink(missing_ok=True)
    shutil.rmtree(warehouse / MERGING, ignore_errors=True)
    return True


def _is_of_writer(finding: Finding) -> bool:
    """Whether the file has a name that writers give; files of others stay."""
    path = PurePosixPath(finding.path)
    is_temporary = _TEMPORARY.fullmatch(path.name) is not None
    is_of_table = path.parts[0] in TABLES and (
        delta.is_log_entry(path.name) or _ROWS.fullmatch(path.name) is not None
    )
    return finding.kind == "unlisted" and (is_temporary or is_of_table)
