"""An older version of a warehouse as its newest."""

from pathlib import Path

from warehouse import delta
from warehouse.history import CommitHistory
from warehouse.support.errors import UnusableWarehouse
from warehouse.verification import refuse_damaged
from warehouse.writing import append_ingests


def restore(warehouse: Path, version: int) -> None:
    """Make an older version's content the newest, as one more commit; the caller holds the warehouse's lock.

    Nothing is lost: what came after that version stays in the history.

    Raises:
        BadInput: there is no such version, or a file that it needs is damaged.
        OSError, DeltaError: the disk refuses.
    """
    history = CommitHistory.read(warehouse)
    wanted = history.until(version).delta_versions()
    for name, at in wanted.items():
        needed = [str(warehouse / name / file) for file in sorted(delta.active_files(warehouse / name, at))]
        gone = [file for file in needed if not Path(file).is_file()]  # which a repair may have taken away
        if gone:
            raise UnusableWarehouse(f"version {version} of {warehouse} needs {gone[0]}, which is lost")
        refuse_damaged(warehouse, needed)
    tables = history.delta_versions()
    for name in tables:
        table = delta.open_version(warehouse / name)
        delta.restore(table, wanted.get(name, 0))
        tables[name] = table.version()
    append_ingests(warehouse, history.next_record("restore", tables, about=[f"version {version}"]))
