"""Predictions of trials, stored as files next to the history of a search."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.support.errors import raise_refusal
from warehouse.support.files import crc32, make_folder, write_bytes

UNKNOWN = "unknown"
"""Placeholder for the missing checksum of predictions stored by an older version."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptPredictions:
    """(rows, k) arrays of 32-bit numbers as .npy files, in a folder created for the first one."""

    folder: Path

    def clean(self) -> None:
        """Remove incomplete files of a process killed while writing."""
        for unfinished in self.folder.glob(".*"):
            unfinished.unlink()

    def keep(self, name: str, predictions: Floats | None) -> str | None:
        """Write predictions, if there are any; they are on disk when this returns.

        Returns:
            The file's checksum; None if there is none.

        Raises:
            Unwritable: it can't be written.
        """
        if predictions is None:
            return None
        content = io.BytesIO()
        np.save(content, predictions.astype(np.float32), allow_pickle=False)
        make_folder(self.folder)
        write_bytes(self._path(name), content.getvalue())
        return crc32(content.getvalue())

    def read(self, name: str, checksum: str) -> Floats | None:
        """The predictions stored under this name; None, with a warning, if they are lost or damaged.

        Args:
            checksum: of their file, or `UNKNOWN`.

        Raises:
            SystemRefusal: the system refuses to read them.
        """
        path = self._path(name)
        if checksum == UNKNOWN and not path.exists():
            return None
        found = None
        try:
            if checksum in (UNKNOWN, crc32(path.read_bytes())):
                # Memory-mapped, which refuses an array declared larger than its file.
                found = np.array(np.load(path, mmap_mode="r", allow_pickle=False))
        except Exception as error:  # noqa: BLE001 (NumPy raises anything for a damaged file)
            raise_refusal(error)
        if found is None:
            logger.warning("%s is lost or damaged, and left out", path)
        return found

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"
