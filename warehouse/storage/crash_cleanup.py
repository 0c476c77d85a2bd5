"""Removal of the uncommitted files of a killed writer.

A writer leaves its mark (`warehouse.support.locks.HOLDER`) in the warehouse until it is done. If the next
owner of the lock finds a mark, the previous writer was killed, failed, or was ended by a power cut.
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
"""Names given by `warehouse.support.files` and deltalake to unfinished files."""


@contextmanager
def cleared(warehouse: Path) -> Iterator[None]:
    """Mark the warehouse as being written to, after removing the remains of an unfinished writer.

    The caller holds the lock. If the block raises, the mark stays for the next writer.

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
    """Remove the remains of an unfinished writer; False, removing nothing, if the warehouse is damaged."""
    findings = verify(warehouse).findings
    if any(one.is_damage or one.kind == "unprotected" for one in findings):
        return False  # an apparently uncommitted file may belong to a damaged commit
    left = [warehouse / one.path for one in findings if _is_of_writer(one)]
    left += [path for path in (warehouse / manifests.FOLDER).iterdir() if _TEMPORARY.fullmatch(path.name)]
    for path in left:
        path.unlink(missing_ok=True)
    shutil.rmtree(warehouse / MERGING, ignore_errors=True)
    return True


def _is_of_writer(finding: Finding) -> bool:
    """Whether the file has a name used by writers; other files stay."""
    path = PurePosixPath(finding.path)
    is_temporary = _TEMPORARY.fullmatch(path.name) is not None
    is_of_table = path.parts[0] in TABLES and (
        delta.is_log_entry(path.name) or _ROWS.fullmatch(path.name) is not None
    )
    return finding.kind == "unlisted" and (is_temporary or is_of_table)
